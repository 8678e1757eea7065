"""Layers in messages, and warnings of what a file says that is left out."""

from __future__ import annotations

import warnings

from ..files.findings import ModelFileWarning
from .schema import Message


def layer_text(position: int, layer: Message) -> str:
    """Return how messages name a layer: ``layer 3 'ip1' (InnerProduct)``."""
    return f"layer {position} {layer.name!r} ({layer.type or 'no type'})"


def warn_of_lost(who: str, fields: list[str], owner: str) -> None:
    """Warn of fields that an old file has and that nothing in the newest schema stands for."""
    if fields:
        warnings.warn(
            f"{who}: {', '.join(fields)}: nothing of {owner}, left out as in Caffe.", ModelFileWarning, stacklevel=5
        )
