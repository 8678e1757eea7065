"""Forward, loss and backward of a minibatch, and predictions: planned, by several workers, recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

import nd
from nd.state import computing
from optimize.step_result import StepResult

from .conf.input_type import InputType
from .propagation import Propagation, Watch
from .step_input import StepInput

if TYPE_CHECKING:
    from .conf.network import MultiLayerConfiguration
    from .vectors import FlatVectors

Array = Any
MOST_PLANS = 1000  # keys that are remembered
FORWARD_ONLY, FORWARD_AND_BACKWARD = 1, 3  # products that every one of the forward pass stands for


class Worker:
    """Layers over a network's parameters with memory of their own, and a gradient: for one thread at a time.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
        Of the network.
    gradient : array ``[1, n]``
        For the layers' gradients.
    pure : bool
        Whether what the layers do may be recorded.

    Attributes
    ----------
    gradient : array ``[n]``
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, gradient: Array, pure: bool) -> None:
        self._conf, self._vectors, self._vector = conf, vectors, gradient
        self.gradient = nd.reshape_view(gradient, (gradient.shape[1],))
        self.recordings = nd.Recordings(conf.base.dtype, pure)  # type: ignore[arg-type]
        self._counts = (conf.iteration_count, conf.epoch_count)
        self._propagation: Propagation | None = None
        self._total: Array = None

    def at(self, iteration: int, epoch: int) -> None:
        """Put the numbers of that iteration and epoch in force for the layers' noise."""
        self._counts = iteration, epoch
        if self._propagation is not None:
            self._propagation.at(iteration, epoch)

    @property
    def propagation(self) -> Propagation:
        """The layers, made when they are first needed: by the thread that uses them."""
        if self._propagation is None:
            arrays = nd.traceable(self._vectors.params), nd.traceable(self._vector)
            made = Propagation(self._conf, self._vectors.layout, *arrays, fused=True)
            self._propagation = made.at(*self._counts)
        return self._propagation

    def gradients(self, step: StepInput, parts: tuple[slice, ...], observe: bool) -> Array:
        """Write the gradient, sums over the examples of all parts; return their summed loss."""
        loss = self._gradient_of(step.part(parts[0]), observe)
        if len(parts) == 1:
            return loss
        if self._total is None:
            self._total = nd.create_uninitialized(*self.gradient.shape, dtype=nd.dtype_name(self.gradient))
        nd.assign(self._total, self.gradient)
        loss = nd.copy(loss)  # whose memory the next part uses again
        for number, part in enumerate(parts[1:], 2):
            loss = loss + self._gradient_of(step.part(part), observe)
            nd.add(self._total, self.gradient, self.gradient if number == len(parts) else self._total)
        return loss

    def _gradient_of(self, step: StepInput, observe: bool) -> Array:
        def compute(arrays: Any, _: Any) -> Array:
            loss = self.propagation.gradient_and_loss(step.with_arrays(arrays))
            if observe:
                self._vectors.observe(loss)
            return loss

        return self.recordings.run((step.key, observe), compute, step.arrays, own=step.own)

    def outputs(self, step: StepInput, parts: tuple[slice, ...]) -> list[Array]:
        """Return the activations of the last layer for each part, new arrays."""
        return [nd.copy(self._output_of(step.part(part))) for part in parts]

    def _output_of(self, step: StepInput) -> Array:
        def compute(arrays: Any, _: Any) -> Array:
            return self.propagation.output(step.with_arrays(arrays))

        return self.recordings.run(step.key, compute, step.arrays, own=step.own)


class Plans:
    """How minibatches are divided: as the backend wishes, where no part of the network minds.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    splits : bool
        Whether examples meet nowhere.
    products : int
        Matrix products that every one of the forward pass stands for.
    """

    def __init__(self, conf: MultiLayerConfiguration, splits: bool, products: int) -> None:
        self.conf, self.splits, self.products = conf, splits, products
        self._known: dict[object, nd.WorkPlan] = {}

    def of(self, step: StepInput) -> nd.WorkPlan:
        """Return the plan for inputs of those shapes."""
        key = step.key
        plan = self._known.get(key)
        if plan is None:
            plan = nd.plan_work(step.examples, self._work(step) if self.splits else None)
            if len(self._known) < MOST_PLANS:
                self._known[key] = plan
        return plan

    def _work(self, step: StepInput) -> nd.Work | None:
        """Return what an example costs; None where something does not fit, which the layers then say of the whole."""
        try:
            types = self.conf.layer_types(_input_type_of(step.features.shape))
            if types is None or not self._fit(step, types[-1][1]):
                return None
            return work_per_example(self.conf, step.features.shape, self.products)
        except nd.NdError:
            return None

    def _fit(self, step: StepInput, out: InputType) -> bool:
        """Tell whether labels and their mask fit the output, so that no part of them will be refused."""
        loss = getattr(self.conf.layers[-1], "loss", None)
        if step.labels is None or loss is None:
            return True
        places = tuple(step.labels.shape[2:])
        expected = (step.examples, loss.label_columns(out.shape[0]), *places)
        masks = {(step.examples, 1), (step.examples, *places), expected, (step.examples, 1, *places)}
        mask = step.labels_mask
        return tuple(step.labels.shape) == expected and (mask is None or tuple(mask.shape) in masks)


