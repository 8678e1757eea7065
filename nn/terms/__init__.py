"""What configurations of layers are made of: input types, parameters, initialisation, dropout, noise, preprocessors."""

from __future__ import annotations

from importlib import import_module
from typing import Any

CALLED_LATE = {
    "DefaultGradient": "nn.networks.gradient",  # backprop_gradient() of a layer
    "KERAS_PARTS": "nn.keras.terms.own_parts",  # which make themselves known to files
    "NeuralNetConfiguration": "nn.conf.network",  # layer(), Java's layer.conf()
    "OnnxVertex": "nn.onnx.vertices.vertex",  # an operator of ONNX in a graph that is read
    "check_saveable": "nn.files.serializer",
    "graph_from_json": "nn.files.graph_json",
    "graph_of": "nn.onnx.into",
    "keras_graph_of": "nn.keras.loading",
    "network_from_json": "nn.files.json",
    "network_to_json": "nn.files.json",
    "read_checkpoint": "nn.files.checkpoint",
    "restore_model": "nn.files.serializer",
    "trace_step": "nn.trace.stepping",
    "write_checkpoint": "nn.files.checkpoint",
    "write_keras": "nn.keras.out.writing",
    "write_model": "nn.files.serializer",
    "write_onnx": "nn.onnx.writing",
    "write_picture": "nn.pictures.files",
}
"""What methods of lower rooms call in upper ones, the only arrows upward in `nn`: name -> the module that has it.

A method is declared and typed in the room of its class; what it does, files for `save`, is imported when it is called.
"""


def late(name: str) -> Any:
    """Return a function or class of an upper room, whose module is imported if it has not been."""
    return getattr(import_module(CALLED_LATE[name]), name)
