"""Numbers as people hold them: tables, columns, and arrays of other libraries, as arrays on the host.

The one place that knows pandas, polars, Arrow and the protocols ``__dlpack__`` and ``__array__``. Nothing is copied
that can be looked at where it lies, and nothing that comes in is ever written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from backends import owner_of
from backends.errors import DataError, DTypeError, refuse_masked

_NUMERIC_KINDS = "biuf"
_HOSTS = (1, 3)  # DLPack's numbers of ordinary and of pinned memory of the host


def host_array(who: str, value: Any) -> Any:
    """Return what is no NumPy array but holds numbers as one; lists, and whatever else, as they are.

    Parameters
    ----------
    who : str
        For messages.
    value : object
        A table of pandas, polars or Arrow ``[N, columns]``, one of their columns ``[N]``, or what has ``__dlpack__`` or
        ``__array__``, tensors of PyTorch for instance; or a list of those. A missing value becomes NaN.

    Raises
    ------
    DTypeError
        A column does not hold numbers, or an array is of another device than the host.
    DataError
        Two columns of a table have one name.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    if is_sparse(value):
        raise DTypeError(
            f"{who}: expected an array of numbers, got a sparse {type(value).__name__} {list(value.shape)}. Give "
            "x.toarray()."
        )
    if _is_lazy(value):
        raise DTypeError(f"{who}: expected a table that is read, got a {type(value).__name__}. Give x.collect().")
    if isinstance(value, memoryview):
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        foreign = bool(value) and is_holder(value[0]) and not isinstance(value[0], (np.ndarray, np.generic))
        return [host_array(who, item) for item in value] if foreign else value
    names = column_names(value)
    if names is not None:
        return _table(who, value, names)
    if hasattr(value, "to_numpy"):
        return _numbers_of(who, value)
    if hasattr(value, "__dlpack__"):
        return _exported(who, value)
    return _converted(who, value) if hasattr(value, "__array__") else value


def is_of_host(value: object) -> bool:
    """Tell whether a value is a NumPy array, of whatever subclass, or one of its scalars."""
    return isinstance(value, (np.ndarray, np.generic))


def is_holder(value: object) -> bool:
    """Tell whether a value is an array, a table or a column, by its attributes: no list, no number, no iterator."""
    marks = ("__array__", "__dlpack__", "__array_namespace__", "to_numpy", "toarray")
    known = any(hasattr(type(value), mark) for mark in marks) or isinstance(value, memoryview) or _is_lazy(value)
    return known or column_names(value) is not None


def _is_lazy(value: object) -> bool:
    """Tell whether a value is a table of polars that is not read yet."""
    return type(value).__name__ == "LazyFrame"


def is_sparse(value: object) -> bool:
    """Tell whether a value is a sparse matrix or array of SciPy."""
    return hasattr(type(value), "toarray") and hasattr(type(value), "tocsr")


def column_names(value: object) -> list[Any] | None:
    """Return the names of a table's columns, None where a value is no table."""
    if isinstance(value, (np.ndarray, type)) or not hasattr(type(value), "__getitem__"):
        return None
    names = getattr(value, "column_names", None)
    if names is None:
        names = getattr(value, "columns", None) if hasattr(value, "shape") else None
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else None


def checked_names(who: str, table: object) -> list[Any]:
    """Return the names of a table's columns; raise DataError where two have the same."""
    names = column_names(table) or []
    if twice := sorted({str(name) for name in names if names.count(name) > 1}):
        raise DataError(f"{who}: every column must have a name of its own, got {twice} more than once. Rename them.")
    return names


def column_values(column: Any) -> np.ndarray:
    """Return a column of pandas, polars or Arrow as an array, of objects where it holds anything but numbers."""
    if _is_arrow(column):  # which refuses to copy unless it is told to
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.asarray(column.to_numpy())
    if values.dtype.kind == "O" and getattr(column.dtype, "kind", "O") in _NUMERIC_KINDS:  # missing ones, as pandas.NA
        values = np.asarray(column.to_numpy(dtype="float64", na_value=np.nan))
    return values


def _is_arrow(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "pyarrow"


def only_column(table: Any) -> Any:
    """Return the column of a table that has one; anything else as it is."""
    names = column_names(table)
    return table[names[0]] if names is not None and len(names) == 1 else table


def _table(who: str, table: Any, names: Sequence[object]) -> np.ndarray:
    checked_names(who, table)
    columns = [column_values(table[name]) for name in names]
    wrong = [name for name, values in zip(names, columns, strict=True) if values.dtype.kind not in _NUMERIC_KINDS]
    if wrong:
        right = [name for name in names if name not in wrong]
        take = f"x.select({right!r})" if _is_arrow(table) else f"x[{right!r}]"
        values = columns[names.index(wrong[0])]
        raise DTypeError(
            f"{who}: expected columns of numbers, got {_example(values)} in {', '.join(map(repr, wrong))}. "
            + (f"Leave them out, {take}, or make" if right else "Make")
            + " numbers of them, as pandas.get_dummies does."
        )
    return np.stack(columns).T if columns else np.zeros((len(table), 0), np.float32)


def _numbers_of(who: str, column: object) -> np.ndarray:
    values = column_values(column)
    if values.dtype.kind not in _NUMERIC_KINDS:
        name = getattr(column, "name", None)
        which = "" if name in (None, "") else f" in column {name!r}"
        raise DTypeError(
            f"{who}: expected numbers, got {_example(values)}{which}. Give the classes numbers, or leave it out."
        )
    return values


def _example(values: np.ndarray) -> str:
    odd = next((value for value in values.reshape(-1).tolist() if not isinstance(value, (int, float))), None)
    return f"{odd!r:.60} (dtype {values.dtype})"


def _exported(who: str, value: Any) -> object:
    """Return an array of another library as a view of its memory."""
    refuse_masked(who, value)
    library = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    if getattr(value, "requires_grad", False):
        value = value.detach()
    try:
        device = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (1, 0)
        if device[0] in _HOSTS:
            return np.from_dlpack(value)
        owner = owner_of(value)
        if owner is not None:  # of a device that this process computes on
            return owner.to_host(value)
    except (AttributeError, BufferError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise DTypeError(
            f"{who}: expected an array of numbers on the host, got a {library} that cannot be read ({error}). Convert "
            "it, with x.float() or numpy.asarray(x)."
        ) from error
    raise DTypeError(
        f"{who}: expected an array on the host, got a {library} on a device (DLPack's kind {int(device[0])}). Give "
        "x.cpu(), or what brings it to the host in its library."
    )


def _converted(who: str, value: object) -> object:
    try:
        return np.asarray(value)
    except Exception as error:  # whatever another library's conversion raises
        raise DTypeError(
            f"{who}: expected an array of numbers, got a {type(value).__name__} that cannot be read ({error}). Convert "
            "it with numpy."
        ) from error
