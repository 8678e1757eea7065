"""Reductions, whose axes are an attribute in older opsets."""

from __future__ import annotations

from collections.abc import Sequence

from .node_draft import NodeDraft

AXES_AS_INPUT = {"ReduceSum": 13}
"""Operator -> opset from which its axes are an input; of others 18."""


def reduced(layer: NodeDraft, op: str, x: str, axes: Sequence[int], keepdims: bool) -> str:
    """Add ReduceSum, ReduceMax, ... over axes; return its output."""
    kept = int(keepdims)
    if layer.draft.opset < AXES_AS_INPUT.get(op, 18):
        return layer.node(op, x, axes=list(axes), keepdims=kept)
    return layer.node(op, x, layer.draft.ints(*axes), keepdims=kept)
