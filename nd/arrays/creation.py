"""Making arrays, their shape and dtype, copies, and the way to the host and back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Annotated, Any, TypeGuard

from backends.argument_checks import ARRAY_LIBRARIES
from backends.errors import DTypeError, ShapeError, check_choice, refuse_masked
from nd.typing import Array, HostArray

from ..arguments import EVEN_NAN, Natural, checked, settled
from ..intake import host_array, is_of_host
from ..state import backend as current_backend
from ..state import explained, state

DType = Any
"""A name, or an object that has one: the dtype of an array, a class such as numpy.float64."""
ORDERS = ("c", "f")


@explained
@checked
def create(data: Any, dtype: DType | None = None, order: str = "c") -> Array:
    """Return a new array that holds `data`.

    Parameters
    ----------
    data : nested lists, scalar, array, or table
        Two integers, ``create(1, 7)``, are rows and columns of zeros, as in ND4J.
        An array is copied; one of the host is moved to the backend's device. That is NumPy's, and what has
        ``__dlpack__`` or ``__array__``, PyTorch's for instance; tables and columns of pandas, polars and Arrow.
    dtype : str, optional
        ``"float32"``, ``"float64"``, ...; by default an array keeps its own, a table gets one that holds all its
        columns, and lists and numbers get the default dtype.
    order : {"c", "f"}
        Memory order of the result.

    Raises
    ------
    DTypeError
        The data are not numbers, a masked array, or an array of another library on a device.
    BackendError
        `data` is a device's array of another backend.

    Examples
    --------
    >>> import nd
    >>> nd.create([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    backend = current_backend()
    if type(dtype) is int and type(data) is int:
        return _filled("create", (data, dtype), 0, None, order)
    source = as_array(data, dtype)
    return backend.assign(backend.empty(source.shape, backend.dtype_name(source), _order("create", order)), source)


@explained
def as_array(data: Any, dtype: DType | None = None) -> Array:
    """Return `data` as an array of the current backend, without a copy where none is needed.

    Same arguments and errors as `create`. Arrays of the host are moved to the backend's device; those of another
    backend's device are refused.
    """
    if state.backend.is_ready(data, dtype):
        return data
    if dtype is not None:
        dtype = _dtype(dtype)
    backend = current_backend()
    if type(data).__name__ != "ndarray":
        refuse_masked("create", data)
    if dtype is not None and backend.is_array(data) and backend.dtype_name(data) == dtype:
        return data
    if type(data).__module__.partition(".")[0] not in ARRAY_LIBRARIES and not backend.is_array(data):
        data = host_array("create", data)
    if hasattr(type(data), "dtype") and getattr(data.dtype, "kind", "f") not in "fiub":
        raise DTypeError(f"create: expected an array of numbers, got dtype {data.dtype}. Convert it with astype.")
    if backend.is_array(data):
        return data if dtype is None else backend.astype(data, dtype)
    if is_of_host(data):
        return backend.from_host(data, str(data.dtype) if dtype is None else dtype)
    backend.look_at("create", data)
    return backend.asarray(data, state.dtype if dtype is None else dtype)


def is_ready(data: Any, dtype: str) -> bool:
    """Tell at once whether `data` is the current backend's, and of that dtype; False where it takes a closer look."""
    return state.backend.is_ready(data, dtype)


def staged(data: object, dtype: str, buffer: Callable[[], Array]) -> Array | None:
    """Return host data ``[N, ...]`` in `buffer()`, an activation of that shape and dtype, without waiting for the copy.

    None where the data come from elsewhere or the backend has nothing better than `as_array`; then nothing is done.
    """
    backend = state.backend
    if not backend.uploads or type(data).__module__.partition(".")[0] != "numpy" or getattr(data, "ndim", 0) < 2:
        return None
    refuse_masked("create", data)
    return backend.staged(data, dtype, buffer)


@explained
@checked
def zeros(*shape: Any, dtype: DType | None = None, order: str = "c") -> Array:
    """Return an array of zeros: ``zeros(3, 4)`` or ``zeros((3, 4))``."""
    return _filled("zeros", shape, 0, dtype, order)


@explained
@checked
def ones(*shape: Any, dtype: DType | None = None, order: str = "c") -> Array:
    """Return an array of ones: ``ones(3, 4)`` or ``ones((3, 4))``."""
    return _filled("ones", shape, 1, dtype, order)


@explained
@checked
def full(*shape: Any, value: int | Annotated[float, EVEN_NAN], dtype: DType | None = None, order: str = "c") -> Array:
    """Return an array whose every element is `value`."""
    return _filled("full", shape, value, dtype, order)


@explained
@checked
def create_uninitialized(*shape: Any, dtype: DType | None = None, order: str = "c") -> Array:
    """Return an array whose elements are whatever the memory held."""
    return current_backend().empty(
        _shape("create_uninitialized", shape),
        _dtype(dtype),
        _order("create_uninitialized", order),
    )


@explained
@checked
def arange(start: int, stop: int | None = None, dtype: DType | None = None) -> Array:
    """Return the integers from `start` (or 0) up to, not including, the last argument."""
    first, last = (0, start) if stop is None else (start, stop)
    return current_backend().arange(first, last, _dtype(dtype))


@explained
@checked
def eye(n: Natural, dtype: DType | None = None) -> Array:
    """Return the identity matrix ``[n, n]``."""
    backend = current_backend()
    diagonal = backend.arange(0, n, "int32")
    equal = backend.equal(backend.reshape(diagonal, (n, 1)), backend.reshape(diagonal, (1, n)))
    return backend.astype(equal, _dtype(dtype))


def _filled(who: str, shape: Sequence[object], value: float, dtype: DType | None, order: str) -> Array:
    return current_backend().full(_shape(who, shape), value, _dtype(dtype), _order(who, order))


def _dtype(dtype: DType | None) -> Any:
    """Return the name of a dtype, the default's for None; the backend refuses unknown names."""
    if dtype is None or isinstance(dtype, str):
        return dtype or state.dtype
    return getattr(dtype, "name", getattr(dtype, "__name__", dtype))


def _shape(who: str, shape: Sequence[Any]) -> tuple[int, ...]:
    axes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)
    if not all(hasattr(axis, "__index__") and not isinstance(axis, bool) and axis >= 0 for axis in axes):
        raise ShapeError(f"{who}: every length must be an integer >= 0, got {list(axes)}.")
    return tuple(operator.index(axis) for axis in axes)


def _order(who: str, order: str) -> str:
    return order if order in ORDERS else check_choice(who, "order", order, ORDERS)


@explained
def reshape(x: Array, shape: int | Sequence[int], order: str = "c") -> Array:
    """Reshape, as a view where the strides allow one; a length of -1 is computed from the others.

    Elements are read and written in c order, or with "f" in that, the first axis fastest.
    """
    if type(shape) is not tuple:
        (shape,) = settled(reshape, shape=shape)
    backend = state.backend
    if order == "c":
        return backend.reshape(x, shape)
    check_choice("reshape", "order", order, ORDERS)
    lengths = tuple(reversed(shape)) if isinstance(shape, (tuple, list)) else (shape,)
    return backend.transpose(backend.reshape(backend.transpose(x), lengths))


@explained
def reshape_view(x: Array, shape: Sequence[int], order: str = "c") -> Array:
    """View contiguous memory in another shape, read in c or in f order; fails where only a copy would do."""
    backend = state.backend
    if order == "c":
        return backend.reshape_view(x, tuple(shape))
    check_choice("reshape_view", "order", order, ORDERS)
    return backend.transpose(backend.reshape_view(x, tuple(reversed(shape))))


@explained
def cells(vector: Array) -> tuple[Array, ...]:
    """Return views ``[]`` of the elements of a vector."""
    return state.backend.cells(vector)


@explained
def transpose(x: Array) -> Array:
    """Reverse the axes, as a view."""
    return state.backend.transpose(x)


@explained
def permute(x: Array, axes: Sequence[int]) -> Array:
    """Reorder the axes, as a view."""
    if axes is None:  # which to NumPy is the reverse order
        (axes,) = settled(permute, axes=axes)
    if not is_array_like(x):
        x = as_array(x)  # NumPy's module has a transpose too
    return state.backend.permute(x, axes)


@explained
def concat(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Join arrays along an existing axis."""
    if type(axis) is not int:
        (axis,) = settled(concat, axis=axis)
    if not isinstance(arrays, (list, tuple)):
        arrays = tuple(arrays)
        state.backend.look_at("concat", arrays)
    return state.backend.concat(arrays, axis)


@explained
def to_flattened(order: str, arrays: Sequence[Array]) -> Array:
    """Return all elements one after the other, ``[n]``, every array read in c or in f order."""
    check_choice("to_flattened", "order", order, ORDERS)
    backend = state.backend
    turned = [backend.transpose(array) if order == "f" else array for array in arrays]
    return backend.concat([backend.reshape(array, (-1,)) for array in turned], 0)


@explained
def assign(target: Array, source: Any) -> Array:
    """Copy `source` into `target`, broadcasting and casting; returns `target`."""
    if source is None:  # which NumPy takes for NaN
        raise DTypeError("assign: source must be an array or a number, got None. Make it with nd.create.")
    return state.backend.assign(target, source)


@explained
def fill(x: Array, value: int | Annotated[float, EVEN_NAN]) -> Array:
    """Set every element of `x`; returns `x`."""
    if type(value) is not float:
        (value,) = settled(fill, value=value)
    return state.backend.fill(x, value)


def is_array_like(value: object) -> bool:
    """Tell whether a value may be an array: it has a dtype, and is not the module that has NumPy's class of that name.

    Its shape is not asked for: of arrays that a formula is traced with that has consequences.
    """
    return hasattr(value, "dtype") and not isinstance(value, ModuleType)


@explained
def copy(x: Array) -> Array:
    """Return a c-ordered copy."""
    if not is_array_like(x):
        x = as_array(x)
    return state.backend.copy(x)


@explained
def to_activation_order(x: Array, buffer: Callable[[str, tuple[int, ...]], Array]) -> Array:
    """Return activations in the backend's preferred memory order: `x` itself, or its copy in a buffer."""
    return state.backend.to_activation_order(x, buffer)


@explained
def activation_like(x: Array) -> Array:
    """Return an uninitialised array of the shape and dtype of `x` in the backend's preferred memory order."""
    backend = state.backend
    return backend.empty_activation(tuple(x.shape), backend.dtype_name(x))


@explained
def buffer_like(x: Array, buffers: Callable[..., Array], name: str, shape: tuple[int, ...] | None = None) -> Array:
    """Return memory of that name in the memory order of `x`, of its shape or another of as many axes ``[N, C, ...]``.

    What is computed from `x` element by element, or place by place, is fastest in that.
    """
    return state.backend.like(x, buffers, name, tuple(x.shape) if shape is None else shape)


@explained
def to_input_order(x: Array, buffers: Callable[..., Array]) -> Array:
    """Return a network's features in the memory order that its first layers prefer: `x` itself, or its copy."""
    return state.backend.to_input_order(x, buffers)


@explained
def to_image_order(x: Array, buffers: Callable[..., Array]) -> Array:
    """Return activations ``[N, C, ...]`` as the backend prefers images: `x` itself, or its copy in a buffer."""
    return state.backend.to_image_order(x, buffers)


@explained
def to_host(x: Array | HostArray) -> HostArray:
    """Return `x` as a numpy.ndarray: the array itself on the NumPy backend, a copy from the device on others.

    An array of the device is copied whatever backend is the current one.
    """
    backend = state.backend
    if type(x).__module__.partition(".")[0] not in ARRAY_LIBRARIES and not backend.is_array(x):
        x = host_array("to_host", x)
    return backend.to_host(x if hasattr(type(x), "dtype") else as_array(x))


@explained
def astype(x: Array, dtype: str) -> Array:
    """Return `x` in that dtype; `x` itself when it already has it."""
    return state.backend.astype(x, dtype)


@explained
def dtype_name(x: Array) -> str:
    """Return the name of an array's dtype, ``"float32"`` for instance."""
    return state.backend.dtype_name(x if is_array_like(x) else as_array(x))


@explained
def item(x: Array) -> float:
    """Return the only element of `x` as a Python number; on a GPU this waits for the device."""
    return state.backend.item(x)


def is_array(x: object) -> TypeGuard[Array]:
    """Tell whether `x` is an array of the current backend."""
    return state.backend.is_array(x)


def check_arrays(who: str, a: Array, *arrays: Array | None) -> None:
    """Raise DTypeError unless all are arrays of the current backend and of one dtype; None passes."""
    is_array = state.backend.is_array
    for array in (a, *arrays):
        if array is not None and (not is_array(array) or array.dtype != a.dtype):
            dtype = getattr(array, "dtype", type(array).__name__)
            raise DTypeError(f"{who}: expected arrays of one dtype, got {dtype}. Make them with nd.create.")


def check_matrices(who: str, a: Array, b: Array, c: Array | None) -> None:
    """Raise ShapeError unless a @ b is defined and has the shape of `c`."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ShapeError(
            f"{who}: the inner axes must agree, got {list(a.shape)} @ {list(b.shape)} "
            "(after the transpositions asked for). Check transpose_a and transpose_b."
        )
    if c is not None and tuple(c.shape) != (a.shape[0], b.shape[1]):
        raise ShapeError(f"{who}: c must be {[a.shape[0], b.shape[1]]}, got {list(c.shape)}.")


@explained
def may_share_memory(x: Array, y: Array) -> bool:
    """Tell whether two arrays may lie in the same memory, by the addresses of their first and last elements.

    False is certain. It is host work only, and takes no decision on values: recordings may contain it.
    """
    return state.backend.may_share_memory(x, y)


@explained
def synchronize() -> None:
    """Wait until the device has run everything issued so far."""
    state.backend.synchronize()
