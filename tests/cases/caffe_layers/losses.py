"""Rows for losses of two bottoms of one shape."""

import numpy as np

from .base import CaffeCase


def half_squares(xs, params):
    a, b = xs
    return [np.array(sum((x - y) ** 2 for x, y in zip(a.ravel(), b.ravel(), strict=True)) / len(a) / 2.0)]


CASES = {
    "EuclideanLoss": [
        CaffeCase("rows", "", ((4, 3), (4, 3)), half_squares, parts_add_up=True),
        CaffeCase("as many elements", "", ((4, 3, 2), (4, 6)), half_squares, parts_add_up=True),
        CaffeCase("images", "", ((3, 2, 3, 2), (3, 2, 3, 2)), half_squares, parts_add_up=True),
    ],
}
