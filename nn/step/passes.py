"""What a pass through the nodes of a network leaves for the next one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nd.typing import Array

from ..conf.nodes import Source

if TYPE_CHECKING:
    from ..layers.runtime import Kept


class Arrival(NamedTuple):
    """What comes out of a node, or out of an input of the network."""

    x: Array
    mask: Array | None
    examples: int


class WayBack(NamedTuple):
    """How far the way back has come, which may go from one node to another."""

    written: set[int]  # where parameters of several nodes begin whose gradients one of these has written
    users: Counter[int]  # where such parameters begin -> nodes with them that are still to come


class ForwardPass(NamedTuple):
    """The result of a forward pass."""

    nodes: range  # numbers of those that ran
    arrivals: dict[Source, Arrival]  # everything that nodes and the network's inputs have given
    kept: dict[int, Kept]  # needed by the way back, of every node
    state: tuple[Array, ...]  # of all nodes, after it
    way_back: WayBack

    @property
    def outputs(self) -> list[Array]:
        """The activations of every node that ran, of several those of the first output."""
        return [self.arrivals[Source(number)].x for number in self.nodes]


class Losses(NamedTuple):
    """The loss of a minibatch, summed over examples and outputs, and with what the way back begins."""

    loss: Array
    deltas: dict[int, Array]  # dL/dz of the nodes of outputs, whose layers have a loss
    epsilons: dict[Source, Array]  # dL/d(activations) of activations that are losses
