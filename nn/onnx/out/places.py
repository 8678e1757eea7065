"""Layers that move numbers between places: borders, repetition, blocks."""

from __future__ import annotations

import itertools

from .node_draft import NodeDraft
from .windows import sliced


def cropping(layer: NodeDraft) -> str:
    """Cropping1D, Cropping2D and Cropping3D."""
    borders = layer.conf.cropping
    if not any(borders):
        return layer.x
    return sliced(layer, layer.x, 2, borders[::2], [-border for border in borders[1::2]])


def zero_padding(layer: NodeDraft) -> str:
    """ZeroPadding1DLayer, ZeroPaddingLayer and ZeroPadding3DLayer."""
    return _bordered(layer, layer.conf.padding)


def _bordered(layer: NodeDraft, borders: tuple[int, ...]) -> str:
    if not any(borders):
        return layer.x
    return layer.node("Pad", layer.x, layer.draft.ints(0, 0, *borders[::2], 0, 0, *borders[1::2]))


def upsampling(layer: NodeDraft) -> str:
    """Upsampling1D, Upsampling2D and Upsampling3D: Resize in single precision, for which runtimes have it."""
    factors, draft, x = layer.conf.size, layer.draft, layer.x
    if draft.dtype == "float32":
        scales = draft.numbers([1.0, 1.0, *map(float, factors)])
        modes = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        return layer.node("Resize", x, "", scales, **modes)
    for axis, factor in enumerate(factors, 2):
        if factor > 1:
            times = draft.ints(factor)
            length = draft.lengths(x, axis, axis + 1, f"{layer.name}/Shape")
            last = layer.node("Squeeze", layer.node("Mul", length, times))
            numbers = layer.node("Range", draft.integer(0), last, draft.integer(1))
            x = layer.node("Gather", x, layer.node("Div", numbers, times), axis=axis)
    return x


def space_to_depth(layer: NodeDraft) -> str:
    """SpaceToDepthLayer, whose order of channels is the operator's."""
    return layer.node("SpaceToDepth", layer.x, blocksize=layer.conf.blocks)


def space_to_batch(layer: NodeDraft) -> str:
    """SpaceToBatchLayer: one place of every block after the other."""
    x, blocks = _bordered(layer, layer.conf.borders), layer.conf.blocks
    places = itertools.product(*map(range, blocks))
    examples = [sliced(layer, x, 2, place, (0, 0), blocks) for place in places]
    return layer.node("Concat", *examples, axis=0) if len(examples) > 1 else examples[0]
