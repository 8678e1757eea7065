"""A trace as a page for browsers: one file, with its pictures within a budget."""

from __future__ import annotations

import base64
import json
import math
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nd.execution.seen_arrays import Parting, SeenArray, sample_of, scaled
from nd.files.writing import FileKind, Target, replacing

from .comparing import compare, parting_of, same_ops
from .rows import Row

if TYPE_CHECKING:
    from nd.execution.seen_arrays import Content

    from .trace import NodeArrays, Trace

TEMPLATE = pathlib.Path(__file__).parent / "page.html"
LARGEST = 16_384  # elements of a picture
_TIMES_LARGER = 4  # those of layers, and columns, than those of ops
_PLACE = "__TRACE__"


def write_page(trace: Trace, other: Trace | None, target: Target, budget: int) -> None:
    """Write the page; see `Trace.to_html`."""
    document = document_of([trace] if other is None else [trace, other], budget)
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    with replacing("to_html", target, FileKind("a page for browsers", (".html", ".htm"))) as file:
        file.write(TEMPLATE.read_text(encoding="utf-8").replace(_PLACE, text, 1).encode())


def document_of(traces: list[Trace], budget: int) -> dict[str, Any]:
    """Return what the page shows, for JSON."""
    difference, parts = "", dict[int, float]()
    if len(traces) == 2:
        found = compare(traces[0], traces[1], 0.0)
        difference = "Both have the same numbers." if found is None else f"They part first at {found}"
        parts = _parts(*traces)
    arrays = _Arrays()
    shown = [_trace(trace, arrays) for trace in traces]
    pictures, used, whole = arrays.pictures(budget)
    told = {"given": budget, "used": used, "whole": whole, "arrays": len(pictures)}
    return {"traces": shown, "arrays": pictures, "budget": told, "difference": difference, "parts": parts}


def _parts(first: Trace, second: Trace) -> dict[int, float]:
    """Return number of a row -> largest difference of its outputs, where both steps consist of the same ops."""
    parts: dict[int, float] = {}
    if not same_ops(first, second):
        return parts
    for one, other in zip(first.ops, second.ops, strict=True):
        for pair in zip(one.seen_outputs, other.seen_outputs, strict=True):
            found = parting_of(pair, 0.0)
            if isinstance(found, Parting) and math.isfinite(found.largest):
                parts[one.number] = max(parts.get(one.number, 0.0), found.largest)
    return parts


def _trace(trace: Trace, arrays: _Arrays) -> dict[str, Any]:
    nodes = [_node(node, arrays) for node in trace.nodes.values()]
    rows = [_row(row, arrays) for row in trace.rows]
    return {"about": trace.about, "seconds": trace.seconds, "rest": trace.rest, "rows": rows, "nodes": nodes}


def _node(node: NodeArrays, arrays: _Arrays) -> dict[str, Any]:
    seen = [[name, arrays.place(one, _TIMES_LARGER)] for name, one in node.arrays()]
    return {"name": node.name, "type": node.type, "arrays": seen}


def _row(row: Row, arrays: _Arrays) -> dict[str, Any]:
    texts = {"k": row.kind, "ph": row.phase, "n": row.node, "op": row.op, "v": _finite(row.values)}
    numbers = {"id": row.number, "p": row.part, "t": row.thread, "b": row.began, "s": row.seconds, "y": row.nbytes}
    lists = {"i": arrays.places(row.seen_inputs), "o": arrays.places(row.seen_outputs)}
    return {**texts, **numbers, **lists, "r": [_row(inner, arrays) for inner in row.rows]}


def _finite(numbers: dict[str, float]) -> dict[str, float | str]:
    return {name: value if math.isfinite(value) else str(value) for name, value in numbers.items()}


class _Arrays:
    """The arrays of a page, the same content once."""

    def __init__(self) -> None:
        self._seen: list[SeenArray] = []
        self._larger: list[int] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def places(self, seen: tuple[SeenArray, ...]) -> list[list[Any]]:
        """Return names and numbers."""
        return [[one.name, self.place(one, _TIMES_LARGER if one.name == "columns" else 1)] for one in seen]

    def place(self, seen: SeenArray, larger: int = 1) -> int:
        """Return the number of an array, whose picture may be so many times larger than others."""
        key = seen.content.digest, seen.shape, seen.dtype
        place = self._places.setdefault(key, len(self._seen))
        if place == len(self._seen):
            self._seen.append(seen)
            self._larger.append(larger)
        self._larger[place] = max(self._larger[place], larger)
        return place

    def pictures(self, budget: int) -> tuple[list[dict[str, Any]], int, int]:
        """Return all of them with pictures, the bytes that those take, and how many arrays are there as a whole."""
        most = LARGEST
        while most and sum(map(_encoded, self._elements(most))) > budget:
            most //= 2
        shown = [_picture(seen, most * larger) for seen, larger in zip(self._seen, self._larger, strict=True)]
        used = sum(len(one["pic"]["data"]) for one in shown if one["pic"])
        return shown, used, sum(bool(one["pic"] and one["pic"]["shape"] == one["shape"]) for one in shown)

    def _elements(self, most: int) -> Iterator[int]:
        for seen, larger in zip(self._seen, self._larger, strict=True):
            yield min(math.prod(seen.shape), min(most * larger, LARGEST))


def _encoded(elements: int) -> int:
    """Return the bytes of so many elements, two bytes each, in base64."""
    return 4 * ((2 * elements + 2) // 3)


def _picture(seen: SeenArray, most: int) -> dict[str, Any]:
    content: Content = seen.content
    mean = content.mean if math.isfinite(content.mean) else None
    known = {"shape": list(seen.shape), "dtype": seen.dtype, "bytes": seen.nbytes, "mean": mean}
    known |= {"low": content.low, "high": content.high, "nf": content.not_finite, "hist": content.histogram}
    host = content.sample if content.values is None else content.values
    picture = None
    if most and host.size:
        part = sample_of(host, min(most, LARGEST))
        data, low, high = scaled(part)
        picture = {"shape": list(part.shape), "low": low, "high": high, "data": base64.b64encode(data).decode("ascii")}
    return {**known, "pic": picture}
