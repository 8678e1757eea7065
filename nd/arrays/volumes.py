"""Pooling over volumes ``[N, C, D, H, W]``; see `nd.arrays.convolution` for windows, and for images."""

from __future__ import annotations

from nd.typing import Array

from ..state import state
from .convolution import Buffers, Window


def max_pool3d(x: Array, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Return the maximum of every window, and which cell won; see `backends.generic.volume_pooling`."""
    return state.backend.max_pool3d(x, window, buffers)


def max_pool3d_backward(epsilon: Array, saved: object, window: Window, buffers: Buffers) -> Array:
    """Hand every element of epsilon to the cell that won, the first in row-major order."""
    return state.backend.max_pool3d_backward(epsilon, saved, window, buffers)


def avg_pool3d(x: Array, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Return the mean over the real cells of every window."""
    return state.backend.avg_pool3d(x, window, buffers)


def avg_pool3d_backward(epsilon: Array, saved: object, window: Window, buffers: Buffers) -> Array:
    """Spread every element of epsilon over the real cells of its window."""
    return state.backend.avg_pool3d_backward(epsilon, saved, window, buffers)
