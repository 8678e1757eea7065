"""Pools, over windows and over all places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....layers import (
    GlobalPoolingLayer,
    Subsampling1DLayer,
    Subsampling3DLayer,
    SubsamplingLayer,
)
from ..known import Size
from ..layout import Value
from ..piece import Piece
from .convolutions import Pads, window_of, zeros_around

KINDS: dict[int, Any] = {1: Subsampling1DLayer, 2: SubsamplingLayer, 3: Subsampling3DLayer}
REDUCTIONS = {"ReduceMax": "max", "ReduceMean": "avg", "ReduceSum": "sum"}


def global_pooling(piece: Piece) -> Value:
    """GlobalAveragePool and GlobalMaxPool."""
    value = piece.value()
    value = piece.arranged(value, value.axes)
    return _over_places(piece, value, "avg" if piece.op.op == "GlobalAveragePool" else "max", True)


def _over_places(piece: Piece, value: Value, kind: str, keep: bool) -> Value:
    piece.need(3 <= len(value.inner) <= 5, "it is over no places")
    node = piece.add(GlobalPoolingLayer(kind), value.node)
    ones = [(piece.factors.new((1, 1)),) for _ in value.inner[2:]]
    return Value(node, (*value.axes[:2], *ones) if keep else value.axes[:2], value.inner[:2], None)


def reduction(piece: Piece) -> Value:
    """ReduceMean, ReduceMax and ReduceSum over all places of images and series."""
    value, op = piece.value(), piece.op
    axes = piece.ints("axes", 1)
    rank, keep = value.rank, bool(op.attribute("keepdims", 1))
    piece.need(axes, "it is over all axes")
    places = {axis % rank for axis in axes or ()}
    rest = [axis for axis in range(rank) if axis not in places]
    piece.need(len(rest) == 2 and rest[0] == 0 and 0 not in places, "DL4J pools over all places")
    groups = (value.axes[0], value.axes[rest[1]], *(value.axes[axis] for axis in sorted(places)))
    value = piece.arranged(value, groups)
    piece.need(3 <= rank <= 5, "it is over no places")
    node = piece.add(GlobalPoolingLayer(REDUCTIONS[op.op]), value.node)
    kept = [value.axes[axis] if axis in rest else (piece.factors.new((1, 1)),) for axis in range(rank)]
    return Value(node, tuple(kept) if keep else tuple(value.axes[axis] for axis in rest), groups[:2], None)


def pooling(piece: Piece) -> Value:
    """MaxPool and AveragePool."""
    value, op = piece.value(), piece.op
    kernel = op.attribute("kernel_shape")
    used = len(op.outputs) > 1 and op.outputs[1] and piece.recognition.graph.readers(op.outputs[1])
    piece.need(len(kernel) in KINDS and not used, "it gives places of maxima, or is over too many axes")
    kind = "max" if op.op == "MaxPool" else "avg"
    value = piece.arranged(value, value.axes)
    size = piece.factors.shape(value.inner)[2:]
    settings, pads = window_of(piece, kernel, size)
    if kind == "avg":
        counted = bool(op.attribute("count_include_pad", 0))
        settings["avg_pool_include_pad_in_divisor"] = counted and any(map(sum, pads))
        if len(kernel) == 3:
            piece.need(not settings.pop("avg_pool_include_pad_in_divisor"), "DL4J does not count padding of volumes")
    out = piece.shape()[2:]
    value, padding = _padded(piece, value, kind, settings, pads, out)
    if len(kernel) == 1:
        settings = {key: one[0] if isinstance(one, tuple) else one for key, one in settings.items()}
        padding = padding[0]  # type: ignore[assignment]
    node, tag = piece.layer(KINDS[len(kernel)], value, pooling_type=kind, padding=padding, **settings)
    return piece.behind(value, node, tag, dict(enumerate(out, 2)))


def _padded(
    piece: Piece, value: Value, kind: str, settings: dict[str, Any], pads: Pads, out: Sequence[Size]
) -> tuple[Value, tuple[int, ...]]:
    """Return a tensor whose windows, with that padding on both sides, are those of the file."""
    size = piece.factors.shape(value.inner)[2:]
    reach = [
        {(many - 1) * step + (cells - 1) * wide + 1 - n for n, many in zip(length, number, strict=True)}
        for length, number, step, cells, wide in zip(
            size, out, settings["stride"], settings["kernel_size"], settings["dilation"], strict=True
        )
    ]
    settings["convolution_mode"] = "truncate"
    if all(max(need) <= sum(sides) for need, sides in zip(reach, pads, strict=True)):
        if all(before == behind for before, behind in pads):
            return value, tuple(before for before, _ in pads)
        piece.need(kind == "avg" and settings.get("avg_pool_include_pad_in_divisor"), "its padding is of one side")
        return zeros_around(piece, value, pads, "pad"), (0,) * len(pads)
    piece.need(kind == "max", "windows reach beyond the padding")
    lasts = [need.pop() if len(need) == 1 else None for need in reach]
    piece.need(None not in lasts, "windows depend on an open size")
    same = all(
        total is not None and (max(total, 0) // 2,) == (before,) and _is_same(n, number, step)
        for total, (before, _), n, number, step in zip(lasts, pads, size, out, settings["stride"], strict=True)
    )
    piece.need(same, "windows reach beyond the padding")
    settings["convolution_mode"] = "same"
    return value, (0,) * len(pads)


def _is_same(length: Size, number: Size, step: int) -> bool:
    return all(-(-n // step) == many for n, many in zip(length, number, strict=True))
