"""The nodes of a network and its vectors, which all workers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import nd
from nd.typing import Array

from ..conf.nodes import sources_of
from ..vertices.runtime import NetworkInput, VertexContext, VertexRuntime
from .nodes import NETWORK_INPUT, Fused, Node, fused, nodes_of
from .propagation import Propagation

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration
    from .keeping import KeptKey
    from .vectors import FlatVectors

State = tuple[Array, ...]
FinalStretch = Callable[[int, int, int], object]
"""Called in the worker's thread, with its number and the first and last element, behind it, of the stretch."""


class SharedNodes:
    """The nodes of a network and its vectors, shared by all workers.

    Attributes
    ----------
    nodes : tuple of Node
        One by one.
    fused, one_by_one : Fused
        The nodes that every step runs, two as one where that is faster; and all, as they are.
    pure : bool
        Whether everything may be recorded.
    """

    def __init__(self, conf: NetworkConfiguration, vectors: FlatVectors) -> None:
        self.conf, self.vectors = conf, vectors
        self.dtype: str = conf.base.dtype  # type: ignore[assignment]
        self.pure = is_pure(conf)
        self.nodes = nodes_of(conf, vectors.layout)
        self.outputs = conf.output_nodes
        self.one_by_one = Fused(self.nodes, self.outputs, dict(conf.losses))
        self.fused = fused(*self.one_by_one)
        # Whether row i of features and outputs is example i: no vertex stacks examples or takes them apart.
        self.aligned = all(type(node.layer).examples is VertexRuntime.examples for node in self.nodes if node.joins)
        self.states = sum(node.states for node in self.nodes)  # arrays that go from one segment of a series to the next
        stops = accumulate(node.states for node in self.nodes)
        places = [(node, slice(stop - node.states, stop)) for node, stop in zip(self.nodes, stops, strict=True)]
        self.stateful = [(node, place) for node, place in places if node.states]  # and their place in the state of all
        # The label of a layer whose activations depend on later time steps.
        self.reads_ahead = next((node.label for node in conf.nodes if getattr(node.conf, "reads_ahead", False)), None)
        self.draws = any(node.layer.has_noise for node in self.nodes)  # dropout, or noise on weights
        # Hears, while the way back goes on, when a stretch of a worker's gradient is final: so reduction may begin.
        self.on_final: FinalStretch | None = None
        self.keeps: tuple[KeptKey, ...] = ()  # nodes whose activations and epsilons are kept: see `Keeping`
        self.scheduled = [numbers for node in self.nodes for numbers in node.layer.scheduled_numbers()]

    def at(self, iteration: int, epoch: int) -> None:
        """Put the numbers of that iteration and epoch, 0-based, in force for the noise of the layers."""
        for numbers in self.scheduled:
            numbers.at(iteration, epoch)

    def check_reads_no_later_steps(self, who: str) -> None:
        """Raise ConfigurationError if a layer's activations depend on later time steps."""
        if self.reads_ahead is not None:
            from ..conf.truncated import refuse_reading_ahead  # which programs without series do not need

            refuse_reading_ahead(who, self.reads_ahead)

    def splits(self, training: bool) -> bool:
        """Tell whether parts of a minibatch give what the whole gives, drawing the numbers that come next."""
        return not (training and self.draws) and self.splits_but_for_noise(training)

    def splits_but_for_noise(self, training: bool) -> bool:
        """Tell whether parts of a minibatch give what the whole gives, drawing the same numbers."""
        between = all(node.preprocessor is None or node.preprocessor.splits for node in self.nodes)
        return between and all(node.layer.may_split(training) for node in self.nodes)

    def propagation(self, params: Array, gradient: Array, one_by_one: bool = False) -> Propagation:
        """Return the nodes at work on such vectors, in memory of their own: those of a step, or one by one."""
        nodes, outputs, losses = self.one_by_one if one_by_one else self.fused
        vectors = self.vectors.layout, params, gradient
        return Propagation(nodes, outputs, *vectors, self.dtype, self.conf.input_names, losses)

    def initial_state(self, features: Sequence[Array]) -> State:
        """Return what the nodes carry into the first segment of series with such features."""
        if not self.states:
            return ()
        stateful = zip(self.stateful, self.rows_of_states(features), strict=True)
        return tuple(array for (node, _), rows in stateful for array in node.layer.initial_state(rows))

    def rows_of_states(self, features: Sequence[Array]) -> list[int]:
        """Return the number of series that come into every node with a state: others than come in where some stack."""
        if self.aligned:
            return [features[0].shape[0]] * len(self.stateful)
        behind = masks_behind(self.nodes, self.conf.input_names, features, (None,) * len(features), self.dtype)
        return [behind[node.position][1] for node, _ in self.stateful]


def masks_behind(
    nodes: Sequence[Node],
    input_names: Sequence[str],
    features: Sequence[Array],
    masks: Sequence[Array | None],
    dtype: str,
) -> list[tuple[Array | None, int]]:
    """Return mask and examples of all nodes' activations, from those of such features; nothing else is computed."""
    inputs = [NetworkInput(x, mask) for x, mask in zip(features, masks, strict=True)]
    named = dict(zip(input_names, inputs, strict=True))
    given = {NETWORK_INPUT - number: (mask, x.shape[0]) for number, (x, mask) in enumerate(inputs)}
    for number, node in enumerate(nodes):
        arriving = [given[source] for source in sources_of(node)]
        if node.joins:
            joined, counts = tuple(mask for mask, _ in arriving), tuple(count for _, count in arriving)
            ctx = VertexContext(False, nd.fresh_buffers(dtype), joined, node.needs_epsilon, named, counts[0])
            given[number] = node.layer.feed_forward_mask(joined, ctx), node.layer.examples(counts)
            continue
        ((mask, examples),) = arriving
        if mask is not None and node.preprocessor is not None:
            mask = node.preprocessor.feed_forward_mask(mask, examples)
        given[number] = (None if mask is None else node.layer.feed_forward_mask(mask)), examples
    return [given[number] for number in range(len(nodes))]


def is_pure(conf: NetworkConfiguration) -> bool:
    """Tell whether everything is that a network's forward and backward pass consist of."""
    names = (
        "weight_noise", "drop_out", "activation", "gate_activation", "loss", "preprocessor", "pzx_activation",
        "reconstruction_loss", "reconstruction_distribution",
    )  # fmt: skip
    parts: list[Any] = []
    for node in conf.nodes:
        layer = node.conf.innermost
        parts += [node.preprocessor, node.conf.runtime, layer.runtime, *(getattr(layer, name, None) for name in names)]
        parts.append(getattr(getattr(layer, "weight_noise", None), "distribution", None))
    return all(part is None or part.pure for part in parts)
