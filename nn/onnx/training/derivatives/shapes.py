"""Derivatives of what moves numbers."""

from __future__ import annotations

from itertools import accumulate

from ...out.node_draft import NotInOnnx
from ..tensors import Tensor
from .node_back import NodeBack

Below = list[Tensor | None]


def identity(node: NodeBack) -> Below:
    """Identity, and Cast from one float to another."""
    return [node.epsilon]


def reshape(node: NodeBack) -> Below:
    """Reshape and its kin."""
    return [node.epsilon.reshape_as(node.x)]


def transpose(node: NodeBack) -> Below:
    """Transpose."""
    rank = len(node.shape(node.x))
    axes = list(node.attribute("perm", range(rank - 1, -1, -1)))
    return [node.epsilon.transpose(*(axes.index(axis) for axis in range(rank)))]


def expand(node: NodeBack) -> Below:
    """Expand."""
    return [node.fitted(node.epsilon, 0), None]


def concat(node: NodeBack) -> Below:
    """Concat: a slice for each input."""
    axis = node.axis(node.attribute("axis"), node.y)
    lengths = [node.shape(x)[axis] for x in node.inputs()]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        raise NotInOnnx("the sizes of its inputs are not known. Give input_types")
    return [
        _slice(node.epsilon, [stop - length], [stop], [axis]) if node.needs(number) else None
        for number, (length, stop) in enumerate(zip(known, accumulate(known), strict=True))
    ]


def split(node: NodeBack) -> Below:
    """Split: all parts beside one another, zeros for those that nobody reads."""
    parts = [
        Tensor(node.draft, name, node.draft.dtype).zeros() if epsilon is None else epsilon
        for name, epsilon in zip(node.node.output, node.epsilons, strict=True)
    ]
    return [parts[0].op("Concat", *parts[1:], axis=node.attribute("axis", 0)), None]


def cut(node: NodeBack) -> Below:
    """Slice with steps of 1: zeros around."""
    sizes, rank = node.shape(node.x), len(node.shape(node.x))
    starts, ends = node.constant(1), node.constant(2)
    axes = [axis % rank for axis in (node.constant(3) if node.has(3) else range(len(starts)))]
    if node.has(4) and set(node.constant(4)) != {1}:
        raise NotInOnnx("a slice with steps has no derivative here")
    before, after = [0] * rank, [0] * rank
    for axis, start, end in zip(axes, starts, ends, strict=True):
        size = sizes[axis]
        if size is None:
            raise NotInOnnx("the sizes of its input are not known. Give input_types")
        before[axis] = max(min(start if start >= 0 else size + start, size), 0)
        after[axis] = size - max(min(end if end >= 0 else size + end, size), 0)
    return [node.epsilon.op("Pad", node.epsilon.ints(*before, *after), mode="constant")]


def pad(node: NodeBack) -> Below:
    """Pad with a constant: the middle."""
    if node.attribute("mode", b"constant") != b"constant":
        raise NotInOnnx("padding that repeats numbers has no derivative here")
    pads, rank = node.constant(1), len(node.shape(node.x))
    axes = [axis % rank for axis in (node.constant(3) if node.has(3) else range(rank))]
    before, after = pads[: len(axes)], pads[len(axes) :]
    if min(pads, default=0) < 0:
        raise NotInOnnx("padding by less than nothing has no derivative here")
    ends = [-length if length else 2**62 for length in after]
    return [_slice(node.epsilon, before, ends, axes), None, None]


def gather(node: NodeBack) -> Below:
    """Gather of rows: added where they came from."""
    if node.attribute("axis", 0):
        raise NotInOnnx("only rows that are gathered have a derivative here")
    indices = Tensor(node.draft, node.node.input[1], "int64")
    indices = indices.op("Unsqueeze", indices.ints(-1))
    return [node.x.zeros().op("ScatterND", indices, node.epsilon, reduction="add"), None]


def depth_to_space(node: NodeBack) -> Below:
    """DepthToSpace of mode DCR: SpaceToDepth."""
    if node.attribute("mode", b"DCR") != b"DCR":
        raise NotInOnnx("DepthToSpace of mode CRD has no derivative here")
    return [node.epsilon.op("SpaceToDepth", blocksize=node.attribute("blocksize"))]


def _slice(x: Tensor, starts: list[int], ends: list[int], axes: list[int]) -> Tensor:
    return x.op("Slice", x.ints(*starts), x.ints(*ends), x.ints(*axes))
