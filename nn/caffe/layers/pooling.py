"""Pooling: maxima, means and drawn cells of windows whose number is rounded up; and SPP, pyramids of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nd
from nd import ConfigurationError, ShapeError
from nd.arrays import convolution
from nd.arrays.convolution import Window
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape, count

Buffers = Callable[..., Array]
KINDS = ("MAX", "AVE", "STOCHASTIC")
"""By their numbers in messages."""
CEIL = 0
"""Number of the round mode."""
Pair = tuple[int, int]


class _Pools(CaffeLayer):
    """Shared by layers that pool: one of the `KINDS` over windows."""

    kind: str

    def may_split(self, training: bool) -> bool:
        return self.splits and not (self.kind == "STOCHASTIC" and training)

    def check_images(self, shape: Shape) -> None:
        """Raise ShapeError unless a bottom is ``[N, C, H, W]``."""
        if len(shape) != 4:
            raise ShapeError(f"{self.label}: expected a bottom [N, C, H, W], got {describe_shape(shape)}.")

    def pooled(self, x: Array, window: Window, buffers: Buffers, training: bool) -> tuple[Array, Any]:
        """Return ``x [N, C, H, W]`` pooled, and what `pooled_back` needs."""
        if self.kind == "MAX":
            return convolution.max_pool(x, window, buffers)
        if self.kind == "AVE":
            return convolution.avg_pool(x, window, True, buffers)
        if not training:
            return _weighted_means(x, window, buffers)
        shape = (*x.shape[:2], *window.out)
        drawn = nd.random.get_random().uniform(count(shape), nd.dtype_name(x))
        return convolution.stochastic_pool(x, nd.reshape(drawn, shape), window, buffers)

    def pooled_back(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers, training: bool) -> Array:
        """Return dL/dx."""
        if self.kind == "AVE":
            return convolution.avg_pool_backward(epsilon, saved, window, buffers)
        if self.kind == "MAX" or training:
            return convolution.max_pool_backward(epsilon, saved, window, buffers)
        return _weighted_means_back(epsilon, saved, window, buffers)


def _under(buffers: Buffers, name: str) -> Buffers:
    """Return the same memory under names that begin so."""
    return lambda part, *shape: buffers(f"{name}_{part}", *shape)


def _weighted_means(x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
    """Return sum x^2 / sum x of every window, which is what a draw gives on average; 0 where all cells are."""
    squares = nd.multiply(x, x, nd.buffer_like(x, buffers, "squares"))
    weighted, _ = convolution.avg_pool(squares, window, True, _under(buffers, "weighted"))
    weights, saved = convolution.avg_pool(x, window, True, _under(buffers, "weights"))
    blank = nd.greater(weights, 0.0, nd.buffer_like(weights, buffers, "positive"))
    nd.addi(weights, nd.subtract(1.0, blank, nd.buffer_like(weights, buffers, "ones")))
    out = nd.muli(nd.divide(weighted, weights, weighted), blank)
    return out, (x, out, weights, blank, saved)


def _weighted_means_back(epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
    """Return the sum over windows of epsilon (2 x - y) / sum x."""
    x, out, weights, positive, counts = saved
    share = nd.divide(epsilon, weights, nd.buffer_like(weights, buffers, "share_of_cells"))
    nd.muli(share, positive)
    below = convolution.avg_pool_backward(share, counts, window, _under(buffers, "cells"))
    nd.muli(nd.muli(below, x), 2.0)
    nd.muli(share, out)
    return nd.subi(below, convolution.avg_pool_backward(share, counts, window, _under(buffers, "means")))


class Pooling(_Pools):
    """Pooling of images; the number of windows is rounded up, and the last one is cut off where the image ends.

    Notes
    -----
    MAX: of equal cells the first in row-major order; a second top has its place ``row * W + column`` in the plane, a
    float. AVE: the divisor counts padding, but nothing beyond it. STOCHASTIC: in training a cell, drawn with its value
    as weight, in TEST sum x^2 / sum x. Source: BVLC Caffe, pooling_layer.cpp and pooling_layer.cu. Differs: a window
    that would begin behind the image is left out also without padding; Caffe fills it with -FLT_MAX. A maximum of NaN
    and a number is NaN. STOCHASTIC has a gradient in TEST, too.
    """

    pure = splits = True
    tops = (1, 2)

    def setup(self) -> None:
        settings = self.settings = self.message.pooling_param
        self.kind = KINDS[settings.pool]
        self.has_noise = self.kind == "STOCHASTIC" and self.phase == "TRAIN"
        self._windows: dict[Shape, Window] = {}
        self.stride, self.padding = self._pair("stride", 1), self._pair("pad", 0)
        self.kernel = self._kernel()
        if 0 in self.stride:
            raise ConfigurationError(f"{self.label}: stride must be >= 1, got {list(self.stride)}.")
        if any(self.padding) and self.kind == "STOCHASTIC":
            raise ConfigurationError(f"{self.label}: pad is for MAX and AVE, got {list(self.padding)} of {self.kind}.")
        if self.kernel and any(pad >= cells for pad, cells in zip(self.padding, self.kernel, strict=True)):
            raise ConfigurationError(
                f"{self.label}: pad must be less than the kernel, got {list(self.padding)} and {list(self.kernel)}: "
                "some windows would hold nothing."
            )
        if self.outputs > 1 and self.kind != "MAX":
            raise ConfigurationError(f"{self.label}: expected one top, got {self.outputs}: {self.kind} has no places.")

    def _pair(self, name: str, usual: int) -> Pair:
        """Return sizes from one field or from two."""
        settings, high, wide = self.settings, f"{name}_h", f"{name}_w"
        both = settings.HasField(high), settings.HasField(wide)
        if not any(both):
            one = getattr(settings, name) if settings.HasField(name) else usual
            return one, one
        if settings.HasField(name) or not all(both):
            raise ConfigurationError(f"{self.label}: give either {name}, or {high} and {wide}.")
        return getattr(settings, high), getattr(settings, wide)

    def _kernel(self) -> Pair | None:
        """Return the kernel; None for one as large as the bottom."""
        settings = self.settings
        given = [name for name in ("kernel_size", "kernel_h", "kernel_w") if settings.HasField(name)]
        if settings.global_pooling:
            if given:
                raise ConfigurationError(f"{self.label}: global_pooling has no kernel, got {', '.join(given)}.")
            if self.stride != (1, 1) or any(self.padding):
                raise ConfigurationError(
                    f"{self.label}: global_pooling needs stride 1 and pad 0, got {list(self.stride)} and "
                    f"{list(self.padding)}."
                )
            return None
        if given not in (["kernel_size"], ["kernel_h", "kernel_w"]):
            raise ConfigurationError(
                f"{self.label}: give either kernel_size, or kernel_h and kernel_w, got {', '.join(given) or 'none'}."
            )
        sizes = [getattr(settings, name) for name in given]
        if 0 in sizes:
            raise ConfigurationError(f"{self.label}: the kernel must be >= 1, got {sizes}.")
        return sizes[0], sizes[-1]

    def window(self, shape: Shape) -> Window:
        """Return the windows over a bottom of that shape; raise ShapeError if they do not fit."""
        self.check_images(shape)
        size = shape[2:]
        if size not in self._windows:
            rounds_up = self.settings.round_mode == CEIL
            make = convolution.make_rounded_up_window if rounds_up else convolution.make_window
            self._windows[size] = make(self.label, size, self.kernel or size, self.stride, self.padding)
        return self._windows[size]

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        return [(*shape[:2], *self.window(shape).out)] * self.outputs

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Any]:
        (x,) = xs
        window = self.window(tuple(x.shape))
        out, saved = self.pooled(x, window, ctx.buffer, ctx.training)
        kept = (saved, window, tuple(x.shape))
        if self.outputs == 1:
            return out, kept
        return (out, convolution.max_places(x, window, _under(ctx.buffer, "second"))), kept

    def backward(
        self, epsilon: Any, cache: tuple[Any, Window, Shape], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        first = epsilon if self.outputs == 1 else epsilon[0]  # places have no slope
        if not ctx.needs_epsilons[0]:
            return [None]
        saved, window, shape = cache
        if first is None:
            return [nd.fill(ctx.buffer("nothing", shape), 0.0)]
        return [self.pooled_back(first, saved, window, ctx.buffer, ctx.training)]


class SPP(_Pools):
    """Spatial pyramid pooling: images of any size to as many numbers, 1, 4, 16 and so on of every channel.

    Notes
    -----
    Level l has ``2^l x 2^l`` windows of ``ceil(size / 2^l)`` cells, side by side, with half of what they lack before
    the image. The top is ``[N, C * (1 + 4 + ...)]``, of a pyramid of height 1 ``[N, C, 1, 1]``. Source: BVLC Caffe,
    spp_layer.cpp; He et al. 2014. Differs: a level that is wider than the image raises ShapeError.
    """

    pure = splits = True

    def setup(self) -> None:
        self.settings = self.message.spp_param
        self.kind = KINDS[self.settings.pool]
        self.has_noise = self.kind == "STOCHASTIC" and self.phase == "TRAIN"
        self._windows: dict[Shape, tuple[Window, ...]] = {}
        if self.settings.pyramid_height < 1:
            raise ConfigurationError(f"{self.label}: pyramid_height must be >= 1, got {self.settings.pyramid_height}.")

    def windows(self, shape: Shape) -> tuple[Window, ...]:
        """Return the windows of every level over a bottom of that shape."""
        self.check_images(shape)
        size = shape[2:]
        if size not in self._windows:
            self._windows[size] = tuple(self._level(1 << level, size) for level in range(self.settings.pyramid_height))
        return self._windows[size]

    def _level(self, bins: int, size: Shape) -> Window:
        kernel = tuple(math.ceil(length / bins) for length in size)
        padding = tuple((cells * bins - length + 1) // 2 for cells, length in zip(kernel, size, strict=True))
        if any(pad >= cells for pad, cells in zip(padding, kernel, strict=True)):
            raise ShapeError(
                f"{self.label}: {bins} x {bins} windows must fit into the image, got {describe_shape(size)}, for which "
                f"kernels {list(kernel)} would need padding {list(padding)}. Use a smaller pyramid_height."
            )
        if any(padding) and self.kind == "STOCHASTIC":
            raise ShapeError(f"{self.label}: STOCHASTIC takes sizes that {bins} divides, got {describe_shape(size)}.")
        window = convolution.make_rounded_up_window(self.label, size, kernel, kernel, padding)
        if window.out != (bins, bins):
            raise ShapeError(
                f"{self.label}: expected {bins} x {bins} windows, got {describe_shape(window.out)} over "
                f"{describe_shape(size)}. Use a smaller pyramid_height."
            )
        return window

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        numbers = sum(window.positions for window in self.windows(shape))
        return [(*shape[:2], 1, 1) if self.settings.pyramid_height == 1 else (shape[0], shape[1] * numbers)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Any]:
        (x,) = xs
        shape = tuple(x.shape)
        (above,), kept = self.top_shapes([shape]), []
        top = ctx.buffer("pyramid", (shape[0], count(above, 1)))
        for level, (window, part) in enumerate(self._parts(shape)):
            out, saved = self.pooled(x, window, _under(ctx.buffer, f"level{level}"), ctx.training)
            nd.assign(top[:, part], nd.reshape(out, (shape[0], -1)))
            kept.append(saved)
        return nd.reshape(top, above), (kept, shape)

    def backward(
        self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        kept, shape = cache
        rows, below = nd.reshape(epsilon, (shape[0], -1)), None
        for level, ((window, part), saved) in enumerate(zip(self._parts(shape), kept, strict=True)):
            share = nd.reshape(rows[:, part], (*shape[:2], *window.out))
            more = self.pooled_back(share, saved, window, _under(ctx.buffer, f"level{level}"), ctx.training)
            below = more if below is None else nd.addi(below, more)
        return [below]

    def _parts(self, shape: Shape) -> list[tuple[Window, slice]]:
        """Return the windows of every level, and which columns of the top are theirs."""
        parts, start = [], 0
        for window in self.windows(shape):
            parts.append((window, slice(start, start + shape[1] * window.positions)))
            start = parts[-1][1].stop
        return parts


__all__ = ["SPP", "Pooling"]
