"""Work on several stretches of one minibatch: side by side, and small enough for the caches."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.state import computing

from .conf.input_type import InputType
from .minibatch import Minibatch
from .propagation import Propagation, Watch
from .recorded import Recorded, is_own

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .vectors import FlatVectors

Array = Any
MOST_PLANS = 1000  # shapes that are remembered
LIGHT = 40_000_000  # multiplications of a step


class Plan(NamedTuple):
    """How a minibatch is treated."""

    lanes: list[list[slice]]
    """For each lane the examples that it treats, one stretch after the other."""
    light: bool
    """Whether there is so little to do that no matrix product is worth more than one lane."""


class Splitting:
    """How the backend wishes minibatches to be split, where no layer minds.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    layers : list of LayerRuntime
    training : bool
    """

    def __init__(self, conf: MultiLayerConfiguration, layers: list[Any], training: bool) -> None:
        self.conf = conf
        self._passes = 3 if training else 1  # forward, and two products backward for every one of it
        self._may_split = is_own(conf) and all(layer.may_split(training) for layer in layers)
        self._plans: dict[tuple[int, ...], Plan] = {}

    def plan(self, shape: tuple[int, ...]) -> Plan:
        """Return how features of that shape are treated."""
        plan = self._plans.get(shape)
        if plan is None:
            work = self._work(shape) if self._may_split else None
            lanes = [[slice(0, shape[0])]] if work is None else nd.split_examples(shape[0], work)
            plan = Plan(lanes, work is not None and shape[0] * work.multiplications < LIGHT)
            if len(self._plans) < MOST_PLANS:
                self._plans[shape] = plan
        return plan

    def _work(self, shape: tuple[int, ...]) -> nd.Work | None:
        try:
            return work_per_example(self.conf, shape, self._passes)
        except nd.NdError:  # of data that do not fit; the layer that they do not fit says it better
            return None


class SplitStep:
    """Forward, loss and backward of a minibatch.

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
        self._splitting = Splitting(conf, whole.layers, training=True)
        self._keeps_state = any(layer.keeps_state for layer in whole.layers)
        self._lanes = [_TrainingLane(conf, vectors, vectors.gradient)]

    def compute(self, batch: Minibatch, counts: tuple[int, int], watch: Watch | None = None) -> tuple[Array, Array]:
        """Compute the gradient, sums over the examples; return the summed loss and the penalties on the parameters.

        The gradient may be spread over several vectors, see `NetworkUpdater.spread`. `counts` are iteration and epoch.
        With `watch` the minibatch stays whole, and `watch` is given the activations after the forward pass.
        """
        self.vectors.updater.spread((), ())
        if self.whole.scheduled:
            self.whole.at(*counts)
        if watch is not None or self._keeps_state:
            seen = None if watch is None else _as_outside(watch)
            with computing(nd.backend()):
                loss = self.whole.gradient_and_loss(batch, seen)
            if not self.vectors.guarded:
                return loss, self.vectors.penalty(*counts)
            penalty = self.vectors.watching(*counts)
            self.vectors.watch(loss)
            return loss, penalty
        plan, light = self._splitting.plan(batch.features.shape)
        while len(self._lanes) < len(plan):
            gradient = nd.zeros(*self.vectors.gradient.shape, dtype=self.conf.base.dtype)  # which frozen layers keep
            self._lanes.append(_TrainingLane(self.conf, self.vectors, gradient))
        lanes = self._lanes[: len(plan)]
        if self.whole.scheduled:
            lanes[0].at(*counts)  # what draws is not split
        tasks = [
            partial(lane.run, batch, stretches, (*counts, number, len(plan)))
            for number, (lane, stretches) in enumerate(zip(lanes, plan, strict=True))
        ]
        try:
            nd.run_lanes(tasks, light)
        except nd.ShapeError:
            self.whole.gradient_and_loss(batch)  # which says it of the whole minibatch
            raise
        loss, penalty = lanes[0].loss, lanes[0].penalty
        for lane in lanes[1:]:
            loss, penalty = loss + lane.loss, penalty + lane.penalty
        if len(lanes) > 1:
            self.vectors.updater.spread([lane.gradient for lane in lanes[1:]], [lane.square for lane in lanes])
        return loss, penalty

    def watch_again(self, loss: Array) -> None:
        """Let the guard see the gradient as it is now, if it has seen this step."""
        if self.vectors.guarded and self.vectors.updater.guard.ready:  # type: ignore[union-attr]
            self.vectors.watch(loss)


