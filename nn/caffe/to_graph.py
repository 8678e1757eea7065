"""A net of Caffe's as a graph of Deeplearning4j's layers and vertices, with its parameters."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd import ConfigurationError
from nd.checks import describe_shape

from ..conf.graph import ComputationGraphConfiguration
from ..conf.network import NeuralNetConfiguration
from ..conf.nodes import Source
from ..layers import ActivationLayer, DropoutLayer
from ..networks.graph import ComputationGraph
from ..terms.input_type import InputType
from ..vertices import ReshapeVertex, ScaleVertex
from .graphs import LEFT_OUT, MISSING, converter
from .graphs.draft import GraphDraft, LayerDraft, Part, Shape
from .graphs.losses import OF_AXES

if TYPE_CHECKING:
    from .assembly import LayerPlan
    from .net import Net

LOGGER = logging.getLogger(__name__)
OVERWRITING = (ActivationLayer, *OF_AXES.values())
"""Layers of Java's that may write over their input outside of training."""
HANDING_ON = (DropoutLayer, ReshapeVertex)
"""Layers and vertices of Java's whose activations may be their input itself."""


class Converted(NamedTuple):
    """A graph that was a net.

    Attributes
    ----------
    graph : ComputationGraph
    notes : tuple of str
        What is not in it as it is in the net.
    """

    graph: ComputationGraph
    notes: tuple[str, ...]


def convert_net(net: Net, **settings: Any) -> Converted:
    """Return a net as a graph with the same outputs.

    Parameters
    ----------
    net : Net
    **settings
        Of `NeuralNetConfiguration`: ``updater=Nesterovs(learning_rate=0.01)``.

    Raises
    ------
    ConfigurationError
        Layers have no counterpart in Deeplearning4j: all of them, with their types, and why.

    Notes
    -----
    A vertex has the name of its layer; where several stand for one layer, the last one has, and parts are behind a
    slash. The outputs are layers with a loss, in the order in which they run, then other blobs that no layer reads.
    """
    draft = GraphDraft(net)
    outputs = _drawn(draft)
    if not outputs:
        raise ConfigurationError(
            "to_computation_graph: the net must have outputs beside losses' values and layers that only look on, got "
            f"{net.outputs}."
        )
    needed = draft.above(outputs)
    _refuse_missing(draft, needed)
    _note_learning(draft)
    graph = _graph(draft, outputs, needed, {"activation": "identity", **settings, "dtype": net.dtype})
    return Converted(graph, tuple(draft.notes))


def to_computation_graph(net: Net, **settings: Any) -> ComputationGraph:
    """Return what `convert_net` does, and log its notes."""
    graph, notes = convert_net(net, **settings)
    for note in notes:
        LOGGER.info("to_computation_graph: %s.", note)
    return graph


def _drawn(draft: GraphDraft) -> list[str]:
    """Draw all layers; return the vertices that are outputs."""
    parts: dict[Source, Part | None] = {}
    unread: dict[str, None] = {}
    seen: dict[str, None] = {}  # by layers that report alone
    data = 0
    for plan in draft.net.assembly.layers:
        if plan.conf is None:
            for name, shape in zip(plan.message.top, plan.shapes, strict=True):
                draft.inputs[name] = shape
                data += 1
                parts[Source(-data)] = Part(name, shape)
            continue
        tops = _converted(draft, plan, [parts[source] for source in plan.inputs])
        for top, (node, shape) in enumerate(zip(tops, plan.shapes, strict=True)):
            parts[Source(plan.node or 0, top)] = None if node is None else Part(node, shape)
            if node in draft.nodes and not draft.is_read(plan, top):
                (seen if draft.readers(plan, top) else unread)[node] = None
    return list(dict.fromkeys([*draft.losses, *unread])) or list(seen)


def _converted(draft: GraphDraft, plan: LayerPlan, bottoms: list[Part | None]) -> list[str | None]:
    """Add a layer to the draft; return the vertices that its tops are."""
    kind = plan.message.type
    if kind in LEFT_OUT:
        draft.notes.append(f"{plan.label}: it is left out, as it only looks on")
        return [None] * len(plan.shapes)
    parts = [part or Part("", ()) for part in bottoms]
    try:
        if None in bottoms:
            raise ConfigurationError("it reads a loss")
        put, layer = converter(kind), LayerDraft(draft, plan, parts)
        if put is None:
            raise ConfigurationError(MISSING.get(kind, "DL4J has nothing like it"))
        _check_layer(layer)
        return put(layer)
    except ConfigurationError as error:
        name = draft.add(plan.name, None, [part.node for part in parts if part.node])
        draft.refused[name] = f"{plan.label}: {error}"
        if layer_is_loss(plan):
            draft.losses.append(name)
        return [name] * len(plan.shapes)


def layer_is_loss(plan: LayerPlan) -> bool:
    """Tell whether a layer has a top that is part of the loss."""
    return any(plan.loss_weights)


