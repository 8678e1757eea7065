"""The nodes of a network: its layers in the order in which they run, each with its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..layers.base import label_of
from ..layers.convolution.pooled_convolution import paired
from ..layers.runtime import LayerRuntime

if TYPE_CHECKING:
    from ..conf.network import MultiLayerConfiguration
    from ..conf.preprocessors import InputPreProcessor

NETWORK_INPUT = -1
"""Stands for the features among the inputs of a node."""


class Node(NamedTuple):
    """A layer in its place.

    Attributes
    ----------
    name : str
    position : int
        In the order in which nodes run, which is also that of their parameters in the flat vector.
    draw_index : int
        In the order in which Java draws weights.
    layer : LayerRuntime
        The same object for all workers.
    preprocessor : InputPreProcessor or None
        Applied between the input and the layer.
    inputs : tuple of int
        Numbers of the nodes whose activations come in, in the list of nodes; `NETWORK_INPUT` for the features.
    needs_epsilon : tuple of bool
        For each input whether there is anything to train above it.
    states : int
        Arrays that the layer carries from one segment of a series to the next.
    """

    name: str
    position: int
    draw_index: int
    layer: LayerRuntime
    preprocessor: InputPreProcessor | None
    inputs: tuple[int, ...]
    needs_epsilon: tuple[bool, ...]
    states: int


def chain(conf: MultiLayerConfiguration, lowest: int) -> tuple[Node, ...]:
    """Return the nodes of a network whose layers follow one another.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    lowest : int
        The first layer with parameters to train: below it nothing needs a gradient.
    """
    nodes = []
    for index, layer in enumerate(conf.layers):
        runtime = layer.runtime(layer, label_of(index, layer), conf.base.dtype)  # type: ignore[arg-type]
        states = len(runtime.initial_state(1))
        preprocessor, needs_epsilon = conf.preprocessors.get(index), (index > lowest,)
        name = layer.name or str(index)
        nodes.append(Node(name, index, index, runtime, preprocessor, (index - 1,), needs_epsilon, states))
    return tuple(nodes)


def fused(nodes: tuple[Node, ...], lowest: int) -> tuple[Node, ...]:
    """Return the nodes with a convolution and the pooling after it as one, where they can be."""
    joined: list[Node] = []
    for node in nodes:
        before = joined[-1] if joined and node.preprocessor is None else None
        pair = None if before is None else paired(before.layer, node.layer, node.position < lowest)
        if before is not None and pair is not None:
            joined[-1] = before._replace(layer=pair)
        else:
            joined.append(node._replace(inputs=(len(joined) - 1,)))
    return tuple(joined)
