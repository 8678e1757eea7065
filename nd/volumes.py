"""Pooling over volumes ``[N, C, D, H, W]``; see `nd.convolution` for images."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from backends.volume_pooling import VolumeWindow

from .convolution import make_window
from .state import state

Array = Any
Buffers = Callable[..., Array]
Triple = tuple[int, int, int]


def make_volume_window(
    who: str,
    size: Triple,
    kernel: Triple,
    stride: Triple = (1, 1, 1),
    padding: Triple = (0, 0, 0),
    dilation: Triple = (1, 1, 1),
    mode: str = "truncate",
) -> VolumeWindow:
    """Work out where the windows of a pooling over volumes lie.

    Parameters
    ----------
    who : str
        Named in errors.
    size : three int
        ``D, H, W`` of the input.
    kernel, stride, padding, dilation : three int
        As in `nd.convolution.make_window`.
    mode : {"strict", "truncate", "same"}
        As there.

    Raises
    ------
    ShapeError
        The kernel does not fit, or the mode is strict and the windows do not fit exactly.

    Examples
    --------
    >>> make_volume_window("pooling", (5, 6, 7), (2, 3, 3), (2, 1, 3)).out
    (2, 4, 2)
    """
    geometry = (kernel, stride, padding, dilation)
    kernels, strides, paddings, dilations = ((height, width) for _, height, width in geometry)
    plane = make_window(who, (size[1], size[2]), kernels, strides, paddings, dilations, mode)
    kernels, strides, paddings, dilations = zip((each[0] for each in geometry), (1, 1, 0, 1), strict=True)
    places, axes = math.prod(plane.out), ("depth", "places")
    depth = make_window(who, (size[0], places), kernels, strides, paddings, dilations, mode, axes)
    return VolumeWindow(plane, depth)


def max_pool3d(x: Array, window: VolumeWindow, buffers: Buffers) -> tuple[Array, Any]:
    """Maximum of every window, and which cell won; see `backends.volume_pooling`."""
    return state.backend.max_pool3d(x, window, buffers)


def max_pool3d_backward(epsilon: Array, saved: Any, window: VolumeWindow, buffers: Buffers) -> Array:
    """Hand each epsilon to the cell that won, the first in row-major order."""
    return state.backend.max_pool3d_backward(epsilon, saved, window, buffers)


def avg_pool3d(x: Array, window: VolumeWindow, buffers: Buffers) -> tuple[Array, Any]:
    """Mean over the real cells of every window."""
    return state.backend.avg_pool3d(x, window, buffers)


def avg_pool3d_backward(epsilon: Array, saved: Any, window: VolumeWindow, buffers: Buffers) -> Array:
    """Spread each epsilon over the real cells of its window."""
    return state.backend.avg_pool3d_backward(epsilon, saved, window, buffers)
