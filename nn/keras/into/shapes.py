"""Layers that give the same numbers in another shape or order: Flatten, Reshape, Permute, RepeatVector."""

from __future__ import annotations

import math
from typing import Any

from ...layers import RepeatVector
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import SERIES, axes_inward, channels_last
from ...terms.preprocessors import Cnn3DToFeedForwardPreProcessor, CnnToFeedForwardPreProcessor
from ...vertices import PoolHelperVertex, PreprocessorVertex, ReshapeVertex
from .piece import Piece, Value

FIRST = ("channels_first", "th")


def same(piece: Piece) -> Value:
    """A layer that changes nothing: InputLayer, Identity, and ActivityRegularization, which only training has."""
    if piece.get("l1") or piece.get("l2"):
        piece.note("penalties on activations are left out, as nothing here is like them")
    return piece.value


def pool_helper(piece: Piece) -> Value:
    """PoolHelper, the class of Deeplearning4j's own models: images without their first row and first column."""
    value = piece.value
    piece.need(len(value.shape) == 3, f"an input of shape {value.shape}")
    tag = piece.format(2)
    at = (0, 1) if channels_last(tag) else (1, 2)
    shape = [size if axis not in at or size is None else size - 1 for axis, size in enumerate(value.shape)]
    return piece.unsaid(value, tag, PoolHelperVertex())._replace(shape=tuple(shape))


def flatten(piece: Piece) -> Value:
    """Flatten: a row of every example, in the order of the axes in Keras; channels first are put last before."""
    value = piece.value
    turned = piece.get("data_format") in FIRST and len(value.shape) > 1
    if turned:
        value = permuted(piece, value, (*range(2, len(value.shape) + 1), 1), part="last")
    piece.need(None not in value.shape, f"an open size in {value.shape}")
    return reshaped(piece, value, (math.prod(value.shape),))  # type: ignore[arg-type]


def reshape(piece: Piece) -> Value:
    """Reshape, in which one size may be -1."""
    value, target = piece.value, [int(size) for size in piece.get("target_shape")]
    piece.need(target and target.count(-1) < 2, f"target_shape={target}")
    known = None not in value.shape
    if -1 in target:
        piece.need(known, f"target_shape={target} of an open size in {value.shape}")
        rest = math.prod(size for size in target if size != -1)
        whole = math.prod(value.shape)  # type: ignore[arg-type]
        piece.need(rest and whole % rest == 0, f"target_shape={target} of {value.shape}")
        target[target.index(-1)] = whole // rest
    if known:
        piece.need(math.prod(target) == math.prod(value.shape), f"target_shape={target} of {value.shape}")  # type: ignore[arg-type]
    return reshaped(piece, value, tuple(target))


def reshaped(piece: Piece, value: Value, shape: tuple[int, ...], part: str = "") -> Value:
    """Return the same numbers in another shape, read in the order of the axes in Keras."""
    if shape == value.shape:
        return value
    if len(shape) > 4 or piece.is_plain:
        value = piece.opened(value)
        node = piece.add(OnnxVertex("Reshape", {}, {1: [0, *shape]}), value.node, part=part)
        return piece.give(node, shape)
    if len(shape) == 1 and value.data_format and len(value.shape) in (3, 4) and None not in value.shape:
        last = channels_last(value.data_format)
        channels, *places = (value.shape[-1], *value.shape[:-1]) if last else value.shape
        if len(places) == 2:
            conf: Any = CnnToFeedForwardPreProcessor(*places, channels, value.data_format)
        else:
            conf = Cnn3DToFeedForwardPreProcessor(*places, channels, not last)
        return piece.give(piece.add(PreprocessorVertex(conf), value.node, part=part), shape)
    tag = piece.format_behind(len(shape) - 1)
    if tag is None and channels_last(value.data_format) and len(shape) == len(value.shape):
        tag = value.data_format  # as ReshapeVertex keeps it
    return piece.give(piece.add(ReshapeVertex(-1, *shape), value.node, part=part), shape, tag)


def permute(piece: Piece) -> Value:
    """Permute: axes in another order, counted from 1."""
    value, dims = piece.value, tuple(int(axis) for axis in piece.get("dims"))
    piece.need(sorted(dims) == list(range(1, len(value.shape) + 1)), f"dims={dims} of {value.shape}")
    return permuted(piece, value, dims)


def permuted(piece: Piece, value: Value, dims: tuple[int, ...], part: str = "") -> Value:
    """Return the axes in another order, counted from 1, as they are in Keras."""
    if dims == tuple(range(1, len(dims) + 1)):
        return value
    lies = axes_inward(value.data_format, len(value.shape) + 1)  # which axis of Keras' is where
    perm = [0, *(lies.index(axis) for axis in dims)]
    same_order = perm == list(range(len(perm)))
    conf = OnnxVertex("Identity") if same_order else OnnxVertex("Transpose", {"perm": perm})
    return piece.give(piece.add(conf, value.node, part=part), [value.shape[axis - 1] for axis in dims])


def repeat_vector(piece: Piece) -> Value:
    """RepeatVector: a row at every step of a series."""
    value, steps = piece.value, int(piece.get("n"))
    piece.need(len(value.shape) == 1, f"an input of shape {value.shape}")
    node = piece.add(RepeatVector(steps, data_format=SERIES[1]), value.node)
    return piece.give(node, (steps, value.shape[0]), SERIES[1])
