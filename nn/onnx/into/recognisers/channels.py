"""Parts of axes: Concat, Split, Slice and Gather."""

from __future__ import annotations

from typing import Any

from ....layers import Cropping2D, EmbeddingLayer, EmbeddingSequenceLayer
from ....vertices import LastTimeStepVertex, MergeVertex, UnstackVertex
from ...vertices import OnnxVertex
from ..known import Size
from ..layout import Value
from ..piece import NotSaid, Piece
from .alike import alike, format_of


def concat(piece: Piece) -> Value:
    """Concat of channels."""
    op = piece.op
    values = [piece.value(position) for position in range(len(op.inputs))]
    axis = op.attribute("axis", 1) % values[0].rank
    values = alike(piece, values, axis)
    first = values[0]
    places = [at for at, group in enumerate(first.inner) if group == first.axes[axis]]
    piece.need(places == [1], "DL4J merges channels")
    node = piece.add(MergeVertex(), [value.node for value in values])
    return piece.behind(first, node, format_of(values), {1: piece.shape()[axis]})


def split(piece: Piece) -> list[Value | None]:
    """Split of channels."""
    value, op = piece.value(), piece.op
    axis = op.attribute("axis", 0) % value.rank
    made: list[Value | None] = []
    start = 0
    for number, name in enumerate(op.outputs):
        size = piece.shape(name)[axis]
        piece.need(size[0] == size[1], "its parts are open")
        made.append(subset(piece, value, axis, start, start + size[0], f"part{number}" if number else ""))
        start += size[0]
    return made


def subset(piece: Piece, value: Value, axis: int, start: int, stop: int, part: str = "") -> Value:
    """Return a stretch of the channels, or of the first of several axes that are channels together."""
    channels = value.inner[1] if len(value.inner) > 1 else ()
    first = piece.factors.solid(channels)[:1]
    if first and first == piece.factors.solid(value.axes[axis]) and channels != value.axes[axis]:
        return _of_first(piece, value, axis, (start, stop), part)
    places = [at for at, group in enumerate(value.inner) if group == value.axes[axis]]
    if places != [1]:
        groups = (value.axes[0], value.axes[axis], *(g for at, g in enumerate(value.axes) if at not in (0, axis)))
        piece.need(axis, "it is of examples")
        value = piece.arranged(value, groups)
    node, tag = piece.taken(value, start, stop, part)
    return piece.behind(value, node, tag, {1: (stop - start,) * 2})


def _of_first(piece: Piece, value: Value, axis: int, places: tuple[int, int], part: str) -> Value:
    start, stop = places
    rest = piece.factors.solid(value.inner[1])[1:]
    width = piece.factors.size(rest)[0]
    node, tag = piece.taken(value, start * width, stop * width, part)
    new = (piece.factors.new((stop - start,) * 2),)
    axes = (*value.axes[:axis], new, *value.axes[axis + 1 :])
    return Value(node, axes, (value.inner[0], (*new, *rest), *value.inner[2:]), tag)


def slice_of(piece: Piece) -> Value:
    """Slice of channels, of the last time step, of images' borders, or of examples of which there are several parts."""
    value, op = piece.value(), piece.op
    part = _unstacked(piece, value)
    if part is not None:
        return part
    starts, ends = piece.ints("starts", 1), piece.ends("ends", 2)
    axes, steps = piece.ints("axes", 3), piece.ints("steps", 4)
    piece.need(starts and ends is not None and set(steps or [1]) == {1}, "it goes in steps")
    axes = list(range(len(starts or ()))) if axes is None else [axis % value.rank for axis in axes]
    before, behind = piece.shape(op.inputs[0]), piece.shape()
    changed = [at for at, axis in enumerate(axes) if before[axis] != behind[axis]]
    piece.need(len(changed) == 1, "it is of several axes")
    (at,) = changed
    axis, size = axes[at], behind[axes[at]]
    start = (starts or ())[at]
    lengths = before[axis]
    piece.need(size[0] == size[1], "it is of an open size")
    first = {start + length if start < 0 else start for length in lengths}
    if size == (1, 1) and all(
        begin == length - 1 for begin, length in zip(sorted(first), sorted(lengths), strict=False)
    ):
        made = last_step(piece, value, axis)
        if made is not None:
            one = (piece.factors.new((1, 1)),)
            return made._replace(axes=(*made.axes[:axis], one, *made.axes[axis:]))
    piece.need(len(first) == 1, "it begins at an open place")
    (begin,) = first
    if value.rank == 4 and axis > 1:
        return _cropped(piece, value, axis, begin, lengths[0] - begin - size[0])
    return subset(piece, value, axis, begin, begin + size[0])


