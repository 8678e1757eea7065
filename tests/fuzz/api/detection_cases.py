"""How to call what detects objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from nn import DetectedObject

_PRIORS = [[1.0, 1.0], [2.0, 0.5]]


def _object(confidence: float) -> DetectedObject:
    return DetectedObject(0, 1.0, 1.0, 2.0, 1.0, [0.25, 0.75], confidence)


def _output() -> Any:
    return np.full((1, 14, 3, 4), 0.5, np.float32)


DETECTION: dict[str, Any] = {
    "nd.dataset.box_labels": {"boxes": [[[0, 0, 1, 2]]], "classes": [[1]], "n_classes": 2, "grid": (3, 4)},
    "nn.DetectedObject": {
        "example_number": 0, "center_x": 1.0, "center_y": 1.0, "width": 2.0, "height": 1.0,
        "class_predictions": [0.25, 0.75], "confidence": 0.5,
    },
    "nn.Yolo2OutputLayer": {"bounding_boxes": _PRIORS},
    "nn.YoloUtils.activate": lambda folder: {"bounding_box_priors": _PRIORS, "input": _output()},
    "nn.YoloUtils.get_predicted_objects": lambda folder: {
        "bounding_box_priors": _PRIORS, "network_output": _output(), "conf_threshold": 0.4,
    },
    "nn.YoloUtils.iou": lambda folder: {"first": _object(0.5), "second": _object(0.75)},
    "nn.YoloUtils.nms": lambda folder: {"objects": [_object(0.5), _object(0.75)], "iou_threshold": 0.5},
    "nn.YoloUtils.overlap": {"x1": 0.0, "x2": 2.0, "x3": 1.0, "x4": 3.0},
}  # fmt: skip
