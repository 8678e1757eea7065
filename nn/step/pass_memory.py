"""The memory of one pass through the nodes of a network, given back when nobody reads it any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

import nd
from nd.typing import Array

from ..conf.nodes import sources_of

if TYPE_CHECKING:
    from nd.execution.arena import Block

    from .nodes import Node


def last_readers(nodes: Sequence[Node], outputs: Sequence[int]) -> list[tuple[int, ...]]:
    """Return, for every node, those whose activations nobody reads once it has run; outputs of the network are none."""
    last = {number: number for number in range(len(nodes))}
    last |= {source: number for number, node in enumerate(nodes) for source in sources_of(node) if source >= 0}
    ended: list[list[int]] = [[] for _ in nodes]
    for number, reader in last.items():
        if number not in outputs:
            ended[reader].append(number)
    return [tuple(numbers) for numbers in ended]


class PassMemory:
    """Memory of the nodes, during one pass. Nothing that an earlier pass on the same arena was given is valid any more.

    `ended` is from `last_readers`; with a `way_back` activations stay until that has come to their node. Nobody else
    uses the arena meanwhile.

    Notes
    -----
    Activations, masks and gradients may be views of what came in: whether they are is seen from their addresses.
    """

    little: ClassVar[int] = 1 << 20
    """Bytes of an arena below which nothing is given back: it would cost small networks more than it saves."""

    def __init__(
        self, arena: nd.Arena, nodes: Sequence[Node], ended: Sequence[tuple[int, ...]], way_back: bool
    ) -> None:
        self._arena, self._nodes, self._ended, self._way_back = arena, nodes, ended, way_back
        self._leases: dict[int, nd.Lease] = {}
        self._under: dict[int, list[Block]] = {}  # blocks in which the activations or the mask of a node lie
        self._readers: dict[Block, int] = {}  # how many nodes have a block in the above
        self._waiting: dict[Block, Array | None] = {}  # of nodes that are through -> a gradient above that goes on
        arena.begin()

    def of(self, number: int) -> nd.Lease:
        """Return the memory of a node."""
        lease = self._leases[number] = nd.Lease(self._arena)
        return lease

    def after_forward(self, number: int, xs: Sequence[Array], mask: Array | None) -> None:
        """Where there is no way back, give back a node's scratch, and what it was the last to read."""
        if self._way_back or self._arena.size < self.little:
            return
        arrays = tuple(xs) if mask is None else (*xs, mask)
        own = self._leases.pop(number).blocks
        sources = sources_of(self._nodes[number])
        arrived = dict.fromkeys(block for source in sources for block in self._under.get(source, ()))
        kept = [block for block in own if _lies_in(block, arrays) is not None]
        self._arena.give_back(block for block in own if block not in kept)
        under = self._under[number] = kept + [block for block in arrived if _lies_in(block, arrays) is not None]
        for block in under:
            self._readers[block] = self._readers.get(block, 0) + 1
        for ended in self._ended[number]:
            for block in self._under.pop(ended, ()):  # nothing, where it ran before giving back began
                self._readers[block] -= 1
                if not self._readers[block]:
                    self._arena.give_back((block,))

    def keep(self, arrays: Iterable[Array]) -> None:
        """Keep results of the pass, losses and states, until the next one begins."""
        results = tuple(arrays)
        for lease in self._leases.values() if results else ():
            lease.blocks[:] = [block for block in lease.blocks if _lies_in(block, results) is None]

    def after_backward(self, number: int, epsilons: Iterable[Array]) -> None:
        """Give back the memory of a node that is through, but for what lies under gradients that go on.

        Those are the `epsilons` that nodes above have yet to take; those of losses lie in memory of their own nodes.
        """
        if self._arena.size < self.little:
            return
        waiting = self._waiting | dict.fromkeys(self._leases.pop(number).blocks)
        self._waiting = {}
        arrays = tuple(epsilons)
        going_on = set(map(id, arrays))
        for block, above in waiting.items():
            if above is None or id(above) not in going_on:  # of thousands few are looked for
                above = _lies_in(block, arrays)
            if above is not None:
                self._waiting[block] = above
            else:
                self._arena.give_back((block,))


def _lies_in(block: Block, arrays: tuple[Array, ...]) -> Array | None:
    """Return the first of some arrays that lies in a block."""
    return next((array for array in arrays if nd.may_share_memory(block.memory, array)), None)
