"""The numbers of a tensor in other shapes and places: Reshape, Transpose, Pad, Resize."""

from __future__ import annotations

from typing import Any

from ....layers import Upsampling1D, Upsampling2D, Upsampling3D
from ..layout import Value
from ..piece import Piece
from .convolutions import PADDINGS, zeros_around

UPSAMPLINGS: dict[int, Any] = {1: Upsampling1D, 2: Upsampling2D, 3: Upsampling3D}


def reshape(piece: Piece) -> Value:
    """Reshape, Squeeze and Unsqueeze: the axes of the file are cut anew, and nothing is computed."""
    value, shape = piece.value(), piece.shape()
    made = piece.factors.reshaped(value, shape)
    if made is None:  # axes are cut across: as one axis they can be
        whole = tuple(factor for axis in value.axes[1:] for factor in axis)
        piece.need(value.rank > 1 and shape and piece.factors.size(value.axes[0]) == shape[0], "it mixes examples")
        value = piece.arranged(value, (value.axes[0], whole))
        new = (piece.factors.new(piece.factors.size(whole)),)
        made = piece.factors.reshaped(Value(value.node, (value.axes[0], new), (value.axes[0], new), value.tag), shape)
    piece.need(made is not None, "it mixes examples")
    return made  # type: ignore[return-value]


def flatten(piece: Piece) -> Value:
    """Flatten."""
    return reshape(piece)


def transpose(piece: Piece) -> Value:
    """Transpose: the axes of the file are in another order, and nothing is computed."""
    value = piece.value()
    perm = piece.op.attribute("perm") or list(reversed(range(value.rank)))
    return piece.factors.transposed(value, perm)


def pad(piece: Piece) -> Value:
    """Pad with zeros around places."""
    value = piece.value()
    pads = piece.ints("pads", 1) or piece.ints("paddings")
    piece.need(piece.op.attribute("mode", "constant") == "constant" and pads, "DL4J pads with zeros")
    number = piece.op.attribute("value", 0.0) if "value" in piece.op.attributes else piece.scalar(2)
    piece.need(not (piece.op.input(2) and number is None) and not number, "DL4J pads with zeros")
    axes = piece.optional(3)
    rank = value.rank
    chosen = range(rank) if axes is None else [int(axis) % rank for axis in axes.reshape(-1).tolist()]
    half = len(pads or ()) // 2
    sides = {axis: ((pads or ())[at], (pads or ())[at + half]) for at, axis in enumerate(chosen)}
    every = [sides.get(axis, (0, 0)) for axis in range(rank)]
    places = len(every) - 2
    piece.need(places in PADDINGS and not any(every[0] + every[1]), "it is of examples or channels")
    piece.need(all(min(both) >= 0 for both in every), "it crops")
    value = piece.arranged(value, value.axes)
    return zeros_around(piece, value, tuple(every[2:]))


def resize(piece: Piece) -> Value:
    """Resize and Upsample of every place to several, all the same."""
    value, op = piece.value(), piece.op
    piece.need(op.attribute("mode", "nearest") == "nearest", "DL4J repeats places")
    value = piece.arranged(value, value.axes)
    before, behind = piece.factors.shape(value.inner), piece.shape()
    piece.need(before[:2] == behind[:2] and len(before) - 2 in UPSAMPLINGS, "it is of examples or channels")
    times = []
    for length, wanted in zip(before[2:], behind[2:], strict=True):
        whole = {b // a if b % a == 0 else 0 for a, b in zip(length, wanted, strict=True)}
        piece.need(len(whole) == 1 and 0 not in whole, "it is by no whole number")
        times.append(whole.pop())
    transformation = op.attribute("coordinate_transformation_mode", "half_pixel")
    rounding = op.attribute("nearest_mode", "round_prefer_floor")
    asymmetric = transformation == "asymmetric" and rounding == "floor"
    centred = transformation in ("half_pixel", "pytorch_half_pixel") and rounding.startswith("round_prefer")
    piece.need(op.op == "Upsample" or asymmetric or centred, "it takes other places")
    kind = UPSAMPLINGS[len(times)]
    node, tag = piece.layer(kind, value, size=tuple(times) if len(times) > 1 else times[0])
    return piece.behind(value, node, tag, dict(enumerate(behind[2:], 2)))
