"""A proof as a table, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...networks.tables import table
from .differences import Difference
from .proving import Compared, Proof, shapes_of

_HEADINGS = ("layer", "numbers", "largest", "difference", "relative", "ulp", "")
_MOST_UNNAMED = 10


def as_text(proof: Proof) -> str:
    """Return the table: every layer that both models name, and what could not be compared."""
    rows = [_HEADINGS, *(_row(row, proof) for row in proof.rows if row.difference is not None)]
    runs = " and ".join(map(str, proof.examples))
    lines = [f"{proof.readers[0]} and {proof.readers[1]}, on {runs} example(s)", ""]
    lines.append(table(rows, right=range(1, 6)))
    lines += [f"not compared: {row.name}, of shapes {shapes_of(row)}" for row in proof.rows if row.difference is None]
    if proof.unnamed:
        more = len(proof.unnamed) - _MOST_UNNAMED
        shown = ", ".join(proof.unnamed[:_MOST_UNNAMED]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"named by the first alone: {shown}")
    return "\n".join(lines)


def as_json(proof: Proof, source: str, target: str, lost: Sequence[str]) -> dict[str, object]:
    """Return what the table says, for programs."""
    return {
        "in": source,
        "out": target,
        "readers": list(proof.readers),
        "examples": list(proof.examples),
        "tolerance": proof.tolerance,
        "within": not proof.beyond,
        "layers": [_fields(row, proof.tolerance) for row in proof.rows],
        "named_by_the_first_alone": list(proof.unnamed),
        "lost": list(lost),
    }


def _row(row: Compared, proof: Proof) -> tuple[str, ...]:
    known = row.difference or Difference(0, 0.0, math.inf, math.inf)
    name = f"{row.name} (output)" if row.kind == "output" else row.name
    numbers = (f"{number:.3g}" for number in (known.largest, known.absolute, known.relative, known.ulps))
    return name, f"{known.numbers:,}", *numbers, "" if row.is_within(proof.tolerance) else "beyond"


def _fields(row: Compared, tolerance: float) -> dict[str, object]:
    known = row.difference
    fields = {"name": row.name, "kind": row.kind, "shape": list(row.shape), "within": row.is_within(tolerance)}
    if known is None:
        return {**fields, "compared": False, "others_shape": list(row.others_shape)}
    return {
        **fields,
        "compared": True,
        "numbers": known.numbers,
        "largest": _number(known.largest),
        "absolute": _number(known.absolute),
        "relative": _number(known.relative),
        "ulps": _number(known.ulps),
    }


def _number(value: float) -> float | str:
    """Return a number as JSON has it, which knows no infinity."""
    return value if math.isfinite(value) else "Infinity"
