"""Between the device and the host, between dtypes."""

from __future__ import annotations

from typing import Any

from .create import as_array
from .explained import explained
from .state import state

Array = Any


@explained
def to_host(x: Array) -> Any:
    """Return `x` as a numpy.ndarray: the array itself on the NumPy backend, a copy from the device on others.

    An array of the device is copied whatever backend is the current one.
    """
    return state.backend.to_host(x if hasattr(x, "dtype") else as_array(x))


@explained
def astype(x: Array, dtype: str) -> Array:
    """Return `x` in that dtype; `x` itself when it already has it."""
    return state.backend.astype(x, dtype)


@explained
def dtype_name(x: Array) -> str:
    """Return the name of an array's dtype, ``"float32"`` for instance."""
    return state.backend.dtype_name(x)


@explained
def item(x: Array) -> float:
    """Return the only element of `x` as a Python number; on a GPU this waits for the device."""
    return state.backend.item(x)


def is_array(x: object) -> bool:
    """Tell whether `x` is an array of the current backend."""
    return state.backend.is_array(x)


@explained
def synchronize() -> None:
    """Wait until the device has run everything issued so far."""
    state.backend.synchronize()
