"""Rows for layers that compute a function of every element, for PReLU and for Dropout."""

import math

import numpy as np

from .base import CaffeCase

SHAPE = ((4, 3, 2, 5),)


def away_from(*kinks):
    """Return a drawing of numbers that are at least 0.01 from every kink, for differences."""

    def draw(rng):
        x = rng.normal(0.0, 1.5, SHAPE[0])
        for kink in kinks:
            x = np.where(np.abs(x - kink) < 0.01, kink + 0.05, x)
        return [x]

    return draw


def of_elements(function):
    """Return an oracle from a function of one number of Python's."""
    return lambda xs, params: [np.vectorize(function, otypes=[float])(xs[0])]


def row(variant, text, function, numbers=None, **more):
    """Return a row for a function of one number."""
    return CaffeCase(variant, text, SHAPE, of_elements(function), numbers=numbers or away_from(0.0), **more)


def positive(rng):
    return [rng.uniform(0.2, 2.0, SHAPE[0])]


def logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


def prelu(xs, params):
    x, slope = xs[0], params["slope"]
    slope = slope.reshape(-1, *[1] * (x.ndim - 2)) if slope.ndim else slope
    return [np.where(x > 0, x, slope * x)]


CASES = {
    "AbsVal": [row("plain", "", abs)],
    "BNLL": [
        row("plain", "", lambda x: math.log(1.0 + math.exp(x))),
        row(
            "large",
            "",
            lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
            lambda rng: [rng.normal(0, 90, SHAPE[0])],
        ),
    ],
    "Clip": [
        row("two sides", "clip_param { min: -0.5 max: 1 }", lambda x: min(max(x, -0.5), 1.0), away_from(-0.5, 1.0)),
    ],
    "Dropout": [
        CaffeCase("test", "", SHAPE, lambda xs, params: [xs[0]], phase="TEST"),
        CaffeCase("nothing dropped", "dropout_param { dropout_ratio: 0 }", SHAPE, lambda xs, params: [xs[0]]),
    ],
    "ELU": [
        row("plain", "", lambda x: x if x > 0 else math.exp(x) - 1.0),
        row("alpha", "elu_param { alpha: 0.375 }", lambda x: x if x > 0 else 0.375 * (math.exp(x) - 1.0)),
    ],
    "Exp": [
        row("e", "", math.exp),
        row("base 2", "exp_param { base: 2 scale: 0.5 shift: -1 }", lambda x: 2.0 ** (0.5 * x - 1.0)),
        row("e, shifted", "exp_param { scale: -0.5 shift: 2 }", lambda x: math.exp(2.0 - 0.5 * x)),
    ],
    "Log": [
        row("e", "", math.log, positive),
        row("base 10", "log_param { base: 10 scale: 3 shift: 1 }", lambda x: math.log10(3.0 * x + 1.0), positive),
        row("base 0.5", "log_param { base: 0.5 shift: 0.25 }", lambda x: -math.log2(x + 0.25), positive),
    ],
    "PReLU": [
        CaffeCase("channels", "", SHAPE, prelu, numbers=away_from(0.0)),
        CaffeCase("rows", "", ((4, 6),), prelu),
        CaffeCase("shared", "prelu_param { channel_shared: true }", SHAPE, prelu, numbers=away_from(0.0)),
    ],
    "Power": [
        row("plain", "", lambda x: x),
        row("line", "power_param { scale: 3 shift: -2 }", lambda x: 3.0 * x - 2.0),
        row("square", "power_param { power: 2 scale: -0.5 shift: 1 }", lambda x: (1.0 - 0.5 * x) ** 2),
        row("cube through 0", "power_param { power: 3 }", lambda x: x * x * x, lambda rng: [np.zeros(SHAPE[0])]),
        row("root", "power_param { power: 0.5 shift: 0.125 }", lambda x: math.sqrt(x + 0.125), positive),
        row("inverse", "power_param { power: -1 scale: 2 }", lambda x: 0.5 / x, positive),
        row("power 0", "power_param { power: 0 shift: 3 }", lambda x: 1.0),
        row("scale 0", "power_param { power: 2 scale: 0 shift: 3 }", lambda x: 9.0),
    ],
    "ReLU": [
        row("plain", "", lambda x: max(x, 0.0)),
        row("slope", "relu_param { negative_slope: 0.125 }", lambda x: x if x > 0 else 0.125 * x),
        row("steep", "relu_param { negative_slope: 1.5 }", lambda x: x if x > 0 else 1.5 * x),
        row("downward", "relu_param { negative_slope: -0.5 }", lambda x: x if x > 0 else -0.5 * x),
    ],
    "ReLU6": [
        row("both sides", "", lambda x: min(max(x, 0.0), 6.0), lambda rng: [rng.uniform(-3.0, 9.0, SHAPE[0])]),
    ],
    "Sigmoid": [row("plain", "", logistic)],
    "Swish": [
        row("plain", "", lambda x: x * logistic(x)),
        row("beta", "swish_param { beta: -1.5 }", lambda x: x * logistic(-1.5 * x)),
    ],
    "TanH": [row("plain", "", lambda x: (math.exp(x) - math.exp(-x)) / (math.exp(x) + math.exp(-x)))],
    "Threshold": [
        row("0", "", lambda x: float(x > 0), differentiable=()),
        row("0.5", "threshold_param { threshold: 0.5 }", lambda x: float(x > 0.5), differentiable=()),
    ],
}
