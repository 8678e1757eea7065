"""Activations of Keras as layers of their own."""

import numpy as np
import pytest

from tests.keras_models import check, layer, sequential

RNG = np.random.default_rng(6)
X = RNG.normal(size=(3, 4)) * 3


def relu(x, most=np.inf, slope=0.0, threshold=0.0):
    return np.where(x >= most, most, np.where(x >= threshold, x, slope * (x - threshold)))


CASES = [
    ("Activation", {"activation": "tanh"}, np.tanh),
    ("Activation", {"activation": "linear"}, lambda x: x),
    ("Activation", {"activation": "exponential"}, np.exp),
    ("Activation", {"activation": "hard_sigmoid"}, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    ("ReLU", {"max_value": None, "negative_slope": 0.0, "threshold": 0.0}, relu),
    ("ReLU", {"max_value": 2.5, "negative_slope": 0.1, "threshold": 0.7}, lambda x: relu(x, 2.5, 0.1, 0.7)),
    ("ReLU", {"max_value": 6.0, "negative_slope": 0.0, "threshold": 0.0}, lambda x: relu(x, 6.0)),
    ("LeakyReLU", {"negative_slope": 0.2}, lambda x: np.where(x > 0, x, 0.2 * x)),
    ("LeakyReLU", {"alpha": 0.3}, lambda x: np.where(x > 0, x, 0.3 * x)),
    ("ELU", {"alpha": 0.5}, lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    ("Rescaling", {"scale": 2.0, "offset": -1.5}, lambda x: 2 * x - 1.5),
    ("Rescaling", {"scale": 0.5, "offset": 0.0}, lambda x: x / 2),
    ("Rescaling", {"scale": 1.0, "offset": 3.0}, lambda x: x + 3),
    ("ThresholdedReLU", {"theta": 1.2}, lambda x: np.where(x > 1.2, x, 0)),
]


@pytest.mark.parametrize(("kind", "config", "expected"), CASES)
def test_functions_of_every_element(kind, config, expected):
    check(sequential((4,), layer(kind, config)), [X], expected(X))


def test_hard_sigmoid_of_keras_2_is_another():
    expected = np.clip(0.2 * X + 0.5, 0, 1)
    check(sequential((4,), layer("Activation", {"activation": "hard_sigmoid"}), version=2), [X], expected)


@pytest.mark.parametrize("axis", [-1, 1, 2, 3, [-1]])
def test_softmax_along_an_axis(axis):
    x = RNG.normal(size=(2, 3, 4, 5))
    at = axis[0] if isinstance(axis, list) else axis
    e = np.exp(x)
    check(sequential((3, 4, 5), layer("Softmax", {"axis": axis})), [x], e / e.sum(at, keepdims=True))


@pytest.mark.parametrize("shared", [None, [1], [1, 2], 2])
def test_prelu_shares_its_slopes_along_axes(shared):
    x = RNG.normal(size=(2, 3, 4, 5))
    axes = [] if shared is None else [shared] if isinstance(shared, int) else shared
    alpha = RNG.normal(size=[1 if axis in axes else size for axis, size in enumerate(x.shape[1:], 1)])
    made = layer("PReLU", {"shared_axes": shared}, alpha=alpha)
    check(sequential((3, 4, 5), made), [x], np.where(x > 0, x, alpha * x))
