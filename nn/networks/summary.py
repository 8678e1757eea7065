"""The table that `MultiLayerNetwork.summary` shows."""

from __future__ import annotations

from ..conf.network import MultiLayerConfiguration
from ..layers.base import LayerConf

_HEADINGS = ("layer", "type", "in -> out", "parameters")


def summary(conf: MultiLayerConfiguration) -> str:
    """Return a row for every layer, and the total number of parameters."""
    types = conf.layer_types()
    rows = [_HEADINGS]
    total = 0
    for index, layer in enumerate(conf.layers):
        count = sum(spec.length for spec in layer.param_specs())
        total += count
        flow = f"{types[index][0]!r} -> {types[index][1]!r}" if types else _flow_of_parameters(layer)
        rows.append((f"{index} {layer.name or ''}".strip(), type(layer).__name__, flow, f"{count:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)) for row in rows]
    lines = [f"{line}  {row[-1].rjust(widths[-1])}" for line, row in zip(lines, rows, strict=True)]
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:], rule, f"total parameters: {total:,}"])


def _flow_of_parameters(layer: LayerConf) -> str:
    """Without an input type only the layers with parameters know their sizes."""
    layer = layer.innermost
    n_in, n_out = getattr(layer, "n_in", None), getattr(layer, "n_out", None)
    return f"{n_in} -> {n_out}" if n_in is not None else "same -> same"
