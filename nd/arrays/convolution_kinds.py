"""Kinds of convolution beside plain ones: over volumes, transposed, depthwise, with weights of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.generic.window import Window
from nd.typing import Array

from ..state import state
from .convolution import Buffers


def conv3d(
    x: Array,
    W: Array,
    b: Array | None,
    window: Window,
    buffers: Buffers,
    activate: Callable[[Array], object] | None = None,
) -> tuple[Array, object]:
    """Cross-correlate ``x [N, C, D, H, W]`` with ``W [n_out, C, *kernel]``; see `backends.generic`."""
    return state.backend.conv3d(x, W, b, window, buffers, activate)


def conv3d_backward(
    delta: Array,
    saved: object,
    W: Array,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic`."""
    return state.backend.conv3d_backward(delta, saved, W, window, gradients, buffers, need_epsilon)


def deconv(x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Return the transposed convolution of ``x [N, C, ...]`` with ``W [C, n_out, *kernel]``; see `backends.generic`."""
    return state.backend.deconv(x, W, b, window, buffers)


def deconv_backward(
    delta: Array,
    saved: object,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic`."""
    return state.backend.deconv_backward(delta, saved, window, gradients, buffers, need_epsilon)


def depthwise(
    x: Array,
    W: Array,
    b: Array | None,
    window: Window,
    buffers: Buffers,
    activate: Callable[[Array], object] | None = None,
) -> tuple[Array, object]:
    """Convolve every channel of ``x [N, C, H, W]`` with ``W [*kernel, C, multiplier]``; see `backends.generic`."""
    return state.backend.depthwise(x, W, b, window, buffers, activate)


def depthwise_backward(
    delta: Array,
    saved: Any,
    W: Array,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic`."""
    return state.backend.depthwise_backward(delta, saved, W, window, gradients, buffers, need_epsilon)


def grouped(
    x: Array,
    W: Array,
    b: Array | None,
    window: Window,
    buffers: Buffers,
    activate: Callable[[Array], object] | None = None,
) -> tuple[Array, object]:
    """Convolve by groups of channels, ``W [groups, n_out, C, *kernel]``; see `backends.generic.channel_groups`."""
    return state.backend.grouped(x, W, b, window, buffers, activate)


def grouped_backward(
    delta: Array,
    saved: object,
    W: Array,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic.channel_groups`."""
    return state.backend.grouped_backward(delta, saved, W, window, gradients, buffers, need_epsilon)


def grouped_deconv(x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Return that of `deconv` by groups, ``W [groups, C, n_out, *kernel]``; see `backends.generic.channel_groups`."""
    return state.backend.grouped_deconv(x, W, b, window, buffers)


def grouped_deconv_backward(
    delta: Array,
    saved: object,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic.channel_groups`."""
    return state.backend.grouped_deconv_backward(delta, saved, window, gradients, buffers, need_epsilon)


def locally_connected(x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Convolve with weights of every position's own, ``W [positions, C * cells, n_out]``; see `backends.generic`."""
    return state.backend.locally_connected(x, W, b, window, buffers)


def locally_connected_backward(
    delta: Array,
    saved: object,
    W: Array,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic`."""
    return state.backend.locally_connected_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
