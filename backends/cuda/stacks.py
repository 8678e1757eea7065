"""Products of stacks of matrices: one product where the matrices lie side by side in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array, CupyArray

if TYPE_CHECKING:
    from .cupy_backend import CupyBackend


def makes_affine_gradients(
    backend: CupyBackend, x: CupyArray, delta: CupyArray, W_gradient: CupyArray, b_gradient: CupyArray | None
) -> bool:
    """Tell whether our kernel makes the product, and the sums beside it."""
    if b_gradient is not None and not (b_gradient.flags.c_contiguous and b_gradient.dtype == delta.dtype):
        return False
    return x.dtype == delta.dtype == W_gradient.dtype and backend.prefers_own(x.T, delta)


def affine_gradients(
    backend: CupyBackend, x: CupyArray, delta: CupyArray, W_gradient: CupyArray, b_gradient: CupyArray | None
) -> None:
    """Make all gradients in one launch."""
    backend.products.run(x.T, delta, W_gradient, b_gradient)


def makes_stacks(backend: CupyBackend, a: CupyArray, b: CupyArray, out: CupyArray | None = None) -> bool:
    """Tell whether our kernel makes all products."""
    return a.dtype == b.dtype and backend.prefers_own(a, b)


def batched_matmul(backend: CupyBackend, a: CupyArray, b: CupyArray, out: CupyArray | None = None) -> Array:
    """Make all products in one launch."""
    result = backend.empty((*a.shape[:2], b.shape[2]), backend.dtype_name(a)) if out is None else out
    return backend.products.run_stacks(a, b, result)


def products_with(backend: CupyBackend, a: CupyArray, b: CupyArray, out: CupyArray) -> Array:
    """Write the products of ``a [M, K]`` with each of the matrices ``b [B, K, N]`` into ``out [B, M, N]``."""
    if not _lie_side_by_side(b, out):
        return backend.batched_matmul(backend.cupy.broadcast_to(a, (b.shape[0], *a.shape)), b, out)
    backend.gemm(a, _side_by_side(backend, b), _side_by_side(backend, out), 1.0, 0.0)
    return out


def sum_is_a_product(backend: CupyBackend, a: CupyArray, b: CupyArray, out: CupyArray, scratch: CupyArray) -> bool:
    """Tell whether the matrices of both stacks lie side by side, and so are one each."""
    return _lie_side_by_side(a, b.transpose((0, 2, 1)))


def sum_of_products(backend: CupyBackend, a: CupyArray, b: CupyArray, out: CupyArray, scratch: CupyArray) -> Array:
    """Multiply what lies side by side."""
    high = _side_by_side(backend, b.transpose((0, 2, 1)))
    return backend.gemm(_side_by_side(backend, a), high.T, out, 1.0, 0.0)


def gradients_are_one(
    backend: CupyBackend, x: CupyArray, deltas: CupyArray, W_gradients: CupyArray, b_gradients: CupyArray | None
) -> bool:
    """Tell whether errors and gradients lie side by side."""
    return _lie_side_by_side(deltas, W_gradients, *(() if b_gradients is None else (b_gradients,)))


def gradients_of_products(
    backend: CupyBackend, x: CupyArray, deltas: CupyArray, W_gradients: CupyArray, b_gradients: CupyArray | None
) -> None:
    """Make the gradients of what lies side by side."""
    b_row = None if b_gradients is None else _side_by_side(backend, b_gradients)[0, :]
    backend.affine_gradients(x, _side_by_side(backend, deltas), _side_by_side(backend, W_gradients), b_row)


def _lie_side_by_side(*stacks: CupyArray) -> bool:
    """Tell whether of every ``[B, M, N]`` a row goes on where another ends."""
    for stack in stacks:
        (count, _, columns), (between, _, along) = stack.shape, stack.strides
        if count > 1 and columns > 1 and between != columns * along:
            return False
    return True


def _side_by_side(backend: CupyBackend, stack: CupyArray) -> CupyArray:
    """View such matrices ``[B, M, N]`` as one, ``[M, B * N]``."""
    (count, rows, columns), (between, down, along) = stack.shape, stack.strides
    steps = (down, between if columns == 1 else along)
    return backend.cupy.lib.stride_tricks.as_strided(stack, (rows, count * columns), steps)
