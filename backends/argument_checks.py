"""Whose array an argument is, with the message that users see."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from backends.typing import Array

from .errors import BackendError

ARRAY_LIBRARIES = ("cupy", "numpy")
"""The libraries of which backends take arrays, by module name."""

MARKS = ("__array_namespace__", "__dlpack__", "__array_function__")
"""Methods that arrays of other libraries have."""
MOST_TYPES = 100
"""Types that a backend remembers."""


def is_of_library(value: object) -> bool:
    """Tell whether a value is an array of some library.

    It is asked of the type, as arrays that a formula is traced with do not like to be asked.
    """
    kind = type(value)
    known = kind.__module__.partition(".")[0] in ARRAY_LIBRARIES and hasattr(kind, "__array__")  # which a dtype has not
    return (known or any(hasattr(kind, mark) for mark in MARKS)) and hasattr(kind, "shape")


def is_number_of_numpy(value: Any) -> bool:
    """Tell whether a value is a scalar of NumPy's, or an array ``[]``."""
    return type(value).__module__.partition(".")[0] == "numpy" and value.ndim == 0


class ArgumentChecks:
    """Mixin of `Backend`."""

    name: str
    is_array: Callable[[object], bool]
    dtype_name: Callable[[Array], str]

    @cached_property
    def usual(self) -> set[type]:
        """Types of arguments that need no second look: what is no array, and, once seen, this backend's arrays."""
        return {bool, float, int, str, type(None)}

    known_by_type = True
    """Whether the type of an array alone tells that it is this backend's: not where a library has several devices."""

    def look_at(self, who: str, value: object) -> None:
        """Raise BackendError where a value is an array of another library, or a list or tuple with one in it."""
        if isinstance(value, (list, tuple)):
            for item in value:
                if type(item) not in self.usual:
                    self.look_at(who, item)
        elif self.is_foreign(value):
            raise BackendError(
                f"{who}: the backend is {self.name!r}, got {self.origin_of(value)}. "
                "Convert it with nd.create(nd.to_host(x)), or select its backend with nd.use_backend."
            )
        elif self.known_by_type and len(self.usual) < MOST_TYPES and (self.is_array(value) or not is_of_library(value)):
            self.usual.add(type(value))

    def origin_of(self, array: object) -> str:
        """Say where an array that is not this backend's comes from."""
        return f"an array of {type(array).__module__!r}"

    def is_foreign(self, value: object) -> bool:
        """Tell whether a value is an array of another library, or of another device; a scalar of NumPy's is none."""
        return is_of_library(value) and not self.is_array(value) and not is_number_of_numpy(value)
