"""Time loops beside the formulas of one example, one step and one gate at a time, forward and back in float64."""

import numpy as np
import pytest

import nd
from nd.activations import get_activation
from nd.recurrent.lstm import Lstm, LstmWeights
from nd.recurrent.simple import SimpleRnnLoop, SimpleWeights
from tests.stand_ins import TOLERANCE

N, C, H, T = 5, 4, 6, 9
GATES = range(4)
CANDIDATE, FORGET, OUTPUT, INPUT = GATES


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def lstm_of_an_example(xs, errors, W, RW, b, h, c):
    """Return outputs, the state at the end, and the gradients of W, RW, b and xs, of ``sum(errors * outputs)``."""
    kept, outputs = [], []
    for x in xs:
        z = [x @ W[k] + h @ RW[k] + b[k, 0] for k in GATES]
        a = [np.tanh(z[CANDIDATE]), *(sigmoid(z[k]) for k in (FORGET, OUTPUT, INPUT))]
        kept.append((x, h, c, a))
        c = a[FORGET] * c + a[INPUT] * a[CANDIDATE]
        h = a[OUTPUT] * np.tanh(c)
        outputs.append(h)
    gradients = [np.zeros_like(each) for each in (W, RW, b)]
    dxs, dh, dc, after = [], np.zeros(H), np.zeros(H), c
    for (x, before, c_before, a), error in zip(reversed(kept), errors[::-1], strict=True):
        dh = dh + error
        squashed = np.tanh(after)
        dc = dc + dh * a[OUTPUT] * (1 - squashed**2)
        da = {CANDIDATE: dc * a[INPUT], FORGET: dc * c_before, OUTPUT: dh * squashed, INPUT: dc * a[CANDIDATE]}
        dz = [da[k] * (1 - a[k] ** 2 if k == CANDIDATE else a[k] * (1 - a[k])) for k in GATES]
        for k in GATES:
            for gradient, seen in zip(gradients, (x, before, np.ones(1)), strict=True):
                gradient[k] += np.outer(seen, dz[k])
        dxs.append(sum(W[k] @ dz[k] for k in GATES))
        dh, dc, after = sum(RW[k] @ dz[k] for k in GATES), dc * a[FORGET], c_before
    return np.array(outputs), (h, c), gradients, np.array(dxs[::-1])


def simple_rnn_of_an_example(xs, errors, W, RW, b, h):
    """Return the same of a simple recurrent layer with tanh."""
    kept, outputs = [], []
    for x in xs:
        kept.append((x, h))
        h = np.tanh(x @ W + h @ RW + b[0])
        outputs.append(h)
    gradients = [np.zeros_like(each) for each in (W, RW, b)]
    dxs, dh = [], np.zeros(H)
    for (x, before), after, error in zip(reversed(kept), outputs[::-1], errors[::-1], strict=True):
        dz = (dh + error) * (1 - after**2)
        for gradient, seen in zip(gradients, (x, before, np.ones(1)), strict=True):
            gradient += np.outer(seen, dz)
        dxs.append(W @ dz)
        dh = RW @ dz
    return np.array(outputs), (h,), gradients, np.array(dxs[::-1])


LOOPS = {
    "lstm": (
        lambda: Lstm(get_activation("tanh"), get_activation("sigmoid")),
        LstmWeights,
        [(4, C, H), (4, H, H), (4, 1, H)],
        lstm_of_an_example,
        2,
    ),
    "simple rnn": (
        lambda: SimpleRnnLoop(get_activation("tanh")),
        SimpleWeights,
        [(C, H), (H, H), (1, H)],
        simple_rnn_of_an_example,
        1,
    ),
}


@pytest.mark.parametrize("length", [T, 2], ids=["many steps", "two steps"])
@pytest.mark.parametrize("name", LOOPS)
def test_forward_and_back_are_those_of_the_formulas(name, length, backend, dtype):
    make, kind, shapes, of_an_example, states = LOOPS[name]
    rng = np.random.default_rng(len(name) + length)
    weights = [rng.normal(0, 0.7, shape) for shape in shapes]
    x, errors = rng.normal(size=(N, C, length)), rng.normal(size=(N, H, length))
    start = [rng.normal(size=(N, H)) for _ in range(states)]
    expected = [of_an_example(x[n].T, errors[n].T, *weights, *(state[n] for state in start)) for n in range(N)]

    def ours(array):
        return nd.create(array, dtype)

    loop, buffers, grads = make(), nd.Buffers(dtype), kind(*(nd.zeros(*shape, dtype=dtype) for shape in shapes))
    given = kind(*map(ours, weights))
    passed = loop.forward(ours(x), given, tuple(map(ours, start)), None, buffers, True)
    outputs, state = nd.to_host(passed.outputs), [nd.to_host(each) for each in passed.state]
    dx = nd.to_host(loop.backward(ours(errors), passed, given, grads, buffers, True))
    close = {key: 10 * value for key, value in TOLERANCE[dtype].items()}
    for n, (h, end, _, dxs) in enumerate(expected):
        np.testing.assert_allclose(outputs[n].T, h, **close)
        np.testing.assert_allclose(dx[n].T, dxs, **close)
        for ours_at_end, theirs in zip(state, end, strict=True):
            np.testing.assert_allclose(ours_at_end[n], theirs, **close)
    for k, gradient in enumerate(grads[:3]):
        np.testing.assert_allclose(nd.to_host(gradient), sum(each[2][k] for each in expected), **close)


def test_a_series_that_begins_anew_inside_is_two_series(backend, dtype):
    """What comes into a step is multiplied by 0 there, so that nothing goes over, forward or back."""
    rng = np.random.default_rng(8)
    weights = [rng.normal(0, 0.7, shape) for shape in LOOPS["lstm"][2]]
    x, errors, begins = (
        rng.normal(size=(N, C, T)),
        rng.normal(size=(N, H, T)),
        [(number % (T - 1)) + 1 for number in range(N)],
    )
    carried = np.ones((N, T))
    for n, begin in enumerate(begins):
        carried[n, begin] = 0.0
    start = [rng.normal(size=(N, H)) for _ in range(2)]
    expected = []
    for n, begin in enumerate(begins):
        before = lstm_of_an_example(x[n].T[:begin], errors[n].T[:begin], *weights, start[0][n], start[1][n])
        expected.append((before, lstm_of_an_example(x[n].T[begin:], errors[n].T[begin:], *weights, *np.zeros((2, H)))))

    def ours(array):
        return nd.create(array, dtype)

    buffers, grads = nd.Buffers(dtype), LstmWeights(*(nd.zeros(*w.shape, dtype=dtype) for w in weights))
    loop, given = LOOPS["lstm"][0](), LstmWeights(*map(ours, weights))
    passed = loop.forward(ours(x), given, tuple(map(ours, start)), None, buffers, True, carried=ours(carried))
    outputs = nd.to_host(passed.outputs)
    dx = nd.to_host(loop.backward(ours(errors), passed, given, grads, buffers, True))
    close = {key: 10 * value for key, value in TOLERANCE[dtype].items()}
    for n, two in enumerate(expected):
        np.testing.assert_allclose(outputs[n].T, np.concatenate([one[0] for one in two]), **close)
        np.testing.assert_allclose(dx[n].T, np.concatenate([one[3] for one in two]), **close)
    for k, gradient in enumerate(grads[:3]):
        np.testing.assert_allclose(nd.to_host(gradient), sum(one[2][k] for two in expected for one in two), **close)
