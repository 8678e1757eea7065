"""Masks on their way through a network."""

from __future__ import annotations

from .node_draft import NodeDraft


def mask_behind(layer: NodeDraft) -> str | None:
    """Return the mask of a layer's activations, from that of its input; None where all count."""
    return layer.mask
