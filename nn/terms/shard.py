"""The place of some examples among those of their minibatch, and noise on them that is drawn for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import nd
from nd.typing import Array

if TYPE_CHECKING:
    from .dropout import Buffers, IDropout


class Shard(NamedTuple):
    """Examples that are computed by themselves, of a minibatch whose random numbers do not depend on that."""

    start: int
    """Number of the first in the minibatch."""
    examples: int
    total: int
    """Examples of the minibatch."""
    by_step: bool = True
    """Whether rows that are time steps come step by step, row ``t * N + n``; else example by example."""

    def dropped(
        self, dropout: IDropout, x: Array, numbers: tuple[object, ...], buffers: Buffers
    ) -> tuple[Array, Array | None]:
        """Do as `IDropout.apply_dropout`, with the numbers that these examples have in a draw for the minibatch.

        Everything is drawn, also what is for others: so the generator moves on as for all of them, and a dropout of the
        user's own needs to know nothing of it.
        """
        rows = x.shape[0] // self.examples * self.total
        everything = nd.fill(buffers("minibatch", (rows, *x.shape[1:])), 0.0)
        nd.assign(self._own(everything), self._apart(x, self.examples))
        out, kept = dropout.apply_dropout(everything, numbers, buffers)
        return self._rows(out, buffers, "own_dropped"), None if kept is None else self._rows(kept, buffers, "own_mask")

    def _rows(self, x: Array, buffers: Buffers, name: str) -> Array:
        """Return this shard's rows of an array of the minibatch's."""
        rows = x.shape[0] // self.total * self.examples
        out = nd.buffer_like(x, buffers, name, (rows, *x.shape[1:]))
        nd.assign(self._apart(out, self.examples), self._own(x))
        return out

    def _own(self, x: Array) -> Array:
        place = slice(self.start, self.start + self.examples)
        apart = self._apart(x, self.total)
        return apart[:, place, ...] if self.by_step else apart[place, ...]

    def _apart(self, x: Array, examples: int) -> Array:
        """View rows as ``[steps, examples, ...]``, or ``[examples, steps, ...]``."""
        steps = x.shape[0] // examples
        first = (steps, examples) if self.by_step else (examples, steps)
        return nd.reshape_view(x, (*first, *x.shape[1:]))
