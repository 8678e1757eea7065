"""Sums over everything but the channels, for normalisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backends.typing import Array


class ChannelSums:
    """Mixin of `Backend`. Activations are ``[N, C, ...]``."""

    permute: Callable[[Array, Sequence[int]], Array]
    reshape: Callable[[Array, Sequence[int]], Array]
    multiply: Callable[..., Array]
    sum: Callable[..., Array]

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
