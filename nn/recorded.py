"""A computation on minibatches that is recorded for every shape, where it can be."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import nd
from nd.activations import ACTIVATIONS
from nd.losses import LOSSES
from nd.state import computing

from .conf.distributions import DISTRIBUTIONS
from .conf.dropout import DROPOUTS
from .conf.weight_noise import WEIGHT_NOISES
from .layers import LAYERS
from .minibatch import Minibatch
from .preprocessors import PREPROCESSORS
from .propagation import Propagation

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .vectors import FlatVectors

Array = Any
Compute = Callable[[Propagation, Minibatch], Array]
MOST_PROGRAMS = 8  # shapes of minibatches that are remembered at a time
IDLE = 64  # calls after which a shape that has not come again makes room for another


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
    The first minibatch of a shape is recorded, where the backend can and where everything is this library's own, so
    that nothing is known to change but arrays. Later ones are copied to where the first was, and the record is run.
    Where many shapes alternate, some are computed without a record: recording costs more than it saves once.
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, gradient: Array, compute: Compute) -> None:
        self.conf, self.vectors, self.gradient, self.compute = conf, vectors, gradient, compute
        self._recordable = is_own(conf)
        self._programs: dict[tuple[object, ...], _Staged] = {}
        self._calls = 0
        self._propagation: Propagation | None = None
        self._counts = (conf.iteration_count, conf.epoch_count)

    def at(self, iteration: int, epoch: int) -> None:
        """Put the numbers of that iteration and epoch in force for the layers' noise, recorded or not."""
        self._counts = iteration, epoch
        if self._propagation is not None:
            self._propagation.at(iteration, epoch)

    def __call__(self, batch: Minibatch) -> Array:
        """Compute; the result's memory is used again the next time."""
        if not self._recordable:
            return self._compute(batch)
        self._calls += 1
        found = self._programs.get(batch.signature)
        if found is not None:
            found.last_call = self._calls
            found.batch.copy_from(batch)
            found.program.replay()
            return found.program.result
        if self._make_room():
            program = self._record(batch)
            if program is not None:
                return program.result
            self._recordable, self._propagation = False, None
        return self._compute(batch)

    def _compute(self, batch: Minibatch) -> Array:
        with computing(nd.backend()):
            return self.compute(self._layers(), batch)

    def _make_room(self) -> bool:
        """Tell whether there is room for another program; one that no longer runs goes."""
        if len(self._programs) < MOST_PROGRAMS:
            return True
        oldest = min(self._programs, key=lambda each: self._programs[each].last_call)
        if self._calls - self._programs[oldest].last_call <= IDLE:
            return False
        del self._programs[oldest]
        return True

    def _record(self, batch: Minibatch) -> nd.Program | None:
        """Compute while it is recorded; None where that cannot be."""
        if nd.backend().recorder() is None:
            return None
        staged, layers = batch.copy(), self._layers()
        try:
            program = nd.record(partial(self.compute, layers, staged.traceable()))
        except nd.NotRecorded:
            return None
        if program is not None:
            self._programs[batch.signature] = _Staged(staged, program, self._calls)
        return program

    def _layers(self) -> Propagation:
        if self._propagation is None:
            params, gradient = self.vectors.params, self.gradient
            if self._recordable:
                params, gradient = nd.traceable(params), nd.traceable(gradient)
            made = Propagation(self.conf, self.vectors.layout, params, gradient, fused=True)
            self._propagation = made.at(*self._counts)
        return self._propagation


@dataclass
class _Staged:
    """A program, the minibatch that it reads, and the number of the call that ran it last."""

    batch: Minibatch
    program: nd.Program
    last_call: int


def is_own(conf: MultiLayerConfiguration) -> bool:
    """Tell whether all parts are this library's: others may keep a state, or look at more than one example."""
    parts: list[tuple[object, Collection[type]]] = [
        (each, PREPROCESSORS.values()) for each in conf.preprocessors.values()
    ]
    for each in conf.layers:
        layer = each.innermost
        parts += [
            (each, LAYERS.values()),
            (layer, LAYERS.values()),
            (getattr(layer, "activation", None), ACTIVATIONS.values()),
            (getattr(layer, "loss", None), LOSSES.values()),
            (layer.drop_out, DROPOUTS.values()),
            (noise := getattr(layer, "weight_noise", None), WEIGHT_NOISES.values()),
            (getattr(noise, "distribution", None), DISTRIBUTIONS.values()),
        ]
    return all(part is None or type(part) in own for part, own in parts)
