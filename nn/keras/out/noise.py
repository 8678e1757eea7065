"""Dropout and other noise on what comes into a layer: layers of Keras before it."""

from __future__ import annotations

from typing import Any

from optimize.schedules import Schedule

from .draft import Value
from .node import Node

_CLASSES = {
    "AlphaDropout": "AlphaDropout",
    "Dropout": "Dropout",
    "GaussianDropout": "GaussianDropout",
    "GaussianNoise": "GaussianNoise",
    "SpatialDropout": "SpatialDropout",
}
"""Class of ours -> that of Keras, sorted."""


def noise(node: Node, drop_out: Any, x: Value, part: str = "dropout") -> Value:
    """Return x behind a layer that does in training what a dropout does; note as lost what Keras has not."""
    kind = type(drop_out).__name__
    if kind not in _CLASSES or type(drop_out).__module__.partition(".")[0] != "nn":
        node.lose(f"its dropout, a {kind}")
        return x
    name = next(field for field in ("stddev", "rate", "p") if hasattr(drop_out, field))
    number = getattr(drop_out, name)
    if isinstance(number, Schedule):
        node.lose(f"the schedule of its {kind}, of which the first number is kept")
        number = number.value_at(0, 0)
    if name == "stddev":
        return node.add("GaussianNoise", x, part=part, stddev=float(number), seed=None)
    rate = round(1.0 - float(number), 15) if name == "p" else float(number)
    if kind != "SpatialDropout":
        return node.add(_CLASSES[kind], x, part=part, rate=rate, seed=None)
    if x.own_rank < 3:
        return node.add("Dropout", x, part=part, rate=rate, seed=None)
    return node.add(f"SpatialDropout{x.own_rank - 2}D", x, part=part, rate=rate, seed=None)
