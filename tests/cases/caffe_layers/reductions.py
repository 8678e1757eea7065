"""Rows for Reduction, Eltwise and ArgMax."""

import functools
import operator

import numpy as np

from .base import CaffeCase

THREE = ((4, 3, 2),) * 3


def reduction(function, axis, coeff=1.0):
    """Return an oracle that goes from row to row."""

    def oracle(xs, params):
        x = xs[0]
        rows = x.reshape((*x.shape[:axis], -1))
        return [coeff * np.apply_along_axis(lambda row: function(row.tolist()), axis, rows)]

    return oracle


def reduced(variant, operation, function, axis, rest="", coeff=1.0, **more):
    text = f"reduction_param {{ operation: {operation} axis: {axis} {rest} }}"
    from_start = axis % 4
    return CaffeCase(variant, text, ((4, 3, 2, 5),), reduction(function, from_start, coeff), **more)


def squares(row):
    return sum(value * value for value in row)


def magnitudes(row):
    return sum(map(abs, row))


def average(row):
    return sum(row) / len(row)


def largest_places(values, k):
    """Return the places of the k largest, of equal ones the one behind first."""
    return sorted(range(len(values)), key=lambda place: (values[place], place), reverse=True)[:k]


def argmax(axis=None, k=1, values=False):
    def oracle(xs, params):
        x = xs[0]
        if axis is not None:

            def choose(row):
                return [row[place] if values else place for place in largest_places(row.tolist(), k)]

            return [np.apply_along_axis(choose, axis, x).astype(float)]
        rows = [row.ravel().tolist() for row in x]
        places = [largest_places(row, k) for row in rows]
        tops = [
            [own, [row[place] for place in own]] if values else [own] for row, own in zip(rows, places, strict=True)
        ]
        top = np.array(tops, float)
        return [top.reshape(*top.shape, *[1] * (x.ndim - 3))]

    return oracle


def whole_numbers(shape):
    """Return a drawing with many equal numbers."""
    return lambda rng: [rng.integers(-2, 3, shape)]


def chosen(variant, text, oracle, shape=(4, 3, 2, 3), **more):
    return CaffeCase(variant, text, (shape,), oracle, numbers=whole_numbers(shape), differentiable=(), **more)


def far_from_zero(rng):
    return [rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape) for shape in THREE]


CASES = {
    "ArgMax": [
        chosen("an example", "", argmax()),
        chosen("three with numbers", "argmax_param { top_k: 3 out_max_val: true }", argmax(k=3, values=True)),
        chosen("rows", "argmax_param { top_k: 2 }", argmax(k=2), (5, 4)),
        chosen("all of a row", "argmax_param { top_k: 4 out_max_val: true }", argmax(k=4, values=True), (5, 4)),
        chosen("channels", "argmax_param { axis: 1 top_k: 2 }", argmax(1, 2)),
        chosen("numbers of the last axis", "argmax_param { axis: -1 out_max_val: true }", argmax(3, 1, True)),
        chosen("examples", "argmax_param { axis: 0 }", argmax(0), splits=False),
        CaffeCase(
            "least numbers",
            "argmax_param { top_k: 3 }",
            (),
            lambda xs, params: [np.array([[[1.0, 3.0, 2.0]], [[3.0, 2.0, 1.0]]])],
            numbers=lambda rng: [[[-np.inf, 1.0, -np.inf, -np.inf], [-np.inf] * 4]],
            differentiable=(),
        ),
    ],
    "Eltwise": [
        CaffeCase("sum", "", THREE, lambda xs, params: [functools.reduce(operator.add, xs)]),
        CaffeCase(
            "coefficients",
            "eltwise_param { coeff: -1 coeff: 1 coeff: 0.5 }",
            THREE,
            lambda xs, params: [xs[1] - xs[0] + xs[2] / 2.0],
        ),
        CaffeCase("product", "eltwise_param { operation: PROD }", THREE, lambda xs, params: [xs[0] * xs[1] * xs[2]]),
        CaffeCase("product of two", "eltwise_param { operation: PROD }", THREE[:2], lambda xs, params: [xs[0] * xs[1]]),
        CaffeCase(
            "product, by division",
            "eltwise_param { operation: PROD stable_prod_grad: false }",
            THREE,
            lambda xs, params: [xs[0] * xs[1] * xs[2]],
            numbers=far_from_zero,
        ),
        CaffeCase(
            "maximum", "eltwise_param { operation: MAX }", THREE, lambda xs, params: [np.max(np.stack(xs), axis=0)]
        ),
        CaffeCase(
            "maximum, one without gradient",
            "eltwise_param { operation: MAX }",
            THREE,
            lambda xs, params: [np.max(np.stack(xs), axis=0)],
            differentiable=(True, False, True),
        ),
    ],
    "Reduction": [
        reduced("sum", "SUM", sum, 1),
        reduced("sum, coefficient", "SUM", sum, 2, "coeff: -0.5", -0.5),
        reduced("magnitudes", "ASUM", magnitudes, 1),
        reduced("squares", "SUMSQ", squares, -1, "coeff: 2", 2.0),
        reduced("mean", "MEAN", average, -2),
        reduced("everything", "MEAN", average, 0, "coeff: 3", 3.0, splits=False),
    ],
}
