"""Detection of objects."""

from __future__ import annotations

from .node_draft import NodeDraft
from .windows import sliced


def yolo(layer: NodeDraft) -> str:
    """Yolo2OutputLayer: x, y and confidence by a sigmoid, sizes times their priors, classes by a softmax."""
    draft, boxes = layer.draft, layer.conf.bounding_boxes
    shape, sizes = layer.node("Shape", layer.x), draft.lengths(layer.x, 2, 4, f"{layer.name}/Shape")
    apart = layer.node("Concat", draft.ints(0, len(boxes), -1), sizes, axis=0)
    z = layer.node("Reshape", layer.x, apart)  # [N, B, 5 + C, H, W]
    centers, spans, sure, classes = (
        sliced(layer, z, 2, [first], [end]) for first, end in ((0, 2), (2, 4), (4, 5), (5, 0))
    )
    priors = draft.numbers([float(size) for box in boxes for size in box], 1, len(boxes), 2, 1, 1)
    parts = [
        layer.node("Sigmoid", centers),
        layer.node("Mul", layer.node("Exp", spans), priors),
        layer.node("Sigmoid", sure),
        layer.node("Softmax", classes, axis=2),
    ]
    return layer.node("Reshape", layer.node("Concat", *parts, axis=2), shape)
