"""Recurrent layers: forward, backward and in both directions, with and without masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...layers import Bidirectional, LastTimeStep
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import SERIES
from ...vertices import ElementWiseVertex, MergeVertex, ReverseTimeSeriesVertex
from ..model import KerasLayer
from .cells import GATES, Cell, cell_of, check_arguments
from .masking import mask_for, packed, packing_of, unpacked
from .piece import Piece, Value

MODES = {"ave": "average", "concat": "concat", "mul": "mul", "sum": "add"}
"""merge_mode -> mode of a Bidirectional."""
WAYS = {"ave": "average", "mul": "product", "sum": "add"}
"""merge_mode -> function of an ElementWiseVertex."""
TURN = OnnxVertex("Transpose", {"perm": [0, 2, 1]})


class Result(NamedTuple):
    """What a direction gives: rows ``[N, C]``, or series ``[N, C, T]``, which a layer or a vertex has made."""

    node: str
    is_of_layer: bool


def recurrent(piece: Piece) -> Value:
    """SimpleRNN, LSTM, GRU, and RNN around one of their cells."""
    check_arguments(piece)
    steps, channels = _sizes(piece)
    inside = _around_cell(piece) if piece.layer.class_name == "RNN" else piece
    cell, _ = cell_of(inside, channels), inside.get("return_state")
    _check_read(inside)
    result = _direction(piece, cell, mask_for(piece), "", ordered=False)
    if inside.get("return_state") and not cell.blanks:  # the first state is what the last step has given
        last = _step(piece, result.node, -1, "state") if cell.gives_steps else result.node
        piece.more[1] = Value(last, (cell.units,))
    return _given(piece, result, steps if cell.gives_steps else None, cell.units, cell.gives_steps)


def bidirectional(piece: Piece) -> Value:
    """Bidirectional: two layers, of which the second goes backward, as one."""
    check_arguments(piece)
    steps, channels = _sizes(piece)
    mode = piece.get("merge_mode", "concat")
    piece.need(mode is None or mode in MODES, f"merge_mode={mode!r}")
    cells = []
    for inside in _both(piece):
        inside.only("return_state", False, None)
        cells.append(cell_of(inside, channels))
        _check_read(inside)
    ahead, back = cells
    piece.need(ahead.gives_steps == back.gives_steps and ahead.units == back.units, "its directions differ")
    mask = mask_for(piece)
    width = ahead.units * (2 if mode == "concat" else 1)
    if mode is None:
        return _apart(piece, cells, mask, steps)
    if mask is None and _are_alike(ahead, back):
        result = _as_layer(piece, ahead, back, MODES[mode])
    else:
        result = _joined(piece, cells, mask, mode)
    return _given(piece, result, steps if ahead.gives_steps else None, width, ahead.gives_steps)


# ---- what is inside


def _sizes(piece: Piece) -> tuple[int | None, int]:
    """Return the steps and the channels of the series that come in."""
    shape = piece.value.shape
    if len(shape) != 2 or shape[1] is None:
        piece.refuse(f"an input of shape {shape}")
    return shape[0], int(shape[1])


def _around_cell(piece: Piece) -> Piece:
    """Return the layer that an RNN around a cell is."""
    cell = piece.get("cell")
    kind = str(cell.get("class_name")) if isinstance(cell, Mapping) else repr(cell)
    piece.need(kind.removesuffix("Cell") in GATES and kind.endswith("Cell"), f"the cell {kind}")
    config = {key: value for key, value in piece.layer.config.items() if key != "cell"}
    for name in config:
        piece.get(name)
    layer = piece.layer._replace(class_name=kind.removesuffix("Cell"), config={**cell["config"], **config})
    return piece.of_layer(layer)


def _both(piece: Piece) -> list[Piece]:
    """Return the layers of both directions."""
    first, second = piece.get("layer"), piece.get("backward_layer")
    piece.need(_is_layer(first) and (second is None or _is_layer(second)), "it must be around a layer")
    config = dict(first["config"])
    if second is None:
        second = {**first, "config": {**config, "go_backwards": not config.get("go_backwards", False)}}
    weights = piece.layer.weights
    half = None if weights is None else len(weights) // 2
    made = []
    for spec, part in ((first, slice(None, half)), (second, slice(half, None))):
        kind, name = str(spec["class_name"]), piece.layer.name
        own = None if weights is None else weights[part]
        inside = piece.of_layer(KerasLayer(kind, name, spec["config"], own, piece.layer.trainable))
        inside = _around_cell(inside) if kind == "RNN" else inside
        piece.need(inside.layer.class_name in GATES, f"the layer {kind}")
        made.append(inside)
    return made


def _is_layer(given: Any) -> bool:
    return isinstance(given, Mapping) and isinstance(given.get("config"), Mapping)


def _check_read(inside: Piece) -> None:
    unread = inside.unread()
    inside.need(not unread, f"settings that nothing here is like: {', '.join(unread)}")


# ---- both directions


def _are_alike(ahead: Cell, back: Cell) -> bool:
    """Tell whether a Bidirectional says both directions."""
    return (back.is_back and not ahead.is_back) and ahead.conf == back.conf and not isinstance(ahead.conf, OnnxVertex)


def _as_layer(piece: Piece, ahead: Cell, back: Cell, mode: str) -> Result:
    inside = ahead.conf if ahead.gives_steps else LastTimeStep(ahead.conf)
    sides = {"f": ahead.arrays, "b": back.arrays}
    arrays = {side + name: read for side, given in sides.items() for name, read in given.items()}
    return Result(piece.add(Bidirectional(inside, mode), piece.value.node, arrays), True)


def _joined(piece: Piece, cells: list[Cell], mask: str | None, mode: str) -> Result:
    """Add both directions on their own and make one of what they give: Keras turns the second, whichever way it goes.

    A second layer that goes forward is turned too.
    """
    ahead = _direction(piece, cells[0], mask, "forward", ordered=False)
    back = _direction(piece, cells[1], mask, "backward", ordered=True)
    conf: Any = MergeVertex() if mode == "concat" else ElementWiseVertex(WAYS[mode])
    return Result(piece.add(conf, [ahead.node, back.node]), ahead.is_of_layer and back.is_of_layer)


def _apart(piece: Piece, cells: list[Cell], mask: str | None, steps: int | None) -> Value:
    """Add both directions, which are two outputs of the call."""
    made = []
    for cell, part in zip(cells, ("forward", "backward"), strict=True):
        result = _direction(piece, cell, mask, part, ordered=part == "backward")
        length = steps if cell.gives_steps else None
        made.append(_given(piece, result, length, cell.units, cell.gives_steps, f"{part}/open"))
    piece.more[1] = made[1]
    return made[0]


# ---- one direction


def _direction(piece: Piece, cell: Cell, mask: str | None, part: str, ordered: bool) -> Result:
    """Add a layer in one direction.

    Its steps come as it has gone through them; with `ordered` the other way round, which are those of the series for
    one that goes backward.
    """
    lead = f"{part}/" if part else ""
    value = piece.formatted(piece.value, SERIES[1], part=f"{lead}axes")
    if mask is None:
        return _of_all_steps(piece, cell, value.node, part, ordered)
    packing = packing_of(piece, mask, value.shape[0], cell.is_back, lead)
    series = packed(piece, packing, value.node, lead)
    inside = _series(piece, cell, series, f"{lead}steps")
    if not cell.gives_steps:
        whole = unpacked(piece, packing, inside, cell.blanks, f"{lead}all")
        return Result(_step(piece, whole, 0 if cell.is_back else -1, part), False)
    turned = cell.is_back != ordered
    whole = unpacked(piece, packing, inside, cell.blanks, f"{lead}unturned" if turned else part)
    return Result(piece.add(ReverseTimeSeriesVertex(), whole, part=part) if turned else whole, False)


def _of_all_steps(piece: Piece, cell: Cell, series: str, part: str, ordered: bool) -> Result:
    lead = f"{part}/" if part else ""
    is_layer = not isinstance(cell.conf, OnnxVertex)
    if cell.is_back:
        series = piece.add(ReverseTimeSeriesVertex(), series, part=f"{lead}turned")
    if not cell.gives_steps and is_layer:
        return Result(piece.add(LastTimeStep(cell.conf), series, cell.arrays, part), True)
    if not cell.gives_steps:
        return Result(_step(piece, _series(piece, cell, series, f"{lead}steps"), -1, part), False)
    node = _series(piece, cell, series, f"{lead}steps" if ordered else part)
    return Result(piece.add(ReverseTimeSeriesVertex(), node, part=part) if ordered else node, is_layer)


def _series(piece: Piece, cell: Cell, series: str, part: str) -> str:
    """Add the layer itself, from series ``[N, C, T]`` to such."""
    if not isinstance(cell.conf, OnnxVertex):
        return piece.add(cell.conf, series, cell.arrays, part)
    lead = f"{part}/" if part else ""
    steps = piece.add(cell.conf, piece.add(TURN, series, part=f"{lead}in"), part=f"{lead}gru")
    rows = piece.add(OnnxVertex("Squeeze", {}, {1: [2]}), steps, part=f"{lead}out")
    return piece.add(TURN, rows, part=part)


def _step(piece: Piece, series: str, number: int, part: str) -> str:
    """Add one step of series ``[N, C, T]``."""
    return piece.add(OnnxVertex("Gather", {"axis": 2}, {1: number}), series, part=part)


def _given(piece: Piece, result: Result, steps: int | None, width: int, gives_steps: bool, part: str = "open") -> Value:
    """Return what the call gives; series that a vertex has made in Keras' order of axes."""
    if not gives_steps:
        return piece.give(result.node, (width,))
    if result.is_of_layer:
        return piece.give(result.node, (steps, width), SERIES[1])
    return piece.give(piece.add(TURN, result.node, part=part), (steps, width))
