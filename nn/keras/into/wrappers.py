"""TimeDistributed: another layer at every step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .cells import check_arguments
from .piece import Piece, Value
from .shapes import reshaped

OF_LAST_AXIS = {
    "Activation": "activations:activation",
    "AlphaDropout": "noise:alpha_dropout",
    "BatchNormalization": "normalization:batch_normalization",
    "Dense": "dense:dense",
    "Dropout": "noise:dropout",
    "ELU": "activations:elu",
    "GaussianDropout": "noise:gaussian_dropout",
    "GaussianNoise": "noise:gaussian_noise",
    "LayerNormalization": "normalization:layer_normalization",
    "LeakyReLU": "activations:leaky_relu",
    "ReLU": "activations:relu",
    "Softmax": "activations:softmax",
    "ThresholdedReLU": "activations:thresholded_relu",
}
"""Classes that compute along the last axis alone -> module and function, sorted: all steps are like places to them."""


def time_distributed(piece: Piece) -> Value:
    """TimeDistributed around a layer of the last axis, a Flatten or a Reshape."""
    check_arguments(piece)
    given = piece.get("layer")
    piece.need(isinstance(given, Mapping) and isinstance(given.get("config"), Mapping), "it must be around a layer")
    kind = str(given["class_name"])
    layer = piece.layer._replace(class_name=kind, config=given["config"])
    inside = piece.of_layer(layer)
    if kind in OF_LAST_AXIS:
        piece.need(given["config"].get("axis", -1) in (-1, [-1]), f"axis={given['config'].get('axis')!r} of a step")
        module, name = OF_LAST_AXIS[kind].split(":")
        made: Value = getattr(import_module(f".{module}", __package__), name)(inside)
    else:
        piece.need(kind in ("Flatten", "Reshape"), f"the layer {kind}, which Deeplearning4j has at no step")
        made = _at_steps(inside, kind)
    unread = inside.unread()
    piece.need(not unread, f"settings that nothing here is like: {', '.join(unread)}")
    return made


def _at_steps(inside: Piece, kind: str) -> Value:
    """Add a Flatten or a Reshape of every step."""
    steps, *sizes = inside.value.shape
    known: Any = (steps, *sizes)
    inside.need(None not in known, f"an open size in {inside.value.shape}")
    inside.need(inside.get("data_format") in (None, "channels_last", "tf"), "channels first")
    count = math.prod(known[1:])
    target = [count] if kind == "Flatten" else [int(size) for size in inside.get("target_shape")]
    if target.count(-1) == 1:
        rest = -math.prod(target)
        inside.need(rest and count % rest == 0, f"target_shape={target} of {sizes}")
        target[target.index(-1)] = count // rest
    inside.need(math.prod(target) == count, f"target_shape={target} of {sizes}")
    return reshaped(inside, inside.value, (known[0], *target))
