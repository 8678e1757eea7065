"""Conv and ConvTranspose: of several groups as parts of the channels, convolutions, and a merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nd.typing import HostArray

from ....layers import (
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    ZeroPadding1DLayer,
    ZeroPadding3DLayer,
    ZeroPaddingLayer,
)
from ....vertices import MergeVertex
from ..draft import Arrays
from ..known import Size
from ..layout import Value
from ..piece import Piece

KINDS: dict[int, Any] = {1: Convolution1DLayer, 2: ConvolutionLayer, 3: Convolution3D}
TRANSPOSED: dict[int, Any] = {2: Deconvolution2D, 3: Deconvolution3D}
PADDINGS: dict[int, Any] = {1: ZeroPadding1DLayer, 2: ZeroPaddingLayer, 3: ZeroPadding3DLayer}
Pads = tuple[tuple[int, int], ...]


def window_of(piece: Piece, kernel: Sequence[int], size: Sequence[Size]) -> tuple[dict[str, Any], Pads]:
    """Return stride and dilation of the windows of a node, and the padding before and behind every axis."""
    op, axes = piece.op, len(kernel)
    stride = tuple(op.attribute("strides") or [1] * axes)
    dilation = tuple(op.attribute("dilations") or [1] * axes)
    given = op.attribute("pads") or [0] * (2 * axes)
    pads = tuple(zip(given[:axes], given[axes:], strict=True))
    auto = op.attribute("auto_pad", "NOTSET")
    if auto == "VALID":
        pads = ((0, 0),) * axes
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = tuple(_same(piece, auto, *sides) for sides in zip(size, kernel, stride, dilation, strict=True))
    piece.need(all(min(sides) >= 0 for sides in pads), "its padding is negative")
    return {"kernel_size": tuple(kernel), "stride": stride, "dilation": dilation}, pads


def _same(piece: Piece, auto: str, size: Size, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """Return the padding of an axis of which as many places come out as fit, whatever the kernel."""
    needs = {max((-(-n // stride) - 1) * stride + dilation * (kernel - 1) + 1 - n, 0) for n in size}
    if stride == 1:
        needs = {dilation * (kernel - 1)}
    piece.need(len(needs) == 1, "its padding depends on an open size")
    (total,) = needs
    less, more = total // 2, total - total // 2
    return (less, more) if auto == "SAME_UPPER" else (more, less)


def padded(piece: Piece, value: Value, pads: Pads) -> tuple[Value, tuple[int, ...]]:
    """Return a tensor behind zeros where the padding is not the same on both sides, and the rest of the padding."""
    if all(before == behind for before, behind in pads):
        return value, tuple(before for before, _ in pads)
    return zeros_around(piece, value, pads, "pad"), (0,) * len(pads)


def zeros_around(piece: Piece, value: Value, pads: Pads, part: str = "") -> Value:
    """Return a tensor ``[N, C, ...]`` with zeros around it."""
    borders = tuple(side for sides in pads for side in sides)
    node, tag = piece.layer(PADDINGS[len(pads)], value, None, part, padding=borders)
    shape = piece.factors.shape(value.inner)
    more = {at: tuple(n + sum(sides) for n in shape[at]) for at, sides in enumerate(pads, 2) if any(sides)}
    return piece.behind(value, node, tag, more)


def convolution(piece: Piece) -> Value:
    """Conv, of as many groups as channels a depthwise one."""
    value = piece.value()
    shape = [size[0] for size in piece.shape(piece.op.inputs[1])]
    kernel, groups = shape[2:], piece.op.attribute("group", 1)
    piece.need(piece.known.is_settled(piece.op.inputs[1]), "its kernels are no constants")
    piece.need(len(kernel) in KINDS, f"{len(kernel)} axes of places")
    value = piece.arranged(value, value.axes)
    settings, pads = window_of(piece, kernel, piece.factors.shape(value.inner)[2:])
    value, padding = padded(piece, value, pads)
    settings |= {"padding": padding, "convolution_mode": "truncate", "activation": "identity"}
    settings["has_bias"] = bool(piece.op.input(2))
    if len(kernel) == 1:
        settings = {key: one[0] if isinstance(one, tuple) else one for key, one in settings.items()}
    if groups == shape[0] == 1 or groups == 1:
        node, tag = _one(piece, KINDS[len(kernel)], value, shape[1], shape[0], settings)
    elif groups == shape[0] // max(1, shape[0] // groups) and shape[1] == 1 and len(kernel) == 2:
        node, tag = _depthwise(piece, value, groups, shape, settings)
    else:
        node, tag = _in_groups(piece, KINDS[len(kernel)], value, groups, (shape[1], shape[0] // groups), settings)
    return _result(piece, value, node, tag)


def transposed_convolution(piece: Piece) -> Value:
    """ConvTranspose; one along time is one of images of width 1 to an OnnxVertex."""
    value = piece.value()
    n_in, per_group, *kernel = (size[0] for size in piece.shape(piece.op.inputs[1]))
    groups = piece.op.attribute("group", 1)
    piece.need(piece.known.is_settled(piece.op.inputs[1]), "its kernels are no constants")
    piece.need(len(kernel) in TRANSPOSED, f"{len(kernel)} axes of places")
    auto, more = piece.op.attribute("auto_pad", "NOTSET"), piece.op.attribute("output_padding") or [0]
    piece.need(auto in ("NOTSET", "VALID") and not any(more), "its padding is of the output")
    piece.need("output_shape" not in piece.op.attributes, "its output's shape is given")
    value = piece.arranged(value, value.axes)
    settings, pads = window_of(piece, kernel, piece.factors.shape(value.inner)[2:])
    piece.need(all(before == behind for before, behind in pads), "its padding is of one side")
    settings |= {"padding": tuple(before for before, _ in pads), "convolution_mode": "truncate"}
    settings |= {"activation": "identity", "has_bias": bool(piece.op.input(2))}
    kind = TRANSPOSED[len(kernel)]
    if groups == 1:
        node, tag = _one(piece, kind, value, n_in, per_group, settings)
    else:
        node, tag = _in_groups(piece, kind, value, groups, (n_in // groups, per_group), settings)
    return _result(piece, value, node, tag)


def _result(piece: Piece, value: Value, node: str, tag: str | None) -> Value:
    shape = piece.shape()
    sizes = {at: size for at, size in enumerate(shape) if at}
    return piece.behind(value, node, tag, sizes)


def _one(
    piece: Piece, kind: Any, value: Value, n_in: int, n_out: int, settings: dict[str, Any], group: int | None = None
) -> tuple[str, str | None]:
    """Add a layer of all channels, or of those of a group."""
    transposed = kind in TRANSPOSED.values()
    rows = n_in if transposed else n_out
    part = slice(None) if group is None else slice(group * rows, (group + 1) * rows)
    outputs = slice(None) if group is None else slice(group * n_out, (group + 1) * n_out)

    def kernels() -> HostArray:
        W = piece.known.read(piece.op.inputs[1])[part]
        if kind is Convolution1DLayer:
            return W.transpose((2, 1, 0))
        return W.transpose((2, 3, 4, 1, 0)) if kind is Deconvolution3D else W

    def bias() -> HostArray:
        return piece.known.read(piece.op.inputs[2])[outputs].reshape(1, -1)

    arrays: Arrays = {"W": kernels, "b": bias} if settings["has_bias"] else {"W": kernels}
    name = "" if group is None else f"group{group}"
    return piece.layer(kind, value, arrays, name, n_in=n_in, n_out=n_out, **settings)


def _depthwise(
    piece: Piece, value: Value, channels: int, shape: Sequence[int], settings: dict[str, Any]
) -> tuple[str, str | None]:
    times = shape[0] // channels

    def kernels() -> HostArray:
        W = piece.known.read(piece.op.inputs[1])
        return W.reshape(channels, times, *shape[2:]).transpose((2, 3, 0, 1))

    def bias() -> HostArray:
        return piece.known.read(piece.op.inputs[2]).reshape(1, -1)

    arrays: Arrays = {"W": kernels, "b": bias} if settings["has_bias"] else {"W": kernels}
    return piece.layer(DepthwiseConvolution2D, value, arrays, n_in=channels, depth_multiplier=times, **settings)


def _in_groups(
    piece: Piece, kind: Any, value: Value, groups: int, sizes: tuple[int, int], settings: dict[str, Any]
) -> tuple[str, str | None]:
    """Add a layer for every group of channels, and a merge."""
    n_in, n_out = sizes
    parts, tag = [], value.tag
    for group in range(groups):
        taken, tag = piece.taken(value, group * n_in, (group + 1) * n_in, f"channels{group}")
        node, tag = _one(piece, kind, value._replace(node=taken, tag=tag), n_in, n_out, settings, group)
        parts.append(node)
    return piece.add(MergeVertex(), parts), tag