class GradientComputer:
    """The gradient and the loss of minibatches.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
    whole : Propagation
        Computes what is watched, layer by layer; its gradient vector is the network's.

    Notes
    -----
    Every worker has layers of its own over the same parameters. Their gradients are added in the order of the workers,
    so that the same number of workers gives the same bits every time.
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, whole: Propagation) -> None:
        self.conf, self.vectors, self.whole = conf, vectors, whole
        self._pure = is_pure(conf)
        self.plans = Plans(conf, splits(conf, whole.layers, training=True), FORWARD_AND_BACKWARD)
        self._keeps_state = any(layer.keeps_state for layer in whole.layers)
        self.workers = [Worker(conf, vectors, vectors.gradient, self._pure)]

    def compute(self, step: StepInput, iteration: int, epoch: int, watch: Watch | None = None) -> StepResult:
        """Compute; with `watch`, which is given the activations after the forward pass, layer by layer."""
        if self.whole.scheduled:
            self.whole.at(iteration, epoch)
            self.workers[0].at(iteration, epoch)  # what draws is not split
        if watch is not None or self._keeps_state:
            return self._compute_whole(step, iteration, epoch, watch)
        plan = self.plans.of(step)
        if plan.is_whole:
            penalty = self.vectors.penalty(iteration, epoch)
            loss: list[Array] = []
            worker = self.workers[0]
            nd.run_lanes([lambda: loss.append(worker.gradients(step, plan.workers[0], observe=True))], plan.light)
            return self._result(step, loss[0], penalty, [worker], observed=True)
        return self._compute_parts(step, plan, iteration, epoch)

    def _compute_whole(self, step: StepInput, iteration: int, epoch: int, watch: Watch | None) -> StepResult:
        """Compute in one piece, unrecorded."""
        penalty = self.vectors.penalty(iteration, epoch)
        with computing(nd.backend()):
            loss = self.whole.gradient_and_loss(step, None if watch is None else _as_outside(watch))
        self.vectors.observe(loss)
        return self._result(step, loss, penalty, self.workers[:1], observed=True)

    def _compute_parts(self, step: StepInput, plan: nd.WorkPlan, iteration: int, epoch: int) -> StepResult:
        workers = self._workers_for(plan)
        count = len(workers)
        found: list[Any] = [None] * count

        def run(number: int) -> None:
            penalty = self.vectors.penalty_sum.share(iteration, epoch, number, count)
            worker = workers[number]
            loss = worker.gradients(step, plan.workers[number], observe=False)
            square = nd.dot(worker.gradient, worker.gradient) if count > 1 else None
            found[number] = loss, penalty, square

        nd.run_lanes([partial(run, number) for number in range(count)], plan.light)
        (loss, penalty, _), *others = found
        for more, more_penalty, _ in others:
            loss, penalty = loss + more, penalty + more_penalty
        return self._result(step, loss, penalty, workers, observed=False, squares=[each[2] for each in found])

    def _workers_for(self, plan: nd.WorkPlan) -> list[Worker]:
        count = len(plan.workers)
        while len(self.workers) < count:
            gradient = nd.zeros(*self.vectors.gradient.shape, dtype=self.conf.base.dtype)  # which frozen layers keep
            self.workers.append(Worker(self.conf, self.vectors, gradient, self._pure))
        return self.workers[:count]

    def _result(
        self,
        step: StepInput,
        loss: Array,
        penalty: Array | float,
        workers: list[Worker],
        observed: bool,
        squares: list[Array] | None = None,
    ) -> StepResult:
        watch = self.vectors.updater.watch
        result = StepResult(
            loss,
            penalty,
            step.examples,
            [worker.gradient for worker in workers],
            watch,
            squares=squares or (),
            averaged=self.conf.base.mini_batch,
        )
        if observed:
            result.observed = bool(watch.arguments)
        elif watch.arguments:
            result.gradient()
            self.vectors.observe(result.loss)
            result.observed = True
        return result


class OutputComputer:
    """The last layer's activations outside of training.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    vectors : FlatVectors
    layers : list of LayerRuntime
    """

    def __init__(self, conf: MultiLayerConfiguration, vectors: FlatVectors, layers: list[Any]) -> None:
        self.conf, self.vectors = conf, vectors
        self._pure = is_pure(conf)
        self.plans = Plans(conf, splits(conf, layers, training=False), FORWARD_ONLY)
        self.workers: list[Worker] = []

    def output(self, step: StepInput) -> Array:
        """Return a new array ``[N, ...]``."""
        plan = self.plans.of(step)
        while len(self.workers) < len(plan.workers):
            self.workers.append(Worker(self.conf, self.vectors, self.vectors.gradient, self._pure))
        parts: list[list[Array]] = [[] for _ in plan.workers]

        def run(number: int) -> None:
            parts[number] = self.workers[number].outputs(step, plan.workers[number])

        nd.run_lanes([partial(run, number) for number in range(len(parts))], plan.is_whole and plan.light)
        arrays = [array for of_worker in parts for array in of_worker]
        return arrays[0] if len(arrays) == 1 else nd.concat(arrays)


def parts_of(conf: MultiLayerConfiguration) -> Iterator[Any]:
    """Yield everything that a network's forward and backward pass consist of."""
    yield from conf.preprocessors.values()
    for each in conf.layers:
        layer: Any = each.innermost
        noise = getattr(layer, "weight_noise", None)
        yield from (each.runtime, layer.runtime, layer.drop_out, noise, getattr(noise, "distribution", None))
        yield from (getattr(layer, "activation", None), getattr(layer, "loss", None))


def is_pure(conf: MultiLayerConfiguration) -> bool:
    """Tell whether all parts are."""
    return all(part is None or part.pure for part in parts_of(conf))


def splits(conf: MultiLayerConfiguration, layers: list[Any], training: bool) -> bool:
    """Tell whether parts of a minibatch give what the whole gives."""
    return all(each.splits for each in conf.preprocessors.values()) and all(each.may_split(training) for each in layers)


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
    return nd.Work(passes * multiplications, largest * bytes_each, parameters if passes > FORWARD_ONLY else 0)


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
