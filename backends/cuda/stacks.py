"""Products of stacks of matrices: one product where the matrices lie side by side in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from backends.typing import Array, CupyArray

from ..base import Backend
from .products import Products


class Stacks(Backend):
    """Mixin of `CupyBackend`."""

    cupy: Any
    products: Products
    prefers_own: Callable[[Array, Array], bool]
    joins_products: ClassVar[bool] = True

    def batched_matmul(self, a: CupyArray, b: CupyArray, out: CupyArray | None = None) -> Array:
        if a.dtype != b.dtype or not self.prefers_own(a, b):
            return super().batched_matmul(a, b, out)
        result = self.empty((*a.shape[:2], b.shape[2]), self.dtype_name(a)) if out is None else out
        return self.products.run_stacks(a, b, result)

    def products_with(self, a: CupyArray, b: CupyArray, out: CupyArray) -> Array:
        wide, wide_out = self._side_by_side(b), self._side_by_side(out)
        if wide is None or wide_out is None:
            return self.batched_matmul(self.cupy.broadcast_to(a, (b.shape[0], *a.shape)), b, out)
        self.gemm(a, wide, wide_out, 1.0, 0.0)
        return out

    def sum_of_products(self, a: CupyArray, b: CupyArray, out: CupyArray, scratch: CupyArray) -> Array:
        wide, high = self._side_by_side(a), self._side_by_side(b.transpose((0, 2, 1)))
        if wide is None or high is None:
            return super().sum_of_products(a, b, out, scratch)
        return self.gemm(wide, high.T, out, 1.0, 0.0)

    def gradients_of_products(
        self, x: CupyArray, deltas: CupyArray, W_gradients: CupyArray, b_gradients: CupyArray | None
    ) -> None:
        wide, wide_out = self._side_by_side(deltas), self._side_by_side(W_gradients)
        b_row = None if b_gradients is None else self._side_by_side(b_gradients)
        if wide is None or wide_out is None or (b_row is None) != (b_gradients is None):
            super().gradients_of_products(x, deltas, W_gradients, b_gradients)
        else:
            self.affine_gradients(x, wide, wide_out, None if b_row is None else b_row[0, :])

    def _side_by_side(self, stack: CupyArray) -> Array | None:
        """View matrices ``[B, M, N]`` as one, ``[M, B * N]``; None where a row does not go on where another ends."""
        (count, rows, columns), (between, down, along) = stack.shape, stack.strides
        if columns == 1:
            along = between
        if count > 1 and between != columns * along:
            return None
        return self.cupy.lib.stride_tricks.as_strided(stack, (rows, count * columns), (down, along))
