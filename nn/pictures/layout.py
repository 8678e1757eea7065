"""Where boxes and arrows lie: in rows, each below all that it reads, with few crossings and no arrow behind a box."""

from __future__ import annotations

from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

GAP, PASSAGE = 28.0, 14.0
"""Between boxes side by side, and the width that an arrow takes that passes a row."""
_SWEEPS_OF_ORDER, _SWEEPS_OF_PLACES = 12, 40
_STRAIGHT = {0: 1.0, 1: 0.05, 2: 4.0}
"""Number of ends that are passages -> how much an arrow's piece wants to be vertical."""


class Slot(NamedTuple):
    """A place in a row: of a box, or where the arrows of a box pass through on their way to lower rows."""

    box: int
    row: int
    passes: bool


class Layout(NamedTuple):
    """Rows of slots, the middle of each slot, and for every arrow the slots from its beginning to its end."""

    rows: list[list[Slot]]
    middles: dict[Slot, float]
    ways: list[list[Slot]]


def layout_of(widths: Sequence[float], arrows: Sequence[tuple[int, int]]) -> Layout:
    """Return where boxes lie; `arrows` are pairs of their numbers, of which the first is the smaller one.

    Notes
    -----
    Source: Sugiyama, Tagawa, Toda 1981: rows by the longest way, an order in them by the means of neighbours, then
    places. Arrows of one box share their passages.
    """
    rows_of = _row_numbers(len(widths), arrows)
    ways = [
        [Slot(first, row, row > rows_of[first]) for row in range(rows_of[first], rows_of[last])]
        + [Slot(last, rows_of[last], False)]
        for first, last in arrows
    ]
    above: dict[Slot, list[Slot]] = defaultdict(list)
    below: dict[Slot, list[Slot]] = defaultdict(list)
    slots = {Slot(box, row, False): None for box, row in enumerate(rows_of)}
    for way in ways:
        for upper, lower in pairwise(way):
            slots |= {upper: None, lower: None}
            if lower not in below[upper] or not lower.passes:
                below[upper].append(lower)
                above[lower].append(upper)
    rows: list[list[Slot]] = [[] for _ in range(max(rows_of) + 1)]
    for slot in slots:
        rows[slot.row].append(slot)
    rows = _ordered(rows, above, below)
    return Layout(rows, _placed(rows, above, below, widths), ways)


def _row_numbers(count: int, arrows: Sequence[tuple[int, int]]) -> list[int]:
    """Return a row for every box: below all that it reads; what reads nothing lies just above its first reader."""
    rows, readers = [0] * count, [count] * count
    for first, last in sorted(arrows, key=lambda arrow: arrow[1]):
        rows[last] = max(rows[last], rows[first] + 1)
    for first, last in arrows:
        readers[first] = min(readers[first], rows[last])
    read = {last for _, last in arrows}
    return [row if box in read or readers[box] == count else readers[box] - 1 for box, row in enumerate(rows)]


# ---- the order in a row

Neighbours = Mapping[Slot, Sequence[Slot]]


def _ordered(rows: list[list[Slot]], above: Neighbours, below: Neighbours) -> list[list[Slot]]:
    """Return the order with the fewest crossings of those that sweeps down and up come by."""
    best, fewest = rows, _crossings(rows, above)
    for number in range(_SWEEPS_OF_ORDER):
        if not fewest:
            break
        down = number % 2 == 0
        rows = list(rows)
        for row in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            places = {slot: place for place, slot in enumerate(rows[row - 1 if down else row + 1])}
            rows[row] = _by_means(rows[row], places, above if down else below)
        crossings = _crossings(rows, above)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _by_means(row: list[Slot], places: Mapping[Slot, int], neighbours: Neighbours) -> list[Slot]:
    """Sort a row by the mean places of neighbours; a slot without any stays where it is."""
    means = {}
    for place, slot in enumerate(row):
        near = neighbours.get(slot, ())
        means[slot] = sum(places[other] for other in near) / len(near) if near else float(place)
    return sorted(row, key=means.__getitem__)


def _crossings(rows: Sequence[Sequence[Slot]], above: Neighbours) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        places = {slot: place for place, slot in enumerate(upper)}
        ends: list[int] = []
        for slot in lower:
            own = sorted(places[other] for other in above.get(slot, ()))
            count += sum(len(ends) - bisect(ends, place) for place in own)
            for place in own:
                insort(ends, place)
    return count


# ---- places


def _placed(
    rows: Sequence[Sequence[Slot]], above: Neighbours, below: Neighbours, widths: Sequence[float]
) -> dict[Slot, float]:
    """Return the middles of slots: near those of their neighbours, in the order of their rows, without overlap."""
    middles: dict[Slot, float] = {}
    for row in rows:
        offsets = _offsets(row, widths)
        middles |= {slot: offset - offsets[-1] / 2 for slot, offset in zip(row, offsets, strict=True)}
    for number in range(_SWEEPS_OF_PLACES):
        last = number >= _SWEEPS_OF_PLACES - 4
        for row in rows if number % 2 == 0 else reversed(rows):
            wishes = []
            for slot in row:
                near = [*(above.get(slot, ()) if last or number % 2 == 0 else ())]
                near += below.get(slot, ()) if last or number % 2 else ()
                weights = [_STRAIGHT[slot.passes + other.passes] for other in near]
                total = sum(weight * middles[other] for weight, other in zip(weights, near, strict=True))
                wishes.append((total / sum(weights), sum(weights)) if near else (middles[slot], 0.01))
            middles |= zip(row, _apart(wishes, _offsets(row, widths)), strict=True)
    return middles


def _offsets(row: Sequence[Slot], widths: Sequence[float]) -> list[float]:
    """Return how far right of the first slot's middle the others lie at least."""
    offsets = [0.0]
    for left, right in pairwise(row):
        halves = sum(PASSAGE if slot.passes else widths[slot.box] for slot in (left, right)) / 2
        offsets.append(offsets[-1] + halves + (PASSAGE if left.passes and right.passes else GAP))
    return offsets


def _apart(wishes: Sequence[tuple[float, float]], offsets: Sequence[float]) -> list[float]:
    """Return the places nearest to those that are wished, weighted, which keep their order and distances.

    Less its offset, a place must not be smaller than the one before: neighbours that would be become one block, which
    lies at the mean of its wishes.
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, number of places
    for (wish, weight), offset in zip(wishes, offsets, strict=True):
        mean, count = wish - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, heavy, more = blocks.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + more
        blocks.append((mean, weight, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
