"""Checks of a backend's arguments, with the messages that users see."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from backends.typing import Array

from .errors import BackendError, DTypeError, ShapeError, check_rank, check_shape

INDEX_DTYPES = ("int32", "int64")

ARRAY_LIBRARIES = ("cupy", "numpy")
"""The libraries of which backends take arrays, by module name."""

MARKS = ("__array_namespace__", "__dlpack__")
"""Methods that arrays of other libraries have."""
MOST_TYPES = 100
"""Types that a backend remembers."""


class ArgumentChecks:
    """Mixin of `Backend`."""

    name: str
    is_array: Callable[[object], bool]
    dtype_name: Callable[[Array], str]

    known_by_type = True
    """Whether the type of an array alone tells that it is this backend's: not where a library has several devices."""

    @cached_property
    def usual(self) -> set[type]:
        """Types of arguments that need no second look: what is no array, and, once seen, this backend's arrays.

        Lists are looked into where they are of arrays.
        """
        return {bool, float, int, list, str, tuple, type(None)}

    def look_at(self, who: str, value: Any) -> None:
        """Raise BackendError where an argument of unusual type is an array of another library, or has one in it."""
        if isinstance(value, (list, tuple)):
            for item in value:
                self.look_at(who, item)
            return
        if self.is_foreign(value):
            self.guard_same_backend(who, value)
        if self.known_by_type and len(self.usual) < MOST_TYPES:
            self.usual.add(type(value))

    def guard_same_backend(self, who: str, *arrays: object) -> None:
        """Raise BackendError when an argument is an array of another backend."""
        for array in arrays:
            if hasattr(array, "shape") and not self.is_array(array):
                raise BackendError(
                    f"{who}: the backend is {self.name!r}, got an array of {type(array).__module__!r}. "
                    "Convert it with nd.create(nd.to_host(x)), or select its backend with nd.use_backend."
                )

    def is_foreign(self, value: object) -> bool:
        """Tell whether a value is an array of another library, or of another device; a scalar of NumPy's is a number.

        It is asked of the type, as arrays that a formula is traced with do not like to be asked.
        """
        kind = type(value)
        library = kind.__module__.partition(".")[0]
        if library not in ARRAY_LIBRARIES and not any(hasattr(kind, mark) for mark in MARKS):
            return False
        number = library == "numpy" and not getattr(value, "ndim", 0)
        return not number and hasattr(kind, "shape") and not self.is_array(value)

    def check_arrays(self, who: str, a: Array, *arrays: Array | None) -> None:
        """Raise DTypeError unless all are arrays of this backend and of one dtype; None passes."""
        for array in (a, *arrays):
            if array is not None and (not self.is_array(array) or array.dtype != a.dtype):
                dtype = getattr(array, "dtype", type(array).__name__)
                raise DTypeError(f"{who}: expected arrays of one dtype, got {dtype}. Make them with nd.create.")

    def check_matrices(self, who: str, a: Array, b: Array, c: Array | None) -> None:
        """Raise ShapeError unless a @ b is defined and has the shape of `c`."""
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise ShapeError(
                f"{who}: the inner axes must agree, got {list(a.shape)} @ {list(b.shape)} "
                "(after the transpositions asked for). Check transpose_a and transpose_b."
            )
        if c is not None and tuple(c.shape) != (a.shape[0], b.shape[1]):
            raise ShapeError(f"{who}: c must be {[a.shape[0], b.shape[1]]}, got {list(c.shape)}.")

    def check_lookup(self, who: str, table: Array, indices: Array, out: Array | None = None) -> None:
        """Raise DTypeError or ShapeError unless `indices` can be row numbers of a table, whose rows fit into `out`."""
        for array in (table, indices):
            if not self.is_array(array):
                raise DTypeError(f"{who}: expected arrays, got {type(array).__name__}. Make them with nd.create.")
        if self.dtype_name(indices) not in INDEX_DTYPES:
            raise DTypeError(
                f"{who}: indices must be {' or '.join(INDEX_DTYPES)}, got {self.dtype_name(indices)}. "
                "Convert them with nd.astype."
            )
        check_rank(f"{who}: table", table.shape, 2)
        check_rank(f"{who}: indices", indices.shape, 1, "Flatten them with nd.reshape.")
        if out is not None:
            self.check_arrays(who, table, out)
            check_shape(f"{who}: out", out.shape, (indices.shape[0], table.shape[1]))

    def check_updates(self, who: str, table: Array, indices: Array, updates: Array) -> None:
        """Raise DTypeError or ShapeError unless there is a row to add to the table for every index."""
        if self.dtype_name(table) == "bool":
            raise DTypeError(f"{who}: the table must hold numbers, got bool. Convert it with nd.astype.")
        self.check_arrays(who, table, updates)
        check_shape(f"{who}: updates", updates.shape, (indices.shape[0], table.shape[1]))
