"""Parameters that follow the minibatches, such as running means: steps and searches treat them apart."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd.typing import Array


class Running:
    """The running parameters of a network, where something else than an update moves the others.

    Parameters
    ----------
    places : sequence of slice
        Where they lie.
    params, gradient : arrays ``[n]``

    Notes
    -----
    Their part of the gradient vector is no derivative but how far they go, as in DL4J; a search for a better score
    must not go along it. `NetworkUpdater.update` needs none of this.
    """

    def __init__(self, places: Sequence[slice], params: Array, gradient: Array) -> None:
        self._params = [params[place] for place in places]
        self._ways = [gradient[place] for place in places]
        self._aside: list[Array] = []

    def set_aside(self) -> None:
        """Keep the way that the gradient vector says, in the place of one kept before, and make it 0 there."""
        self._aside = [nd.copy(way) for way in self._ways]
        for way in self._ways:
            nd.fill(way, 0.0)

    def is_finite(self) -> bool:
        """Tell whether the way that is kept is finite."""
        return all(nd.all_finite(way) for way in self._aside)

    def move(self) -> None:
        """Go the way that is kept, once."""
        aside, self._aside = self._aside, []
        if aside:
            for params, way in zip(self._params, aside, strict=True):
                nd.subi(params, way)
