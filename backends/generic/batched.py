"""Products of many matrices at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.typing import Array


class BatchedProducts:
    """Mixin of `Backend`."""

    xp: Any
    stored: Callable[..., Array]
    gemm: Callable[..., Array]
    add: Callable[..., Array]

    def batched_matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """Return the products of the matrices ``a [B, M, K]`` and ``b [B, K, N]``, in `out` when given."""
        return self.stored(self.xp.matmul(a, b), out)

    def products_with(self, a: Array, b: Array, out: Array) -> Array:
        """Write the products of ``a [M, K]`` with each of the matrices ``b [B, K, N]`` into ``out [B, M, N]``."""
        for number in range(b.shape[0]):
            self.gemm(a, b[number, ...], out[number, ...], 1.0, 0.0)
        return out

    def sum_of_products(self, a: Array, b: Array, out: Array, scratch: Array) -> Array:
        """Write the sum of the products of ``a [B, M, K]`` and ``b [B, K, N]`` into ``out [M, N]``.

        `scratch` is ``[B, M, N]``.
        """
        self.gemm(a[0, ...], b[0, ...], out, 1.0, 0.0)
        for number in range(1, b.shape[0]):
            product = self.gemm(a[number, ...], b[number, ...], scratch[number, ...], 1.0, 0.0)
            self.add(out, product, out)
        return out
