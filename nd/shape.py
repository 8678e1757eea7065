"""Reordering axes and copying, without arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from backends.errors import check_choice

from .arguments import EVEN_NAN
from .create import ORDERS, as_array
from .explained import explained, settled
from .state import state

Array = Any


@explained
def reshape(x: Array, shape: int | Sequence[int]) -> Array:
    """Reshape in c order, as a view where the strides allow one; a length of -1 is what is left over."""
    if type(shape) is not tuple:
        (shape,) = settled(reshape, shape=shape)
    return state.backend.reshape(x, shape)


@explained
def reshape_view(x: Array, shape: Sequence[int], order: str = "c") -> Array:
    """View contiguous memory in another shape, read in c or in f order; fails where only a copy would do."""
    here = state.backend
    if order == "c":
        return here.reshape_view(x, tuple(shape))
    check_choice("reshape_view", "order", order, ORDERS)
    return here.transpose(here.reshape_view(x, tuple(reversed(shape))))


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
    return state.backend.permute(x, axes)


@explained
def concat(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Join arrays along an existing axis."""
    if type(axis) is not int:
        (axis,) = settled(concat, axis=axis)
    return state.backend.concat(arrays, axis)


@explained
def to_flattened(order: str, arrays: Sequence[Array]) -> Array:
    """Return all elements one after the other, ``[n]``, each array read in c or in f order."""
    check_choice("to_flattened", "order", order, ORDERS)
    here = state.backend
    turned = [here.transpose(each) if order == "f" else each for each in arrays]
    return here.concat([here.reshape(each, (-1,)) for each in turned], 0)


@explained
def assign(target: Array, source: Any) -> Array:
    """Copy `source` into `target`, broadcasting and casting; returns `target`."""
    return state.backend.assign(target, source)


@explained
def fill(x: Array, value: int | Annotated[float, EVEN_NAN]) -> Array:
    """Set every element of `x`; returns `x`."""
    if type(value) is not float:
        (value,) = settled(fill, value=value)
    return state.backend.fill(x, value)


@explained
def copy(x: Array) -> Array:
    """Return a c-ordered copy."""
    if not hasattr(x, "dtype"):
        x = as_array(x)
    if state.backend.is_foreign(x):
        state.backend.guard_same_backend("copy", x)
    return state.backend.copy(x)


def to_activation_order(x: Array, buffer: Callable[[str, tuple[int, ...]], Array]) -> Array:
    """Return activations in the backend's preferred memory order: `x` itself, or its copy in a buffer."""
    return state.backend.to_activation_order(x, buffer)


@explained
def activation_like(x: Array) -> Array:
    """Return an uninitialised array of the shape and dtype of `x` in the backend's preferred memory order."""
    here = state.backend
    return here.empty_activation(tuple(x.shape), here.dtype_name(x))
