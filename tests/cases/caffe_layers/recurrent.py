"""Rows for LSTM, RNN and LSTMUnit."""

import math

import numpy as np

from .base import CaffeCase

T, N, H = 5, 3, 4


def series(static=(), states=0, axes=(2, 3), length=T, fraction=False):
    """Return a drawing of bottoms; `cont` begins some series inside."""

    def draw(rng):
        cont = rng.integers(0, 4, (length, N)) > 0
        cont = cont * rng.uniform(0.2, 1.0, cont.shape) if fraction else cont
        more = [rng.normal(size=(N, *static))] if static else []
        return [rng.normal(size=(length, N, *axes)), cont, *more, *(rng.normal(size=(1, N, H)) for _ in range(states))]

    return draw


def logistic(x):
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def bottoms_of(xs, states):
    x, cont, *rest = xs
    start = rest[len(rest) - states :] if states else []
    static = rest[0] if len(rest) > states else None
    return x, cont, static, start


def lstm(states=0):
    """Return an oracle of single units of single series."""

    def oracle(xs, params):
        x, cont, static, start = bottoms_of(xs, states)
        h_all, h_end, c_end = np.zeros((len(x), N, H)), np.zeros((1, N, H)), np.zeros((1, N, H))
        for n in range(N):
            h, c = (start[0][0, n], start[1][0, n]) if states else (np.zeros(H), np.zeros(H))
            for t in range(len(x)):
                z = params["W_xc"] @ x[t, n].ravel() + params["b_c"] + params["W_hc"] @ (cont[t, n] * h)
                if static is not None:
                    z = z + params["W_xc_static"] @ static[n].ravel()
                i, f, o = (np.array([logistic(value) for value in z[k * H : k * H + H]]) for k in range(3))
                c = f * cont[t, n] * c + i * np.tanh(z[3 * H :])
                h = o * np.tanh(c)
                h_all[t, n] = h
            h_end[0, n], c_end[0, n] = h, c
        return [h_all, h_end, c_end] if states else [h_all]

    return oracle


def rnn(states=0):
    def oracle(xs, params):
        x, cont, static, start = bottoms_of(xs, states)
        tops, end = np.zeros((len(x), N, H)), np.zeros((1, N, H))
        for n in range(N):
            h = start[0][0, n] if states else np.zeros(H)
            for t in range(len(x)):
                z = params["W_xh"] @ x[t, n].ravel() + params["b_h"] + params["W_hh"] @ (cont[t, n] * h)
                h = np.tanh(z if static is None else z + params["W_xh_static"] @ static[n].ravel())
                tops[t, n] = np.tanh(params["W_ho"] @ h + params["b_o"])
            end[0, n] = h
        return [tops, end] if states else [tops]

    return oracle


def unit(xs, params):
    c_before, z, cont = xs
    i, f, o, g = np.split(z, 4, axis=2)
    i, f, o = (np.vectorize(logistic)(gate) for gate in (i, f, o))
    c = f * c_before * cont[:, :, np.newaxis] + i * np.tanh(g)
    return [c, o * np.tanh(c)]


def of_unit(rng):
    return [rng.normal(size=(1, N, H)), rng.normal(size=(1, N, 4 * H)), [[1.0, 0.0, 1.0]]]


def rows(oracle, states):
    """Return the rows of a layer that exposes so many states."""
    text = "recurrent_param { num_output: 4 }"
    exposed = "recurrent_param { num_output: 4 expose_hidden: true }"

    def row(variant, text, numbers, states=0, static=False):
        differentiable = (True, False, *[True] * static, *[False] * states)
        return CaffeCase(
            variant,
            text,
            (),
            oracle(states),
            tops=1 + states,
            numbers=numbers,
            differentiable=differentiable,
            top_gradients=(True, *[False] * states),
            splits=False,
        )

    return [
        row("series", text, series()),
        row("two steps, rows", text, series(axes=(6,), length=2)),
        row("parts of what was before", text, series(fraction=True)),
        row("static input", text, series(static=(2, 1)), static=True),
        row("exposed", exposed, series(states=states), states),
        row("exposed, static input", exposed, series(static=(5,), states=states), states, True),
    ]


CASES = {
    "LSTM": rows(lstm, 2),
    "LSTMUnit": [
        CaffeCase("step", "", (), unit, tops=2, numbers=of_unit, differentiable=(True, True, False), splits=False),
        CaffeCase(
            "nothing from the memory",
            "",
            (),
            unit,
            tops=2,
            numbers=of_unit,
            differentiable=(True, True, False),
            top_gradients=(False, True),
            splits=False,
        ),
    ],
    "RNN": rows(rnn, 1),
}
