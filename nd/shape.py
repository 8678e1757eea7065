"""Reordering axes and copying, without arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .state import state

Array = Any


def reshape(x: Array, shape: Sequence[int]) -> Array:
    """Reshape in c order, as a view where the strides allow one."""
    return state.backend.reshape(x, shape)


def reshape_view(x: Array, shape: Sequence[int], order: str = "c") -> Array:
    """View contiguous memory in another shape, read in c or in f order; fails where only a copy would do."""
    here = state.backend
    if order == "c":
        return here.reshape_view(x, tuple(shape))
    return here.transpose(here.reshape_view(x, tuple(reversed(shape))))


def transpose(x: Array) -> Array:
    """Reverse the axes, as a view."""
    return state.backend.transpose(x)


def permute(x: Array, axes: Sequence[int]) -> Array:
    """Reorder the axes, as a view."""
    return state.backend.permute(x, axes)


def concat(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Join arrays along an existing axis."""
    return state.backend.concat(arrays, axis)


def assign(target: Array, source: Any) -> Array:
    """Copy `source` into `target`, broadcasting and casting; returns `target`."""
    return state.backend.assign(target, source)


def fill(x: Array, value: float) -> Array:
    """Set every element of `x`; returns `x`."""
    return state.backend.fill(x, value)


def copy(x: Array) -> Array:
    """Return a c-ordered copy."""
    return state.backend.copy(x)


def to_activation_order(x: Array, buffer: Callable[[str, tuple[int, ...]], Array]) -> Array:
    """Return activations in the backend's preferred memory order: `x` itself, or its copy in a buffer."""
    return state.backend.to_activation_order(x, buffer)


def activation_like(x: Array) -> Array:
    """Return an uninitialised array of the shape and dtype of `x` in the backend's preferred memory order."""
    here = state.backend
    return here.empty_activation(tuple(x.shape), here.dtype_name(x))
