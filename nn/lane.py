"""One lane of a training step: layers of its own, and the programs that their steps were recorded as."""

from __future__ import annotations

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
MOST_PROGRAMS = 8  # shapes of minibatches that a lane remembers at a time


class Lane:
    """Trains on stretches of minibatches, one after the other.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
        Of the network.
    gradient : array ``[1, n]``
        Receives the sums over the examples.

    Attributes
    ----------
    loss : array
        The loss summed over the examples of the last run.

    Notes
    -----
    The first step on a shape of minibatch is recorded, where the backend can and where all layers are this library's
    own, so that nothing is known to change but arrays; later ones copy the data in place and run the record.
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, gradient: Array) -> None:
        self.conf, self.vectors, self.gradient = conf, vectors, gradient
        self.loss: Array = None
        self._recordable = is_own(conf)
        self._programs: dict[tuple[object, ...], tuple[Minibatch, nd.Program]] = {}
        self._propagation: Propagation | None = None
        self._total: Array = None

    def run(self, batch: Minibatch, stretches: list[slice]) -> None:
        """Fill `gradient` and `loss` from the stretches of a minibatch."""
        self.loss = self._step(batch.part(stretches[0]))
        if len(stretches) == 1:
            return
        if self._total is None:
            self._total = nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient))
        nd.assign(self._total, self.gradient)
        for stretch in stretches[1:-1]:
            self.loss = self.loss + self._step(batch.part(stretch))
            nd.addi(self._total, self.gradient)
        self.loss = self.loss + self._step(batch.part(stretches[-1]))
        nd.addi(self.gradient, self._total)

    def _step(self, batch: Minibatch) -> Array:
        if self._recordable:
            program = self._programs.get(batch.signature)
            if program is not None:
                staged, recorded = program
                staged.copy_from(batch)
                recorded.replay()
                return nd.copy(recorded.result)
            try:
                loss = self._record(batch)
            except nd.NotRecorded:
                loss = None
            if loss is not None:
                return loss
            self._recordable, self._propagation = False, None
        return self._layers().gradient_and_loss(batch)

    def _record(self, batch: Minibatch) -> Array | None:
        staged, layers = batch.copy(), self._layers()
        program = nd.record(partial(layers.gradient_and_loss, staged.traceable()))
        if program is None:
            return None
        while len(self._programs) >= MOST_PROGRAMS:
            del self._programs[next(iter(self._programs))]
        self._programs[batch.signature] = staged, program
        return nd.copy(program.result)

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
