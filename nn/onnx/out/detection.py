"""Detection of objects."""

from __future__ import annotations

from .node_draft import NodeDraft
from .windows import sliced

_SPLITS_BY_ATTRIBUTE = 18
"""Opset from which Split is told how many parts there are."""


def yolo(layer: NodeDraft) -> str:
    """Yolo2OutputLayer, box by box: x, y and confidence by a sigmoid, sizes times priors, classes by a softmax."""
    draft, priors = layer.draft, layer.conf.bounding_boxes
    count, boxes = len(priors), [layer.x]
    if count > 1:
        said = count if draft.opset >= _SPLITS_BY_ATTRIBUTE else None
        boxes = draft.nodes_of("Split", [layer.x], count, f"{layer.name}/Split", axis=1, num_outputs=said)
    parts = []
    for box, prior in zip(boxes, priors, strict=True):
        sizes = draft.numbers(list(map(float, prior)), 1, 2, 1, 1)
        parts += [
            layer.node("Sigmoid", sliced(layer, box, 1, [0], [2])),
            layer.node("Mul", layer.node("Exp", sliced(layer, box, 1, [2], [4])), sizes),
            layer.node("Sigmoid", sliced(layer, box, 1, [4], [5])),
            layer.node("Softmax", sliced(layer, box, 1, [5], [0]), axis=1),
        ]
    return layer.node("Concat", *parts, axis=1)
