"""Shared by all networks: vectors, generator, the minibatch that is set, one step, scores."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.arguments import checked, converted
from nd.classes import ExplainedType, NamesSuggested, overridable
from nd.dataset import DataSet
from nd.random import Random
from nd.rules import SWITCH
from nd.state import Restoring, state, within
from nd.typing import Array
from optimize import Listener, NetworkUpdater, Solver
from optimize.api import listens
from optimize.step import StepResult

from ..layers.losses.output import OutputMixin
from ..step.passes import ForwardPass
from ..step.predictions import OutputComputer
from ..step.shared_nodes import SharedNodes
from ..step.step_input import StepInput
from ..step.vectors import FlatVectors, copy_vector
from ..step.worker import GradientComputer
from ..terms.data_formats import outward
from .class_labels import ClassLabels, formed_by
from .features_check import FeaturesCheck
from .history import History
from .intake import kinds_of, minibatches
from .minibatch import Minibatch
from .progress import FitProgress
from .turns import Turns

if TYPE_CHECKING:
    from optimize.constraints import Constraining

    from .gradient import DefaultGradient


@overridable
class NetworkCore(NamesSuggested, metaclass=ExplainedType):
    """Nodes over one parameter vector, and one step of them: the base of `Network`.

    Parameters
    ----------
    conf : NetworkConfiguration

    Attributes
    ----------
    last : StepResult or None
        The result of the last step: DL4J's getters read it.
    state : tuple of array
        Carried by layers from one segment of a series to the next: that of the last segment that was trained on.
    stored : tuple of (array or None), or None
        The state with which the next call of `rnn_time_step` begins; None for that of the start of a series.
    random : Random
        The generator of all that the network draws.
    lock : RLock
        Held while anything computes with the network's memory: threads take turns, step by step.
    """

    _not_copied: ClassVar[frozenset[str]] = frozenset({
        "_solver", "_vectors", "batch", "_feature_buffers", "gradients", "last", "layers", "learners", "listeners",
        "lock", "outputs", "progress", "propagation", "shared_nodes", "state", "stored", "_turns",
    })  # fmt: skip
    """Attributes that a copy makes itself, from the configuration or from what was saved of them."""
    lock: Any
    data_types: ClassVar[tuple[type, ...]] = (DataSet,)
    """Of minibatches that the network takes."""

    def __init__(self, conf: Any) -> None:
        self.conf = conf
        self.listeners: list[Listener] = []
        self.iteration_count, self.epoch_count = conf.iteration_count, conf.epoch_count
        self.last_etl_ms, self.batch_size = 0.0, 0
        self.dtype: str = conf.base.dtype
        self.last: StepResult | None = None
        self.state: tuple[Array, ...] = ()
        self.stored: tuple[Array | None, ...] | None = None
        self.history: History | None = None
        self.random = Random(conf.base.seed or 0)
        self._turns, self.progress = Turns(self), FitProgress()
        self.classes_of = tuple(ClassLabels(conf, output) for output in range(len(conf.output_nodes)))
        self._vectors: FlatVectors | None = None
        self._solver: Solver | None = None
        self._drawn_before: Random | None = None  # where it stood before the last feed_forward in training

    # ---- initialisation

    def init(self, params: Any = None) -> Self:
        """Make the vectors on the current backend and draw the weights from the configuration's seed.

        `params`, an array ``[1, n]``, takes the place of drawn weights; ShapeError if it is of another length. The
        network's generator, `random`, is then a copy of the one that this thread draws from. It becomes the thread's
        current one, so that `nd.random.set_seed` and `nd.rand` act on it as in Java. Where there are parameters
        already, loaded or trained, they stay, as in Java, unless others are given.
        """
        if self._vectors is not None:
            if params is not None:
                self.set_params(params)
            return self
        generator = nd.random.get_random().copy() if params is not None else Random(self.conf.base.seed or 0)
        self.make(params, generator)
        nd.random.set_random(generator)
        return self

    def make(self, params: Any, generator: Random, memory: Array | None = None) -> None:
        """Make everything but the thread's generator, `init` for those who bring one; `memory` is another network's."""
        vectors = FlatVectors(self.conf, memory)
        shared = self.shared_nodes = SharedNodes(self.conf, vectors)
        self.propagation = shared.propagation(vectors.params, vectors.gradient, one_by_one=True)
        self.gradients = GradientComputer(shared)
        self.outputs = OutputComputer(shared)
        self.layers = [node.layer for node in shared.nodes]
        for node, views in zip(shared.nodes, self.propagation.params, strict=True):
            node.layer.params.update(views)
        accepts = [FeaturesCheck(self.conf, number) for number in range(len(self.conf.input_names))]
        who, last = type(self).__name__, self.conf.formats.last_of_outputs
        self.batch = Minibatch(who, self.dtype, nd.Buffers(self.dtype), accepts, len(last), shared.aligned, last)
        self.batch.rank, self.batch.columns = self.classes.rank, self.classes.columns
        vectors.guard.doubt = "".join(check.doubt for check in accepts)
        self._feature_buffers = nd.Buffers(self.dtype)  # of predictions
        self._solver = None
        vectors.draw_weights(generator) if params is None else copy_vector("set_params", params, vectors.params)
        vectors.updater.lock = self.lock
        self.random, self._vectors = generator, vectors  # at the end: what Ctrl-C cuts short begins anew

    def is_init_called(self) -> bool:
        """Return whether there are parameters."""
        return self._vectors is not None

    @property
    def vectors(self) -> FlatVectors:
        """The flat vectors with their updater; raise ConfigurationError before `init`."""
        if self._vectors is None:
            self.check_init()
        return self._vectors  # type: ignore[return-value]

    def check_init(self) -> None:
        """Raise ConfigurationError unless there are parameters."""
        if self._vectors is None:
            raise nd.ConfigurationError(f"{type(self).__name__}: init() must come first. Call net.init().")

    @property
    def updater(self) -> NetworkUpdater:
        """The updaters over the flat vectors, with their state."""
        return (self._vectors or self.vectors).updater

    @property
    def constraints(self) -> Constraining | None:
        """Bounds that the parameters are held to after every update, None without."""
        return (self._vectors or self.vectors).constraints

    @property
    def backend(self) -> Any:
        """The backend on which its arrays lie: ``net.backend.name``. Raise ConfigurationError before `init`."""
        return (self._vectors or self.vectors).backend

    def on_backend(self) -> AbstractContextManager[object]:
        """Make the network's backend the current one for a block."""
        return within(self.backend)

    def current_solver(self) -> Solver:
        """Return the solver, which stays while its settings do: some optimizers learn from step to step."""
        solver = self._solver
        if solver is None or solver.conf is not self.conf:
            solver = self._solver = Solver(self.conf, self)
            solver.optimizer.belong_to_model()
        solver.optimizer.listeners = self.listeners
        return solver

    @property
    def solver(self) -> Solver | None:
        """The solver, if one has been made."""
        return self._solver

    # ---- parameters

    def params(self) -> Array:
        """Return the flat parameter vector ``[1, n]`` itself, not a copy."""
        return self.vectors.params

    def set_params(self, params: Any) -> None:
        """Copy a vector ``[1, n]`` or ``[n]`` into the parameters; raise ShapeError if it is of another length."""
        with self.lock, Restoring(), self.on_backend():
            self.updater.guard.settle(self)
            copy_vector("set_params", params, self.params())
        self._solver = None  # what it has learned is of other parameters

    @checked
    def num_params(self, backwards: bool = False) -> int:
        """Return the length of the parameter vector; `backwards` leaves out what pretraining alone trains."""
        return sum(view.spec.length for view in self.conf.layout().views if not (backwards and view.spec.pretrained))

    @checked
    def param_table(self, backprop_params_only: bool = False) -> dict[str, Array]:
        """Return key -> view in its own shape: ``"0_W"`` is the weight of layer 0, ``"conv1_W"`` that of a vertex.

        `backprop_params_only` leaves out what pretraining alone trains.
        """
        return self.vectors.table(backprop_params_only)

    @checked
    def get_param(self, key: str) -> Array:
        """Return the view of one parameter, ``"0_W"``; raise ChoiceError for an unknown key."""
        table = self.param_table()
        return table[nd.checks.check_choice("get_param", "parameter", key, table)]

    def gradient(self) -> DefaultGradient:
        """Return the gradient of the last minibatch by name: sums over examples, after `compute_gradient_and_score`.

        Its arrays are the network's, which the next step overwrites; what is set or cleared in it is its own.
        """
        from .gradient import DefaultGradient  # which fit does not need

        vector, layout = self.flattened_gradients(), self.vectors.layout
        with self.on_backend():
            return DefaultGradient(vector, layout.table(vector), {view.key: view.spec.order for view in layout.views})

    def flattened_gradients(self) -> Array:
        """Return the flat gradient vector ``[1, n]`` itself; after `fit` it holds the last update."""
        self.vectors.gradients.whole()
        return self.vectors.gradient

    def updater_state(self) -> Array:
        """Return the updater's state vector ``[1, m]`` itself, in DL4J's order; m = 0 without state."""
        return self.updater.state

    def set_updater_state(self, state: Any) -> None:
        """Copy a state vector ``[1, m]``; raise ShapeError if it is of another length."""
        with self.lock, Restoring(), self.on_backend():
            self.updater.guard.settle(self)
            copy_vector("set_updater_state", state, self.updater_state())

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

    def _check_minibatch(self, who: str, data: object) -> None:
        """Raise DTypeError unless it is a minibatch as this network takes them."""
        if not isinstance(data, self.data_types):
            raise nd.DTypeError(
                f"{who}: expected a {kinds_of(self)}, got {type(data).__name__}. Wrap arrays as DataSet(x, y)."
            )

    def step_on(self, data: Any) -> StepInput:
        """Set a minibatch; return the input of a step on it. On the network's backend, with its lock."""
        self.batch.set(data)
        step = self.batch.step()
        self.batch_size = step.examples
        return step

    def carrying(self, segment: StepInput, number: int) -> StepInput:
        """Return a segment with the state that the one before has left; the first of a series begins anew."""
        if not self.shared_nodes.states:
            return segment
        return segment.with_state((self.state if number else ()) or self.shared_nodes.initial_state(segment.features))

    def _other_step(self, data: Any) -> StepInput:
        """Return the input of a computation on other data than the minibatch that is set, which stays."""
        batch = self.batch.another(nd.fresh_buffers(self.dtype))
        batch.set(data)
        return batch.step()

    def compute_gradient_and_score(self, step: StepInput | Sequence[StepInput] | None = None) -> StepResult:
        """Run forward and backward on the minibatch that is set, or on `step`.

        `score` is then that of the minibatch, `gradient` the sums over its examples, neither divided by the minibatch
        size nor regularised.

        Parameters
        ----------
        step : StepInput or sequence of StepInput, optional
            From `step_input`. Of several the gradients and losses are added, as of one minibatch of all examples.

        Returns
        -------
        StepResult
            Also `last`.

        Raises
        ------
        ConfigurationError
            Input or labels are not set, or the last layer has no loss.
        ShapeError
            They do not fit the network.
        """
        if step is None or state.generator is not self.random:  # called by no step of this network
            self._check_losses()
            with self.lock, Restoring(), self.on_backend(), nd.random.drawing(self.random):
                result = self.compute_gradient_and_score(self.batch.step() if step is None else step)
                result.gradient()
            return result
        iteration, epoch, listeners = self.iteration_count, self.epoch_count, self.listeners
        watching = bool(listeners) and listens(listeners, iteration, "on_forward_pass")
        compute = self.gradients.compute if isinstance(step, StepInput) else self.gradients.compute_sum
        self.last = result = compute(step, iteration, epoch, self._show if watching else None)  # type: ignore[arg-type]
        if listeners:
            self._show_gradient()
        return result

    def _show(self, features: Sequence[Array], activations: list[Array]) -> None:
        """Let listeners look at activations."""
        shown_ones = self._named_activations(*self.conf.formats.turned(features, activations))
        for listener in self.listeners:
            listener.on_forward_pass(self, shown_ones)

    def _named_activations(self, features: Sequence[Array], activations: list[Array]) -> Any:
        """Return features and activations in the form that this kind of network has for them."""
        return [*features, *activations]

    def _show_gradient(self) -> None:
        """Let listeners look at the gradient, and write into it."""
        if listens(self.listeners, self.iteration_count, "on_backward_pass"):
            self.vectors.gradients.whole()
        for listener in tuple(self.listeners):
            listener.on_backward_pass(self)

    def _check_losses(self) -> None:
        """Raise ConfigurationError unless every output is of a layer with a loss."""
        self.check_init()
        for number in self.shared_nodes.outputs:
            layer = self.layers[number]
            if not isinstance(layer, OutputMixin):
                raise nd.ConfigurationError(
                    f"{layer.label}: the last layer must have a loss to train on. End with an OutputLayer or a "
                    "LossLayer."
                )

    # ---- scores

    def score(self, data: Any = None, labels: Any = None, training: bool = False) -> float:
        """Return the score of the last minibatch, or of data: mean loss and regularisation.

        The last minibatch's was computed before its update, as in DL4J. `data` are features with `labels`, or a
        DataSet, (features, labels), or an iterator, of which it is the score of all examples. A bool in the place of
        the labels is `training`, as in Java.
        """
        guard = self.updater.guard
        if isinstance(labels, (bool, int)):
            labels, training = None, labels
        if training is not False:
            training = converted("score", "training", SWITCH, training, False)
        if data is not None:
            total: Any = 0.0
            examples = 0
            for batch in minibatches(self, "score", data, labels):
                loss, _ = self._loss_and_outputs(batch, training)
                total, examples = loss + total, examples + batch.multi.labels[0].shape[0]
            if not examples:
                raise nd.DataError("score: the iterator must have at least one minibatch, got none.")
            return self._score_from(total, examples)
        if self.last is None:
            return float("nan")
        score = self.last.score
        if self.last.known_score is None:
            guard.score_asked(self)
        return score

    def _loss_and_outputs(self, data: Any, training: bool = False, *loss_weights: float) -> tuple[Array, list[Array]]:
        """Return the summed loss ``[]`` and the outputs of other data than the minibatch that is set, which stays."""
        self._check_losses()
        with self.lock, Restoring(), self.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            step = self._other_step(self.formed(data)).with_loss_weights(loss_weights)
            passed = self.forward(step.features, training, step.features_masks)
            loss = self.propagation.summed_loss(step, passed)
            told = zip(self.conf.output_nodes, self.conf.formats.outputs, strict=True)
            return nd.copy(loss), [outward(nd.copy(passed.outputs[number]), name) for number, name in told]

    def forward(
        self, features: Sequence[Array], training: bool, masks: tuple[Array | None, ...] = (), **span: Any
    ) -> ForwardPass:
        """Run nodes one by one, with the noise of the iteration in force; see `Propagation.forward`."""
        if not span.get("start") and span.get("stop") in (None, len(self.layers)):
            self.outputs.check_whole(features)
        self.shared_nodes.at(self.iteration_count, self.epoch_count)
        step = StepInput(tuple(features), (), tuple(masks), state=self.shared_nodes.initial_state(features))
        return self.propagation.forward(step, training, **span)

    def _score_from(self, loss: Array, examples: int) -> float:
        """Return the score of so many examples with that summed loss."""
        with Restoring(), self.on_backend():
            penalty = self.vectors.penalty_sum.at(self.iteration_count, self.epoch_count)
            return nd.item((loss / examples if self.conf.base.mini_batch else loss) + penalty)
