"""Activations in memory: the order that a backend prefers, and copies in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from backends.typing import Array


class MemoryOrder:
    """Mixin of `Backend`: without overrides the batch lies innermost, ``C, ..., N``."""

    stages = False
    """Whether `staged` ever returns anything."""
    xp: Any
    empty: Callable[..., Array]
    assign: Callable[..., Array]
    reshape_view: Callable[..., Array]
    dtype_name: Callable[..., str]

    def empty_activation(self, shape: Sequence[int], dtype: str) -> Array:
        """Return an uninitialised activation in this backend's preferred memory order."""
        return self.activation_view(self.empty((math.prod(shape),), dtype), shape)

    def activation_view(self, flat: Array, shape: Sequence[int]) -> Array:
        """View the first elements of a flat buffer as an activation in the preferred memory order."""
        axes = tuple(shape[1:]) + tuple(shape[:1])
        view = self.reshape_view(flat[: math.prod(shape)], axes)
        return self.xp.permute_dims(view, (len(axes) - 1, *range(len(axes) - 1)) if axes else ())

    def to_activation_order(self, x: Array, buffer: Callable[[str, tuple[int, ...]], Array]) -> Array:
        """Return `x`, or its copy in a buffer, in the preferred memory order."""
        return self.assign(buffer("input", tuple(x.shape)), x)

    def to_input_order(self, x: Array, buffers: Callable[..., Array]) -> Array:
        """Return a network's features, or their copy in a buffer, in the memory order that its first layers prefer."""
        return self.to_activation_order(x, buffers)

    def staged(self, array: Any, dtype: str, buffer: Callable[[], Array]) -> Array | None:
        """Return a numpy array ``[N, ...]`` in `buffer()`, an activation; None where `from_host` does as well."""
        return None

    def is_staged(self, array: Array) -> bool:
        """Tell whether an array is what `staged` has returned, memory that nothing else writes."""
        return False

    def input_like(self, x: Array) -> Array:
        """Return an uninitialised array of the shape and dtype of `x`, in the order of `to_input_order`."""
        return self.empty_activation(tuple(x.shape), self.dtype_name(x))

    def to_image_order(self, x: Array, buffers: Callable[..., Array]) -> Array:
        """Return activations ``[N, C, ...]`` in the memory order that is best for places, where that is another."""
        return x

    def lasting(self, length: int, dtype: str) -> Array:
        """Return an uninitialised vector that belongs to no recording, also while one is made."""
        return self.empty((length,), dtype)

    def may_share_memory(self, x: Array, y: Array) -> bool:
        """Tell whether the memory of two arrays may overlap; True where a backend cannot tell."""
        return True
