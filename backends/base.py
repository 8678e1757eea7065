"""Every array primitive once, generic, in the array API.

A concrete backend names its array namespace (`xp`) and overrides only what it does better. Shapes are
DL4J's (``[N, C, H, W]``); an activation lies in memory with the batch innermost (``C, H, W, N``), which
travels as strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from backends.typing import Array, HostArray

from .argument_checks import ArgumentChecks
from .errors import DTypeError, unknown_dtype
from .generic.batched import BatchedProducts
from .generic.convolution_kinds import ConvolutionKinds
from .generic.embedding import EmbeddingRows
from .generic.memory_order import MemoryOrder
from .generic.normalizing import Normalizing
from .generic.random_bits import RandomBits
from .generic.volume_pooling import VolumePooling
from .memory import MemoryChecks
from .scheduling import Scheduling

DTYPES = ("float32", "float64", "int32", "int64", "uint8", "uint32", "uint64", "bool")


class Backend(
    MemoryOrder,
    ConvolutionKinds,
    RandomBits,
    EmbeddingRows,
    Normalizing,
    BatchedProducts,
    VolumePooling,
    ArgumentChecks,
    MemoryChecks,
    Scheduling,
):
    """Array primitives on one device. Without overrides it needs only a namespace that follows the array API.

    Parameters
    ----------
    xp : module
        The array namespace.
    device : object, optional
        Of new arrays; None for the namespace's default.
    """

    name = "generic"
    compiles: ClassVar[bool] = False
    """Whether `run_formula` makes one kernel of a formula."""
    uploads: Any = None
    """An object that copies host data without waiting, where there is something better than `from_host`."""
    multiplies_bool = False
    """Whether False and True are 0 and 1 in a product with floats."""
    settings: Any = None
    """The context variable of its array library that `quiet` changes."""
    silent: ClassVar[bool] = False
    """Whether its calls are reported to nobody, because they are being recorded."""

    def __init__(self, xp: Any, device: Any = None) -> None:
        self.xp, self.device = xp, device
        self.dtypes = {name: getattr(xp, name) for name in DTYPES}
        self.dtype_names = {dtype: name for name, dtype in self.dtypes.items()}

    @property
    def plain(self) -> Backend:
        """The backend itself; of one that reports its calls, the backend that computes."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    # ---- arrays in and out

    def is_array(self, x: object) -> bool:
        """Tell whether `x` is an array of this backend."""
        return hasattr(x, "__array_namespace__") and x.__array_namespace__() is self.xp

    def fits(self, x: Any, like: Array) -> bool:
        """Tell whether `x` is an array of the shape and the dtype of another."""
        return self.is_array(x) and x.dtype == like.dtype and x.shape == like.shape

    def dtype(self, name: str) -> Any:
        """Return this backend's dtype object of that name."""
        try:
            return self.dtypes[name if isinstance(name, str) else getattr(name, "name", None) or name.__name__]
        except (AttributeError, KeyError, TypeError):
            raise unknown_dtype(name, DTYPES) from None

    def dtype_name(self, x: Array) -> str:
        """Return the name of an array's dtype."""
        return self.dtype_names.get(x.dtype) or str(x.dtype)

    def is_ready(self, x: object, dtype: str) -> bool:
        """Tell at once whether `x` is an array of this backend and dtype; False where that takes a closer look."""
        return False

    def asarray(self, data: Any, dtype: str) -> Array:
        """Return `data` (nested lists, scalars, or an array of this backend) as an array of this backend."""
        kind = self.dtype(dtype)
        try:
            return self.xp.asarray(data, dtype=kind, device=self.device)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"create: the data must be numbers in a regular nesting, got {error}.") from error

    def from_host(self, array: Any, dtype: str) -> Array:
        """Return a copy of a numpy array on this backend."""
        return self.reshape(self.asarray(array.tolist(), dtype), array.shape)  # nested lists lose a shape like [0, 3]

    def to_host(self, x: Array) -> HostArray:
        """Return `x` as a numpy.ndarray."""
        import numpy

        return numpy.asarray(x)

    def describe(self) -> dict[str, str]:
        """Return facts for the diagnosis that ``python -m nd`` prints."""
        return {"namespace": getattr(self.xp, "__name__", str(self.xp)), "device": str(self.device)}

    def quiet(self) -> AbstractContextManager[object]:
        """Return a context manager in which the backend does not warn of numbers that are not finite."""
        return nullcontext()

    def quietly(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function as in `quiet`, at less cost; it does not see context variables."""
        return function(*arguments)

    def synchronize(self) -> None:
        """Wait until every operation issued so far has run."""

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

    def multiply(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x * y."""
        return self.stored(x * y, out)

    def divide(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x / y."""
        return self.stored(x / y, out)

    def maximum(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """Larger of x and y."""
        return self.stored(self.xp.maximum(x, y), out)

    def minimum(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """Smaller of x and y."""
        return self.stored(self.xp.minimum(x, y), out)

    def power(self, x: Any, y: Any, out: Array | None = None) -> Array:
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

    def greater(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x > y, as bool, or as 0 and 1 in the dtype of `out`."""
        return self.stored(x > y, out)

    def greater_equal(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x >= y, as bool, or as 0 and 1 in the dtype of `out`."""
        return self.stored(x >= y, out)

    def equal(self, x: Any, y: Any, out: Array | None = None) -> Array:
        """x == y, as bool, or as 0 and 1 in the dtype of `out`."""
        return self.stored(x == y, out)

    def where(self, condition: Array, x: Any, y: Any) -> Array:
        """Elements of x where the condition holds, else of y."""
        return self.xp.where(condition, x, y)

    def put_where(self, target: Array, value: Any, condition: Array) -> Array:
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

    def axpby(self, alpha: Any, x: Array, beta: Any, y: Array, scratch: Array) -> Array:
        """alpha * x + beta * y into `y`; `scratch` is of their shape."""
        self.multiply(x, alpha, scratch)
        self.multiply(y, beta, y)
        return self.add(scratch, y, y)

    def svd(self, a: Array) -> tuple[Array, Array, Array]:
        """Reduced singular value decomposition u, s, vh."""
        return self.xp.linalg.svd(a, full_matrices=False)

    def lstm(self, x: Array, weights: Any, state: Sequence[Array], training: bool, reverse: bool, buffers: Any) -> Any:
        """Return a pass of ``x [T, N, C]`` through LSTM units in one go, its outputs and state; None where none can."""
        return None

    def lstm_back(self, ran: Any, epsilon: Array, grads: Any) -> Array:
        """Write the gradients of the weights from ``epsilon [N, H, T]`` and what `lstm` returned; return dL/dx."""
        return ran.backward(epsilon, grads)

    def run_formula(self, formula: Any, arguments: tuple[Any, ...], current: Any) -> None:
        """Run an `nd.Elementwise`; `current` makes a backend the facade's current one for a block."""
        formula.formula(*arguments)

    def sum_formula(self, formula: Any, arguments: tuple[Any, ...], current: Any, out: Array | None = None) -> Any:
        """Return the sums of an `nd.Summed`, arrays ``[]``, in the elements of `out`; `current` as in `run_formula`."""
        sums = formula.formula(*arguments)
        if out is None:
            return sums
        cells = self.cells(out)
        for cell, total in zip(cells, sums if isinstance(sums, tuple) else (sums,), strict=True):
            self.assign(cell, total)
        return cells if isinstance(sums, tuple) else cells[0]

    def cells(self, vector: Array) -> tuple[Array, ...]:
        """Return views ``[]`` of the elements of a vector."""
        return tuple(self.reshape_view(vector[place : place + 1], ()) for place in range(vector.shape[0]))

    def affine_gradients(self, x: Array, delta: Array, W_gradient: Array, b_gradient: Array | None) -> None:
        """Write the gradients of W and b in x @ W + b: ``x.T @ delta`` and, a vector, the sums of delta's columns."""
        self.matmul(self.transpose(x), delta, W_gradient)
        if b_gradient is not None:
            self.sum_into(delta, 0, b_gradient)

    # ---- activations that networks spend their time on

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
