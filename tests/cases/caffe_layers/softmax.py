"""Rows for Softmax: exponentials by their sum, without what keeps them small."""

import numpy as np

from .base import CaffeCase


def softmax(x, axis):
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def case(variant, text, shape, axis, splits=True):
    return CaffeCase(variant, text, (shape,), lambda xs, params: [softmax(xs[0], axis)], splits=splits)


CASES = {
    "Softmax": [
        case("rows", "", (4, 5), 1),
        case("channels of images", "", (2, 3, 2, 4), 1),
        case("the last axis", "softmax_param { axis: -1 }", (2, 3, 2, 4), 3),
        case("examples", "softmax_param { axis: 0 }", (4, 3), 0, splits=False),
    ],
}
