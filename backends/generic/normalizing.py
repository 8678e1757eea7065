"""What normalisations need: sums over everything but the channels, and rows to mean 0 and variance 1 and back.

Activations are ``[N, C, ...]``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import Buffers, ErrorSums, Lrn, Moments, Normalization, NormalizationBack
from .spatial import rows_of_channels

if TYPE_CHECKING:
    from ..base import Backend


def channel_sums(backend: Backend, x: Array, y: Array | None = None) -> Array:
    """Return the sum over every channel of x, or of x * y, as ``[1, C]``."""
    rows = rows_of_channels(backend, x)
    sums = backend.sum(rows, 1) if y is None else backend.row_products(rows, rows_of_channels(backend, y))
    return backend.reshape(sums, (1, x.shape[1]))


def row_products(backend: Backend, x: Array, y: Array) -> Array:
    """Return the scalar product of every row of x with that of y, ``[rows]``."""
    return backend.sum(backend.multiply(x, y), 1)


# ---- batch normalisation: see nd.arrays.batch_norm


def for_channels(backend: Backend, x: Array, buffers: Buffers, like: Array | None = None) -> Array:
    """Return x, or its copy, in an order that these functions take; that of `like`, which has been returned."""
    ordered = "input" if like is None else "ordered"
    return backend.to_activation_order(x, lambda _, shape: buffers(ordered, shape))


def channel_moments(backend: Backend, given: Moments[Array]) -> Array | None:
    """Write mean and sum of squared deviations ``[2, C]``; return x less the mean, None where it is not kept."""
    x, out, buffers = given
    count = x.shape[0] * math.prod(x.shape[2:])
    backend.assign(out[0:1, ...], backend.divide(backend.channel_sums(x), count))
    centered = _centred(backend, x, out[0:1, ...], buffers)
    backend.assign(out[1:2, ...], backend.channel_sums(centered, centered))
    return centered


def normalize_channels(backend: Backend, given: Normalization[Array]) -> Array:
    """Return ``(x - mean) * factor + shift`` in the memory "a"."""
    x, centered, (mean, factor, shift), buffers, rectify = given
    out = buffers("a", tuple(x.shape))
    if centered is None:
        centered = backend.subtract(x, over_channels(backend, mean, x), out)
    backend.multiply(centered, over_channels(backend, factor, x), out)
    backend.add(out, shift if isinstance(shift, float) else over_channels(backend, shift, x), out)
    return backend.relu(out, out) if rectify else out


def channel_error_sums(backend: Backend, given: ErrorSums[Array]) -> Array | None:
    """Write the sums of epsilon and of ``epsilon * (x - mean)``, ``[2, C]``; return x less the mean, or None."""
    epsilon, x, centered, mean, out, buffers, rectified = given
    if rectified is not None:
        backend.assign(epsilon, backend.where(rectified > 0.0, epsilon, 0.0))
    if centered is None:
        centered = _centred(backend, x, mean, buffers)
    backend.assign(out[0:1, ...], backend.channel_sums(epsilon))
    backend.assign(out[1:2, ...], backend.channel_sums(epsilon, centered))
    return centered


def normalize_channels_back(backend: Backend, given: NormalizationBack[Array]) -> Array:
    """Return ``epsilon * factor - (x - mean) * slope - shift``."""
    epsilon, x, centered, (mean, *others), buffers = given
    factor, slope, shift = (over_channels(backend, vector, x) for vector in others)
    if centered is None:
        centered = _centred(backend, x, mean, buffers)
    backend.multiply(epsilon, factor, epsilon)
    backend.subtract(epsilon, backend.multiply(centered, slope, centered), epsilon)
    return backend.subtract(epsilon, shift, epsilon)


def _centred(backend: Backend, x: Array, mean: Array, buffers: Buffers) -> Array:
    return backend.subtract(x, over_channels(backend, mean, x), buffers("centered", tuple(x.shape)))


def over_channels(backend: Backend, vector: Array, x: Array) -> Array:
    """View ``[1, C]`` so that it broadcasts to ``x [N, C, ...]``."""
    return backend.reshape_view(vector, (1, x.shape[1], *(1,) * (x.ndim - 2)))


# ---- neighbouring channels


def lrn(backend: Backend, given: Lrn[Array]) -> tuple[Array, object] | None:
    """Return ``x / (k + alpha * sum of x^2 over the n channels around)^beta`` and a cache for `lrn_back`.

    None where a backend has no way of its own to do so.
    """
    return None


def lrn_back(backend: Backend, epsilon: Array, saved: object, buffers: Buffers) -> Array:
    """Return dL/dx from the cache that `lrn` has returned."""
    raise NotImplementedError


# ---- rows


def normalize_rows(backend: Backend, x: Array, out: Array, inverse: Array) -> Array:
    """Write rows ``x [N, n]`` with mean 0 and variance 1 into `out`, 1 / deviation into ``inverse [N, 1]``.

    Rows of equal numbers become zeros, and so does their 1 / deviation.
    """
    backend.subtract(x, backend.mean(x, 1, True), out)
    variance = backend.mean(backend.square(out), 1, True)
    varies = variance > 0
    deviation = backend.sqrt(backend.where(varies, variance, 1.0))
    backend.assign(inverse, backend.where(varies, backend.divide(1.0, deviation), 0.0))
    return backend.multiply(out, inverse, out)


def normalize_rows_back(backend: Backend, delta: Array, normal: Array, inverse: Array, scratch: Array) -> Array:
    """Turn errors of normalised rows ``[N, n]`` into those of the rows, in their memory.

    `scratch` is of their shape and may be `normal`, which is used up then.
    """
    along = backend.mean(backend.multiply(delta, normal), 1, True)
    backend.subtract(delta, backend.mean(delta, 1, True), delta)
    backend.subtract(delta, backend.multiply(normal, along, scratch), delta)
    return backend.multiply(delta, inverse, delta)
