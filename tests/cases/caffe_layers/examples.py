"""Rows for BatchReindex and Filter."""

import numpy as np

from .base import CaffeCase

FIRST = (True, False)


def reindexed(xs, params):
    x, numbers = xs
    return [np.stack([x[int(number)] for number in numbers])]


CASES = {
    "BatchReindex": [
        CaffeCase(
            "some twice",
            "",
            (),
            reindexed,
            numbers=lambda rng: [rng.normal(size=(4, 3, 2)), [3.0, 0.0, 3.0, 1.0, 3.0]],
            differentiable=FIRST,
            splits=False,
        ),
        CaffeCase(
            "numbers alone",
            "",
            (),
            reindexed,
            numbers=lambda rng: [rng.normal(size=4), [1.0, 1.0]],
            differentiable=FIRST,
            splits=False,
        ),
    ],
    "Filter": [
        CaffeCase(
            "all examples",
            "",
            (),
            lambda xs, params: xs[:2],
            tops=2,
            numbers=lambda rng: [rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 2)), [1.0, -2.0, 0.5]],
            differentiable=(True, True, False),
            splits=False,
        ),
        CaffeCase(
            "a top without a gradient",
            "",
            (),
            lambda xs, params: xs[:2],
            tops=2,
            numbers=lambda rng: [rng.normal(size=(3, 2)), rng.normal(size=(3, 4)), np.ones((3, 1, 1))],
            differentiable=(True, True, False),
            top_gradients=(False, True),
            splits=False,
        ),
    ],
}
