"""A draft as a network: outputs get a loss, parameters their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd.activations import Activation, Sigmoid, Softmax
from nd.checks import describe_shape

from ...conf.network import NeuralNetConfiguration
from ...conf.nodes import NetworkConfiguration
from ...layers import (
    ActivationLayer,
    Cnn3DLossLayer,
    CnnLossLayer,
    DenseLayer,
    LossLayer,
    OutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    TimeDistributed,
)
from ...layers.base import LayerConf
from ...networks.graph import ComputationGraph
from ...networks.multilayer import MultiLayerNetwork
from ...terms.data_formats import channels_last
from ...terms.input_type import InputType
from ...vertices import PreprocessorVertex
from .piece import Value

if TYPE_CHECKING:
    from ...networks.network import Network
    from .recognition import Recognition

LOSSES = {1: LossLayer, 2: RnnLossLayer, 3: CnnLossLayer, 4: Cnn3DLossLayer}
"""Axes of an output, without that of the examples -> layer with a loss."""


def network_of_recognition(made: Recognition) -> Network:
    """Return the network of a draft on the current backend."""
    draft = made.draft
    values = [made.values[name] for name in made.model.outputs]
    needed = draft.above([value.node for value in values])
    draft.nodes = {name: node for name, node in draft.nodes.items() if name in needed}
    outputs = [_with_loss(made, value) for value in values]
    chain = _chain(made, outputs)
    base = NeuralNetConfiguration(activation="identity", dtype=made.model.dtype)
    if chain is None:
        conf: Any = _graph_conf(made, base, outputs)
        network: Any = ComputationGraph(conf)
        names = {node.name: node.name for node in conf.nodes}
    else:
        conf = _chain_conf(made, base, chain)
        network = MultiLayerNetwork(conf)
        layers = [name for name in chain if isinstance(draft.nodes[name][0], LayerConf)]
        names = {str(number): name for number, name in enumerate(layers)}
    return _filled(made, network, names)


def _chain(made: Recognition, outputs: list[str]) -> list[str] | None:
    """Return the vertices of a chain of layers; None where it is none."""
    nodes = made.draft.nodes
    if not made.model.is_sequential or len(outputs) != 1 or len(made.draft.inputs) != 1:
        return None
    names, before = list(nodes), list(made.draft.inputs)[0]
    for at, name in enumerate(names):
        conf, *sources = nodes[name]
        placed = isinstance(conf, PreprocessorVertex) and at + 1 < len(names) and _is_layer(nodes[names[at + 1]])
        if sources != [before] or not (isinstance(conf, LayerConf) or placed):
            return None
        before = name
    return names if names else None


def _is_layer(node: tuple[Any, ...]) -> bool:
    return isinstance(node[0], LayerConf)


def _chain_conf(made: Recognition, base: NeuralNetConfiguration, chain: list[str]) -> NetworkConfiguration:
    layers: list[Any] = []
    preprocessors: dict[int, Any] = {}
    for name in chain:
        conf = made.draft.nodes[name][0]
        if isinstance(conf, PreprocessorVertex):
            preprocessors[len(layers)] = conf.preprocessor
        else:
            layers.append(replace(conf, name=name))
    (value,) = made.draft.inputs.values()
    return base.list(*layers, input_type=_type_of(value), preprocessors=preprocessors)


def _graph_conf(made: Recognition, base: NeuralNetConfiguration, outputs: list[str]) -> NetworkConfiguration:
    """Return the configuration, with the types of all inputs where all their sizes are known."""
    draft = made.draft
    needed = draft.above(outputs)
    types = {name: _type_of(value) for name, value in draft.inputs.items()}
    unread: dict[str, Any] = {"allow_disconnected": not needed.issuperset(types)}
    given: Any = types if all(types.values()) else list(types)
    return base.graph(given, draft.nodes, outputs, **unread)


def _type_of(value: Value) -> InputType | None:
    """Return the type of an input, None where its sizes are open."""
    shape, formatted = value.shape, {"data_format": value.data_format}
    *places, channels = shape if channels_last(value.data_format) or len(shape) < 2 else (*shape[1:], shape[0])
    if channels is None or not 0 < len(shape) < 5:
        return None
    if len(shape) == 1:
        return InputType.feed_forward(channels)
    if len(shape) == 2:
        return InputType.recurrent(channels, places[0], **formatted)
    if None in places:
        return None
    make: Any = InputType.convolutional if len(shape) == 3 else InputType.convolutional3d
    return make(*places, channels, **formatted)


def _with_loss(made: Recognition, value: Value) -> str:
    """Let an output have a loss; return its vertex."""
    draft, name = made.draft, value.node
    if name in draft.inputs or len(value.shape) not in LOSSES:
        return name
    conf, *sources = draft.nodes[name]
    inside = conf.layer if isinstance(conf, TimeDistributed) else conf
    is_read = any(name in node[1:] for node in draft.nodes.values())
    activation = getattr(inside, "activation", None)
    loss = _loss_of(activation, value.shape[-1])
    if type(inside) is DenseLayer and not is_read:
        kind: Any = OutputLayer if inside is conf else RnnOutputLayer
        given = {key: item for key, item in vars(inside).items() if key not in ("has_layer_norm", "runtime")}
        if inside is not conf:
            given["data_format"] = conf.data_format
        draft.nodes[name] = (kind(**given, loss=loss), *sources)
        return name
    if isinstance(conf, ActivationLayer) and not is_read:
        draft.nodes[name] = (_loss_layer(value, loss, activation), *sources)
        return name
    return draft.add(f"{name}/loss", _loss_layer(value, loss), [name])


def _loss_layer(value: Value, loss: Any, activation: Any = "identity") -> Any:
    settings = {"data_format": value.data_format} if len(value.shape) > 1 and value.data_format else {}
    return LOSSES[len(value.shape)](loss=loss, activation=activation, **settings)


def _loss_of(activation: Activation | None, n_out: int | None = None) -> str:
    """Return the loss that goes with an output's activation."""
    if isinstance(activation, Softmax) and n_out != 1:
        return "mcxent"
    return "xent" if isinstance(activation, Sigmoid) else "mse"


def _filled(made: Recognition, network: Any, names: Mapping[str, str]) -> Network:
    """Return the network with the parameters of the file; those that it has not are drawn."""
    arrays, dtype = made.draft.arrays, network.conf.dtype
    layout = network.conf.layout()
    if all(view.spec.name in arrays.get(names[view.name], {}) for view in layout.views):
        vector: Any = nd.create_uninitialized(1, layout.length, dtype=dtype)
    else:
        vector = network.init().params()
    for view in layout.views:
        read = arrays.get(names[view.name], {}).get(view.spec.name)
        if read is None:
            continue
        given, target = nd.as_array(read(), dtype), view.of(vector)
        if tuple(given.shape) != tuple(target.shape):
            raise nd.ShapeError(
                f"load: {view.key} must be {describe_shape(target.shape)}, got {describe_shape(given.shape)}. Is the "
                "file damaged?"
            )
        nd.assign(target, given)
    return network if network.init_done else network.init(vector, clone=False)
