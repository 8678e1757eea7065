"""A computation on minibatches that is recorded for every shape, where it can be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import nd
from nd.activations import ACTIVATIONS
from nd.losses import LOSSES

from .layers import LAYERS
from .minibatch import Minibatch
from .propagation import Propagation

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .vectors import FlatVectors

Array = Any
Compute = Callable[[Propagation, Minibatch], Array]
MOST_PROGRAMS = 8  # shapes of minibatches that are remembered at a time


class Recorded:
    """Layers of their own, and the programs that their work was recorded as.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
        Of the network.
    gradient : array ``[1, n]``
        For the layers' gradients.
    compute : callable
        What the layers do with a minibatch; returns an array.

    Notes
    -----
    The first minibatch of a shape is recorded, where the backend can and where all layers are this library's own, so
    that nothing is known to change but arrays. Later ones are copied to where the first was, and the record is run.
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, gradient: Array, compute: Compute) -> None:
        self.conf, self.vectors, self.gradient, self.compute = conf, vectors, gradient, compute
        self._recordable = is_own(conf)
        self._programs: dict[tuple[object, ...], tuple[Minibatch, nd.Program]] = {}
        self._propagation: Propagation | None = None

    def __call__(self, batch: Minibatch) -> Array:
        """Compute; the result's memory is used again the next time."""
        if self._recordable:
            found = self._programs.get(batch.signature)
            if found is None:
                found = self._record(batch)
            else:
                found[0].copy_from(batch)
                found[1].replay()
            if found is not None:
                return found[1].result
            self._recordable, self._propagation = False, None
        return self.compute(self._layers(), batch)

    def _record(self, batch: Minibatch) -> tuple[Minibatch, nd.Program] | None:
        """Compute while it is recorded; None where that cannot be."""
        staged, layers = batch.copy(), self._layers()
        try:
            program = nd.record(partial(self.compute, layers, staged.traceable()))
        except nd.NotRecorded:
            return None
        if program is None:
            return None
        while len(self._programs) >= MOST_PROGRAMS:
            del self._programs[next(iter(self._programs))]
        self._programs[batch.signature] = staged, program
        return staged, program

    def _layers(self) -> Propagation:
        if self._propagation is None:
            params, gradient = self.vectors.params, self.gradient
            if self._recordable:
                params, gradient = nd.traceable(params), nd.traceable(gradient)
            self._propagation = Propagation(self.conf, self.vectors.layout, params, gradient, fused=True)
        return self._propagation


def is_own(conf: MultiLayerConfiguration) -> bool:
    """Tell whether layers, activations and losses are this library's: others may keep a state that no record holds."""
    for layer in conf.layers:
        activation, loss = getattr(layer, "activation", None), getattr(layer, "loss", None)
        if (
            type(layer) not in LAYERS.values()
            or (activation is not None and type(activation) not in ACTIVATIONS.values())
            or (loss is not None and type(loss) not in LOSSES.values())
        ):
            return False
    return True
