"""One row for each activation: an oracle in float64 NumPy, kinks, hand-computed points, limits."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class ActivationCase:
    """`points`: (x, value, slope) by hand; `limits`: (value, slope) at -1e4 and at 1e4."""

    oracle: Any
    parameters: dict = field(default_factory=dict)
    kinks: tuple = ()
    points: tuple = ()
    limits: Any = None
    overwrites: bool = False


def softmax(x):
    """Softmax along the last axis."""
    powers = np.exp(x)
    return powers / powers.sum(axis=-1, keepdims=True)


def logistic(x):
    """1 / (1 + exp(-x)) by way of tanh."""
    return (1.0 + np.tanh(x / 2.0)) / 2.0


def rational_tanh(x):
    y = np.abs(2.0 * x / 3.0)
    return 1.7159 * np.sign(x) * (1.0 - 1.0 / (1.0 + y + y**2 + 1.41645 * y**4))


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1.0))


def precise_gelu(x):
    return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + (0.044715 * x) ** 3)))


HALF_LINE = ((0.0, 0.0), (1e4, 1.0))
SELU_FLOOR = -1.0507009873554805 * 1.6732632423543772

CASES = {
    "cube": [ActivationCase(lambda x: x * x * x, points=((-2.0, -8.0, 12.0), (0.5, 0.125, 0.75)))],
    "elu": [
        ActivationCase(
            lambda x: np.where(x >= 0, x, np.exp(x) - 1.0),
            points=((0.0, 0.0, 1.0), (2.0, 2.0, 1.0), (-1.0, -0.6321205588285577, 0.36787944117144233)),
            limits=((-1.0, 0.0), (1e4, 1.0)),
            overwrites=True,
        ),
        ActivationCase(
            lambda x: np.where(x >= 0, x, 0.5 * (np.exp(x) - 1.0)),
            {"alpha": 0.5},
            kinks=(0.0,),
            points=((-1.0, -0.31606027941427883, 0.18393972058572117),),
            overwrites=True,
        ),
        ActivationCase(lambda x: np.where(x >= 0, x, -2.0 * (np.exp(x) - 1.0)), {"alpha": -2.0}, kinks=(0.0,)),
    ],
    "gelu": [
        ActivationCase(
            lambda x: x * logistic(1.702 * x),
            points=((0.0, 0.0, 0.5), (1.0, 0.845795765, 1.0677796)),
            limits=HALF_LINE,
        ),
        ActivationCase(
            precise_gelu, {"precise": True}, points=((0.0, 0.0, 0.5), (1.0, 0.83144623, 1.05514272)), limits=HALF_LINE
        ),
    ],
    "hardsigmoid": [
        ActivationCase(
            lambda x: np.clip(0.2 * x + 0.5, 0.0, 1.0),
            kinks=(-2.5, 2.5),
            points=((-2.5, 0.0, 0.2), (2.5, 1.0, 0.2), (-3.0, 0.0, 0.0), (3.0, 1.0, 0.0), (1.0, 0.7, 0.2)),
            limits=((0.0, 0.0), (1.0, 0.0)),
        )
    ],
    "hardtanh": [
        ActivationCase(
            lambda x: np.clip(x, -1.0, 1.0),
            kinks=(-1.0, 1.0),
            points=((-1.0, -1.0, 1.0), (1.0, 1.0, 1.0), (1.5, 1.0, 0.0)),
            limits=((-1.0, 0.0), (1.0, 0.0)),
        )
    ],
    "identity": [
        ActivationCase(lambda x: x, points=((-3.0, -3.0, 1.0),), limits=((-1e4, 1.0), (1e4, 1.0)), overwrites=True)
    ],
    "leakyrelu": [
        ActivationCase(
            lambda x: np.maximum(x, 0.01 * x),
            kinks=(0.0,),
            points=((0.0, 0.0, 1.0), (-2.0, -0.02, 0.01), (2.0, 2.0, 1.0)),
            limits=((-100.0, 0.01), (1e4, 1.0)),
            overwrites=True,
        ),
        ActivationCase(lambda x: np.where(x < 0, -0.5 * x, x), {"alpha": -0.5}, kinks=(0.0,)),
        ActivationCase(lambda x: np.where(x < 0, 3.0 * x, x), {"alpha": 3.0}, kinks=(0.0,), overwrites=True),
    ],
    "mish": [
        ActivationCase(
            lambda x: x * np.tanh(np.log1p(np.exp(x))),
            points=((0.0, 0.0, 0.6), (1.0, 0.865098388, 1.04903628)),
            limits=HALF_LINE,
        )
    ],
    "rationaltanh": [
        ActivationCase(
            rational_tanh,
            kinks=(0.0,),
            points=(
                (0.0, 0.0, 1.7159 * 2.0 / 3.0),
                (1.5, 1.7159 * (1.0 - 1.0 / 4.41645), 1.7159 * 2.0 / 3.0 * 8.6658 / 4.41645**2),
            ),
            limits=((-1.7159, 0.0), (1.7159, 0.0)),
        )
    ],
    "rectifiedtanh": [
        ActivationCase(
            lambda x: np.where(x > 0, np.tanh(x), 0.0),
            kinks=(0.0,),
            points=((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (1.0, 0.7615941559557649, 0.41997434161402614)),
            limits=((0.0, 0.0), (1.0, 0.0)),
            overwrites=True,
        )
    ],
    "relu": [
        ActivationCase(
            lambda x: np.where(x > 0, x, 0.0),
            kinks=(0.0,),
            points=((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (3.0, 3.0, 1.0)),
            limits=HALF_LINE,
            overwrites=True,
        ),
        ActivationCase(
            lambda x: np.clip(x, 0.0, 1.5),
            {"max": 1.5},
            kinks=(0.0, 1.5),
            points=((1.5, 1.5, 0.0), (1.0, 1.0, 1.0), (-1.0, 0.0, 0.0)),
        ),
        ActivationCase(
            lambda x: np.where(x >= 0.5, x, 0.0),
            {"threshold": 0.5},
            kinks=(0.5,),
            points=((0.5, 0.5, 1.0), (0.0, 0.0, 0.0), (0.75, 0.75, 1.0)),
        ),
        ActivationCase(
            lambda x: np.where(x < 0, 0.1 * x, x),
            {"negative_slope": 0.1},
            kinks=(0.0,),
            points=((-2.0, -0.2, 0.1), (0.0, 0.0, 1.0)),
        ),
        ActivationCase(
            lambda x: np.minimum(np.where(x < 0.5, 0.1 * (x - 0.5), x), 1.5),
            {"max": 1.5, "threshold": 0.5, "negative_slope": 0.1},
            kinks=(0.5, 1.5),
            points=((-0.5, -0.1, 0.1), (1.0, 1.0, 1.0), (2.0, 1.5, 0.0)),
        ),
    ],
    "relu6": [
        ActivationCase(
            lambda x: np.clip(x, 0.0, 6.0),
            kinks=(0.0, 6.0),
            points=((0.0, 0.0, 0.0), (6.0, 6.0, 0.0), (3.0, 3.0, 1.0), (7.0, 6.0, 0.0)),
            limits=((0.0, 0.0), (6.0, 0.0)),
            overwrites=True,
        )
    ],
    "rrelu": [
        ActivationCase(
            lambda x: np.maximum(x, 11.0 / 48.0),
            kinks=(11.0 / 48.0,),
            points=((0.0, 11.0 / 48.0, 0.0), (-4.8, 11.0 / 48.0, 0.0), (2.0, 2.0, 1.0)),
        ),
        ActivationCase(lambda x: np.maximum(x, 0.75), {"l": 0.5, "u": 1.0}, kinks=(0.75,), points=((-4.0, 0.75, 0.0),)),
    ],
    "selu": [
        ActivationCase(
            selu,
            kinks=(0.0,),
            points=((1.0, 1.0507009873554805, 1.0507009873554805), (0.0, 0.0, -SELU_FLOOR)),
            limits=((SELU_FLOOR, 0.0), (10507.009873554805, 1.0507009873554805)),
            overwrites=True,
        )
    ],
    "sigmoid": [
        ActivationCase(
            logistic,
            points=((0.0, 0.5, 0.25), (1.0, 0.7310585786300049, 0.19661193324148185)),
            limits=((0.0, 0.0), (1.0, 0.0)),
            overwrites=True,
        )
    ],
    "softmax": [ActivationCase(softmax, overwrites=True)],
    "softplus": [
        ActivationCase(
            lambda x: np.logaddexp(0.0, x), points=((0.0, 0.6931471805599453, 0.5),), limits=HALF_LINE, overwrites=True
        )
    ],
    "softsign": [
        ActivationCase(
            lambda x: np.where(x > 0, 1.0 - 1.0 / (1.0 + np.abs(x)), 1.0 / (1.0 + np.abs(x)) - 1.0),
            points=((0.0, 0.0, 1.0), (1.0, 0.5, 0.25), (-3.0, -0.75, 0.0625)),
            limits=((-0.9999000099990001, 0.0), (0.9999000099990001, 0.0)),
        )
    ],
    "swish": [
        ActivationCase(
            lambda x: x * logistic(x), points=((0.0, 0.0, 0.5), (1.0, 0.731058579, 0.927670512)), limits=HALF_LINE
        )
    ],
    "tanh": [
        ActivationCase(
            lambda x: 1.0 - 2.0 / (np.exp(2.0 * x) + 1.0),
            points=((0.0, 0.0, 1.0), (1.0, 0.7615941559557649, 0.41997434161402614)),
            limits=((-1.0, 0.0), (1.0, 0.0)),
            overwrites=True,
        )
    ],
    "thresholdedrelu": [
        ActivationCase(
            lambda x: np.where(x > 1.0, x, 0.0),
            kinks=(1.0,),
            points=((1.0, 0.0, 0.0), (1.25, 1.25, 1.0), (0.5, 0.0, 0.0)),
            limits=HALF_LINE,
        ),
        ActivationCase(
            lambda x: np.where(x > -0.5, x, 0.0), {"theta": -0.5}, kinks=(-0.5,), points=((-0.25, -0.25, 1.0),)
        ),
    ],
}

ROWS = [
    (name, case, f"{name}{'-'.join(['', *map(str, case.parameters)])}")
    for name, cases in CASES.items()
    for case in cases
]


def numeric_gradient(function, x, step=1e-3):
    """Central differences of fourth order of a function ``array -> number``, in float64."""
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        moved = [x.copy() for _ in range(4)]
        for copy, steps in zip(moved, (1, -1, 2, -2), strict=True):
            copy[index] += steps * step
        near, near_left, far, far_left = (function(copy) for copy in moved)
        gradient[index] = (8.0 * (near - near_left) - (far - far_left)) / (12.0 * step)
    return gradient


def away_from(x, kinks):
    """Move the elements of x that lie on a kink or too near to it."""
    for kink in kinks:
        x = np.where(np.abs(x - kink) < 1e-2, kink + 0.05, x)
    return x
