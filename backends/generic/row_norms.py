"""Layer normalisation: rows to mean 0 and variance 1, and errors back through that."""

from __future__ import annotations

from collections.abc import Callable

from backends.typing import Array


class RowNorms:
    """Mixin of `Backend`."""

    mean: Callable[..., Array]
    assign: Callable[..., Array]
    subtract: Callable[..., Array]
    multiply: Callable[..., Array]
    divide: Callable[..., Array]
    square: Callable[..., Array]
    sqrt: Callable[..., Array]
    where: Callable[..., Array]

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
