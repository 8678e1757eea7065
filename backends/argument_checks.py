"""Checks of a backend's arguments, with the messages that users see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import BackendError, DTypeError, ShapeError

Array = Any


class ArgumentChecks:
    """Mixin of `Backend`."""

    name: str
    is_array: Callable[[object], bool]

    def guard_same_backend(self, who: str, *arrays: object) -> None:
        """Raise BackendError when an argument is an array of another backend."""
        for array in arrays:
            if hasattr(array, "shape") and not self.is_array(array):
                raise BackendError(
                    f"{who}: the backend is {self.name!r}, got an array of {type(array).__module__!r}. "
                    "Convert it with nd.create(nd.to_host(x)), or select its backend with nd.use_backend."
                )

    def check_arrays(self, who: str, a: Array, *others: Array | None) -> None:
        """Raise DTypeError unless all are arrays of this backend and of one dtype; None passes."""
        for array in (a, *others):
            if array is not None and (not self.is_array(array) or array.dtype != a.dtype):
                found = getattr(array, "dtype", type(array).__name__)
                raise DTypeError(f"{who}: expected arrays of one dtype, got {found}. Make them with nd.create.")

    def check_matrices(self, who: str, a: Array, b: Array, c: Array | None) -> None:
        """Raise ShapeError unless a @ b is defined and has the shape of `c`."""
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise ShapeError(
                f"{who}: the inner axes must agree, got {list(a.shape)} @ {list(b.shape)} "
                "(after the transpositions asked for). Check transpose_a and transpose_b."
            )
        if c is not None and tuple(c.shape) != (a.shape[0], b.shape[1]):
            raise ShapeError(f"{who}: c must be {[a.shape[0], b.shape[1]]}, got {list(c.shape)}.")
