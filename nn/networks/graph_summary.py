"""The summary of a graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..conf.graph import ComputationGraphConfiguration

_HEADINGS = ("vertex", "type", "inputs", "in -> out", "activations", "parameters")


def summary(conf: ComputationGraphConfiguration) -> str:
    """Return a row for every input and vertex, in the order in which they run, and totals."""
    types = conf.node_types([None] * len(conf.inputs))
    element = 8 if conf.dtype == "float64" else 4
    rows = [_HEADINGS]
    for name, kind in zip(conf.inputs, conf.network_input_types(), strict=True):
        rows.append((name, "input", "", "" if kind is None else f"{kind!r}", "", "-"))
    total = trained = activations = 0
    for number, node in enumerate(conf.nodes):
        specs = node.conf.param_specs()
        count = sum(spec.length for spec in specs)
        total, trained = total + count, trained + sum(s.length for s in specs if s.trainable and not s.running)
        flow = size = ""
        if types is not None:
            arriving, out = types[number]
            flow = f"{', '.join(map(repr, arriving))} -> {out!r}"
            if None not in out.shape:
                numbers = element * math.prod(out.sizes)
                activations, size = activations + numbers, f"{numbers:,} B"
        rows.append(
            (node.name, type(node.conf).__name__, ", ".join(conf.vertex_inputs[node.name]), flow, size, f"{count:,}")
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join(
            cell.rjust(width) if column > 3 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    rule = "-" * len(lines[0])
    end = [f"total parameters: {total:,}, trainable: {trained:,}"]
    if activations:
        end.append(f"activations of one example: {activations:,} bytes")
    return "\n".join([lines[0], rule, *lines[1:], rule, *end])
