"""Making arrays on the current backend."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from backends.errors import DTypeError, ShapeError, check_choice, refuse_masked

from .arguments import EVEN_NAN, Natural, checked
from .explained import explained
from .state import backend, state

Array = Any
DType = Any
"""A name, or what has one: the dtype of an array, a class such as numpy.float64."""
ORDERS = ("c", "f")


@explained
@checked
def create(data: Any, dtype: DType | None = None, order: str = "c") -> Array:
    """Return a new array that holds `data`.

    Parameters
    ----------
    data : nested lists, scalar, numpy.ndarray, or array of the current backend
        An array is copied; a numpy array is moved to the backend's device.
    dtype : str, optional
        ``"float32"``, ``"float64"``, ...; by default an array keeps its own and anything else gets the default dtype.
    order : {"c", "f"}
        Memory order of the result.

    Raises
    ------
    DTypeError
        The data are not numbers, or a masked array.
    BackendError
        `data` is an array of another backend.

    Examples
    --------
    >>> import nd
    >>> nd.create([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    here = backend()
    source = as_array(data, dtype)
    return here.assign(here.empty(source.shape, here.dtype_name(source), _order("create", order)), source)


@explained
def as_array(data: Any, dtype: DType | None = None) -> Array:
    """Return `data` as an array of the current backend, without a copy where none is needed.

    Same arguments and errors as `create`. A numpy array is host data and is moved; an array of any other backend
    than the current one is refused.
    """
    if dtype is not None:
        dtype = _dtype(dtype)
    here = backend()
    refuse_masked("create", data)
    if dtype is not None and here.is_array(data) and here.dtype_name(data) == dtype:
        return data
    if getattr(getattr(data, "dtype", None), "kind", "f") not in "fiub":
        raise DTypeError(f"create: expected an array of numbers, got dtype {data.dtype}. Convert it with astype.")
    if here.is_array(data):
        return data if dtype is None else here.astype(data, dtype)
    if type(data).__module__.partition(".")[0] == "numpy" and hasattr(data, "dtype"):
        return here.from_host(data, str(data.dtype) if dtype is None else dtype)
    here.guard_same_backend("create", data)
    return here.asarray(data, state.dtype if dtype is None else dtype)


def staged(data: Any, dtype: str, buffer: Callable[[], Array]) -> Array | None:
    """Return host data ``[N, ...]`` in `buffer()`, an activation of that shape and dtype, without waiting for the copy.

    None where the data come from elsewhere or the backend has nothing better than `as_array`; then nothing is done.
    """
    here = state.backend
    if not here.uploads or type(data).__module__.partition(".")[0] != "numpy" or getattr(data, "ndim", 0) < 2:
        return None
    refuse_masked("create", data)
    return here.staged(data, dtype, buffer)


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
    return backend().empty(
        _shape("create_uninitialized", shape),
        _dtype(dtype),
        _order("create_uninitialized", order),
    )


@explained
@checked
def arange(start: int, stop: int | None = None, dtype: DType | None = None) -> Array:
    """Return the integers from `start` (or 0) up to, not including, the last argument."""
    first, last = (0, start) if stop is None else (start, stop)
    return backend().arange(first, last, _dtype(dtype))


@explained
@checked
def eye(n: Natural, dtype: DType | None = None) -> Array:
    """Return the identity matrix ``[n, n]``."""
    here = backend()
    diagonal = here.arange(0, n, "int32")
    equal = here.equal(here.reshape(diagonal, (n, 1)), here.reshape(diagonal, (1, n)))
    return here.astype(equal, _dtype(dtype))


def _filled(who: str, shape: Sequence[Any], value: float, dtype: DType | None, order: str) -> Array:
    return backend().full(_shape(who, shape), value, _dtype(dtype), _order(who, order))


def _dtype(dtype: DType | None) -> Any:
    """Return the name of a dtype, the default's for None; the backend refuses what is none."""
    if dtype is None or isinstance(dtype, str):
        return dtype or state.dtype
    return getattr(dtype, "name", getattr(dtype, "__name__", dtype))


def _shape(who: str, shape: Sequence[Any]) -> tuple[int, ...]:
    axes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)
    if not all(hasattr(axis, "__index__") and not isinstance(axis, bool) and axis >= 0 for axis in axes):
        raise ShapeError(f"{who}: every length must be an integer >= 0, got {list(axes)}.")
    return tuple(operator.index(axis) for axis in axes)


def _order(who: str, order: str) -> str:
    return check_choice(who, "order", order, ORDERS)