def _unstacked(piece: Piece, value: Value) -> Value | None:
    """Return one of several parts of the examples, as many in each whatever their number; None where it is no such."""
    op, known = piece.op, piece.known
    start, axes, steps = (known.sizes(op.input(position)) if op.input(position) else None for position in (1, 3, 4))
    before, behind = piece.shape(op.inputs[0]), piece.shape()
    zero, one = (0, 0), (1, 1)
    if start is None or len(start) != 1 or axes not in (None, [zero]) or steps not in (None, [one]):
        return None
    size = behind[0]
    parts = {whole // part if part and whole % part == 0 else 0 for whole, part in zip(before[0], size, strict=True)}
    number = start[0][0] // size[0] if size[0] else 0
    if len(parts) > 1 or 0 in parts or len(set(size)) == 1 or start[0] != tuple(number * part for part in size):
        return None
    piece.need(not any(piece.draft.are_examples(axis, value) for axis in value.axes[1:]), "it is of other axes")
    value = piece.arranged(value, value.axes)
    node = piece.add(UnstackVertex(number, parts.pop()), value.node)
    piece.draft.has_types = False
    return piece.behind(value, node, value.tag, {0: size})


def _cropped(piece: Piece, value: Value, axis: int, before: int, behind: int) -> Value:
    value = piece.arranged(value, value.axes)
    borders = [0, 0, 0, 0]
    borders[2 * (axis - 2) : 2 * (axis - 2) + 2] = before, behind
    node, tag = piece.layer(Cropping2D, value, cropping=tuple(borders))
    return piece.behind(value, node, tag, {axis: piece.shape()[axis]})


def gather(piece: Piece) -> Value:
    """Gather of the last step of series, or of one channel; of rows of a table that is a constant it is a lookup."""
    if piece.known.is_settled(piece.op.inputs[0]):
        return _looked_up(piece)
    sizes, shape = piece.known.sizes(piece.op.inputs[1]), piece.known.shape(piece.op.inputs[1])
    if sizes is None or shape != () or len(sizes) != 1:
        piece.refuse("it is of several places")
    return _picked(piece, sizes[0])


def _looked_up(piece: Piece) -> Value:
    """Return rows of a table for every number ``[N]`` or ``[N, T]``."""
    value, table = piece.value(1), piece.shape(piece.op.inputs[0])
    piece.need(value.rank in (1, 2) and len(table) == 2 and not piece.op.attribute("axis", 0), "it is of other axes")
    piece.need(piece.draft.are_examples(value.axes[0], value), "its examples are not the first axis of an input")
    settings: dict[str, Any] = {"n_in": table[0][0], "n_out": table[1][0], "has_bias": False, "activation": "identity"}
    arrays = {"W": lambda: piece.known.read(piece.op.inputs[0])}
    new = (piece.factors.new(table[1]),)
    if value.rank == 1:
        one = (piece.factors.new((1, 1)),)
        value = piece.arranged(value, (value.axes[0], one))
        return Value(
            piece.add(EmbeddingLayer(**settings), value.node, arrays), (value.axes[0], new), (value.axes[0], new)
        )
    value = piece.arranged(value, value.axes)
    node, tag = piece.layer(EmbeddingSequenceLayer, value, arrays, **settings)
    return Value(node, (*value.axes, new), (value.axes[0], new, value.axes[1]), tag)


def pick(piece: Piece) -> Value:
    """Gather of one place, of an input that `simplify` has found."""
    op = piece.op
    index = op.attribute("index")
    before = len(piece.draft.nodes)
    try:
        return _picked(piece, (index, index))
    except NotSaid:
        for name in list(piece.draft.nodes)[before:]:
            del piece.draft.nodes[name]
        value = piece.draft.in_file_order(piece.value())
        return piece.closed(piece.add(OnnxVertex("Gather", {"axis": op.attribute("axis")}, {1: index}), value.node))


def _picked(piece: Piece, index: Size) -> Value:
    value = piece.value()
    axis = piece.op.attribute("axis", 0) % value.rank
    lengths = piece.factors.size(value.axes[axis])
    if lengths == (1, 1):
        return value._replace(axes=(*value.axes[:axis], *value.axes[axis + 1 :]))
    placed = tuple(at + length if at < 0 else at for at, length in zip(index, lengths, strict=True))
    if all(at == length - 1 for at, length in zip(placed, lengths, strict=True)):
        made = last_step(piece, value, axis)
        if made is not None:
            return made
    piece.need(
        len(set(placed)) == 1 and not piece.draft.are_examples(value.axes[axis], value), "it is of an open place"
    )
    taken = subset(piece, value, axis, placed[0], placed[0] + 1)
    return taken._replace(axes=(*taken.axes[:axis], *taken.axes[axis + 1 :]))


def last_step(piece: Piece, value: Value, axis: int) -> Value | None:
    """Return the last step along an axis of series ``[N, C, T]``; None where it is no such axis."""
    factors = piece.factors
    solid = [group for group in value.inner if factors.solid(group)]
    if value.axes[axis] != value.inner[-1] or len(value.inner) != 3 or len(solid) > 3:
        return None
    node = piece.add(LastTimeStepVertex(piece.any_input()), value.node)
    rest = tuple(group for at, group in enumerate(value.axes) if at != axis)
    return Value(node, rest, value.inner[:2], None)
