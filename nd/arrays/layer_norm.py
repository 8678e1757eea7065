"""Layer normalisation: rows to mean 0 and variance 1, and errors back through that."""

from __future__ import annotations

from nd.typing import Array

from .arithmetic import divide, mean, muli, multiply, sqrt, square, subi, subtract, where


def normalize_rows(x: Array, out: Array) -> Array:
    """Write rows ``x [N, n]`` with mean 0 and variance 1 into `out`; return 1 / standard deviation ``[N, 1]``.

    Rows of equal numbers become zeros, and their 1 / standard deviation is 0. There is no epsilon, as in Java.
    """
    subtract(x, mean(x, 1, keepdims=True), out)
    variance = mean(square(out), 1, keepdims=True)
    inverse = where(variance > 0, divide(1.0, sqrt(where(variance > 0, variance, 1.0))), 0.0)
    muli(out, inverse)
    return inverse


def normalize_rows_back(delta: Array, normal: Array, inverse: Array) -> Array:
    """Turn errors of normalised rows ``[N, n]`` into those of the rows, in their memory; `normal` is used up."""
    along = mean(multiply(delta, normal), 1, keepdims=True)
    subi(delta, mean(delta, 1, keepdims=True))
    subi(delta, multiply(normal, along, normal))
    return muli(delta, inverse)
