"""Products of many matrices at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from backends.typing import Array


class BatchedProducts:
    """Mixin of `Backend`.

    Attributes
    ----------
    joins_products : bool
        Whether products with matrices whose rows lie side by side in memory are one.
    """

    xp: Any
    stored: Callable[..., Array]
    gemm: Callable[..., Array]
    add: Callable[..., Array]
    affine_gradients: Callable[..., None]
    joins_products: ClassVar[bool] = False

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

        `scratch` has room for all products, ``[B, M, N]``, or for one, ``[1, M, N]``.
        """
        self.gemm(a[0, ...], b[0, ...], out, 1.0, 0.0)
        for number in range(1, b.shape[0]):
            product = self.gemm(a[number, ...], b[number, ...], scratch[0, ...], 1.0, 0.0)
            self.add(out, product, out)
        return out

    def gradients_of_products(self, x: Array, deltas: Array, W_gradients: Array, b_gradients: Array | None) -> None:
        """Write the gradients ``[B, C, H]`` of the matrices that x was multiplied by, and ``[B, 1, H]`` of biases.

        `deltas` are dL/d(product) ``[B, N, H]``.
        """
        for number in range(deltas.shape[0]):
            b_gradient = None if b_gradients is None else b_gradients[number, 0, :]
            self.affine_gradients(x, deltas[number, ...], W_gradients[number, ...], b_gradient)