def _check_layer(layer: LayerDraft) -> None:
    """Raise ConfigurationError where bottoms are no examples, or a top that is not a loss's has a weight."""
    is_loss = layer.runtime.is_loss
    for part in layer.bottoms[: 1 if is_loss else None]:
        if len(part.shape) < 2 and layer.message.type not in ("Flatten", "Reshape", "Split"):
            layer.refuse(f"a bottom {describe_shape(part.shape)}, where DL4J has [N, C] at least")
    weighed = layer.plan.loss_weights[1 if is_loss else 0 :]
    layer.need(not any(weighed), "a loss_weight on a top that is no loss")


def _refuse_missing(draft: GraphDraft, needed: set[str]) -> None:
    """Raise ConfigurationError with all layers that are needed and have no counterpart."""
    missing = [why for name, why in draft.refused.items() if name in needed]
    if missing:
        raise ConfigurationError(
            f"to_computation_graph: every layer must have a counterpart in Deeplearning4j, got {len(missing)} without "
            f"one: {'; '.join(missing)}. Take these layers out of the net, or exchange them."
        )


def _note_learning(draft: GraphDraft) -> None:
    """Note what the graph does not have of shared parameters and multipliers; refuse what would train otherwise."""
    net = draft.net
    params = net.assembly.params
    shared = dict.fromkeys(net.assembly.layers[param.layer].label for param in params if param.owner is not None)
    if shared and net.phase == "TRAIN":
        raise ConfigurationError(
            f"to_computation_graph: DL4J's layers share no parameters, got some shared by {'; '.join(shared)}. Convert "
            "the net of phase TEST, of which the graph has copies."
        )
    if shared:
        draft.notes.append(f"parameters that are shared are copies in the graph: {'; '.join(shared)}")
    learned = [param for param in params if param.spec.learned]
    usual = all(param.lr_mult in (0.0, 1.0) and param.decay_mult == 1.0 for param in learned)
    partly = {param.layer for param in learned if param.lr_mult == 0.0} & {p.layer for p in learned if p.lr_mult}
    if not usual or partly:
        draft.notes.append("multipliers of learning rates and of decay are not taken over, but for layers with none")


def _graph(draft: GraphDraft, outputs: list[str], needed: set[str], settings: dict[str, Any]) -> ComputationGraph:
    """Return the graph of what is needed."""
    net = draft.net
    inputs = {name: _input_type(name, shape) for name, shape in draft.inputs.items() if name in needed}
    nodes = _apart({name: node for name, node in draft.nodes.items() if name in needed})
    with net.network.engine.on_backend():
        conf = NeuralNetConfiguration(**settings).graph(inputs, nodes, outputs)
        graph = ComputationGraph(conf)
        return graph.init(_vector(draft, conf), clone=False)


def _apart(nodes: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Return vertices with copies before activations whose input others read: Java's write over it, but in training."""
    readers = Counter(source for _, *sources in nodes.values() for source in sources)
    apart: dict[str, tuple[Any, ...]] = {}
    for name, node in nodes.items():
        if isinstance(node[0], OVERWRITING) and _is_shared(node[1], nodes, readers):
            apart[f"{name}/copy"] = (ScaleVertex(1.0), node[1])
            node = (node[0], f"{name}/copy")
        apart[name] = node
    return apart


def _is_shared(source: str, nodes: dict[str, tuple[Any, ...]], readers: Counter[str]) -> bool:
    """Tell whether several vertices read a vertex, or one whose memory it hands on."""
    while readers[source] == 1 and source in nodes and isinstance(nodes[source][0], HANDING_ON):
        source = nodes[source][1]
    return readers[source] > 1


def _input_type(name: str, shape: Shape) -> InputType:
    """Return the type of an input of Caffe's shape."""
    sizes = shape[1:]
    if len(sizes) == 1:
        return InputType.feed_forward(*sizes)
    if len(sizes) == 2:
        return InputType.recurrent(*sizes)
    if len(sizes) == 3:
        return InputType.convolutional(*sizes[1:], sizes[0])
    if len(sizes) == 4:
        return InputType.convolutional3d(*sizes[1:], sizes[0])
    raise ConfigurationError(
        f"to_computation_graph: input {name!r} must have 2 to 5 axes, examples and channels first, got "
        f"{describe_shape(shape)}."
    )


def _vector(draft: GraphDraft, conf: ComputationGraphConfiguration) -> Any:
    """Return all parameters as the graph has them."""
    layout = conf.layout()
    vector = nd.zeros(1, layout.length, dtype=draft.net.dtype)
    for view in layout.views:
        given, target = draft.arrays[view.name][view.spec.name], view.of(vector)
        if tuple(given.shape) != tuple(target.shape):
            raise nd.ShapeError(
                f"to_computation_graph: {view.key} must be {describe_shape(target.shape)}, got "
                f"{describe_shape(given.shape)}."
            )
        nd.assign(target, given)
    return vector
