"""Writing networks as ONNX files."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import nd
from nd import ConfigurationError
from nd.arguments import IntCount, checked
from nd.files.writing import FileKind, Target, check_ending, replacing

from ..networks.network import Network
from ..terms.input_type import InputType
from .draft import FIRST_OPSET, WORDS, OnnxDraft, onnx_package
from .drawing import Drawing
from .output_shapes import tell_shapes
from .signature import shape_of, types_of

ONNX_FILE = FileKind("a model of ONNX", (".onnx",))
OPSET, IR_VERSION = 18, 10
"""What is written unless others are asked for."""
MOST_BYTES = 2**31 - 2**20
"""Of parameters in one file, whose format ends at 2 GiB."""


@checked
def onnx_model(
    network: Network,
    opset: IntCount = OPSET,
    ir_version: IntCount | None = None,
    input_types: Sequence[InputType | None] | None = None,
    masks: bool = False,
) -> Any:
    """Return a network as an onnx.ModelProto that computes its outputs.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    opset : int
        Of the operators, 13 or later.
    ir_version : int, optional
        Of the file's form: 10, or what the opset needs, if that is more.
    input_types : sequence of InputType or None, optional
        One for each input, of networks whose configuration has none, as those of Java's files: where a layer cannot be
        said without sizes.
    masks : bool
        Whether every input of time series has another one, ``<name>_mask [N, T]``, of the network's dtype: 1 for the
        steps that count, as ``output`` takes features' masks.

    Raises
    ------
    ConfigurationError
        ONNX cannot say a part of the network, or sizes are not known; the message names all of them. Or the package
        onnx does not know such an opset.

    Notes
    -----
    The model takes and gives the arrays of ``net.output(x)``. The number of examples is the symbol "N", lengths that
    the network does not know are "T", "H", "W". What only training does is left out. Tensors have the names of layers
    and vertices, parameters those with the parameter's behind a slash. Source: ONNX IR specification.
    """
    onnx = onnx_package("save")
    ir_version = checked_versions(onnx, opset, ir_version)
    conf = network.conf
    types = types_of(conf, [None] * len(conf.input_names) if input_types is None else input_types)
    with network.lock, nd.use_backend(network.backend):
        draft = OnnxDraft(opset, network.dtype)
        drawing = Drawing(network, draft, types, masks)
        drawing.draw()
    helper, word = onnx.helper, WORDS[network.dtype]
    shapes = [shape_of(conf, number, kind) for number, kind in enumerate(types)]
    inputs = [
        helper.make_tensor_value_info(name, word, shape) for name, shape in zip(drawing.inputs, shapes, strict=True)
    ]
    inputs += [helper.make_tensor_value_info(name, word, shape) for name, shape in drawing.masks.items()]
    outputs = [helper.make_tensor_value_info(name, word, None) for name in drawing.outputs]
    graph = helper.make_graph(draft.nodes, type(network).__name__, inputs, outputs)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, producer_name="ndwright")
    tell_shapes(onnx, model, list(draft.tensors.values()), drawing)
    for name in list(draft.tensors):  # a copy each, of which the first is given back at once
        model.graph.initializer.append(draft.tensors.pop(name))
    return model


@checked
def write_onnx(network: Network, path: Target, training_step: bool = False, **settings: Any) -> None:
    """Write a network as an ONNX file, which `network.save` does under names that end in ``.onnx``.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    path : path or binary file object
        A file is replaced only when the new one is complete.
    training_step : bool
        Write a step of training in the place of the outputs, see `nn.onnx.training.step.training_model`.
    **settings
        Of `onnx_model`, or of `training_model`.

    Raises
    ------
    ConfigurationError
        As `onnx_model`, the package onnx is not installed, or a file cannot hold so many parameters.
    OSError
        The file cannot be written; one that was there before is untouched.
    """
    check_ending("save", path, ONNX_FILE)
    size = network.num_params() * (8 if network.dtype == "float64" else 4)
    if size >= MOST_BYTES:
        raise ConfigurationError(
            f"save: a model of ONNX must have less than {MOST_BYTES:,} bytes, got {size:,} of parameters alone. Save a "
            ".zip, or .safetensors."
        )
    if training_step:
        from .training.step import training_model

        model = training_model(network, **settings)
    else:
        model = onnx_model(network, **settings)
    with replacing("save", path, ONNX_FILE) as file:
        file.write(model.SerializeToString())


def checked_versions(onnx: ModuleType, opset: int, ir_version: int | None) -> int:
    """Return the form of files, that of the opset if None is given; ConfigurationError unless the package knows both.

    They must go together.
    """
    newest = onnx.defs.onnx_opset_version()
    if not FIRST_OPSET <= opset <= newest:
        raise ConfigurationError(
            f"save: opset must be {FIRST_OPSET} to {newest}, the newest of the package onnx {onnx.__version__}, got "
            f"{opset}. Leave it out for {OPSET}."
        )
    least = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
    usual = max(least, IR_VERSION)
    if ir_version is None:
        return usual
    if not least <= ir_version <= onnx.IR_VERSION:
        raise ConfigurationError(
            f"save: ir_version must be {least}, which opset {opset} needs, to {onnx.IR_VERSION}, got {ir_version}. "
            f"Leave it out for {usual}."
        )
    return ir_version
