"""A draft as a ComputationGraph: activations join their layers, outputs get a loss, parameters their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import nd
from nd.activations import Activation, Identity, Sigmoid, Softmax
from nd.checks import describe_shape

from ...conf.graph import ComputationGraphConfiguration
from ...conf.network import NeuralNetConfiguration
from ...layers import (
    ActivationLayer,
    Cnn3DLossLayer,
    CnnLossLayer,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    LossLayer,
    OutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    TimeDistributed,
)
from ...networks.graph import ComputationGraph
from ...terms.input_type import InputType
from ..vertices import OnnxVertex
from .draft import GraphDraft
from .layout import Value
from .recognition import Recognition

ACTIVATED = (Convolution1DLayer, Convolution3D, ConvolutionLayer, DenseLayer, TimeDistributed)
"""Layers that apply an activation to what they compute."""
LOSSES = {2: LossLayer, 3: RnnLossLayer, 4: CnnLossLayer, 5: Cnn3DLossLayer}
"""Axes of an output -> layer with a loss."""


def graph_of_recognition(made: Recognition, dtype: str) -> ComputationGraph:
    """Return the graph of a draft on the current backend."""
    draft, outputs = made.draft, made.outputs
    needed = draft.above(outputs)
    draft.nodes = {name: node for name, node in draft.nodes.items() if name in needed}
    _join_activations(draft, outputs)
    for number, name in enumerate(outputs):
        outputs[number] = _with_loss(made, number, name)
    conf = _configuration(draft, outputs, dtype)
    if _put_in_order(made, conf):
        conf = _configuration(draft, outputs, dtype)
    _check_axes(made, conf)
    return ComputationGraph(conf).init(_vector(draft, conf), clone=False)


def _put_in_order(made: Recognition, conf: ComputationGraphConfiguration) -> bool:
    """Put a vertex behind every input that the network would turn otherwise than its readers were told.

    Only what reads an input says how a network without input types takes it, and an OnnxVertex says nothing.
    """
    draft, changed = made.draft, False
    for name, tag in zip(conf.inputs, conf.formats.inputs, strict=True):
        value = draft.inputs[name]
        if made.seen_as_in_file(value, tag):
            continue
        perm = [value.axes.index(axis) for axis in value.inner]
        node = draft.add(f"{name}/order", OnnxVertex("Transpose", {"perm": perm}), [name])
        added = draft.nodes.pop(node)
        rest = {
            key: (own, *(node if source == name else source for source in sources))
            for key, (own, *sources) in draft.nodes.items()
        }
        draft.nodes = {node: added, **rest}
        draft.inputs[name] = value._replace(inner=value.axes, tag=None)
        changed = True
    return changed


def _check_axes(made: Recognition, conf: ComputationGraphConfiguration) -> None:
    """Raise ConfigurationError unless the network takes and gives every array with the axes of the file.

    The formats that the network's own rules have led to are compared with those that the nodes were recognised with.
    """
    draft, formats = made.draft, conf.formats
    given = [(draft.inputs[name], name, tag) for name, tag in zip(conf.inputs, formats.inputs, strict=True)]
    made_of = zip(made.seen, made.graph.outputs, formats.outputs, strict=True)
    wrong = [f"{name!r} as {tag}" for value, name, tag in (*given, *made_of) if not made.seen_as_in_file(value, tag)]
    if wrong:
        raise nd.ConfigurationError(
            f"{made.file.name}: inputs and outputs must have the axes of the file, got {', '.join(wrong)}, which the "
            "layers behind or before them have turned. Export the model with the channels in one place throughout."
        )


def _join_activations(draft: GraphDraft, outputs: list[str]) -> None:
    """Let layers apply the activations behind them that alone read them."""
    readers = draft.readers()
    for name, node in list(draft.nodes.items()):
        if not isinstance(node[0], ActivationLayer) or readers[node[1]] > 1 or node[1] in outputs:
            continue
        before = draft.nodes.get(node[1])
        joined = before and _activated(before[0], node[0].activation)
        if joined:
            del draft.nodes[node[1]]
            draft.nodes[name] = (joined, *before[1:])  # type: ignore[index]
            draft.arrays[name] = draft.arrays.pop(node[1], {})


def _activated(conf: Any, activation: Any) -> Any:
    """Return a layer with that activation, None where it has another or no place for one."""
    if not isinstance(conf, ACTIVATED):
        return None
    inside: Any = conf.layer if isinstance(conf, TimeDistributed) else conf
    if not isinstance(inside.activation, Identity):
        return None
    if isinstance(activation, Softmax) and not isinstance(inside, DenseLayer):
        return None
    joined = replace(inside, activation=activation)
    return replace(conf, layer=joined) if inside is not conf else joined


def _with_loss(made: Recognition, number: int, name: str) -> str:
    """Let an output have a loss; return its vertex."""
    draft = made.draft
    conf, *sources = draft.nodes[name]
    inside = conf.layer if isinstance(conf, TimeDistributed) else conf
    activation: Any = getattr(inside, "activation", None)
    if isinstance(inside, DenseLayer) and not isinstance(inside, OutputLayer) and not draft.readers()[name]:
        kind: Any = OutputLayer if inside is conf else RnnOutputLayer
        given = {key: getattr(inside, key) for key in ("n_in", "n_out", "has_bias", "activation")}
        if inside is not conf:
            given["data_format"] = conf.data_format
        draft.nodes[name] = (kind(loss=loss_for(activation, inside.n_out), **given), *sources)
        return name
    value = made.seen[number]
    rank = len(value.inner)
    if isinstance(conf, ActivationLayer) and rank == 2:
        draft.nodes[name] = (LossLayer(loss=loss_for(activation), activation=activation), *sources)
        return name
    if rank in LOSSES:
        return draft.add(f"{name}/loss", _loss_layer(rank, value), [name])
    return name


def _loss_layer(rank: int, value: Value) -> Any:
    settings = {"data_format": value.tag} if rank > 2 and value.tag else {}
    return LOSSES[rank](loss="mse", activation="identity", **settings)


def loss_for(activation: Activation | None, n_out: int | None = None) -> str:
    """Return the loss that goes with an output's activation."""
    if isinstance(activation, Softmax) and n_out != 1:
        return "mcxent"
    return "xent" if isinstance(activation, Sigmoid) else "mse"


