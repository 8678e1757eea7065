"""What is kept of nodes for whoever asks: their activations, and what comes back to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import Array

from ..layers.runtime import Context

if TYPE_CHECKING:
    from .nodes import Node


class KeptArrays(NamedTuple):
    """What was kept of a node: new arrays, in the layers' order of axes."""

    activation: Array
    epsilon: Array | None
    """dL/d(activation), a sum over the examples; None where nothing comes back, as to the layer of an output."""


class Keeping:
    """Copies activations and epsilons of the nodes of some names during one pass.

    Of two that run as one the first gives its activations on the way; its epsilon is what the second by itself makes of
    what comes back to both.
    """

    def __init__(self, nodes: Sequence[Node], names: Collection[str]) -> None:
        self._nodes, self._names = nodes, names
        self._activations: dict[str, Array] = {}
        self._epsilons: dict[str, Array] = {}
        self.into = {number for number, node in enumerate(nodes) if node.inner is not None and node.inner[0] in names}
        """Numbers of two that run as one of which the first is kept."""
        self.wanted: list[bool] = []
        """Of every node whether something must come back to it, or to one above it, though it is not trained."""
        for node in nodes:
            above = any(source.node >= 0 and self.wanted[source.node] for source in node.inputs)
            self.wanted.append(above or node.name in names or (node.inner is not None and node.inner[0] in names))

    def at_activation(self, number: int, x: Array, inner: Array | None) -> None:
        """Copy the activation of a node, of several outputs the first, and that inside it of the first of two."""
        node = self._nodes[number]
        if node.name in self._names:
            self._activations[node.name] = nd.copy(x)
        if number in self.into:
            self._activations[node.inner[0]] = nd.copy(inner)  # type: ignore[index, arg-type]

    def at_epsilon(self, number: int, gradient: Any) -> None:
        """Copy what has come back to a node; to the first of two it comes through the second."""
        node, first = self._nodes[number], gradient[0] if isinstance(gradient, tuple) else gradient
        if node.name in self._names and first is not None:
            self._epsilons[node.name] = nd.copy(first)
        if node.inner is not None and node.inner[0] in self._names:
            self._epsilons[node.inner[0]] = self.inside(number, first)

    def inside(self, number: int, epsilon: Array) -> Array:
        """Return what comes back to the first of two that run as one, from what has come back to both: a new array."""
        name, second = self._nodes[number].inner  # type: ignore[misc]
        ctx = Context(True, nd.fresh_buffers(second.dtype))
        _, kept, _ = second.propagate(self._activations[name], (), {}, ctx)
        return nd.copy(second.backpropagate(nd.copy(epsilon), kept, {}))

    def at_belows(self, belows: Sequence[Array | None]) -> None:
        """Hear what a node that has gone back sends to each of its inputs."""

    def result(self) -> tuple[KeptArrays, ...]:
        """Return what was kept, in the order of the names."""
        return tuple(KeptArrays(self._activations[name], self._epsilons.get(name)) for name in self._names)
