"""Masks behind windows: a place counts where a cell under its window does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nd
from nd.arrays import convolution
from nd.typing import Array

from ..runtime import Buffers

Geometry = tuple[int, int, int, int]

_STAYS: Geometry = (1, 1, 0, 1)
"""Kernel, stride, padding and dilation of an axis that is left as it is."""


def apart(buffers: Buffers, prefix: str) -> Buffers:
    """Return the same workspace's memory under names of its own."""
    return lambda name, shape, dtype=None: buffers(f"{prefix}_{name}", shape, dtype)


def window_mode(conf: Any) -> str:
    """Return the mode by which a layer's windows lie: a causal pooling's is truncate; Java pads nothing there."""
    pools = conf.convolution_mode == "causal" and not conf.causal
    return "truncate" if pools else conf.convolution_mode


def reduced_mask(label: str, conf: Any, mask: Array, buffers: Buffers) -> Array:
    """Return the mask of the outputs of windows, from that of their input.

    Parameters
    ----------
    label : str
    conf : LayerConf
        With kernel_size, stride, padding and dilation, a number for each of its `axes`, and convolution_mode.
    mask : array ``[N, T]``, ``[N, 1, H, W]`` or ``[N, 1, D, H, W]``
        An axis of length 1 of images and volumes says the same for all of the axis, and stays.
    buffers : callable (name, shape) -> array

    Notes
    -----
    Source: DL4J ``ConvolutionUtils.cnn1dMaskReduction`` and ``cnn2dMaskReduction``.
    """
    if window_mode(conf) in ("same", "causal") and set(conf.stride) == {1}:
        return mask
    geometry = [*zip(conf.kernel_size, conf.stride, conf.padding, conf.dilation, strict=True)]
    n, *sizes = mask.shape if mask.ndim == 2 else (mask.shape[0], *mask.shape[2:])
    if len(sizes) == 1:
        pooled = _pooled(label, conf, nd.reshape(mask, (n, 1, *sizes, 1)), [*geometry, _STAYS], apart(buffers, "mask"))
        return nd.reshape(pooled, (n, pooled.shape[2]))
    geometry = [cells if length > 1 else _STAYS for cells, length in zip(geometry, sizes, strict=True)]
    if len(sizes) == 2:
        return _pooled(label, conf, mask, geometry, apart(buffers, "mask"))
    slices = nd.reshape(mask, (n, sizes[0], *sizes[1:]))
    slices = _pooled(label, conf, slices, geometry[1:], apart(buffers, "mask"))
    plane = tuple(slices.shape[2:])
    columns = nd.reshape(slices, (n, 1, sizes[0], math.prod(plane)))
    columns = _pooled(label, conf, columns, [geometry[0], _STAYS], apart(buffers, "depth_mask"))
    return nd.reshape(columns, (n, 1, columns.shape[2], *plane))


def _pooled(label: str, conf: object, mask: Array, geometry: Sequence[Geometry], buffers: Buffers) -> Array:
    """Return the largest under every window over two axes; 0 where there is nothing but padding."""
    if all(cells[:3] == _STAYS[:3] for cells in geometry):
        return mask
    kernel, stride, padding, dilation = zip(*geometry, strict=True)
    size = (mask.shape[2], mask.shape[3])
    window = convolution.make_window(label, size, kernel, stride, padding, dilation, window_mode(conf))
    pooled, _ = convolution.max_pool(mask, window, buffers)
    return nd.maximum(pooled, 0.0, pooled)