class _TrainingLane:
    """Trains on stretches of minibatches, one after the other, and treats its part of the parameters' penalties.

    Attributes
    ----------
    gradient : array ``[1, n]``
        Sums over the examples of all stretches; `square` is the sum of its squares.
    loss, penalty : array
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, gradient: Array) -> None:
        self.gradient, self.vectors = gradient, vectors
        self.loss: Array = None
        self.penalty: Array = None
        self.square: Array = None
        self._guarded = vectors.guarded
        self._flat = nd.reshape_view(gradient, (gradient.shape[1],))
        self._step = Recorded(
            conf, vectors, gradient, self._watched if vectors.guarded else Propagation.gradient_and_loss
        )
        self._total: Array = None

    def at(self, iteration: int, epoch: int) -> None:
        """Put the numbers of that iteration and epoch in force for the layers' noise."""
        self._step.at(iteration, epoch)

    def run(self, batch: Minibatch, stretches: list[slice], penalty: tuple[int, int, int, int]) -> None:
        """Compute everything; `penalty` is what `FlatVectors.penalty` is given."""
        guarded = self._guarded and len(stretches) == penalty[-1] == 1
        self.penalty = self.vectors.watching(*penalty[:2]) if guarded else self.vectors.penalty(*penalty)
        self.loss = self._step(batch.part(stretches[0]))
        if len(stretches) > 1:
            self._add_up(batch, stretches[1:])
        if penalty[-1] > 1:
            self.square = nd.dot(self._flat, self._flat)

    def _watched(self, layers: Propagation, batch: Minibatch) -> Array:
        loss = layers.gradient_and_loss(batch)
        self.vectors.watch(loss)
        return loss

    def _add_up(self, batch: Minibatch, stretches: list[slice]) -> None:
        if self._total is None:
            self._total = nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient))
        nd.assign(self._total, self.gradient)
        self.loss = nd.copy(self.loss)  # whose memory the next stretch uses again
        for number, stretch in enumerate(stretches, 1):
            self.loss = self.loss + self._step(batch.part(stretch))
            nd.add(self._total, self.gradient, self._total if number < len(stretches) else self.gradient)


class SplitOutput:
    """The last layer's activations outside of training.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
    whole : Propagation
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, whole: Propagation) -> None:
        self.conf, self.vectors, self.whole = conf, vectors, whole
        self._splitting = Splitting(conf, whole.layers, training=False)
        self._lanes: list[Recorded] = []

    def output(self, batch: Minibatch) -> Array:
        """Return a new array ``[N, ...]``."""
        plan, light = self._splitting.plan(batch.features.shape)
        while len(self._lanes) < len(plan):
            self._lanes.append(Recorded(self.conf, self.vectors, self.vectors.gradient, Propagation.output))
        if len(plan) == 1 and len(plan[0]) == 1:
            found: list[Array] = []
            nd.run_lanes([lambda: found.append(nd.copy(self._lanes[0](batch)))], light)
            return found[0]
        parts: list[list[Array]] = [[] for _ in plan]

        def run(lane: Recorded, stretches: list[slice], into: list[Array]) -> None:
            into += [nd.copy(lane(batch.part(stretch))) for stretch in stretches]

        try:
            nd.run_lanes([partial(run, *each) for each in zip(self._lanes, plan, parts, strict=False)])
        except nd.ShapeError:
            self.whole.output(batch)  # which says it of the whole minibatch
            raise
        return nd.concat([array for lane in parts for array in lane])


def work_per_example(conf: MultiLayerConfiguration, shape: tuple[int, ...], passes: int) -> nd.Work | None:
    """Return what a network costs on features of that shape, None where the shape does not tell."""
    types = conf.layer_types(_input_type_of(shape))
    if types is None:
        return None
    multiplications, largest, parameters = 0, math.prod(shape[1:]), 0
    for (_, out), layer in zip(types, conf.layers, strict=True):
        specs = layer.param_specs()
        size = math.prod(out.sizes)
        positions = size // out.shape[0]
        multiplications += positions * sum(spec.length for spec in specs if not spec.bias)
        parameters += sum(spec.length for spec in specs)
        largest = max(largest, size)
    bytes_each = 8 if conf.base.dtype == "float64" else 4
    return nd.Work(passes * multiplications, largest * bytes_each, parameters if passes > 1 else 0)


def _input_type_of(shape: tuple[int, ...]) -> InputType | None:
    channels, places = shape[1], shape[2:]
    makers: dict[int, Callable[..., InputType]] = {
        0: InputType.feed_forward,
        1: lambda steps, size: InputType.recurrent(size, steps),
        2: InputType.convolutional,
        3: InputType.convolutional3d,
    }
    make = makers.get(len(places))
    return None if make is None else make(*places, channels)


def _as_outside(watch: Watch) -> Watch:
    """Return the call of listeners, as code of users: what the step does not warn of is for the step alone."""
    context = copy_context()
    return lambda activations: context.run(watch, activations)
