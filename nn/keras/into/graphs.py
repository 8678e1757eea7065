"""A draft as a network: a chain or a graph, the types of its inputs, its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.checks import describe_shape

from ...conf.graph import node_label
from ...conf.network import NeuralNetConfiguration
from ...conf.nodes import NetworkConfiguration
from ...conf.output_layers import check_output_layers
from ...layers import LayerConf
from ...networks.graph import ComputationGraph
from ...networks.multilayer import MultiLayerNetwork
from ...networks.network import Network
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import axes_outward, channels_last
from ...vertices import PreprocessorVertex
from .ends import settings_of, with_loss
from .piece import Value
from .types import type_of

if TYPE_CHECKING:
    from .recognition import Recognition


class Configured(NamedTuple):
    """A network's configuration.

    Attributes
    ----------
    conf : NetworkConfiguration
    names : dict of str -> str
        Node of the network -> vertex of the draft.
    unlike_inputs : set of str
        Inputs that users see in another format than their readers were told.
    is_unlike : bool
        Whether vertices are so.
    """

    conf: Any
    names: Mapping[str, str]
    unlike_inputs: frozenset[str]
    is_unlike: bool


def configured(made: Recognition) -> Configured:
    """Return the configuration of a draft."""
    draft = made.draft
    values = [made.values[name] for name in made.model.outputs]
    needed = draft.above([value.node for value in values])
    draft.nodes = {name: node for name, node in draft.nodes.items() if name in needed}
    if made.is_plain:
        values = _turned_back(made, values)
    outputs: list[str] = []
    for name, value in zip(made.model.outputs, values, strict=True):
        outputs.append(with_loss(made, name, value, outputs))
    base = _base(made, outputs)
    chain = _chain(made, outputs)
    if chain is None:
        conf: NetworkConfiguration = _graph_conf(made, base, outputs)
        names = {node.name: node.name for node in conf.nodes}
    else:
        conf = _chain_conf(made, base, chain)
        layers = [name for name in chain if isinstance(draft.nodes[name][0], LayerConf)]
        names = {str(number): name for number, name in enumerate(layers)}
    return Configured(conf, names, *_unlike(made, conf, names))


def _base(made: Recognition, outputs: Sequence[str]) -> NeuralNetConfiguration:
    """Return the settings of the network; whether loss and activation fit together is looked at where they do."""
    ends = {name: made.draft.nodes[name][0] for name in outputs}
    try:
        check_output_layers((node_label(name, conf), conf) for name, conf in ends.items())
        fit = True
    except nd.ConfigurationError:
        fit = False
    settings = {"activation": "identity", "dtype": made.model.dtype, "validate_output_layer_config": fit}
    return NeuralNetConfiguration(**{**settings, **settings_of(made)})


def _unlike(made: Recognition, conf: NetworkConfiguration, names: Mapping[str, str]) -> tuple[frozenset[str], bool]:
    """Return which inputs the network's rules see in other formats than the draft, and whether vertices are such."""
    formats = conf.formats
    behind = {names[node.name]: tag for node, tag in zip(conf.nodes, formats.behind, strict=True)}
    inputs = zip(made.draft.inputs.items(), formats.inputs, strict=True)
    unlike = frozenset(name for (name, value), tag in inputs if not _alike(value, tag))
    made_of = [value for value in made.values.values() if value.node in behind]
    return unlike, any(not _alike(value, behind[value.node]) for value in made_of)


def _alike(value: Value, tag: str | None) -> bool:
    rank = len(value.shape) + 1
    return axes_outward(tag, rank) == axes_outward(value.data_format, rank)


def _turned_back(made: Recognition, values: Sequence[Value]) -> list[Value]:
    """Return outputs whose arrays lie as they do in Keras, and are seen so behind a vertex."""
    turned = []
    for value in values:
        if channels_last(value.data_format) and len(value.shape) > 1:
            perm = list(axes_outward(value.data_format, len(value.shape) + 1))
            conf = OnnxVertex("Transpose", {"perm": perm})
            node = made.draft.add(f"{value.node}/output", conf, [value.node])
            value = value._replace(node=node, data_format=None)
        turned.append(value)
    return turned


# ---- a chain


def _chain(made: Recognition, outputs: Sequence[str]) -> list[str] | None:
    """Return the vertices of a chain of layers, in their order; None where it is none."""
    nodes, inputs = made.draft.nodes, list(made.draft.inputs)
    if not made.model.is_sequential or len(outputs) != 1 or len(inputs) != 1:
        return None
    names, before = list(nodes), inputs[0]
    for at, name in enumerate(names):
        conf, *sources = nodes[name]
        joins = isinstance(conf, PreprocessorVertex) and at + 1 < len(names)
        joins = joins and isinstance(nodes[names[at + 1]][0], LayerConf)
        if sources != [before] or not (isinstance(conf, LayerConf) or joins):
            return None
        before = name
    return names


def _chain_conf(made: Recognition, base: NeuralNetConfiguration, chain: Sequence[str]) -> NetworkConfiguration:
    layers: list[Any] = []
    preprocessors: dict[int, Any] = {}
    for name in chain:
        conf = made.draft.nodes[name][0]
        if isinstance(conf, PreprocessorVertex):
            preprocessors[len(layers)] = conf.preprocessor
        else:
            layers.append(replace(conf, name=name))
    (value,) = made.draft.inputs.values()
    return base.list(*layers, input_type=type_of(value), preprocessors=preprocessors)


# ---- a graph


def _graph_conf(made: Recognition, base: NeuralNetConfiguration, outputs: Sequence[str]) -> NetworkConfiguration:
    """Return the configuration, with the types of all inputs where all their sizes are known."""
    draft = made.draft
    needed = draft.above(outputs)
    types = {name: type_of(value) for name, value in draft.inputs.items()}
    unread: dict[str, Any] = {"allow_disconnected": not needed.issuperset(types)}
    if all(types.values()):
        try:
            return base.graph(types, draft.nodes, outputs, **unread)
        except nd.NdError:  # of arrays that InputType does not know
            if not any(isinstance(conf, OnnxVertex) for conf, *_ in draft.nodes.values()):
                raise
    return base.graph(list(types), draft.nodes, outputs, **unread)


# ---- parameters


def network_of_configuration(made: Recognition, built: Configured) -> Network:
    """Return the network with the parameters of the file; those that it has not are drawn."""
    conf, arrays = built.conf, made.draft.arrays
    network: Any = (MultiLayerNetwork if hasattr(conf, "layers") else ComputationGraph)(conf)
    layout = conf.layout()
    given = {view.key: arrays.get(built.names[view.name], {}).get(view.spec.name) for view in layout.views}
    if None in given.values():
        vector: Any = network.init().params()
    else:
        vector = nd.create_uninitialized(1, layout.length, dtype=conf.dtype)  # each view of it is assigned
    for view in layout.views:
        read = given[view.key]
        if read is None:
            continue
        array, target = nd.as_array(read(), conf.dtype), view.of(vector)
        if tuple(array.shape) != tuple(target.shape):
            raise nd.ShapeError(
                f"load: {view.key} must be {describe_shape(target.shape)}, got {describe_shape(array.shape)}. Is the "
                "file damaged?"
            )
        nd.assign(target, array)
    return network if network.init_done else network.init(vector, clone=False)
