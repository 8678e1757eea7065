"""Writing networks as ONNX files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.files.writing import Target, replacing

from .draft import WORDS, OnnxDraft, onnx_package
from .drawing import Drawing

if TYPE_CHECKING:
    from ..networks.network import Network
    from ..terms.input_type import InputType

OPSET, IR_VERSION = 18, 10
"""What is written unless others are asked for."""


def onnx_model(
    network: Network,
    opset: int = OPSET,
    ir_version: int = IR_VERSION,
    input_types: Sequence[InputType | None] | None = None,
) -> Any:
    """Return a network as an onnx.ModelProto that computes its outputs; see `write_onnx`."""
    onnx = onnx_package("save")
    types = list(input_types or [None] * len(network.conf.input_names))
    with network.lock, nd.use_backend(network.backend):
        draft = OnnxDraft(opset, network.dtype)
        drawing = Drawing(network, draft, types)
        drawing.draw()
    helper, word = onnx.helper, WORDS[network.dtype]
    inputs = [helper.make_tensor_value_info(name, word, None) for name in drawing.inputs]
    outputs = [helper.make_tensor_value_info(name, word, None) for name in drawing.outputs]
    graph = helper.make_graph(draft.nodes, type(network).__name__, inputs, outputs, list(draft.tensors.values()))
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, producer_name="ndwright")


def write_onnx(network: Network, path: Target, **settings: Any) -> None:
    """Write a network as an ONNX file; settings as those of `onnx_model`."""
    content = onnx_model(network, **settings).SerializeToString()
    with replacing("save", path) as file:
        file.write(content)
