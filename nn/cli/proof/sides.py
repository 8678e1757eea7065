"""What a file is run by: this library's networks. Other files of this folder have the other kinds' readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import HostArray

if TYPE_CHECKING:
    from ...networks.network import Network


class Results(NamedTuple):
    """What a model computed.

    Attributes
    ----------
    outputs : list of host array
        In the model's order.
    named : dict of str -> host array
        Of the layers that were asked for, those that the model has.
    """

    outputs: list[HostArray]
    named: dict[str, HostArray]


class Side:
    """A model behind one interface, whatever runs it.

    Attributes
    ----------
    reader : str
        What runs it, for reports.
    names : frozenset of str
        Layers and tensors that it can tell the values of.
    examples : int or None
        The only number of examples that it takes; None for any.
    matches_by_name : bool
        Whether outputs are those of the same name; else those at the same place.
    """

    reader = ""
    names: frozenset[str] = frozenset()
    examples: int | None = None
    matches_by_name = False

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        """Return the outputs for arrays of all inputs, and the values of the layers that are wanted."""
        raise NotImplementedError

    def shape(self, number: int) -> list[int | None]:
        """Return the shape that the file says for an input, None for axes of any length; empty where it says none."""
        return []

    def close(self) -> None:
        """Let go of whatever else runs the model: files, another process."""


class NetworkSide(Side):
    """A network of this library's.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        names = [node.own_name for node in network.conf.nodes]
        counts = Counter(names)
        self.all_names = [name if counts[name] == 1 else "" for name in names]
        """Of the nodes; "" where several have the same."""
        self.names = frozenset(filter(None, self.all_names))
        self.reader = f"{type(network).__name__} on {network.backend.name}"

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        network: Any = self.network
        given = [nd.to_host(nd.as_array(x, network.dtype)) for x in xs]  # class numbers come as integers
        outputs = network.output(*given)
        several = outputs if isinstance(outputs, list) else [outputs]
        passed = network.feed_forward(*given)
        arrays = [passed[node.name] for node in network.conf.nodes] if isinstance(passed, dict) else passed[1:]
        named = {
            name: nd.to_host(array)
            for name, array in zip(self.all_names, arrays, strict=True)
            if name and name in wanted
        }
        return Results([nd.to_host(array) for array in several], named)
