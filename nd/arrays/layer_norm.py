"""Layer normalisation: rows to mean 0 and variance 1, and errors back through that."""

from __future__ import annotations

from nd.typing import Array

from ..state import state


def normalize_rows(x: Array, out: Array, inverse: Array) -> Array:
    """Write rows ``x [N, n]`` with mean 0 and variance 1 into `out`, 1 / deviation into ``inverse [N, 1]``.

    Rows of equal numbers become zeros, and so does their 1 / deviation. There is no epsilon, as in Java.
    """
    return state.backend.normalize_rows(x, out, inverse)


def normalize_rows_back(delta: Array, normal: Array, inverse: Array, scratch: Array) -> Array:
    """Turn errors of normalised rows ``[N, n]`` into those of the rows, in their memory.

    `scratch` is of their shape and may be `normal`, which is used up then.
    """
    return state.backend.normalize_rows_back(delta, normal, inverse, scratch)
