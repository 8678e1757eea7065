"""Pooling by oneDNN: maxima and means of windows over one to three axes, forward and back."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..generic.window import Window
from ..signatures import AveragePooling, PoolingBack, Sliding
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    INFERENCE,
    SRC,
    TRAINING,
    WORKSPACE,
    Layout,
    Primitive,
    layout_of,
    primitive,
)
from .running import Buffers, channels_innermost, in_float32, run, with_channels_innermost

MAXIMUM, MEAN_OF_ALL, MEAN_OF_REAL = 0x1FF, 0x2FF, 0x3FF


class Saved(NamedTuple):
    """Forward's cache for the way back."""

    kernel: Primitive
    workspace: NumpyArray | None
    x: Layout
    arguments: tuple[object, ...]


@lru_cache(maxsize=256)
def _arguments(window: Window) -> tuple[tuple[int, ...], ...]:
    return (
        window.stride,
        window.kernel,
        tuple(far - 1 for far in window.dilation),
        window.pad_before,
        window.pad_after,
    )


@lru_cache(maxsize=256)
def averages(window: Window) -> bool:
    """Tell whether oneDNN takes means over real cells: not where it fears a window of none."""
    around = zip(window.size, window.dilation, window.effective, window.pad_before, window.pad_after, strict=True)
    return all(size >= step and extent > max(before, after) for size, step, extent, before, after in around)


def maxima(given: Sliding[NumpyArray]) -> tuple[NumpyArray, Saved | None]:
    """Take the maximum of every window."""
    return forward(given.x, given.window, MAXIMUM, given.buffers)


def largest(given: Sliding[NumpyArray]) -> NumpyArray:
    """Take the same without a way back."""
    return forward(given.x, given.window, MAXIMUM, given.buffers, keep=False)[0]


def means(given: AveragePooling[NumpyArray]) -> tuple[NumpyArray, Saved | None]:
    """Take the mean of every window."""
    x, window, count_padding, buffers = given
    out, saved = forward(x, window, MEAN_OF_ALL if count_padding else MEAN_OF_REAL, buffers)
    if count_padding:
        _leave_out_overhang(out, window)
    return out, saved


def _leave_out_overhang(x: NumpyArray, window: Window) -> None:
    """Turn means of all cells, or their errors, into those of all but the overhang, which only last windows have."""
    for axis, beyond in enumerate(window.overhang, 2):
        if beyond:
            last = x.swapaxes(0, axis)[-1]
            np.multiply(last, window.kernel[axis - 2] / (window.kernel[axis - 2] - beyond), out=last)


def means_of_real(given: Sliding[NumpyArray]) -> tuple[NumpyArray, Saved | None]:
    """Take the mean of the real cells of every window."""
    return forward(given.x, given.window, MEAN_OF_REAL, given.buffers)


def forward(
    x: NumpyArray, window: Window, algorithm: int, buffers: Buffers, keep: bool = True
) -> tuple[NumpyArray, Saved | None]:
    """Return ``[N, C, *out]``, channels innermost, and with `keep` the cache for `backward`."""
    x = with_channels_innermost(x, buffers, "onednn_x")
    out = channels_innermost(buffers, "pooled", (*x.shape[:2], *window.out))
    ends, places = (layout_of(x), layout_of(out)), _arguments(window)
    kernel = primitive("pooling_forward", (TRAINING if keep else INFERENCE, algorithm, *ends, *places))
    writes, workspace = {DST: out}, None
    if keep and algorithm == MAXIMUM:
        workspace = writes[WORKSPACE] = buffers("onednn_winners", (kernel.floats_of(WORKSPACE),), "float32")
    run(kernel, {SRC: x}, writes, buffers)
    return out, Saved(kernel, workspace, ends[0], (algorithm, *ends, *places)) if keep else None


def back(given: PoolingBack[NumpyArray]) -> NumpyArray:
    """Return dL/dx ``[N, C, ...]``, channels innermost."""
    epsilon, saved, window, buffers = given
    kernel = primitive("pooling_backward", (*saved.arguments, saved.kernel))
    if window.rounds_up and saved.arguments[0] == MEAN_OF_ALL:
        share = channels_innermost(buffers, "onednn_share", tuple(epsilon.shape))
        np.copyto(share, epsilon)
        _leave_out_overhang(share, window)
        epsilon = share
    reads = {DIFF_DST: with_channels_innermost(in_float32(epsilon), buffers, "onednn_delta")}
    if saved.workspace is not None:
        reads[WORKSPACE] = saved.workspace
    below = channels_innermost(buffers, "epsilon", saved.x.shape)
    run(kernel, reads, {DIFF_SRC: below}, buffers)
    return below
