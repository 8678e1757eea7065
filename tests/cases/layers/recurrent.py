"""Rows of the layers that go through series step by step, written example by example."""

from functools import partial

import numpy as np

from nn import (
    LSTM,
    GravesBidirectionalLSTM,
    GravesLSTM,
    InputType,
    NormalDistribution,
    RnnOutputLayer,
    SimpleRnn,
    WeightNoise,
)

from .base import LayerCase, every

SERIES = InputType.recurrent(3, 5)
LONG = InputType.recurrent(2, 7)
TWO_STEPS = InputType.recurrent(3, 2)
SERIES_TAIL = (RnnOutputLayer(n_out=3, loss="mcxent", activation="softmax"),)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def hard_sigmoid(x):
    return np.clip(0.2 * x + 0.5, 0.0, 1.0)


def softsign(x):
    return x / (1.0 + np.abs(x))


def lstm(x, params, activation=np.tanh, gate=sigmoid, suffix="", reverse=False):
    """The formulas of one unit at a time, as Graves 2013 and Java write them."""
    W, RW, b = (np.asarray(params[name + suffix], np.float64) for name in ("W", "RW", "b"))
    width = RW.shape[0]
    p = RW[:, 4 * width :] if RW.shape[1] > 4 * width else np.zeros((width, 3))
    out = np.zeros((len(x), width, x.shape[2]))
    for n, series in enumerate(np.asarray(x, np.float64)):
        h, c = np.zeros(width), np.zeros(width)
        times = range(x.shape[2])
        for t in reversed(times) if reverse else times:
            candidate, forget, output, entry = np.split(series[:, t] @ W + h @ RW[:, : 4 * width] + b[0], 4)
            f, g = gate(forget + p[:, 0] * c), gate(entry + p[:, 2] * c)
            c = f * c + g * activation(candidate)
            h = gate(output + p[:, 1] * c) * activation(c)
            out[n, :, t] = h
    return out


def both_directions(x, params):
    return lstm(x, params, suffix="F") + lstm(x, params, suffix="B", reverse=True)


def normalized(row):
    spread = row.std()
    return (row - row.mean()) / spread if spread > 0 else np.zeros_like(row)


def simple_rnn(x, params, activation=np.tanh):
    W, RW, b = (np.asarray(params[name], np.float64) for name in ("W", "RW", "b"))
    g = params.get("g")
    out = np.zeros((len(x), RW.shape[0], x.shape[2]))
    for n, series in enumerate(np.asarray(x, np.float64)):
        h = np.zeros(RW.shape[0])
        for t in range(x.shape[2]):
            of_input, of_output = series[:, t] @ W, h @ RW
            if g is not None:
                of_input, of_output = (
                    normalized(row) * part for row, part in zip((of_input, of_output), np.split(g[0], 2), strict=True)
                )
            h = activation(of_input + of_output + b[0])
            out[n, :, t] = h
    return out


NOISE = WeightNoise(NormalDistribution(0.0, 0.3))

RECURRENT_CASES: dict[str, list[LayerCase]] = {
    "graves_bidirectional_lstm": every(
        [
            LayerCase("sum", GravesBidirectionalLSTM(n_out=4, activation="tanh"), SERIES, both_directions, SERIES_TAIL),
            LayerCase(
                "one-step", GravesBidirectionalLSTM(n_out=2, activation="tanh"), TWO_STEPS, both_directions, SERIES_TAIL
            ),
        ],
        silences=True,
    ),
    "graves_lstm": [
        LayerCase("peepholes", GravesLSTM(n_out=4, activation="tanh"), SERIES, lstm, SERIES_TAIL),
        LayerCase("two-steps", GravesLSTM(n_out=4, activation="tanh"), TWO_STEPS, lstm, SERIES_TAIL),
        LayerCase(
            "softsign",
            GravesLSTM(n_out=3, activation="softsign", gate_activation="hardsigmoid"),
            LONG,
            partial(lstm, activation=softsign, gate=hard_sigmoid),
            SERIES_TAIL,
        ),
    ],
    "lstm": [
        LayerCase(
            "tanh", LSTM(n_out=4, activation="tanh", weight_init_recurrent="xavier_uniform"), SERIES, lstm, SERIES_TAIL
        ),
        LayerCase(
            "two-steps", LSTM(n_out=4, activation="tanh", forget_gate_bias_init=2.0), TWO_STEPS, lstm, SERIES_TAIL
        ),
        LayerCase("sigmoid", LSTM(n_out=3, activation="sigmoid"), LONG, partial(lstm, activation=sigmoid), SERIES_TAIL),
        LayerCase(
            "kinks",
            LSTM(n_out=3, activation="leakyrelu", gate_activation="hardsigmoid"),
            SERIES,
            partial(lstm, activation=lambda x: np.where(x > 0, x, 0.01 * x), gate=hard_sigmoid),
            SERIES_TAIL,
        ),
        LayerCase(
            "swish",
            LSTM(n_out=3, activation="swish"),
            SERIES,
            partial(lstm, activation=lambda x: x * sigmoid(x)),
            SERIES_TAIL,
        ),
        LayerCase(
            "noised", LSTM(n_out=3, activation="tanh", weight_noise=NOISE), SERIES, lstm, SERIES_TAIL, draws=True
        ),
    ],
    "simple_rnn": every(
        [
            LayerCase("tanh", SimpleRnn(n_out=4, activation="tanh"), SERIES, simple_rnn, SERIES_TAIL),
            LayerCase(
                "normalized", SimpleRnn(n_out=4, activation="tanh", has_layer_norm=True), LONG, simple_rnn, SERIES_TAIL
            ),
            LayerCase(
                "swish",
                SimpleRnn(n_out=3, activation="swish"),
                SERIES,
                partial(simple_rnn, activation=lambda x: x * sigmoid(x)),
                SERIES_TAIL,
            ),
        ],
        silences=True,
    ),
}
"""Name in LAYERS -> rows."""
