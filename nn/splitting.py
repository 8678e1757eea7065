"""A training step on several stretches of one minibatch: side by side, and small enough for the caches."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import nd

from .conf.input_type import InputType
from .lane import Lane
from .minibatch import Minibatch
from .propagation import Propagation, Watch

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .vectors import FlatVectors

Array = Any


class SplitStep:
    """Forward, loss and backward of a minibatch, split as the backend wishes where no layer minds.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
    whole : Propagation
        Treats what is watched; its gradient vector is the network's.

    Notes
    -----
    Every lane has layers of its own over the same parameters, with their own memory and gradient. The gradients are
    added in the order of the lanes, so that the same number of lanes gives the same bits every time.
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, whole: Propagation) -> None:
        self.conf, self.vectors, self.whole = conf, vectors, whole
        self._may_split = all(layer.may_split(training=True) for layer in whole.layers)
        self._lanes = [Lane(conf, vectors, vectors.gradient)]
        self._plans: dict[tuple[int, ...], list[list[slice]]] = {}

    def gradient_and_loss(self, batch: Minibatch, watch: Watch | None = None) -> Array:
        """Fill the network's gradient vector with sums over the examples; return the summed loss.

        With `watch` the minibatch stays whole, and `watch` is given the activations after the forward pass.
        """
        if watch is not None:
            return self.whole.gradient_and_loss(batch, watch)
        plan = self.stretches(batch.features.shape)
        while len(self._lanes) < len(plan):
            gradient = nd.create_uninitialized(*self.vectors.gradient.shape, dtype=self.conf.base.dtype)
            self._lanes.append(Lane(self.conf, self.vectors, gradient))
        lanes = self._lanes[: len(plan)]
        nd.run_lanes([partial(lane.run, batch, stretches) for lane, stretches in zip(lanes, plan, strict=True)])
        loss = lanes[0].loss
        for lane in lanes[1:]:
            nd.addi(self.vectors.gradient, lane.gradient)
            loss = loss + lane.loss
        return loss

    def stretches(self, shape: tuple[int, ...]) -> list[list[slice]]:
        """Return for each lane the examples, of features of that shape, that it treats."""
        plan = self._plans.get(shape)
        if plan is None:
            work = work_per_example(self.conf, shape) if self._may_split else None
            plan = [[slice(0, shape[0])]] if work is None else nd.split_examples(shape[0], work)
            self._plans[shape] = plan
        return plan


def work_per_example(conf: MultiLayerConfiguration, shape: tuple[int, ...]) -> nd.Work | None:
    """Return what a network costs on features of that shape, None where the shape does not tell."""
    types = conf.layer_types(_input_type_of(shape))
    if types is None:
        return None
    multiplications, largest, parameters = 0, math.prod(shape[1:]), 0
    for (_, out), layer in zip(types, conf.layers, strict=True):
        specs = layer.param_specs()
        positions = out.size // out.shape[0]
        multiplications += positions * sum(spec.length for spec in specs if not spec.bias)
        parameters += sum(spec.length for spec in specs)
        largest = max(largest, out.size)
    bytes_each = 8 if conf.base.dtype == "float64" else 4
    return nd.Work(multiplications, largest * bytes_each, parameters)


def _input_type_of(shape: tuple[int, ...]) -> InputType | None:
    if len(shape) == 2:
        return InputType.feed_forward(shape[1])
    if len(shape) == 4:
        return InputType.convolutional(shape[2], shape[3], shape[1])
    return None
