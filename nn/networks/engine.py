"""Engine: what a network computes with, beside what its users see."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd.interrupts import tell_of_forks
from nd.random import Random
from nd.state import Restoring, within
from nd.typing import Array
from optimize.step import StepResult

from ..step.predictions import OutputComputer
from ..step.shared_nodes import SharedNodes, masks_behind
from ..step.vectors import FlatVectors, copy_vector
from ..step.worker import GradientComputer, StepInput
from ..terms.data_formats import outward
from ..terms.enums import BackpropType
from .class_labels import ClassLabels, formed_by
from .features_check import FeaturesCheck
from .minibatch import Minibatch
from .progress import FitProgress
from .turns import Torn

if TYPE_CHECKING:
    from nd.dataset import DataSet, MultiDataSet
    from optimize import Listener, Solver

    from ..conf.nodes import NetworkConfiguration
    from ..layers.runtime import LayerRuntime
    from ..step.propagation import ForwardPass, Propagation
    from .pretraining import LayerLearner


class _MadeLater:
    """An attribute before `Engine.make` gives it a value, which Python then finds first, faster than a property."""

    def __get__(self, engine: Engine | None, owner: type) -> Any:
        if engine is None:
            return self
        raise engine.not_made()


_LATER: Any = _MadeLater()


def shared_vector(who: str, params: Any, conf: NetworkConfiguration) -> Array:
    """Return parameters as ``[1, n]`` in their own memory.

    Raises
    ------
    DTypeError
        They are no array of the current backend, of another dtype than the network, or cannot be written to.
    ShapeError
        They are of another length, or no single stretch of memory.
    """
    length = conf.layout().length
    if not nd.is_array(params) or nd.dtype_name(params) != conf.dtype:
        given = nd.dtype_name(params) if nd.is_array(params) else type(params).__name__
        remedy = f"Make it with nd.create(x, {conf.dtype!r}), or leave clone out to have it copied."
        raise nd.DTypeError(f"{who}: with clone=False params must be an array of {conf.dtype}, got {given}. {remedy}")
    if not getattr(getattr(params, "flags", None), "writeable", True):
        raise nd.DTypeError(
            f"{who}: with clone=False params must be an array that can be written to, got a read-only one. Leave clone "
            "out to have it copied."
        )
    if tuple(params.shape) not in ((1, length), (length,)):
        raise nd.ShapeError(f"{who}: expected [1, {length}], got {list(params.shape)}. Is it of another network?")
    return nd.reshape_view(params, (1, length))


class Engine:
    """What a network computes with. A copy of a network makes its own; what it goes on from is put into that.

    Parameters
    ----------
    who : str
        The kind of network, for messages.
    conf : NetworkConfiguration

    Attributes
    ----------
    lock : RLock
        Held while anything computes with the network's memory: threads take turns, step by step.
    progress : FitProgress
        Of the calls of fit.
    classes_of : tuple of ClassLabels
        The labels of every output.
    solver : Solver or None
        Made by the first step.
    last : StepResult or None
        The result of the last step: DL4J's getters read it.
    state : tuple of array
        Carried by layers from one segment of a series to the next: that of the last segment that was trained on.
    stored : tuple of (array or None), or None
        The state with which the next call of `rnn_time_step` begins; None for that of the start of a series.
    left : tuple of array, or None
        The state that `rnn_activate_using_stored_state` was told to leave.
    piece : Minibatch or None
        The last piece of series that `rnn_time_step` was given.
    around_nodes : tuple of Listener
        Those of the network's listeners that override a hook around nodes.
    drawn_before : Random or None
        The generator where it stood before the last `feed_forward` in training.
    learners : dict of int -> LayerLearner
        What pretrains the layers, by their numbers: those that have been pretrained.
    pretraining : int or None
        The number of the layer that a call of `pretrain` is at; a checkpoint from within it goes on from there.
    vectors : FlatVectors
        Parameters, gradient, updater.
    shared_nodes : SharedNodes
        The nodes, with all that workers share.
    layers : list of LayerRuntime
        Those of the nodes.
    propagation : Propagation
        The nodes at work one by one.
    gradients, outputs : GradientComputer, OutputComputer
        They divide a step, or a prediction, among workers.
    batch : Minibatch
        The minibatch that is set.
    feature_buffers : Buffers
        Memory for the features of predictions.

    Notes
    -----
    Those from `vectors` on are there once `make` has run; before, asking for one raises ConfigurationError.
    """

    vectors: FlatVectors = _LATER
    shared_nodes: SharedNodes = _LATER
    layers: list[LayerRuntime] = _LATER
    propagation: Propagation = _LATER
    gradients: GradientComputer = _LATER
    outputs: OutputComputer = _LATER
    batch: Minibatch = _LATER
    feature_buffers: nd.Buffers = _LATER

    def __init__(self, who: str, conf: NetworkConfiguration) -> None:
        self.who = who
        self.dtype: str = conf.base.dtype  # type: ignore[assignment]
        self.lock: Any = threading.RLock()  # with a block of C's, whose end no Ctrl-C can cut short
        self.progress = FitProgress()
        self.classes_of = tuple(ClassLabels(conf, output) for output in range(len(conf.output_nodes)))
        self.solver: Solver | None = None
        self.last: StepResult | None = None
        self.state: tuple[Array, ...] = ()
        self.stored: tuple[Array | None, ...] | None = None
        self.left: tuple[Array, ...] | None = None
        self.piece: Minibatch | None = None
        self.around_nodes: tuple[Listener, ...] = ()
        self.drawn_before: Random | None = None
        self.learners: dict[int, LayerLearner] = {}
        self.pretraining: int | None = None
        tell_of_forks(self)

    def make(self, conf: NetworkConfiguration, params: Any, generator: Random, memory: Array | None = None) -> None:
        """Make the vectors and what computes with them, on the current backend; draw weights where no params come.

        The parameters lie in `memory` where it is given, which is another network's.
        """
        vectors = FlatVectors(conf, memory)
        shared = self.shared_nodes = SharedNodes(conf, vectors)
        self.propagation = shared.propagation(vectors.params, vectors.gradient, one_by_one=True)
        self.gradients = GradientComputer(shared)
        self.outputs = OutputComputer(shared)
        self.layers = [node.layer for node in shared.nodes]
        for layer, views in zip(self.layers, self.propagation.params, strict=True):
            layer.params.update(views)
        accepts = [FeaturesCheck(conf, number) for number in range(len(conf.input_names))]
        last = conf.formats.last_of_outputs
        self.batch = Minibatch(self.who, self.dtype, nd.Buffers(self.dtype), accepts, len(last), shared.aligned, last)
        for classes in self.classes_of[:1]:
            self.batch.rank, self.batch.columns = classes.rank, classes.columns
        vectors.guard.doubt = "".join(check.doubt for check in accepts)
        self.feature_buffers = nd.Buffers(self.dtype)
        vectors.draw_weights(generator) if params is None else copy_vector("set_params", params, vectors.params)
        vectors.updater.lock = self.lock
        self.vectors = vectors  # at the end: what Ctrl-C cuts short begins anew

    @property
    def is_made(self) -> bool:
        """Whether there are parameters."""
        return "vectors" in self.__dict__

    def check_made(self) -> None:
        """Raise ConfigurationError unless there are parameters."""
        if not self.is_made:
            raise self.not_made()

    def not_made(self) -> nd.ConfigurationError:
        """Return the error for what needs parameters."""
        return nd.ConfigurationError(f"{self.who}: init() must come first. Call net.init().")

    def on_backend(self) -> AbstractContextManager[object]:
        """Make the network's backend the current one for a block."""
        return within(self.vectors.backend)

    # ---- one minibatch

    @property
    def classes(self) -> ClassLabels:
        """The labels of the first output."""
        return self.classes_of[0]

    def formed(self, data: Any, who: str = "labels", learn: bool = False) -> Any:
        """Return a minibatch whose labels are as the losses take them, itself where they are already.

        Classes that it names come into the network's order; `learn` as in `ClassLabels.numbers`.
        """
        names = data.multi.class_names
        if self.batch.takes(data) and (names is None or names == self.classes.names):
            return data
        return formed_by(self.classes_of, data, who, learn)

    def step_on(self, data: Any) -> StepInput:
        """Set a minibatch; return the input of a step on it. On the network's backend, with its lock."""
        self.batch.set(data)
        return self.batch.step()

    def other_step(self, data: Any) -> StepInput:
        """Return the input of a computation on other data than the minibatch that is set, which stays."""
        batch = self.batch.another(nd.fresh_buffers(self.dtype))
        batch.set(data)
        return batch.step()

    # ---- series in segments

    def segments(self, step: StepInput) -> list[StepInput]:
        """Return the inputs to train on one after the other: with truncated backprop the segments of the series.

        Raises
        ------
        ShapeError
            Truncated backprop needs features ``[N, C, T]`` and labels of as many time steps; a ComputationGraph may
            have others beside them, which come into every segment as they are.
        ConfigurationError
            A layer reads later time steps.
        """
        shared = self.shared_nodes
        conf = shared.conf
        if conf.backprop_type == BackpropType.STANDARD:
            return [step]
        from ..step.segments import segments_of, series_in  # which programs without series do not need

        shared.check_reads_no_later_steps("truncated backprop")
        series = series_in(step, [accepts.rows_are_series for accepts in self.batch.accepts])
        needed = len(step.features) + len(step.labels) if conf.needs_series else 0
        if len(series.lengths) > 1 or sum(series.features + series.labels) < needed:
            shapes = [[list(array.shape) for array in group] for group in (step.features, step.labels)]
            raise nd.ShapeError(
                f"{self.who}: truncated backprop needs features [N, C, T] and labels [N, n_out, T], got "
                f"{' and '.join(', '.join(map(str, group)) for group in shapes)}. Set backprop_type='standard' for "
                "others."
            )
        return segments_of(step, series, conf, shared.states > 0) if series.lengths else [step]

    def carrying(self, segment: StepInput, number: int) -> StepInput:
        """Return a segment with the state that the one before has left; the first of a series begins anew."""
        if not self.shared_nodes.states:
            return segment
        state = (self.state if number else ()) or self.shared_nodes.initial_state(segment.features)
        return replace(segment, state=state)

    # ---- activations

    def forward(
        self,
        counts: tuple[int, int],
        features: Sequence[Array],
        training: bool,
        masks: Sequence[Array | None] = (),
        **span: Any,
    ) -> ForwardPass:
        """Run nodes one by one, with the noise of that iteration and epoch in force; see `Propagation.forward`."""
        shared = self.shared_nodes
        if not span.get("start") and span.get("stop") in (None, len(shared.nodes)):
            self.outputs.check_whole(features)
        shared.at(*counts)
        step = StepInput(tuple(features), (), tuple(masks), state=shared.initial_state(features))
        return self.propagation.forward(step, training, **span)

    def features_of(
        self, xs: Sequence[object], features_masks: Sequence[object] = (), labels_masks: Sequence[object] = ()
    ) -> Minibatch:
        """Return a minibatch of features to predict for, in the memory for those."""
        batch = self.batch.another(self.feature_buffers)
        batch.set_features(xs)
        if features_masks or labels_masks:
            batch.set_masks(features_masks, labels_masks)
        return batch

    def predicted(
        self, xs: Sequence[object], features_masks: Sequence[object] = (), labels_masks: Sequence[object] = ()
    ) -> tuple[Array, ...]:
        """Return the activations of every output outside of training, new arrays: `output` of any network."""
        with self.lock, Restoring(), self.on_backend():
            batch = self.features_of(xs, features_masks, labels_masks)
            outputs, _ = self.outputs.outputs(batch.step_without_labels(self.shared_nodes.initial_state))
            formats = self.shared_nodes.conf.formats.outputs
            return tuple(map(outward, outputs, formats)) if any(batch.labels_last) else outputs

    def outputs_of(self, data: DataSet | MultiDataSet) -> tuple[Array, ...]:
        """Return the outputs for the features of a minibatch, with their masks."""
        parts = data.multi
        return self.predicted(parts.features, parts.features_masks)

    def masks_of_outputs(self, data: DataSet | MultiDataSet) -> list[Array | None]:
        """Return the masks that reach the outputs from those of a minibatch's features, on the host; None for none."""
        parts, conf = data.multi, self.shared_nodes.conf
        with Restoring(), self.on_backend():
            batch = self.batch.another(nd.fresh_buffers(self.dtype))
            batch.set_features(parts.features)
            batch.set_masks(parts.features_masks, ())
            given = conf.input_names, batch.features, batch.features_masks
            masks = masks_behind(self.shared_nodes.nodes, *given, self.dtype)
            of_outputs = [masks[number][0] for number in conf.output_nodes]
            hosted = [None if mask is None else nd.to_host(mask) for mask in of_outputs]
            return list(map(outward, hosted, conf.formats.outputs))

    # ---- forks

    def before_fork(self, deadline: float) -> Callable[[], object] | None:
        """Take the lock, so that the child has the network as it is between two steps; return what gives it back.

        Where a step takes too long, the child's copy may be updated in part: whatever asks for its lock raises.
        """
        lock = self.lock
        return lock.release if lock.acquire(timeout=max(0.0, deadline - time.monotonic())) else None

    def in_child(self, stood_still: bool) -> None:
        """Forget a call of fit in a thread that is not here, and whoever has the lock."""
        if self.progress.thread != threading.get_ident():
            self.progress.call = None
        if not stood_still:
            self.lock = Torn(self.who)
            if self.is_made:
                self.vectors.updater.lock = self.lock
