"""Pooling over volumes, once, for every backend: a pooling over planes, then one along the depth.

A maximum of maxima is the maximum, and its first cell in row-major order is the first of the first slice that has it;
a mean over real cells of means over real cells is the mean, because a window's cells are a product of its axes'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from backends.typing import Array

from ..signatures import Buffers, PoolingBack, Sliding
from .window import Window

if TYPE_CHECKING:
    from ..base import Backend


@cache
def plane_and_depth(window: Window) -> tuple[Window, Window]:
    """Return the windows over ``h, w``, and those over ``d`` and all places of the pooled plane, of width 1."""
    geometry = (window.size, window.kernel, window.stride, window.dilation, window.pad_before, window.pad_after)
    plane = Window(*(sizes[1:] for sizes in geometry))
    depth = ((sizes[0], across) for sizes, across in zip(geometry, (plane.positions, 1, 1, 1, 0, 0), strict=True))
    return plane, Window(*depth)


def _along_depth(buffers: Buffers) -> Buffers:
    """Return the same memory under names of their own, for the pooling along the depth."""
    return lambda name, *shape: buffers(f"depth_{name}", *shape)


def max_pool3d(backend: Backend, given: Sliding[Array]) -> tuple[Array, object]:
    """Return the maximum of every window of ``x [N, C, D, H, W]``; see `max_pool`."""
    return _pooled(backend, given, backend.max_pool)


def max_pool3d_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    """Hand every element of ``epsilon [N, C, out_d, out_h, out_w]`` to the cell that won."""
    return _back(backend, given, backend.max_pool_backward)


def avg_pool3d(backend: Backend, given: Sliding[Array]) -> tuple[Array, object]:
    """Return the mean over the real cells of every window of ``x [N, C, D, H, W]``; see `avg_pool`."""
    return _pooled(backend, given, lambda x, window, buffers: backend.avg_pool(x, window, False, buffers))


def avg_pool3d_backward(backend: Backend, given: PoolingBack[Array]) -> Array:
    """Spread every element of ``epsilon [N, C, out_d, out_h, out_w]`` evenly over the real cells of its window."""
    return _back(backend, given, backend.avg_pool_backward)


def _pooled(
    backend: Backend, given: Sliding[Array], pool: Callable[[Array, Window, Buffers], tuple[Array, object]]
) -> tuple[Array, object]:
    """Pool ``[N, C * D, H, W]``, then ``[N, C, D, out_h * out_w]``; views where the batch is innermost."""
    x, window, buffers = given
    (n, channels, length, *sizes), (plane, depth) = x.shape, plane_and_depth(window)
    planes, across = pool(backend.reshape(x, (n, channels * length, *sizes)), plane, buffers)
    columns = backend.reshape(planes, (n, channels, *depth.size))
    out, along = pool(columns, depth, _along_depth(buffers))
    return backend.reshape(out, (n, channels, *window.out)), (across, along)


def _back(
    backend: Backend, given: PoolingBack[Array], back: Callable[[Array, object, Window, Buffers], Array]
) -> Array:
    epsilon, (across, along), window, buffers = given
    (n, channels, length, *sizes), (plane, depth) = epsilon.shape, plane_and_depth(window)
    columns = backend.reshape(epsilon, (n, channels, length, math.prod(sizes)))
    columns = back(columns, along, depth, _along_depth(buffers))
    planes = backend.reshape(columns, (n, channels * window.size[0], *plane.out))
    return backend.reshape(back(planes, across, plane, buffers), (n, channels, *window.size))
