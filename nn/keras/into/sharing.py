"""Layers that a model calls several times: one layer here over the examples of all calls, so that it has its parameters
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...vertices import StackVertex, UnstackVertex
from ..model import KerasCall, KerasModel
from .piece import SILENT, Piece, Value

Unit = tuple[KerasCall, ...]
"""Calls that are drawn together."""


def units_of(model: KerasModel) -> dict[str, Unit]:
    """Return call -> the calls that are drawn with it: all of its layer, where they have parameters to share."""
    together: dict[int, list[KerasCall]] = {}
    for call in model.calls:
        together.setdefault(id(call.layer), []).append(call)
    units: dict[str, Unit] = {}
    for calls in together.values():
        layer = calls[0].layer
        shares = bool(layer.weights) if layer.weights is not None else layer.class_name not in SILENT
        alone = not shares or any(call.arguments or len(call.inputs) != 1 for call in calls)
        units |= {call.name: (call,) if alone else tuple(calls) for call in calls}
    return units


def may_stack(values: Sequence[Value]) -> bool:
    """Tell whether examples of several calls may lie one below the other."""
    first = values[0]
    same = all(value.shape == first.shape and value.data_format == first.data_format for value in values)
    return same and None not in first.shape and all(value.mask is None for value in values)


def stacked(piece: Piece, values: Sequence[Value]) -> Value:
    """Return the examples of all calls, one call's below the other's."""
    node = piece.draft.add(f"{piece.call.name}/stack", StackVertex(), [value.node for value in values])
    return values[0]._replace(node=node)


def unstacked(piece: Piece, unit: Unit, made: Value) -> Mapping[str, Value]:
    """Return call -> what it gives, of what the layer gives for all of them."""
    given = {}
    for number, call in enumerate(unit):
        name = call.name if number else f"{call.name}/1"
        given[call.name] = made._replace(node=piece.draft.add(name, UnstackVertex(number, len(unit)), [made.node]))
    return given


__all__ = ["Unit", "may_stack", "stacked", "units_of", "unstacked"]
