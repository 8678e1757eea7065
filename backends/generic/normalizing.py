"""What normalisations need: sums over everything but the channels, and rows to mean 0 and variance 1 and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backends.typing import Array


class Normalizing:
    """Mixin of `Backend`. Activations are ``[N, C, ...]``."""

    permute: Callable[[Array, Sequence[int]], Array]
    reshape: Callable[[Array, Sequence[int]], Array]
    multiply: Callable[..., Array]
    subtract: Callable[..., Array]
    divide: Callable[..., Array]
    square: Callable[..., Array]
    sqrt: Callable[..., Array]
    where: Callable[..., Array]
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
