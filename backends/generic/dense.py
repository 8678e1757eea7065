"""What dense layers and their updates take: ReLU's way back, softmax, gradients of affine maps, weighted sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import AffineGradients, RectifiedBack, Softmax, WeightedSum

if TYPE_CHECKING:
    from ..base import Backend


def relu_back(backend: Backend, given: RectifiedBack[Array]) -> Array:
    """Return epsilon where ``a = relu(x)`` is positive, else 0."""
    a, epsilon, out = given
    if out is None or out is epsilon:
        return backend.multiply(epsilon, backend.xp.astype(backend.greater(a, 0.0), a.dtype), out)
    return backend.multiply(backend.greater(a, 0.0, out), epsilon, out)


def softmax(backend: Backend, given: Softmax[Array]) -> Array:
    """exp(x) / sum(exp(x)) along `axis`, shifted by the maximum against overflow; a bias is added to x first."""
    x, axis, out, bias = given
    if bias is not None:
        x = backend.add(x, bias, x)
    out = backend.subtract(x, backend.max(x, axis, True), out)
    backend.exp(out, out)
    return backend.divide(out, backend.sum(out, axis, True), out)


def affine_gradients(backend: Backend, given: AffineGradients[Array]) -> None:
    """Write the gradients of W and b in x @ W + b: ``x.T @ delta`` and, a vector, the sums of delta's columns."""
    x, delta, W_gradient, b_gradient = given
    backend.matmul(backend.transpose(x), delta, W_gradient)
    if b_gradient is not None:
        backend.sum_into(delta, 0, b_gradient)


def axpby(backend: Backend, given: WeightedSum[Array]) -> Array:
    """alpha * x + beta * y into `y`; `scratch` is of their shape."""
    alpha, x, beta, y, scratch = given
    backend.multiply(x, alpha, scratch)
    backend.multiply(y, beta, y)
    return backend.add(scratch, y, y)
