"""Arithmetic on arrays: functions of elements, reductions, products of vectors and matrices."""

from __future__ import annotations

from typing import Annotated

from backends.errors import DTypeError, ShapeError
from nd.typing import Array

from ..arguments import EVEN_NAN, settled
from ..state import explained, state
from .creation import as_array, check_arrays, check_matrices, is_array_like

Axis = int | tuple[int, ...] | None


@explained
def add(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x + y."""
    return state.backend.add(x, y, out)


@explained
def subtract(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x - y."""
    return state.backend.subtract(x, y, out)


@explained
def multiply(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x * y."""
    return state.backend.multiply(x, y, out)


@explained
def divide(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x / y."""
    return state.backend.divide(x, y, out)


@explained
def addi(x: Array, y: Array | float) -> Array:
    """x += y; returns x."""
    return state.backend.add(x, y, x)


@explained
def subi(x: Array, y: Array | float) -> Array:
    """x -= y; returns x."""
    return state.backend.subtract(x, y, x)


@explained
def muli(x: Array, y: Array | float) -> Array:
    """x *= y; returns x."""
    return state.backend.multiply(x, y, x)


@explained
def divi(x: Array, y: Array | float) -> Array:
    """x /= y; returns x."""
    return state.backend.divide(x, y, x)


@explained
def maximum(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """Larger of x and y."""
    return state.backend.maximum(x, y, out)


@explained
def minimum(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """Smaller of x and y."""
    return state.backend.minimum(x, y, out)


@explained
def power(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x ** y."""
    return state.backend.power(x, y, out)


@explained
def exp(x: Array, out: Array | None = None) -> Array:
    """e ** x."""
    return state.backend.exp(x, out)


@explained
def log(x: Array, out: Array | None = None) -> Array:
    """Natural logarithm."""
    return state.backend.log(x, out)


@explained
def sqrt(x: Array, out: Array | None = None) -> Array:
    """Square root."""
    return state.backend.sqrt(x, out)


@explained
def square(x: Array, out: Array | None = None) -> Array:
    """x * x."""
    return state.backend.square(x, out)


@explained
def absolute(x: Array, out: Array | None = None) -> Array:
    """|x|."""
    return state.backend.absolute(x, out)


@explained
def sign(x: Array, out: Array | None = None) -> Array:
    """-1, 0 or 1; sign(0) = 0."""
    return state.backend.sign(x, out)


@explained
def tanh(x: Array, out: Array | None = None) -> Array:
    """Hyperbolic tangent."""
    return state.backend.tanh(x, out)


@explained
def greater(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x > y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.greater(x, y, out)


@explained
def greater_equal(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x >= y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.greater_equal(x, y, out)


@explained
def equal(x: Array | float, y: Array | float, out: Array | None = None) -> Array:
    """x == y, as bool, or as 0 and 1 in the dtype of `out`."""
    return state.backend.equal(_operand(x), _operand(y), out)


@explained
def where(condition: Array, x: Array | float, y: Array | float) -> Array:
    """Elements of x where the condition holds, else of y."""
    if not is_array_like(condition):
        condition = as_array(condition, "bool")
    return state.backend.where(condition, _operand(x), _operand(y))


def _operand(x: Array | float) -> Array | float:
    """Return an array or a number as it is; of anything else NumPy would make arrays of text or objects."""
    return x if is_array_like(x) or isinstance(x, (int, float)) else as_array(x)


@explained
def sum(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Sum over `axis`, or over everything."""
    if not is_array_like(x):
        x = as_array(x)  # NumPy would return None for None
    if type(keepdims) is not bool:
        (keepdims,) = settled(sum, keepdims=keepdims)
    return state.backend.sum(x, axis, keepdims)


@explained
def mean(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over `axis`, or over everything."""
    if type(keepdims) is not bool:
        (keepdims,) = settled(mean, keepdims=keepdims)
    return state.backend.mean(x, axis, keepdims)


@explained
def max(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """Largest element over `axis`, or over everything."""
    if not is_array_like(x):
        x = as_array(x)  # NumPy would return None for None
    if type(keepdims) is not bool:
        (keepdims,) = settled(max, keepdims=keepdims)
    return state.backend.max(x, axis, keepdims)


@explained
def argmax(x: Array, axis: int = 1) -> Array:
    """Index of the first maximum along `axis`."""
    if type(axis) is not int:
        (axis,) = settled(argmax, axis=axis)
    return state.backend.argmax(x, axis)


@explained
def sum_into(x: Array, axis: int, out: Array) -> Array:
    """Sum over one axis into `out`."""
    if out is None:
        raise DTypeError("sum_into: out must be an array, got None. Make it with nd.zeros.")
    return state.backend.sum_into(x, axis, out)


@explained
def all_finite(x: Array) -> bool:
    """Tell whether no element is NaN or infinite."""
    return state.backend.all_finite(x)


@explained
def gemm(
    a: Array,
    b: Array,
    c: Array | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: Annotated[float, EVEN_NAN] = 1.0,
    beta: Annotated[float, EVEN_NAN] = 0.0,
) -> Array:
    """Return alpha * op(a) @ op(b) + beta * c, written into `c` when it is given.

    Parameters
    ----------
    a : array ``[M, K]``, or ``[K, M]`` with `transpose_a`
    b : array ``[K, N]``, or ``[N, K]`` with `transpose_b`
    c : array ``[M, N]``, optional
        Receives the result, in either memory order and also as a view; shares no memory with `a` or `b`. Without it a
        new array is returned.
    alpha, beta : float
        With beta = 0 the old contents of `c` are not read; without `c` beta means nothing.

    Raises
    ------
    DTypeError
        They are not arrays of one dtype.
    ArgumentError
        A factor is no number, or a transposition neither True nor False.
    ShapeError
        The inner axes disagree, or `c` has another shape.
    BackendError
        An array belongs to another backend.

    Examples
    --------
    >>> import nd
    >>> nd.gemm(nd.create([[1.0, 2.0]]), nd.create([[3.0, 4.0]]), transpose_b=True).tolist()
    [[11.0]]
    """
    if not type(transpose_a) is type(transpose_b) is bool:
        transpose_a, transpose_b = settled(gemm, transpose_a=transpose_a, transpose_b=transpose_b)
    if not type(alpha) is type(beta) is float:
        alpha, beta = settled(gemm, alpha=alpha, beta=beta)
    backend = state.backend
    check_arrays("gemm", a, b, c)
    if transpose_a:
        a = backend.transpose(a)
    if transpose_b:
        b = backend.transpose(b)
    check_matrices("gemm", a, b, c)
    return backend.gemm(a, b, c, alpha, beta)


@explained
def batched_gemm(a: Array, b: Array, c: Array | None = None) -> Array:
    """Return the products ``a[i] @ b[i]`` of many matrices, written into `c` when it is given.

    Parameters
    ----------
    a : array ``[B, M, K]``
    b : array ``[B, K, N]``
        Both may be views with any strides.
    c : array ``[B, M, N]``, optional
        Receives the result; shares no memory with `a` or `b`.

    Raises
    ------
    DTypeError
        They are not arrays of one dtype.
    ShapeError
        They are not stacks of as many matrices, the inner axes disagree, or `c` has another shape.
    BackendError
        An array belongs to another backend.

    Examples
    --------
    >>> import nd
    >>> nd.batched_gemm(nd.create([[[1.0, 2.0]], [[3.0, 4.0]]]), nd.create([[[1.0], [0.0]], [[0.0], [1.0]]])).tolist()
    [[[1.0]], [[4.0]]]
    """
    backend = state.backend
    check_arrays("batched_gemm", a, b, c)
    shapes = tuple(a.shape), tuple(b.shape)
    fits = a.ndim == b.ndim == 3 and a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1]
    if not fits or (c is not None and tuple(c.shape) != (a.shape[0], a.shape[1], b.shape[2])):
        and_c = "" if c is None else f" and c {list(c.shape)}"
        raise ShapeError(
            f"batched_gemm: a must be [B, M, K], b [B, K, N], c [B, M, N], got {list(shapes[0])}, "
            f"{list(shapes[1])}{and_c}."
        )
    return backend.batched_matmul(a, b, c)


@explained
def affine_gradients(x: Array, delta: Array, W_gradient: Array, b_gradient: Array | None) -> None:
    """Write the gradients of the parameters of ``x @ W + b``: ``x.T @ delta``, and the sums of delta's columns.

    Parameters
    ----------
    x : array ``[N, n_in]``
    delta : array ``[N, n_out]``
        dL/d(x @ W + b).
    W_gradient : array ``[n_in, n_out]``
    b_gradient : array ``[n_out]``, optional

    Raises
    ------
    DTypeError, ShapeError, BackendError
        As `gemm`.

    Examples
    --------
    >>> import nd
    >>> W, b = nd.zeros(2, 1), nd.zeros(1)
    >>> nd.affine_gradients(nd.create([[1.0, 2.0], [3.0, 4.0]]), nd.create([[1.0], [10.0]]), W, b)
    >>> W.tolist(), b.tolist()
    ([[31.0], [42.0]], [11.0])
    """
    if W_gradient is None:
        raise DTypeError("affine_gradients: W_gradient must be an array, got None. Make it with nd.zeros.")
    backend = state.backend
    check_arrays("affine_gradients", x, delta, W_gradient, b_gradient)
    check_matrices("affine_gradients", backend.transpose(x), delta, W_gradient)
    if b_gradient is not None and tuple(b_gradient.shape) != (delta.shape[1],):
        raise ShapeError(f"affine_gradients: b_gradient must be [{delta.shape[1]}], got {list(b_gradient.shape)}.")
    backend.affine_gradients(x, delta, W_gradient, b_gradient)


@explained
def axpby(alpha: Array | float, x: Array, beta: Array | float, y: Array, scratch: Array) -> Array:
    """Compute ``y = alpha x + beta y`` in place on vectors ``[n]`` and return y.

    Parameters
    ----------
    alpha, beta : float, or array ``[]``
        With 0, it is left to the backend whether NaN and infinities in that vector count.
    x, y, scratch : array ``[n]``
        `scratch` may be overwritten; a backend with a routine for it does one pass and rounds once.
    """
    return state.backend.axpby(alpha, x, beta, y, scratch)


@explained
def dot(x: Array, y: Array, out: Array | None = None) -> Array:
    """Return the sum of products of two vectors ``[n]``, as a scalar array; in ``out []`` if one is given."""
    return state.backend.dot(x, y, out)


@explained
def svd(a: Array) -> tuple[Array, Array, Array]:
    """Return the reduced singular value decomposition u, s, vh of a matrix."""
    return state.backend.svd(a)


@explained
def channel_sums(x: Array, y: Array | None = None) -> Array:
    """Sum over every channel, of x or of x * y.

    Parameters
    ----------
    x : array ``[N, C, ...]``
    y : array of the same shape, optional

    Returns
    -------
    array ``[1, C]``

    Raises
    ------
    ShapeError
        There is no axis of channels, or the shapes differ.
    BackendError
        An array belongs to another backend.

    Examples
    --------
    >>> import nd
    >>> channel_sums(nd.create([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[4.0, 6.0]]
    """
    backend = state.backend
    if x.ndim < 2 or (y is not None and tuple(y.shape) != tuple(x.shape)):
        and_y = "" if y is None else f" and {list(y.shape)}"
        raise ShapeError(f"channel_sums: expected arrays [N, C, ...] of one shape, got {list(x.shape)}{and_y}.")
    return backend.channel_sums(x, y)
