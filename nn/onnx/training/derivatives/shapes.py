"""Derivatives of what moves numbers."""

from __future__ import annotations

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
    """Concat: a slice for each input, from where the one before it ends."""
    axis = node.axis(node.attribute("axis"), node.y)
    start, below = node.epsilon.ints(0), list[Tensor | None]()
    for number, x in enumerate(node.inputs()):
        stop = start + x.lengths([axis])
        needed = node.needs(number)
        below.append(node.epsilon.op("Slice", start, stop, start.ints(axis)) if needed else None)
        start = stop
    return below


def split(node: NodeBack) -> Below:
    """Split: all parts beside one another, zeros for those that nobody reads."""
    parts = [
        Tensor(node.draft, name, node.draft.dtype).zeros() if epsilon is None else epsilon
        for name, epsilon in zip(node.node.output, node.epsilons, strict=True)
    ]
    return [parts[0].op("Concat", *parts[1:], axis=node.attribute("axis", 0)), None]


def cut(node: NodeBack) -> Below:
    """Slice with steps of 1, zeros around; and an axis that is turned round."""
    x, starts, ends = node.x, *(Tensor(node.draft, name, "int64") for name in node.node.input[1:3])
    steps = node.constant(4) if node.has(4) else [1]
    axes = Tensor(node.draft, node.node.input[3], "int64") if node.has(3) else None
    if set(steps) == {-1} and node.constant(1) == [-1] * len(steps):
        return [node.epsilon.op("Slice", *(Tensor(node.draft, name, "int64") for name in node.node.input[1:]))]
    if set(steps) != {1} or axes is None:
        raise NotInOnnx("a slice with steps has no derivative here")
    sizes = x.shape().op("Gather", axes)
    before, stop = (_within(place, sizes) for place in (starts, ends))
    pads = before.op("Concat", sizes - stop, axis=0)
    return [node.epsilon.op("Pad", pads, node.epsilon.like(0.0), axes, mode="constant")]


def _within(places: Tensor, sizes: Tensor) -> Tensor:
    """Return where on their axes places are that may count from the end, or lie beyond it."""
    places = places.op("Less", 0, dtype="bool").op("Where", places + sizes, places, dtype="int64")
    return places.op("Max", 0).op("Min", sizes)


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


def space_to_depth(node: NodeBack) -> Below:
    """SpaceToDepth: DepthToSpace."""
    return [node.epsilon.op("DepthToSpace", blocksize=node.attribute("blocksize"), mode="DCR")]


def _slice(x: Tensor, starts: list[int], ends: list[int], axes: list[int]) -> Tensor:
    return x.op("Slice", x.ints(*starts), x.ints(*ends), x.ints(*axes))
