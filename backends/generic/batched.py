"""Products of many matrices at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array

if TYPE_CHECKING:
    from ..base import Backend


def batched_matmul(backend: Backend, a: Array, b: Array, out: Array | None = None) -> Array:
    """Return the products of the matrices ``a [B, M, K]`` and ``b [B, K, N]``, in `out` when given."""
    return backend.stored(backend.xp.matmul(a, b), out)


def products_with(backend: Backend, a: Array, b: Array, out: Array) -> Array:
    """Write the products of ``a [M, K]`` with each of the matrices ``b [B, K, N]`` into ``out [B, M, N]``."""
    for number in range(b.shape[0]):
        backend.gemm(a, b[number, ...], out[number, ...], 1.0, 0.0)
    return out


def sum_of_products(backend: Backend, a: Array, b: Array, out: Array, scratch: Array) -> Array:
    """Write the sum of the products of ``a [B, M, K]`` and ``b [B, K, N]`` into ``out [M, N]``.

    `scratch` has room for all products, ``[B, M, N]``, or for one, ``[1, M, N]``.
    """
    backend.gemm(a[0, ...], b[0, ...], out, 1.0, 0.0)
    for number in range(1, b.shape[0]):
        product = backend.gemm(a[number, ...], b[number, ...], scratch[0, ...], 1.0, 0.0)
        backend.add(out, product, out)
    return out


def gradients_of_products(
    backend: Backend, x: Array, deltas: Array, W_gradients: Array, b_gradients: Array | None
) -> None:
    """Write the gradients ``[B, C, H]`` of the matrices that x was multiplied by, and ``[B, 1, H]`` of biases.

    `deltas` are dL/d(product) ``[B, N, H]``.
    """
    for number in range(deltas.shape[0]):
        b_gradient = None if b_gradients is None else b_gradients[number, 0, :]
        backend.affine_gradients(x, deltas[number, ...], W_gradients[number, ...], b_gradient)
