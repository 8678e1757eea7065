"""Conv1D, Conv2D and Conv3D: of several groups as parts of the channels, convolutions, and a merge."""

from __future__ import annotations

from typing import Any

from nd.typing import HostArray

from ...layers import Convolution1DLayer, Convolution3D, ConvolutionLayer, DepthwiseConvolution2D
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import channels_last
from ...vertices import MergeVertex, SubsetVertex
from .depthwise import AS_DEPTHWISE, channelwise
from .piece import Arrays, Piece, Value
from .places import (
    Places,
    Reader,
    activated,
    activations,
    changed,
    dimensions,
    entering,
    is_series,
    layer,
    leaving,
    moved,
    not_identity,
    row,
    trained,
)
from .windows import Windows, padded, windows_of

KINDS: dict[int, Any] = {1: Convolution1DLayer, 2: ConvolutionLayer, 3: Convolution3D}
ORDERS = {1: (0, 1, 2), 2: (3, 2, 0, 1), 3: (4, 3, 0, 1, 2)}
"""Axes of places -> axes of Keras' kernel ``[*kernel, in, out]`` in the order of ours."""
MOST_GROUPS = 1024
"""Each is a layer, unless it is of one channel."""


def convolution(piece: Piece) -> Value:
    """Conv1D, Conv2D, Conv3D.

    Notes
    -----
    Source: Keras, BaseConv; KerasConvolution2D. Differs: Java knows no groups.
    """
    count = dimensions(piece)
    places, windows = entering(piece, count), windows_of(piece, count, causal=count == 1)
    n_out, groups = int(piece.get("filters")), int(piece.get("groups", 1) or 1)
    piece.get("lora_rank"), piece.get("lora_alpha")  # files have the sum with the kernel
    piece.need(groups > 0 and places.channels % groups == n_out % groups == 0, f"groups={groups}")
    has_bias = bool(piece.get("use_bias", True))
    settings = {"has_bias": has_bias, **trained(piece, "kernel", ORDERS[count], bias=has_bias)}
    to = (n_out, windows.behind(piece, places.sizes))
    if count < 3 and 1 < groups == places.channels and not piece.get("kernel_constraint"):  # whose axes are Keras'
        return _of_channels(piece, places, windows, n_out, settings)
    places, more = padded(piece, places, windows)
    settings |= more
    if groups == 1:
        settings |= {"activation": piece.activation(), "n_in": places.channels, "n_out": n_out}
        arrays = _arrays(piece, moved(piece.weight("kernel", 0), ORDERS[count]))
        return leaving(piece, layer(piece, places, KINDS[count], "", arrays, to, **settings))
    return leaving(piece, _in_groups(piece, places, groups, to, settings))


def _arrays(piece: Piece, kernel: Reader | None) -> Arrays:
    """Return the parameters of a layer of all channels."""
    return piece.arrays(W=kernel, b=row(piece.weight("bias", 1)) if piece.get("use_bias", True) else None)


def _of_channels(piece: Piece, places: Places, windows: Windows, n_out: int, settings: dict[str, Any]) -> Value:
    """Add a layer of as many groups as channels."""
    times, is_wide = n_out // places.channels, is_series(places)
    kernel = changed(piece.weight("kernel", 0), lambda W: W.reshape(*W.shape[:-2], places.channels, times))
    arrays = _arrays(piece, moved(kernel, AS_DEPTHWISE, is_wide))
    settings = {**not_identity(settings), "depth_multiplier": times}
    return channelwise(piece, places, windows, DepthwiseConvolution2D, arrays, n_out, settings)


def _in_groups(piece: Piece, places: Places, groups: int, to: Any, settings: dict[str, Any]) -> Places:
    """Add a layer for every group of channels, and a merge."""
    piece.need(groups <= MOST_GROUPS, f"groups={groups}")
    count, (n_out, sizes) = len(places.sizes), to
    activation, behind = activations(piece, inside=False)
    wide, each = places.channels // groups, n_out // groups
    settings |= {"activation": activation, "n_in": wide, "n_out": each}
    kernel, bias = piece.weight("kernel", 0), piece.weight("bias", 1) if settings["has_bias"] else None
    parts = []
    for group in range(groups):
        taken = _taken(piece, places, group * wide, wide, f"channels{group}")
        arrays = piece.arrays(
            W=moved(_stretch(kernel, group * each, each), ORDERS[count]), b=row(_stretch(bias, group * each, each))
        )
        made = layer(piece, taken, KINDS[count], f"group{group}", arrays, (each, sizes), **settings)
        parts.append(made.node)
    node = piece.add(MergeVertex(), parts, part="merge" if behind else "")
    return activated(piece, Places(node, places.data_format, n_out, sizes), behind)


def _stretch(read: Reader | None, start: int, length: int) -> Reader | None:
    """Return what reads some of the outputs of a kernel, or a bias."""

    def taken(weight: HostArray) -> HostArray:
        return weight[..., start : start + length]

    return changed(read, taken)


def _taken(piece: Piece, places: Places, start: int, width: int, part: str) -> Places:
    """Add a vertex with a stretch of the channels."""
    if channels_last(places.data_format):  # Java takes the second axis that users see
        conf: Any = OnnxVertex("Slice", constants={1: [start], 2: [start + width], 3: [1]})
    else:
        conf = SubsetVertex(start, start + width - 1)
    return places._replace(node=piece.add(conf, places.node, part=part), channels=width)
