"""Layers, vertices and preprocessors as operators of ONNX: one function for a class, a file for a family.

Each takes a `NodeDraft` and returns the name of the tensor that is its activations, channels first as nodes compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from .node_draft import NodeDraft, NotInOnnx

LAYERS: Mapping[str, str] = {
    "ActivationLayer": "dense:activation",
    "Bidirectional": "wrapping:bidirectional",
    "DenseLayer": "dense:dense",
    "DropoutLayer": "dense:nothing",
    "FrozenLayer": "wrapping:inside",
    "FrozenLayerWithBackprop": "wrapping:inside",
    "GravesBidirectionalLSTM": "recurrent:both_directions",
    "GravesLSTM": "recurrent:recurrent",
    "LSTM": "recurrent:recurrent",
    "LastTimeStep": "wrapping:last_time_step",
    "LearnedSelfAttentionLayer": "attention:learned",
    "LossLayer": "dense:activation",
    "MaskZeroLayer": "wrapping:mask_zero",
    "OutputLayer": "dense:dense",
    "RecurrentAttentionLayer": "attention:recurrent",
    "SelfAttentionLayer": "attention:itself",
    "SimpleRnn": "recurrent:recurrent",
    "TimeDistributed": "wrapping:time_distributed",
}
"""Class of a layer -> module and function, sorted."""
VERTICES: Mapping[str, str] = {
    "AttentionVertex": "attention:vertex",
}
"""Class of a vertex -> module and function, sorted."""
PREPROCESSORS: Mapping[str, str] = {}
"""Class of a preprocessor -> module and function (draft, preprocessor, tensor), sorted."""
MISSING: Mapping[str, str] = {}
"""Class that ONNX cannot say -> why, sorted."""


def writer(table: Mapping[str, str], part: object) -> Callable[..., Any] | None:
    """Return the function that writes a part; None where there is none, as for classes of one's own."""
    kind = type(part)
    if kind.__name__ not in table or kind.__module__.partition(".")[0] not in ("nn", "nd"):
        return None
    module, name = table[kind.__name__].split(":")
    function: Callable[..., Any] = getattr(import_module(f".{module}", __name__), name)
    return function


def part_writer(table: Mapping[str, str], part: object) -> Callable[..., Any]:
    """Return the function that writes a part; raise NotInOnnx where there is none."""
    function = writer(table, part)
    if function is None:
        kind = type(part).__name__
        raise NotInOnnx(MISSING.get(kind, f"ONNX has nothing like {kind}"))
    return function


def layer_written(layer: NodeDraft) -> str:
    """Add a layer, also one inside of another; return its activations."""
    return part_writer(LAYERS, layer.conf)(layer)  # type: ignore[no-any-return]
