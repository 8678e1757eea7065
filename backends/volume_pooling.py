"""Pooling over volumes, once, for every backend: a pooling over planes, then one along the depth.

A maximum of maxima is the maximum, and its first cell in row-major order is the first of the first slice that has it;
a mean over real cells of means over real cells is the mean, because a window's cells are a product of its axes'.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .spatial import Array, Buffers, SpatialPrimitives
from .window import Window


class VolumeWindow(NamedTuple):
    """Windows over the axes ``d, h, w`` of ``[N, C, D, H, W]``."""

    plane: Window
    """Over ``h, w``."""
    depth: Window
    """Over ``d`` and all places of the pooled plane, of width 1."""

    @property
    def size(self) -> tuple[int, ...]:
        """``D, H, W`` of the input."""
        return self.depth.size[0], *self.plane.size

    @property
    def out(self) -> tuple[int, ...]:
        """``D, H, W`` of the output."""
        return self.depth.out[0], *self.plane.out


def _along_depth(buffers: Buffers) -> Buffers:
    """Return the same memory under names of their own, for the pooling along the depth."""
    return lambda name, shape, dtype=None: buffers(f"depth_{name}", shape, dtype)


class VolumePooling(SpatialPrimitives):
    """Mixin of `Backend`: pooling over ``d, h, w``."""

    def max_pool3d(self, x: Array, window: VolumeWindow, buffers: Buffers) -> tuple[Array, Any]:
        """Maximum of every window of ``x [N, C, D, H, W]``; see `max_pool`."""
        planes, saved = self.max_pool(self._planes(x), window.plane, buffers)
        out, along = self.max_pool(self._columns(planes, window), window.depth, _along_depth(buffers))
        return self.reshape(out, (*x.shape[:2], *window.out)), (saved, along)

    def max_pool3d_backward(self, epsilon: Array, saved: Any, window: VolumeWindow, buffers: Buffers) -> Array:
        """Hand the whole of every ``epsilon [N, C, out_d, out_h, out_w]`` to the cell that won."""
        across, along = saved
        columns = self._columns_of_epsilon(epsilon)
        columns = self.max_pool_backward(columns, along, window.depth, _along_depth(buffers))
        planes = self.max_pool_backward(self._planes_of_columns(columns, window), across, window.plane, buffers)
        return self.reshape(planes, (*epsilon.shape[:2], *window.size))

    def avg_pool3d(self, x: Array, window: VolumeWindow, buffers: Buffers) -> tuple[Array, Any]:
        """Mean over the real cells of every window of ``x [N, C, D, H, W]``; see `avg_pool`."""
        planes, saved = self.avg_pool(self._planes(x), window.plane, False, buffers)
        out, along = self.avg_pool(self._columns(planes, window), window.depth, False, _along_depth(buffers))
        return self.reshape(out, (*x.shape[:2], *window.out)), (saved, along)

    def avg_pool3d_backward(self, epsilon: Array, saved: Any, window: VolumeWindow, buffers: Buffers) -> Array:
        """Spread every ``epsilon [N, C, out_d, out_h, out_w]`` evenly over the real cells of its window."""
        across, along = saved
        columns = self._columns_of_epsilon(epsilon)
        columns = self.avg_pool_backward(columns, along, window.depth, _along_depth(buffers))
        planes = self.avg_pool_backward(self._planes_of_columns(columns, window), across, window.plane, buffers)
        return self.reshape(planes, (*epsilon.shape[:2], *window.size))

    # ---- views, where the batch is innermost in memory

    def _planes(self, x: Array) -> Array:
        """``[N, C, D, H, W]`` as ``[N, C * D, H, W]``."""
        n, channels, depth, height, width = x.shape
        return self.reshape(x, (n, channels * depth, height, width))

    def _columns(self, planes: Array, window: VolumeWindow) -> Array:
        """Pooled planes ``[N, C * D, out_h, out_w]`` as ``[N, C, D, out_h * out_w]``."""
        depth, places = window.depth.size
        return self.reshape(planes, (planes.shape[0], planes.shape[1] // depth, depth, places))

    def _columns_of_epsilon(self, epsilon: Array) -> Array:
        """``[N, C, out_d, out_h, out_w]`` as ``[N, C, out_d, out_h * out_w]``."""
        return self.reshape(epsilon, (*epsilon.shape[:3], math.prod(epsilon.shape[3:])))

    def _planes_of_columns(self, columns: Array, window: VolumeWindow) -> Array:
        """``[N, C, D, out_h * out_w]`` as ``[N, C * D, out_h, out_w]``."""
        n, channels, depth, _ = columns.shape
        return self.reshape(columns, (n, channels * depth, *window.plane.out))
