"""Every array primitive once, generic, in the array API.

A concrete backend names its array namespace (`xp`) and overrides only what it does better: a primitive as an ordinary
method, or, where conditions decide, by choices in a table (`backends.dispatch`). Shapes are DL4J's (``[N, C, H, W]``);
an activation lies in memory with the batch innermost (``C, H, W, N``), which travels as strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backends.typing import Array

from . import signatures as given
from .argument_checks import ArgumentChecks
from .dispatch import primitive
from .generic import (
    batched,
    channel_groups,
    convolution_kinds,
    embedding,
    memory_order,
    normalizing,
    pooling,
    random_bits,
    spatial,
    volume_pooling,
)
from .needed import DTYPES as DTYPES
from .needed import Needed
from .powers import Powers


class Backend(Needed, Powers, ArgumentChecks):
    """Array primitives on one device. Without overrides it needs only a namespace that follows the array API.

    What it takes over from `Needed` a backend must have of its own, from `Powers` it may lack; the operators are here.
    """

    # ---- arrays

    @property
    def plain(self) -> Backend:
        """The backend itself; of one that reports its calls, the backend that computes."""
        return self

    def dtype_name(self, x: Array) -> str:
        """Return the name of an array's dtype."""
        return self.dtype_names.get(x.dtype) or str(x.dtype)

    def fits(self, x: Any, like: Array) -> bool:
        """Tell whether `x` is an array of the shape and the dtype of another."""
        return self.is_array(x) and x.dtype == like.dtype and x.shape == like.shape

    def item(self, x: Array | float) -> float:
        """Return the only element of `x` as a Python number."""
        return x if isinstance(x, (int, float)) else self.xp.reshape(x, ()).__float__()

    # ---- creation

    def empty(self, shape: Sequence[int], dtype: str, order: str = "c") -> Array:
        """Return an uninitialised array; order ``"f"`` has the first axis innermost in memory."""
        axes = tuple(shape) if order == "c" else tuple(reversed(shape))
        array = self.xp.empty(axes, dtype=self.dtype(dtype), device=self.device)
        return array if order == "c" else self.transpose(array)

    def full(self, shape: Sequence[int], value: float, dtype: str, order: str = "c") -> Array:
        """Return an array filled with `value`."""
        return self.fill(self.empty(shape, dtype, order), value)

    def arange(self, start: int, stop: int, dtype: str) -> Array:
        """Return the integers from `start` up to, not including, `stop`."""
        return self.xp.arange(start, stop, dtype=self.dtype(dtype), device=self.device)

    def fill(self, x: Array, value: float) -> Array:
        """Set every element of `x`."""
        x[...] = value
        return x

    def assign(self, target: Array, source: Any) -> Array:
        """Copy `source` into `target`, broadcasting and casting to the dtype of `target`."""
        if hasattr(source, "dtype") and source.dtype != target.dtype:
            source = self.xp.astype(source, target.dtype)
        target[...] = source
        return target

    def copy(self, x: Array) -> Array:
        """Return a c-ordered copy."""
        return self.assign(self.empty(x.shape, self.dtype_name(x)), x)

    def astype(self, x: Array, dtype: str) -> Array:
        """Return `x` in that dtype; `x` itself when it already has it."""
        return self.xp.astype(x, self.dtype(dtype), copy=False)

    # ---- shape

    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        """Reshape in c order, as a view where the strides allow one."""
        return self.xp.reshape(x, tuple(shape))

    def reshape_view(self, x: Array, shape: Sequence[int]) -> Array:
        """Reshape in c order, always as a view of the same memory."""
        return self.xp.reshape(x, tuple(shape), copy=False)

    def transpose(self, x: Array) -> Array:
        """Reverse the axes, as a view."""
        return self.xp.permute_dims(x, tuple(reversed(range(x.ndim))))

    def permute(self, x: Array, axes: Sequence[int]) -> Array:
        """Reorder the axes, as a view."""
        return self.xp.permute_dims(x, tuple(axes))

    def concat(self, arrays: Sequence[Array], axis: int) -> Array:
        """Join arrays along an existing axis."""
        return self.xp.concat(list(arrays), axis=axis)

    # ---- elementwise, with the result in `out` when given

    def stored(self, value: Array, out: Array | None) -> Array:
        """Return a result, in `out` when given."""
        return value if out is None else self.assign(out, value)

    def add(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x + y."""
        return self.stored(x + y, out)

    def subtract(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x - y."""
        return self.stored(x - y, out)

    def multiply(self, x: Array | float, y: Any, out: Array | None = None) -> Array:
        """x * y."""
        return self.stored(x * y, out)

    def divide(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x / y."""
        return self.stored(x / y, out)

    def maximum(self, x: Array | float, y: Any, out: Array | None = None) -> Array:
        """Larger of x and y."""
        return self.stored(self.xp.maximum(x, y), out)

    def minimum(self, x: Array | float, y: Any, out: Array | None = None) -> Array:
        """Smaller of x and y."""
        return self.stored(self.xp.minimum(x, y), out)

    def power(self, x: Array | float, y: Any, out: Array | None = None) -> Array:
        """x ** y."""
        return self.stored(x**y, out)

    def exp(self, x: Array, out: Array | None = None) -> Array:
        """e ** x."""
        return self.stored(self.xp.exp(x), out)

    def log(self, x: Array, out: Array | None = None) -> Array:
        """Natural logarithm."""
        return self.stored(self.xp.log(x), out)

    def sqrt(self, x: Array, out: Array | None = None) -> Array:
        """Square root."""
        return self.stored(self.xp.sqrt(x), out)

    def square(self, x: Array, out: Array | None = None) -> Array:
        """x * x."""
        return self.stored(x * x, out)

    def absolute(self, x: Array, out: Array | None = None) -> Array:
        """|x|."""
        return self.stored(self.xp.abs(x), out)

    def sign(self, x: Array, out: Array | None = None) -> Array:
        """-1, 0 or 1; sign(0) = 0."""
        return self.stored(self.xp.sign(x), out)

    def tanh(self, x: Array, out: Array | None = None) -> Array:
        """Hyperbolic tangent."""
        return self.stored(self.xp.tanh(x), out)

    def cos(self, x: Array, out: Array | None = None) -> Array:
        """Cosine."""
        return self.stored(self.xp.cos(x), out)

    def sin(self, x: Array, out: Array | None = None) -> Array:
        """Sine."""
        return self.stored(self.xp.sin(x), out)

    def rounded(self, name: str, x: Array) -> Array:
        """Return log, sqrt, cos or sin of ``x`` (float32), evaluated in float64 and rounded once.

        The last bit is then that of Java's libm, and the same on every backend.
        """
        return self.astype(getattr(self, name)(self.astype(x, "float64")), "float32")

    def greater(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x > y, as bool, or as 0 and 1 in the dtype of `out`."""
        return self.stored(x > y, out)

    def greater_equal(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x >= y, as bool, or as 0 and 1 in the dtype of `out`."""
        return self.stored(x >= y, out)

    def equal(self, x: Array | float, y: Any, out: Array | None = None) -> Array:
        """x == y, as bool, or as 0 and 1 in the dtype of `out`."""
        return self.stored(x == y, out)

    def where(self, condition: Array, x: Array | float, y: Array | float) -> Array:
        """Elements of x where the condition holds, else of y."""
        return self.xp.where(condition, x, y)

    def put_where(self, target: Array, value: Array | float, condition: Array) -> Array:
        """Write a value, or elements of one of the same shape, into `target` where the condition holds."""
        return self.assign(target, self.where(condition, value, target))

    # ---- reductions

    def sum(self, x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        """Sum over `axis`, or over everything, in the dtype of `x`."""
        return self.xp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

    def mean(self, x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        """Arithmetic mean over `axis`, or over everything."""
        return self.xp.mean(x, axis=axis, keepdims=keepdims)

    def max(self, x: Array, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        """Largest element over `axis`, or over everything."""
        return self.xp.max(x, axis=axis, keepdims=keepdims)

    def argmax(self, x: Array, axis: int) -> Array:
        """Index of the first maximum along `axis`."""
        return self.xp.argmax(x, axis=axis)

    def sum_into(self, x: Array, axis: int, out: Array) -> Array:
        """Sum over one axis into `out`."""
        return self.assign(out, self.sum(x, axis))

    def dot(self, x: Array, y: Array, out: Array | None = None) -> Array:
        """Sum of products of two vectors, as a scalar array."""
        return self.stored(self.sum(x * y), out)

    def all_finite(self, x: Array) -> bool:
        """Tell whether no element is NaN or infinite."""
        return bool(self.xp.all(self.xp.isfinite(x)))

    # ---- linear algebra

    def matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """Matrix product of two matrices."""
        return self.stored(self.xp.matmul(a, b), out)

    def gemm(self, a: Array, b: Array, c: Array | None, alpha: float, beta: float) -> Array:
        """alpha * a @ b + beta * c, into `c` when given."""
        if c is None or beta == 0.0:
            product = self.matmul(a, b, c)
            return product if alpha == 1.0 else self.multiply(product, alpha, product)
        product = self.matmul(a, b)
        if alpha != 1.0:
            product = self.multiply(product, alpha, product)
        if beta != 1.0:
            self.multiply(c, beta, c)
        return self.add(c, product, c)

    def svd(self, a: Array) -> tuple[Array, Array, Array]:
        """Reduced singular value decomposition u, s, vh."""
        return self.xp.linalg.svd(a, full_matrices=False)

    def cells(self, vector: Array) -> tuple[Array, ...]:
        """Return views ``[]`` of the elements of a vector."""
        return tuple(self.reshape_view(vector[place : place + 1], ()) for place in range(vector.shape[0]))

    def relu(self, x: Array, out: Array | None = None) -> Array:
        """max(x, 0)."""
        return self.maximum(x, 0.0, out)

    def relu_back(self, a: Array, epsilon: Array, out: Array | None = None) -> Array:
        """Return epsilon where ``a = relu(x)`` is positive, else 0."""
        if out is None or out is epsilon:
            return self.multiply(epsilon, self.xp.astype(self.greater(a, 0.0), a.dtype), out)
        return self.multiply(self.greater(a, 0.0, out), epsilon, out)

    def softmax(self, x: Array, axis: int, out: Array | None = None, bias: Array | None = None) -> Array:
        """exp(x) / sum(exp(x)) along `axis`, shifted by the maximum against overflow; a bias is added to x first."""
        if bias is not None:
            x = self.add(x, bias, x)
        out = self.subtract(x, self.max(x, axis, True), out)
        self.exp(out, out)
        return self.divide(out, self.sum(out, axis, True), out)

    # ---- products and sums that are more than one

    def affine_gradients(self, x: Array, delta: Array, W_gradient: Array, b_gradient: Array | None) -> None:
        """Write the gradients of W and b in x @ W + b: ``x.T @ delta`` and, a vector, the sums of delta's columns."""
        self.matmul(self.transpose(x), delta, W_gradient)
        if b_gradient is not None:
            self.sum_into(delta, 0, b_gradient)

    def axpby(self, alpha: Any, x: Array, beta: Any, y: Array, scratch: Array) -> Array:
        """alpha * x + beta * y into `y`; `scratch` is of their shape."""
        self.multiply(x, alpha, scratch)
        self.multiply(y, beta, y)
        return self.add(scratch, y, y)

    batched_matmul = batched.batched_matmul
    gradients_of_products = batched.gradients_of_products
    products_with = batched.products_with
    row_products = normalizing.row_products
    sum_of_products = batched.sum_of_products

    # ---- memory order

    activation_view = memory_order.activation_view
    empty_activation = memory_order.empty_activation
    fresh_buffers = spatial.fresh_buffers
    input_like = memory_order.input_like
    like = primitive(given.Like[Array], spatial.like)
    to_activation_order = memory_order.to_activation_order
    to_image_order = memory_order.to_image_order
    to_input_order = memory_order.to_input_order

    # ---- convolution

    im2col = primitive(given.Sliding[Array], spatial.im2col)
    col2im = primitive(given.Sliding[Array], spatial.col2im)
    conv2d = primitive(given.Convolution[Array], spatial.conv2d)
    conv2d_backward = primitive(given.ConvolutionBack[Array], spatial.conv2d_backward)
    conv2d_max_pool = primitive(given.PooledConvolution[Array], spatial.conv2d_max_pool)
    conv2d_max_pool_backward = primitive(given.PooledConvolutionBack[Array], spatial.conv2d_max_pool_backward)
    conv3d = primitive(given.Convolution[Array], convolution_kinds.conv3d)
    conv3d_backward = primitive(given.ConvolutionBack[Array], convolution_kinds.conv3d_backward)
    deconv = primitive(given.Convolution[Array], convolution_kinds.deconv)
    deconv_backward = primitive(given.DeconvolutionBack[Array], convolution_kinds.deconv_backward)
    depthwise = primitive(given.Convolution[Array], convolution_kinds.depthwise)
    depthwise_backward = primitive(given.ConvolutionBack[Array], convolution_kinds.depthwise_backward)
    grouped = primitive(given.Convolution[Array], channel_groups.grouped)
    grouped_backward = primitive(given.ConvolutionBack[Array], channel_groups.grouped_backward)
    grouped_deconv = primitive(given.Convolution[Array], channel_groups.grouped_deconv)
    grouped_deconv_backward = primitive(given.DeconvolutionBack[Array], channel_groups.grouped_deconv_backward)
    locally_connected = primitive(given.Convolution[Array], convolution_kinds.locally_connected)
    locally_connected_backward = primitive(given.ConvolutionBack[Array], convolution_kinds.locally_connected_backward)
    product_of_channels = spatial.product_of_channels
    sum_channels = spatial.sum_channels

    # ---- pooling

    avg_pool = primitive(given.AveragePooling[Array], pooling.avg_pool)
    avg_pool_backward = primitive(given.PoolingBack[Array], pooling.avg_pool_backward)
    avg_pool3d = primitive(given.Sliding[Array], volume_pooling.avg_pool3d)
    avg_pool3d_backward = primitive(given.PoolingBack[Array], volume_pooling.avg_pool3d_backward)
    largest = primitive(given.Sliding[Array], pooling.largest)
    max_pool = primitive(given.Sliding[Array], pooling.max_pool)
    max_pool_backward = primitive(given.PoolingBack[Array], pooling.max_pool_backward)
    max_places = primitive(given.Sliding[Array], pooling.max_places)
    max_pool3d = primitive(given.Sliding[Array], volume_pooling.max_pool3d)
    max_pool3d_backward = primitive(given.PoolingBack[Array], volume_pooling.max_pool3d_backward)
    pnorm_pool = primitive(given.NormPooling[Array], pooling.pnorm_pool)
    pnorm_pool_backward = primitive(given.NormPoolingBack[Array], pooling.pnorm_pool_backward)
    stochastic_pool = primitive(given.StochasticPooling[Array], pooling.stochastic_pool)

    # ---- normalisation

    channel_sums = normalizing.channel_sums
    for_channels = normalizing.for_channels
    channel_moments = primitive(given.Moments[Array], normalizing.channel_moments)
    channel_error_sums = primitive(given.ErrorSums[Array], normalizing.channel_error_sums)
    normalize_channels = primitive(given.Normalization[Array], normalizing.normalize_channels)
    normalize_channels_back = primitive(given.NormalizationBack[Array], normalizing.normalize_channels_back)
    normalize_rows = normalizing.normalize_rows
    normalize_rows_back = normalizing.normalize_rows_back

    # ---- rows of tables, random numbers

    pull_rows = embedding.pull_rows
    scatter_add = embedding.scatter_add
    dropout_factors = random_bits.dropout_factors
    random_uniform = random_bits.random_uniform
