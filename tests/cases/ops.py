"""Rows for each op: an oracle in float64 NumPy or plain Python, and hand-computed values."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.cases import activations, ops_of_networks

LONG = "int64"


@dataclass(frozen=True, eq=False)
class OpCase:
    """`oracle(x)` or `oracle(x, y)`; `y` is a shape, a number, or None; `dtype` of the result where not that of x."""

    oracle: Any
    y: Any = None
    parameters: dict = field(default_factory=dict)
    draw: Any = None
    shape: tuple = (4, 5)
    dtype: str = ""
    coarse: bool = False
    """Whether the oracle takes differences."""


def real(rng, shape):
    return rng.normal(scale=2.0, size=shape)


def positive(rng, shape):
    return rng.uniform(0.25, 3.0, shape)


def nonzero(rng, shape):
    return positive(rng, shape) * rng.choice((-1.0, 1.0), shape)


def halves(rng, shape):
    """Few different numbers, so that there are ties, zeros and exact halves."""
    return rng.integers(-4, 5, shape) / 2.0


def activation_rows(name):
    """Rows of an activation, by turns in two and in four axes."""
    return [
        OpCase(case.oracle, parameters=case.parameters, shape=((4, 5), (2, 3, 2, 2))[number % 2])
        for number, case in enumerate(activations.CASES[name])
    ]


def transform(oracle, draw=real, **parameters):
    return [OpCase(oracle, draw=draw, parameters=parameters)]


def pairwise(oracle, draw=real):
    """With an array and with a number as y."""
    return [OpCase(oracle, y, draw=draw) for y in ((4, 5), 1.5)]


def reduction(oracle, draw=real, dtype="", **parameters):
    """Over everything, one axis, axes, and with kept axes; `oracle(x, axis, keepdims)`."""
    cases = []
    for axis, keep in ((None, False), (-1, True), ((0, 2), False), (None, True)):
        names = {"dimension": axis, "keep_dims": keep, **parameters}
        run = lambda x, axis=axis, keep=keep: oracle(x, axis=axis, keepdims=keep)  # noqa: E731
        cases.append(OpCase(run, parameters=names, draw=draw, shape=(3, 4, 5), dtype=dtype))
    return cases


def index(oracle):
    cases = []
    for axis, keep in ((None, False), (0, False), (-1, True)):
        run = lambda x, axis=axis, keep=keep: oracle(x, axis=axis, keepdims=keep)  # noqa: E731
        names = {"dimension": axis, "keep_dims": keep}
        cases.append(OpCase(run, parameters=names, draw=halves, shape=(3, 4, 5), dtype=LONG))
    return cases


def broadcast(oracle):
    """Rows, columns, channels, and a matrix along two axes; y has the letters that x and y share."""
    rows = []
    for shape, y, dimension, spread in (
        ((4, 5), (5,), 1, (1, 5)),
        ((4, 5), (1, 5), 1, (1, 5)),
        ((4, 5), (4,), 0, (4, 1)),
        ((2, 3, 2, 2), (3,), 1, (1, 3, 1, 1)),
        ((2, 3, 4), (2, 4), (0, -1), (2, 1, 4)),
    ):
        run = lambda x, y, spread=spread: oracle(x, np.broadcast_to(y.reshape(spread), x.shape))  # noqa: E731
        rows.append(OpCase(run, y, {"dimension": dimension}, nonzero, shape))
    return rows


def first_maximum(x):
    z = np.zeros(x.size)
    z[x.ravel().tolist().index(x.max())] = 1.0
    return z.reshape(x.shape)


def first_maximum_along(axis):
    return lambda x: np.apply_along_axis(first_maximum, axis, x)


def half_away_from_zero(x):
    return np.vectorize(lambda v: math.copysign(math.floor(abs(v) + 0.5), v))(x)


def log_softmax(x):
    """Along axis 1, of a vector along axis 0."""
    powers = np.exp(x)
    return np.log(powers / powers.sum(axis=min(1, x.ndim - 1), keepdims=True))


def norm2(x, axis, keepdims):
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def variance(x, axis, keepdims):
    return np.var(x, axis=axis, keepdims=keepdims, ddof=1)


def count_nonzero(x, axis, keepdims):
    return np.sum(np.where(x == 0.0, 0, 1), axis=axis, keepdims=keepdims)


CASES = {
    "abs": transform(lambda x: np.where(x < 0, -x, x)),
    "add": pairwise(lambda x, y: x + y),
    "broadcastadd": broadcast(lambda x, y: x + y),
    "broadcastcopy": broadcast(lambda x, y: y),
    "broadcastdiv": broadcast(lambda x, y: x / y),
    "broadcastmul": broadcast(lambda x, y: x * y),
    "broadcastrdiv": broadcast(lambda x, y: y / x),
    "broadcastrsub": broadcast(lambda x, y: y - x),
    "broadcastsub": broadcast(lambda x, y: x - y),
    "ceil": transform(lambda x: -np.floor(-x)),
    "copy": pairwise(lambda x, y: y + 0.0 * x),
    "cos": transform(lambda x: np.sin(x + np.pi / 2.0)),
    "countnonzero": reduction(count_nonzero, halves, LONG),
    "cube": activation_rows("cube"),
    "div": pairwise(lambda x, y: x * (1.0 / y), nonzero),
    "elu": activation_rows("elu"),
    "eq": pairwise(lambda x, y: 1.0 * (x == y), halves),
    "exp": transform(lambda x: np.e**x),
    "expm1": transform(lambda x: np.exp(x) - 1.0),
    "floor": transform(lambda x: -np.ceil(-x)),
    "gelu": activation_rows("gelu"),
    "gt": pairwise(lambda x, y: 1.0 * (x - y > 0), halves),
    "gte": pairwise(lambda x, y: 1.0 * (x - y >= 0), halves),
    "hardsigmoid": activation_rows("hardsigmoid"),
    "hardtanh": activation_rows("hardtanh"),
    "identity": activation_rows("identity"),
    "imax": index(np.argmax),
    "imin": index(np.argmin),
    "ismax": [
        *transform(first_maximum, halves),
        *transform(first_maximum_along(0), halves, dimension=0),
        *transform(first_maximum_along(1), halves, dimension=-1),
    ],
    "leakyrelu": activation_rows("leakyrelu"),
    "log": transform(lambda x: np.log2(x) * np.log(2.0), positive),
    "log1p": transform(lambda x: np.log(1.0 + x), positive),
    "log_softmax": [OpCase(log_softmax), OpCase(log_softmax, shape=(2, 3, 4)), OpCase(log_softmax, shape=(6,))],
    "lt": pairwise(lambda x, y: 1.0 * (x - y < 0), halves),
    "lte": pairwise(lambda x, y: 1.0 * (x - y <= 0), halves),
    "max": reduction(np.max),
    "max_pairwise": pairwise(lambda x, y: np.where(x > y, x, y)),
    "mean": reduction(lambda x, axis, keepdims: np.mean(x, axis=axis, keepdims=keepdims)),
    "min": reduction(lambda x, axis, keepdims: -np.max(-x, axis=axis, keepdims=keepdims)),
    "min_pairwise": pairwise(lambda x, y: np.where(x < y, x, y)),
    "mish": activation_rows("mish"),
    "mul": pairwise(lambda x, y: x * y),
    "neg": transform(lambda x: 0.0 - x),
    "neq": pairwise(lambda x, y: 1.0 * (x != y), halves),
    "norm1": reduction(lambda x, axis, keepdims: np.sum(np.abs(x), axis=axis, keepdims=keepdims)),
    "norm2": reduction(norm2),
    "normmax": reduction(lambda x, axis, keepdims: np.max(np.abs(x), axis=axis, keepdims=keepdims)),
    "oneminus": transform(lambda x: 1.0 - x),
    "pow": [*transform(lambda x: x * x), *transform(lambda x: np.exp(0.5 * np.log(x)), positive, exponent=0.5)],
    "pow_pairwise": pairwise(lambda x, y: np.exp(y * np.log(x)), positive),
    "prod": reduction(lambda x, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims)),
    "rationaltanh": activation_rows("rationaltanh"),
    "rdiv": pairwise(lambda x, y: y * (1.0 / x), nonzero),
    "reciprocal": transform(lambda x: x**-1.0, nonzero),
    "rectifiedtanh": activation_rows("rectifiedtanh"),
    "relu": activation_rows("relu"),
    "relu6": activation_rows("relu6"),
    "round": [*transform(half_away_from_zero), *transform(half_away_from_zero, halves)],
    "rrelu": activation_rows("rrelu"),
    "rsub": pairwise(lambda x, y: y - x),
    "selu": activation_rows("selu"),
    "sigmoid": activation_rows("sigmoid"),
    "sign": transform(lambda x: 1.0 * (x > 0) - 1.0 * (x < 0), halves),
    "sin": transform(lambda x: np.cos(x - np.pi / 2.0)),
    "softmax": activation_rows("softmax"),
    "softplus": activation_rows("softplus"),
    "softsign": activation_rows("softsign"),
    "sqrt": transform(lambda x: x**0.5, positive),
    "square": transform(lambda x: x * x),
    "std": [
        *reduction(lambda x, axis, keepdims: np.sqrt(variance(x, axis, keepdims))),
        *reduction(lambda x, axis, keepdims: np.std(x, axis=axis, keepdims=keepdims), bias_corrected=False),
    ],
    "step": [
        *transform(lambda x: 1.0 * (x > 0), halves),
        *transform(lambda x: 1.0 * (x > 0.5), halves, cutoff=0.5),
    ],
    "sub": pairwise(lambda x, y: x - y),
    "sum": reduction(lambda x, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims)),
    "swish": activation_rows("swish"),
    "tanh": activation_rows("tanh"),
    "thresholdedrelu": activation_rows("thresholdedrelu"),
    "timesoneminus": transform(lambda x: x - x * x),
    "var": [
        *reduction(variance),
        *reduction(lambda x, axis, keepdims: np.var(x, axis=axis, keepdims=keepdims), bias_corrected=False),
    ],
}

CASES |= ops_of_networks.cases(OpCase)

HAND = [
    ("imax", [[1.0, 3.0], [3.0, 2.0]], {}, 1),
    ("imax", [[1.0, 3.0], [3.0, 3.0]], {"dimension": 1}, [1, 0]),
    ("imin", [2.0, 1.0, 1.0], {}, 1),
    ("ismax", [[1.0, 3.0], [3.0, 2.0]], {}, [[0.0, 1.0], [0.0, 0.0]]),
    ("norm2", [3.0, 4.0], {}, 5.0),
    ("round", [0.5, 1.5, 2.5, -0.5, -2.5, 0.49, 8388609.0], {}, [1.0, 2.0, 3.0, -1.0, -3.0, 0.0, 8388609.0]),
    ("sign", [-3.0, 0.0, 2.0], {}, [-1.0, 0.0, 1.0]),
    ("softmax", [[0.0, math.log(3.0)]], {}, [[0.25, 0.75]]),
    ("std", [2.0, 4.0, 4.0, 6.0], {}, math.sqrt(8.0 / 3.0)),
    ("std", [2.0, 4.0, 4.0, 6.0], {"bias_corrected": False}, math.sqrt(2.0)),
    ("var", [[7.0]], {}, 0.0),
]
"""(name, x, parameters, z)."""


# ---- random ops: u(i) is the uniform number of position i, z(i, half, n) Box and Muller's normal number


def alpha_dropout(x, n, u, p):
    prime = -1.0507009873554805 * 1.6732632423543772
    a = (p + prime**2 * p * (1.0 - p)) ** -0.5
    b = -a * (1.0 - p) * prime
    return [a * (value if p >= u(i) else prime) + b for i, value in enumerate(x)]


def normals(n, u):
    """Return n standard normal numbers of the pairs (e, e + ceil(n / 2))."""
    half = math.ceil(n / 2)
    z = [0.0] * (2 * half)
    for e in range(half):
        r0, r1 = (1e-5 + u(i) * (1.0 - 1e-5) for i in (e, e + half))
        z[e] = math.sqrt(-2.0 * math.log(r0)) * math.cos(2.0 * math.pi * r1)
        z[e + half] = math.sqrt(-2.0 * math.log(r0)) * math.sin(2.0 * math.pi * r1)
    return z[:n]


def truncated_normals(n, u):
    z, half = normals(n, u), math.ceil(n / 2)
    for e in range(n):
        if abs(z[e]) > 2.0:
            r0, r1 = (1e-5 + u(i) * (1.0 - 1e-5) for i in (e, e + half))
            z[e] = math.sqrt(-2.0 * math.log(r0)) * math.cos(2.0 * math.pi * r1)
            z[e] = z[e] if abs(z[e]) <= 2.0 else 0.0
    return z


def inverted(x, n, u, p):
    return [0.0 if u(i) >= p else value / p for i, value in enumerate(x)]


RANDOM = {
    "alpha_dropout": ({"p": 0.7}, alpha_dropout),
    "distribution_bernoulli": ({"p": 0.3}, lambda x, n, u, p: [float(p >= u(i)) for i in range(n)]),
    "distribution_binomial": (
        {"trials": 4, "p": 0.3},
        lambda x, n, u, trials, p: [float(sum(u((i + 1) * t) < p for t in range(1, trials + 1))) for i in range(n)],
    ),
    "distribution_gaussian": (
        {"mean": 1.0, "std": 0.5},
        lambda x, n, u, mean, std: [z * std + mean for z in normals(n, u)],
    ),
    "distribution_lognormal": (
        {"mean": 0.5, "std": 0.25},
        lambda x, n, u, mean, std: [math.exp(z * std + mean) for z in normals(n, u)],
    ),
    "distribution_truncated": (
        {"mean": 1.0, "std": 0.5},
        lambda x, n, u, mean, std: [z * std + mean for z in truncated_normals(n, u)],
    ),
    "distribution_uniform": (
        {"low": -1.0, "high": 3.0},
        lambda x, n, u, low, high: [low + u(i) * (high - low) for i in range(n)],
    ),
    "dropout": ({"p": 0.7}, lambda x, n, u, p: [0.0 if u(i) >= p else value for i, value in enumerate(x)]),
    "dropout_inverted": ({"p": 0.7}, inverted),
    "legacy_dropout_inverted": ({"p": 0.7}, inverted),
    "probablistic_merge": (
        {"y": -3.0, "p": 0.7},
        lambda x, n, u, y, p: [value if u(i) <= p else y for i, value in enumerate(x)],
    ),
}
"""Name -> parameters and `oracle(x in c order, n, u, **parameters)`."""

ROWS = [(name, case) for name, cases in CASES.items() for case in cases]
IDS = [f"{name}-{number}" for name, cases in CASES.items() for number in range(len(cases))]
