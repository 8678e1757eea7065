"""Pooling over volumes, once, for every backend: a pooling over planes, then one along the depth.

A maximum of maxima is the maximum, and its first cell in row-major order is the first of the first slice that has it;
a mean over real cells of means over real cells is the mean, because a window's cells are a product of its axes'.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from .spatial import Array, Buffers, SpatialPrimitives
from .window import Window


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


class VolumePooling(SpatialPrimitives):
    """Mixin of `Backend`: pooling over ``d, h, w``."""

    def max_pool3d(self, x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        """Return the maximum of every window of ``x [N, C, D, H, W]``; see `max_pool`."""
        return self._pooled(x, window, buffers, self.max_pool)

    def max_pool3d_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        """Hand every element of ``epsilon [N, C, out_d, out_h, out_w]`` to the cell that won."""
        return self._back(epsilon, saved, window, buffers, self.max_pool_backward)

    def avg_pool3d(self, x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        """Return the mean over the real cells of every window of ``x [N, C, D, H, W]``; see `avg_pool`."""
        return self._pooled(x, window, buffers, lambda x, over, memory: self.avg_pool(x, over, False, memory))

    def avg_pool3d_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        """Spread every element of ``epsilon [N, C, out_d, out_h, out_w]`` evenly over the real cells of its window."""
        return self._back(epsilon, saved, window, buffers, self.avg_pool_backward)

    def _pooled(
        self, x: Array, window: Window, buffers: Buffers, pool: Callable[..., tuple[Array, Any]]
    ) -> tuple[Array, Any]:
        """Pool ``[N, C * D, H, W]``, then ``[N, C, D, out_h * out_w]``; views where the batch is innermost."""
        (n, channels, length, *sizes), (plane, depth) = x.shape, plane_and_depth(window)
        planes, across = pool(self.reshape(x, (n, channels * length, *sizes)), plane, buffers)
        columns = self.reshape(planes, (n, channels, *depth.size))
        out, along = pool(columns, depth, _along_depth(buffers))
        return self.reshape(out, (n, channels, *window.out)), (across, along)

    def _back(
        self, epsilon: Array, saved: tuple[Any, Any], window: Window, buffers: Buffers, back: Callable[..., Array]
    ) -> Array:
        (n, channels, length, *sizes), (plane, depth) = epsilon.shape, plane_and_depth(window)
        across, along = saved
        columns = self.reshape(epsilon, (n, channels, length, math.prod(sizes)))
        columns = back(columns, along, depth, _along_depth(buffers))
        planes = self.reshape(columns, (n, channels * window.size[0], *plane.out))
        return self.reshape(back(planes, across, plane, buffers), (n, channels, *window.size))
