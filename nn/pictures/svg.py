"""A picture of a network in SVG, drawn without any other program."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from html import escape
from itertools import pairwise

from .diagram import Box, Diagram
from .layout import Layout, Slot, layout_of

_LINE, _BORDER, _BETWEEN, _MARGIN = 16.0, 8.0, 36.0, 20.0
_LETTER, _BOLD_LETTER, _LEAST_WIDTH = 6.7, 8.0, 90.0
_MOST_LETTERS, _ENTRANCES = 48, 22.0
_STYLE = """
text { font: 12px Helvetica, Arial, sans-serif; fill: #1d2733; text-anchor: middle }
text.name { font-weight: bold; font-size: 13px }
.box rect { stroke: #5b6b7c; fill: #dce9f7 }
.input rect { fill: #eceff2 }
.vertex rect { fill: #fdebc8 }
.output rect { stroke: #14743b; stroke-width: 2.5px }
.frozen rect { stroke-dasharray: 5 3 }
.arrow { fill: none; stroke: #5b6b7c; stroke-width: 1.2px; marker-end: url(#head) }
"""
_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#5b6b7c"/></marker></defs>'
)


def svg_of(diagram: Diagram) -> str:
    """Return the picture: a ``g`` of class "box" for every box, a ``path`` of class "arrow" for every arrow.

    Notes
    -----
    Inputs are grey, layers blue, other vertices yellow, outputs in a green frame, frozen ones in a dashed frame. The
    same network gives the same text.
    """
    widths = [_width(box) for box in diagram.boxes]
    layout = layout_of(widths, diagram.arrows)
    heights = [max((_height(diagram.boxes[s.box]) for s in row if not s.passes), default=0.0) for row in layout.rows]
    tops = [_MARGIN + sum(heights[:number]) + _BETWEEN * number for number in range(len(heights))]
    edges = [
        (x - half, x + half)
        for slot, x in layout.middles.items()
        for half in [0.0 if slot.passes else widths[slot.box] / 2]
    ]
    left, right = min(edge[0] for edge in edges) - _MARGIN, max(edge[1] for edge in edges) + _MARGIN
    layout = layout._replace(middles={slot: x - left for slot, x in layout.middles.items()})
    width, height = _number(right - left), _number(tops[-1] + heights[-1] + _MARGIN)
    arrows = _arrows(diagram, layout, tops, heights)
    boxes = [
        _box(diagram.boxes[slot.box], layout.middles[slot], tops[slot.row], widths[slot.box])
        for row in layout.rows
        for slot in row
        if not slot.passes
    ]
    start = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    paper = f'<rect width="{width}" height="{height}" fill="#fff"/>'
    return "\n".join([start, f"<style>{_STYLE}</style>", _HEAD, paper, *arrows, *boxes, "</svg>", ""])


# ---- boxes


def _width(box: Box) -> float:
    letters = [_letters(box.name) * _BOLD_LETTER, *(_letters(line) * _LETTER for line in box.lines)]
    return max(_LEAST_WIDTH, max(letters) + 2 * _BORDER)


def _height(box: Box) -> float:
    return (1 + len(box.lines)) * _LINE + _BORDER


def _letters(text: str) -> int:
    """Return how many letters wide a text is; those of East Asia are as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "FW" else 1 for letter in _shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


def _box(box: Box, middle: float, top: float, width: float) -> str:
    classes = ["box", box.kind, *(["output"] if box.is_output else []), *(["frozen"] if box.is_frozen else [])]
    x, radius = _number(middle - width / 2), 14 if box.kind == "input" else 5
    lines = [
        f'<text{style} x="{_number(middle)}" y="{_number(top + _BORDER / 2 + _LINE * (number + 0.75))}">'
        f"{_text(_shortened(line))}</text>"
        for number, (style, line) in enumerate([(' class="name"', box.name), *(("", line) for line in box.lines)])
    ]
    title = "\n".join(_text(line) for line in (box.name, *box.lines))
    sizes = f'width="{_number(width)}" height="{_number(_height(box))}" rx="{radius}"'
    return (
        f'<g class="{" ".join(classes)}"><title>{title}</title>'
        f'<rect x="{x}" y="{_number(top)}" {sizes}/>{"".join(lines)}</g>'
    )


def _text(text: str) -> str:
    """Escape a text for XML, which has no place for most control characters and for halves of surrogate pairs."""
    return escape(
        "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter for letter in text)
    )


def _number(value: float) -> str:
    return f"{round(value, 1):g}" if abs(value) < 100000 else f"{value:.1f}"


# ---- arrows


def _arrows(diagram: Diagram, layout: Layout, tops: list[float], heights: list[float]) -> list[str]:
    """Return a path for every arrow: curves between rows, straight through the rows that it passes."""
    ends = _entrances(layout)
    paths = []
    for number, ((first, last), way) in enumerate(zip(diagram.arrows, layout.ways, strict=True)):
        x, y = layout.middles[way[0]], tops[way[0].row] + _height(diagram.boxes[first])
        parts = [f"M{_number(x)} {_number(y)}"]
        for before, slot in pairwise(way):
            bottom, top = tops[before.row] + heights[before.row], tops[slot.row]
            if bottom > y:
                parts.append(f"V{_number(bottom)}")
            to = layout.middles[slot] if slot.passes else ends[number]
            half = _number((bottom + top) / 2)
            curve = f"C{_number(x)} {half} {_number(to)} {half} {_number(to)} {_number(top)}"
            parts.append(curve if _number(to) != _number(x) else f"V{_number(top)}")
            x, y = to, top
        names = " → ".join(_text(diagram.boxes[box].name) for box in (first, last))
        paths.append(f'<path class="arrow" d="{"".join(parts)}"><title>{names}</title></path>')
    return paths


def _entrances(layout: Layout) -> list[float]:
    """Return where each arrow enters its last box: side by side, in the order of where they come from."""
    arriving: dict[Slot, list[int]] = defaultdict(list)
    for number, way in enumerate(layout.ways):
        arriving[way[-1]].append(number)
    ends = [0.0] * len(layout.ways)
    for slot, numbers in arriving.items():
        numbers.sort(key=lambda number: layout.middles[layout.ways[number][-2]])
        step = min(_ENTRANCES, _LEAST_WIDTH / len(numbers))
        for place, number in enumerate(numbers):
            ends[number] = layout.middles[slot] + (place - (len(numbers) - 1) / 2) * step
    return ends
