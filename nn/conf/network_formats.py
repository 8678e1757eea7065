"""Order of the axes throughout a network: every node in the format of what comes in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..layers.base import LayerConf, label_of
from ..terms.data_formats import channels_last, outward
from ..terms.preprocessors import InputPreProcessor
from ..vertices.base import VertexConf

if TYPE_CHECKING:
    from .nodes import NetworkConfiguration, NodeConf


def settled(
    label: str, layer: LayerConf, preprocessor: InputPreProcessor | None, incoming: str | None
) -> tuple[LayerConf, InputPreProcessor | None, str | None]:
    """Return a layer and its preprocessor in the format of what comes in, and the format of its activations."""
    if preprocessor is not None:
        who = f"{label}: {type(preprocessor).__name__}"
        preprocessor, incoming = preprocessor.in_format(who, incoming, layer.said_format)
    layer, behind = layer.in_format(label, incoming)
    return layer, preprocessor, behind


def stated_format(layers: Iterable[LayerConf], preprocessors: Mapping[int, InputPreProcessor]) -> str | None:
    """Return the format of the features of layers that follow one another: the first that one of them says.

    None where rows come in, or nothing is said.
    """
    for index, layer in enumerate(layers):
        preprocessor = preprocessors.get(index)
        said = None if preprocessor is None else preprocessor.said_format
        said = said or layer.said_format
        if said is not None:
            return said
    return None


def settled_chain(
    layers: Sequence[LayerConf], preprocessors: Mapping[int, InputPreProcessor]
) -> tuple[tuple[LayerConf, ...], dict[int, InputPreProcessor]]:
    """Return layers that follow one another, and their preprocessors, each in the format of what comes in.

    Raises
    ------
    ConfigurationError
        One says another format than the one before it gives.
    """
    done: list[LayerConf] = []
    placed: dict[int, InputPreProcessor] = {}
    current = stated_format(layers, preprocessors)
    for index, layer in enumerate(layers):
        layer, preprocessor, current = settled(label_of(index, layer), layer, preprocessors.get(index), current)
        done.append(layer)
        placed |= {} if preprocessor is None else {index: preprocessor}
    return tuple(done), placed


class NetworkFormats:
    """The formats of a network's data.

    Parameters
    ----------
    conf : NetworkConfiguration

    Attributes
    ----------
    inputs, outputs : tuple of str or None
        Of the features of every input, and of every output's activations and labels.
    behind : list of str or None
        Of every node's activations.
    last_of_outputs : tuple of str or None
        Formats of the outputs that have the channels last.
    settled : list of pairs
        Every node's configuration and preprocessor, in the format of what comes in.
    """

    def __init__(self, conf: NetworkConfiguration) -> None:
        types = conf.network_input_types()
        known: dict[int, str | None] = {-1 - k: None if kind is None else kind.format for k, kind in enumerate(types)}
        wanted = wanted_of(conf.nodes)
        known |= {number: kind or wanted.get(number) for number, kind in known.items()}
        self.inputs = tuple(known[-1 - k] for k in range(len(types)))
        self.settled: list[tuple[Any, InputPreProcessor | None]] = []
        for number, node in enumerate(conf.nodes):
            arriving = next((known[source.node] for source in node.inputs if known[source.node] is not None), None)
            layer, preprocessor = node.conf, node.preprocessor
            if isinstance(layer, VertexConf):
                layer, arriving = layer.in_format(node.label, arriving, wanted.get(number))
            else:
                layer, preprocessor, arriving = settled(node.label, layer, preprocessor, arriving)
            self.settled.append((layer, preprocessor))
            known[number] = arriving
        self.behind = [known[number] for number in range(len(conf.nodes))]
        self.outputs = tuple(self.behind[number] for number in conf.output_nodes)
        self.last_of_outputs = tuple(name if channels_last(name) else None for name in self.outputs)

    def turned(self, features: Sequence[object], activations: Sequence[object]) -> tuple[list[Any], list[Any]]:
        """View the features of all inputs and the activations of all nodes as users see them."""
        return list(map(outward, features, self.inputs)), list(map(outward, activations, self.behind))


def wanted_of(nodes: Sequence[NodeConf]) -> dict[int, str]:
    """Return number of an input of the network, below 0, or of a vertex that makes new axes -> the format behind it.

    That is the first one that a layer behind it says.
    """
    wanted: dict[int, str] = {}
    inputs = {source.node for node in nodes for source in node.inputs if source.node < 0}
    origins: dict[int, int] = {number: number for number in inputs}
    for number, node in enumerate(nodes):
        if getattr(node.conf.innermost, "makes_axes", False):
            origins[number] = number
            continue
        origin = next((origins[source.node] for source in node.inputs if source.node in origins), None)
        own = None if node.preprocessor is None else node.preprocessor.said_format
        own = own or getattr(node.conf, "said_format", None)
        if origin is not None and own is None:
            origins[number] = origin
        elif origin is not None and own is not None:
            wanted.setdefault(origin, own)
    return wanted