def _configuration(draft: GraphDraft, outputs: list[str], dtype: str) -> ComputationGraphConfiguration:
    """Return the configuration, with the types of all inputs where those of all vertices are known then.

    Inputs that nothing reads stay, as the file's users give them, but for those without an axis beside the examples'.
    """
    needed = draft.above(outputs)
    inputs = [name for name, value in draft.inputs.items() if name in needed or value.rank > 1]
    unread: dict[str, Any] = {"allow_disconnected": not needed.issuperset(inputs)}
    base = NeuralNetConfiguration(activation="identity", dtype=dtype)
    types = [_type_of(draft, draft.inputs[name]) for name in inputs]
    if draft.has_types and all(types):
        try:
            return base.graph(dict(zip(inputs, types, strict=True)), draft.nodes, outputs, **unread)
        except nd.NdError:  # of arrays that InputType does not know
            if not any(isinstance(conf, OnnxVertex) for conf, *_ in draft.nodes.values()):
                raise
    return base.graph(inputs, draft.nodes, outputs, **unread)


def _type_of(draft: GraphDraft, value: Value) -> InputType | None:
    """Return the type of an input, None where its sizes are open."""
    shape = draft.factors.shape(value.inner)[1:]
    sizes: list[Any] = [size[0] if size[0] == size[1] else None for size in shape]
    if not sizes or sizes[0] is None or (len(sizes) > 2 and None in sizes) or len(sizes) > 4:
        return None
    formatted: Any = {"data_format": value.tag} if value.tag else {}
    if len(sizes) == 1:
        return InputType.feed_forward(sizes[0])
    if len(sizes) == 2:
        return InputType.recurrent(*sizes, **formatted)
    if None in sizes:
        return None
    make: Any = InputType.convolutional if len(sizes) == 3 else InputType.convolutional3d
    return make(*sizes[1:], sizes[0], **formatted)


def _vector(draft: GraphDraft, conf: ComputationGraphConfiguration) -> Any:
    """Return all parameters as the graph has them."""
    layout, dtype = conf.layout(), conf.dtype
    vector = nd.create_uninitialized(1, layout.length, dtype=dtype)  # each view of it is assigned
    for view in layout.views:
        target, vertex = view.of(vector), conf.vertices[view.name]
        if isinstance(vertex, OnnxVertex):
            given = vertex.constants[int(view.spec.name.removeprefix("input_"))].array(dtype)
        else:
            given = nd.as_array(draft.arrays[view.name][view.spec.name](), dtype)
        if tuple(given.shape) != tuple(target.shape):
            raise nd.ShapeError(
                f"load: {view.key} must be {describe_shape(target.shape)}, got {describe_shape(given.shape)}. Is the "
                "file damaged?"
            )
        nd.assign(target, given)
    return vector
