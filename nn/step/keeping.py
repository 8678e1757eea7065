"""What is kept of nodes for whoever asks: their activations, and what comes back to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import Array

from ..layers.runtime import Context

if TYPE_CHECKING:
    from .nodes import Node


KeptKey = str | tuple[str, int]
"""What is kept: the first output of the node of that name, or another one by its number."""


class KeptArrays(NamedTuple):
    """What was kept of a node: new arrays, in the layers' order of axes."""

    activation: Array
    epsilon: Array | None
    """dL/d(activation), a sum over the examples; None where nothing comes back, as to the layer of an output."""


class Keeping:
    """Copies activations and epsilons of the nodes of some names during one pass.

    A name stands for the first output of its node, a pair of name and number for another one.

    Of two that run as one the first gives its activations on the way; its epsilon is what the second by itself makes of
    what comes back to both.
    """

    def __init__(self, nodes: Sequence[Node], keys: Collection[KeptKey]) -> None:
        self._nodes, self._keys = nodes, keys
        self._names = names = {key if isinstance(key, str) else key[0] for key in keys}
        self._activations: dict[str, tuple[Array, ...]] = {}
        self._epsilons: dict[str, tuple[Array | None, ...]] = {}
        self.into = {number for number, node in enumerate(nodes) if node.inner is not None and node.inner[0] in names}
        """Numbers of two that run as one of which the first is kept."""
        self.wanted: list[bool] = []
        """Of every node whether something must come back to it, or to one above it, though it is not trained."""
        for node in nodes:
            above = any(source.node >= 0 and self.wanted[source.node] for source in node.inputs)
            named = node.name in names or (node.inner is not None and node.inner[0] in names)
            self.wanted.append((above or named) and not node.tells_ways)

    def at_activation(self, number: int, xs: Sequence[Array], inner: Array | None) -> None:
        """Copy the activations of a node, and that inside it of the first of two."""
        node = self._nodes[number]
        if node.name in self._names:
            self._activations[node.name] = tuple(map(_copied, xs))
        if number in self.into:
            self._activations[node.inner[0]] = (_copied(inner),)  # type: ignore[index]

    def at_epsilon(self, number: int, gradient: Any) -> None:
        """Copy what has come back to a node; to the first of two it comes through the second."""
        node, given = self._nodes[number], gradient if isinstance(gradient, tuple) else (gradient,)
        if node.name in self._names:
            self._epsilons[node.name] = tuple(None if one is None else _copied(one) for one in given)
        if node.inner is not None and node.inner[0] in self._names:
            self._epsilons[node.inner[0]] = (self.inside(number, given[0]),)

    def inside(self, number: int, epsilon: Array) -> Array:
        """Return what comes back to the first of two that run as one, from what has come back to both: a new array."""
        name, second = self._nodes[number].inner  # type: ignore[misc]
        ctx = Context(True, nd.fresh_buffers(second.dtype))
        _, kept, _ = second.propagate(self._activations[name][0], (), {}, ctx)
        return nd.copy(second.backpropagate(nd.copy(epsilon), kept, {}))

    def at_belows(self, belows: Sequence[Array | None]) -> None:
        """Hear what a node that has gone back sends to each of its inputs."""

    def result(self) -> tuple[KeptArrays, ...]:
        """Return what was kept, in the order of the names."""
        kept = []
        for key in self._keys:
            name, output = (key, 0) if isinstance(key, str) else key
            epsilons = self._epsilons.get(name)
            kept.append(KeptArrays(self._activations[name][output], None if epsilons is None else epsilons[output]))
        return tuple(kept)


def _copied(x: Any) -> Array:
    """Return a copy that lies in memory as the array does, which is many times as fast as one in c order."""
    return nd.assign(nd.buffer_like(x, nd.fresh_buffers(nd.dtype_name(x)), "kept"), x)
