"""Activations in memory: the order that a backend prefers, and copies in it. Here the batch lies innermost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import Buffers

if TYPE_CHECKING:
    from ..base import Backend


def empty_activation(backend: Backend, shape: Sequence[int], dtype: str) -> Array:
    """Return an uninitialised activation in this backend's preferred memory order."""
    return backend.activation_view(backend.empty((math.prod(shape),), dtype), shape)


def activation_view(backend: Backend, flat: Array, shape: Sequence[int]) -> Array:
    """View the first elements of a flat buffer as an activation in the preferred memory order."""
    axes = tuple(shape[1:]) + tuple(shape[:1])
    view = backend.reshape_view(flat[: math.prod(shape)], axes)
    return backend.xp.permute_dims(view, (len(axes) - 1, *range(len(axes) - 1)) if axes else ())


def to_activation_order(backend: Backend, x: Array, buffers: Callable[[str, tuple[int, ...]], Array]) -> Array:
    """Return `x`, or its copy in a buffer, in the preferred memory order."""
    return backend.assign(buffers("input", tuple(x.shape)), x)


def to_input_order(backend: Backend, x: Array, buffers: Buffers) -> Array:
    """Return a network's features, or their copy in a buffer, in the memory order that its first layers prefer."""
    return backend.to_activation_order(x, buffers)


def to_image_order(backend: Backend, x: Array, buffers: Buffers) -> Array:
    """Return activations ``[N, C, ...]`` in the memory order that is best for places, where that is another."""
    return x


def input_like(backend: Backend, x: Array) -> Array:
    """Return an uninitialised array of the shape and dtype of `x`, in the order of `to_input_order`."""
    return backend.empty_activation(tuple(x.shape), backend.dtype_name(x))
