"""Several tensors whose arrays have the same axes in the same order."""

from __future__ import annotations

from collections.abc import Sequence

from ..layout import Axes, Value
from ..piece import Piece


def alike(piece: Piece, values: Sequence[Value], free: int | None = None) -> list[Value]:
    """Return tensors of one shape in the file, but for the lengths of one axis, with arrays in one order.

    Parameters
    ----------
    piece : Piece
    values : sequence of Value
    free : int, optional
        Axis of the file whose lengths may differ.

    Raises
    ------
    NotSaid
        They have different numbers of axes.
    """
    first = values[0]
    piece.need(len({value.rank for value in values}) == 1, "its inputs have several numbers of axes")
    whole = _whole(first)
    if whole is None:
        orders = [order for value in values if (order := _whole(value)) is not None]
        whole = orders[0] if orders and len(orders[0]) == first.rank else tuple(range(first.rank))
    made = []
    for value in values:
        groups: Axes = tuple(value.axes[axis] for axis in whole)
        made.append(piece.arranged(value, groups))
    return made


def format_of(values: Sequence[Value]) -> str | None:
    """Return the format behind a vertex of several tensors: the first that one of them has."""
    return next((value.tag for value in values if value.tag), None)


def _whole(value: Value) -> tuple[int, ...] | None:
    """Return the order of the file's axes in the array, None where the array has others."""
    if len(value.inner) != value.rank or set(value.inner) != set(value.axes):
        return None
    return tuple(value.axes.index(group) for group in value.inner)
