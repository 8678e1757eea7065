"""A pass forward through a whole net at once: recorded, and replayed without the Python around its operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import nd
from nd.state import state
from nd.typing import Array

from ..conf.nodes import Source
from ..step.propagation import Propagation
from ..step.worker import StepArrays, StepInput

if TYPE_CHECKING:
    from .network import CaffeNetwork


class RecordedForward:
    """Goes through all nodes of a net outside of training, in one piece, with all that they give in memory of its own.

    Parameters
    ----------
    network : CaffeNetwork

    Notes
    -----
    The numbers are those of passes from layer to layer, to the bit: the same operations on arrays in the same order.
    """

    def __init__(self, network: CaffeNetwork) -> None:
        self._network = network
        self._recordings = nd.Recordings(network.dtype, pure=True)
        self._propagation: Propagation | None = None
        self._params: list[dict[str, Array]] = []  # that the recordings read
        self.sources: list[Source] = []

    @property
    def can_be(self) -> bool:
        """Whether passes can be recorded now: all layers are pure, and nobody follows every operation."""
        return self._network.engine.shared_nodes.pure and not state.eager

    def run(self, features: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return what all nodes give for the arrays ``[N, ...]`` of all inputs, in memory that the next pass reuses.

        In the order of `sources`, which are there after the first pass.
        """
        params = self._network.engine.propagation.params
        if self._propagation is None or not _same(params, self._params):
            self._begin(params)
        step = StepInput(features)
        arrays: tuple[Array, ...] = self._recordings.run(step.key, partial(self._compute, step), step.arrays)
        return arrays

    def _begin(self, params: Sequence[Mapping[str, Array]]) -> None:
        """Take parameters, which may since be those of another net; what was recorded read others."""
        shared, vectors = self._network.engine.shared_nodes, self._network.engine.vectors
        self._recordings.clear()
        self._propagation = shared.propagation(vectors.params, vectors.gradient, one_by_one=True)
        self._params = [dict(views) for views in params]
        self._propagation.params = [
            {name: nd.traceable(view) for name, view in views.items()} for views in self._params
        ]
        nodes = self._propagation.nodes
        self.sources = [Source(node.position, output) for node in nodes for output in range(node.outputs)]

    def _compute(self, step: StepInput, arrays: StepArrays) -> tuple[Any, ...]:
        passed = self._propagation.forward(step.with_arrays(arrays), False)  # type: ignore[union-attr]
        return tuple(passed.arrivals[source].x for source in self.sources)


def _same(params: Sequence[Mapping[str, Array]], others: Sequence[Mapping[str, Array]]) -> bool:
    """Tell whether parameters lie in the same memory."""
    return all(
        view is other.get(name) for views, other in zip(params, others, strict=True) for name, view in views.items()
    )
