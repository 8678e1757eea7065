"""What normalisations need: sums over everything but the channels, and rows to mean 0 and variance 1 and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from backends.typing import Array

Buffers = Callable[..., Array]


class Normalizing:
    """Mixin of `Backend`. Activations are ``[N, C, ...]``."""

    to_activation_order: Callable[[Array, Callable[..., Array]], Array]
    permute: Callable[[Array, Sequence[int]], Array]
    reshape: Callable[[Array, Sequence[int]], Array]
    reshape_view: Callable[[Array, Sequence[int]], Array]
    add: Callable[..., Array]
    multiply: Callable[..., Array]
    subtract: Callable[..., Array]
    divide: Callable[..., Array]
    square: Callable[..., Array]
    sqrt: Callable[..., Array]
    where: Callable[..., Array]
    relu: Callable[..., Array]
    assign: Callable[..., Array]
    sum: Callable[..., Array]
    mean: Callable[..., Array]

    def channel_sums(self, x: Array, y: Array | None = None) -> Array:
        """Return the sum over every channel of x, or of x * y, as ``[1, C]``."""
        rows = self.channel_rows(x)
        sums = self.sum(rows, 1) if y is None else self.row_products(rows, self.channel_rows(y))
        return self.reshape(sums, (1, x.shape[1]))

    def channel_rows(self, x: Array) -> Array:
        """Return ``[N, C, ...]`` as a matrix ``[C, ... * N]``; a view where the batch is innermost in memory."""
        return self.reshape(self.permute(x, (*range(1, x.ndim), 0)), (x.shape[1], -1))

    def row_products(self, x: Array, y: Array) -> Array:
        """Return the scalar product of every row of x with that of y, ``[rows]``."""
        return self.sum(self.multiply(x, y), 1)

    # ---- batch normalisation: see nd.arrays.batch_norm

    def for_channels(self, x: Array, buffers: Buffers, like: Array | None = None) -> Array:
        """Return x, or its copy, in an order that these functions take; that of `like`, which has been returned."""
        ordered = "input" if like is None else "ordered"
        return self.to_activation_order(x, lambda _, shape: buffers(ordered, shape))

    def channel_moments(self, x: Array, out: Array, buffers: Buffers) -> Array | None:
        """Write mean and sum of squared deviations ``[2, C]``; return x less the mean, None where it is not kept."""
        count = x.shape[0] * math.prod(x.shape[2:])
        self.assign(out[0:1, ...], self.divide(self.channel_sums(x), count))
        centered = self._centred(x, out[0:1, ...], buffers)
        self.assign(out[1:2, ...], self.channel_sums(centered, centered))
        return centered

    def normalize_channels(
        self,
        x: Array,
        centered: Array | None,
        vectors: tuple[Array, Array, Any],
        buffers: Buffers,
        rectify: bool = False,
    ) -> Array:
        """Return ``(x - mean) * factor + shift`` in the memory "a"; vectors: ``[1, C]`` each, shift may be a number."""
        out, (mean, factor, shift) = buffers("a", tuple(x.shape)), vectors
        if centered is None:
            centered = self.subtract(x, self.over_channels(mean, x), out)
        self.multiply(centered, self.over_channels(factor, x), out)
        self.add(out, shift if isinstance(shift, float) else self.over_channels(shift, x), out)
        return self.relu(out, out) if rectify else out

    def channel_error_sums(
        self,
        epsilon: Array,
        x: Array,
        centered: Array | None,
        mean: Array,
        out: Array,
        buffers: Buffers,
        rectified: Array | None = None,
    ) -> Array | None:
        """Write the sums of epsilon and of ``epsilon * (x - mean)``, ``[2, C]``; return x less the mean, or None."""
        if rectified is not None:
            self.assign(epsilon, self.where(rectified > 0.0, epsilon, 0.0))
        if centered is None:
            centered = self._centred(x, mean, buffers)
        self.assign(out[0:1, ...], self.channel_sums(epsilon))
        self.assign(out[1:2, ...], self.channel_sums(epsilon, centered))
        return centered

    def normalize_channels_back(
        self,
        epsilon: Array,
        x: Array,
        centered: Array | None,
        vectors: tuple[Array, Array, Array, Array],
        buffers: Buffers,
    ) -> Array:
        """Return ``epsilon * factor - (x - mean) * slope - shift``; vectors: mean, factor, slope, shift ``[1, C]``."""
        mean, *others = vectors
        factor, slope, shift = (self.over_channels(vector, x) for vector in others)
        if centered is None:
            centered = self._centred(x, mean, buffers)
        self.multiply(epsilon, factor, epsilon)
        self.subtract(epsilon, self.multiply(centered, slope, centered), epsilon)
        return self.subtract(epsilon, shift, epsilon)

    def _centred(self, x: Array, mean: Array, buffers: Buffers) -> Array:
        return self.subtract(x, self.over_channels(mean, x), buffers("centered", tuple(x.shape)))

    def over_channels(self, vector: Array, x: Array) -> Array:
        """View ``[1, C]`` so that it broadcasts to ``x [N, C, ...]``."""
        return self.reshape_view(vector, (1, x.shape[1], *(1,) * (x.ndim - 2)))

    # ---- neighbouring channels

    def lrn(self, x: Array, n: int, k: float, alpha: float, beta: float, buffers: Callable[..., Array]) -> Any:
        """Return ``x / (k + alpha * sum of x^2 over the n channels around)^beta`` and a cache for `lrn_back`.

        None where a backend has no way of its own to do so.
        """
        return None

    def lrn_back(self, epsilon: Array, saved: Any, buffers: Callable[..., Array]) -> Array:
        """Return dL/dx from the cache that `lrn` has returned."""
        raise NotImplementedError

    # ---- rows

    def normalize_rows(self, x: Array, out: Array, inverse: Array) -> Array:
        """Write rows ``x [N, n]`` with mean 0 and variance 1 into `out`, 1 / deviation into ``inverse [N, 1]``.

        Rows of equal numbers become zeros, and so does their 1 / deviation.
        """
        self.subtract(x, self.mean(x, 1, True), out)
        variance = self.mean(self.square(out), 1, True)
        varies = variance > 0
        self.assign(inverse, self.where(varies, self.divide(1.0, self.sqrt(self.where(varies, variance, 1.0))), 0.0))
        return self.multiply(out, inverse, out)

    def normalize_rows_back(self, delta: Array, normal: Array, inverse: Array, scratch: Array) -> Array:
        """Turn errors of normalised rows ``[N, n]`` into those of the rows, in their memory.

        `scratch` is of their shape and may be `normal`, which is used up then.
        """
        along = self.mean(self.multiply(delta, normal), 1, True)
        self.subtract(delta, self.mean(delta, 1, True), delta)
        self.subtract(delta, self.multiply(normal, along, scratch), delta)
        return self.multiply(delta, inverse, delta)
