"""Products of stacks of matrices: one product where the matrices lie side by side in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array, CupyArray

from ..signatures import AffineGradients, StackGradients, Stacks, SumOfProducts

if TYPE_CHECKING:
    from .cupy_backend import CupyBackend


def makes_affine_gradients(backend: CupyBackend, given: AffineGradients[CupyArray]) -> bool:
    """Tell whether our kernel makes the product, and the sums beside it."""
    x, delta, _, b_gradient = given
    if b_gradient is not None and not b_gradient.flags.c_contiguous:
        return False
    alike = all(array is None or array.dtype == delta.dtype for array in given)
    return alike and backend.prefers_own(x.T, delta)


def affine_gradients(backend: CupyBackend, given: AffineGradients[CupyArray]) -> None:
    """Make all gradients in one launch."""
    x, delta, W_gradient, b_gradient = given
    backend.products.run(x.T, delta, W_gradient, b_gradient)


def makes_stacks(backend: CupyBackend, given: Stacks[CupyArray]) -> bool:
    """Tell whether our kernel makes all products."""
    return given.a.dtype == given.b.dtype and backend.prefers_own(given.a, given.b)


def batched_matmul(backend: CupyBackend, given: Stacks[CupyArray]) -> Array:
    """Make all products in one launch."""
    a, b, out = given
    result = backend.empty((*a.shape[:2], b.shape[2]), backend.dtype_name(a)) if out is None else out
    return backend.products.run_stacks(a, b, result)


def products_with(backend: CupyBackend, a: CupyArray, b: CupyArray, out: CupyArray) -> Array:
    """Write the products of ``a [M, K]`` with each of the matrices ``b [B, K, N]`` into ``out [B, M, N]``."""
    if not _lie_side_by_side(b, out):
        return backend.batched_matmul(backend.cupy.broadcast_to(a, (b.shape[0], *a.shape)), b, out)
    backend.gemm(a, _side_by_side(backend, b), _side_by_side(backend, out), 1.0, 0.0)
    return out


def sum_is_a_product(backend: CupyBackend, given: SumOfProducts[CupyArray]) -> bool:
    """Tell whether the matrices of both stacks lie side by side, and so are one each."""
    return _lie_side_by_side(given.a, given.b.transpose((0, 2, 1)))


def sum_of_products(backend: CupyBackend, given: SumOfProducts[CupyArray]) -> Array:
    """Multiply what lies side by side."""
    a, b, out, _ = given
    high = _side_by_side(backend, b.transpose((0, 2, 1)))
    return backend.gemm(_side_by_side(backend, a), high.T, out, 1.0, 0.0)


def gradients_are_one(backend: CupyBackend, given: StackGradients[CupyArray]) -> bool:
    """Tell whether errors and gradients lie side by side."""
    _, *stacks = given
    return _lie_side_by_side(*(stack for stack in stacks if stack is not None))


def gradients_of_products(backend: CupyBackend, given: StackGradients[CupyArray]) -> None:
    """Make the gradients of what lies side by side."""
    x, deltas, W_gradients, b_gradients = given
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
