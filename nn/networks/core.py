"""Shared by all networks: vectors, generator, the minibatch that is set, one step, scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.arguments import checked, converted
from nd.classes import ExplainedType, NamesSuggested, overridable
from nd.dataset import DataSet
from nd.random import Random
from nd.rules import SWITCH
from nd.state import Restoring, state
from nd.typing import Array
from optimize import Listener, NetworkUpdater, Solver
from optimize.api import listens
from optimize.step import StepResult

from ..layers.losses.output import OutputMixin
from ..step.propagation import ForwardPass
from ..step.vectors import copy_vector
from ..step.worker import StepInput
from ..terms.data_formats import outward
from .engine import Engine, shared_vector
from .history import History
from .intake import kinds_of, minibatches

if TYPE_CHECKING:
    from optimize.api import ConvexOptimizer

    from ..layers.runtime import LayerRuntime
    from ..step.worker import OnForward
    from .class_labels import ClassLabels
    from .gradient import DefaultGradient


@overridable
class NetworkCore(NamesSuggested, metaclass=ExplainedType):
    """Nodes over one parameter vector, and one step of them: the base of `Network`.

    Parameters
    ----------
    conf : NetworkConfiguration

    Attributes
    ----------
    random : Random
        The generator of all that the network draws.
    engine : Engine
        What it computes with: the library's own.
    """

    _data_types: ClassVar[tuple[type, ...]] = (DataSet,)
    """Of minibatches that the network takes."""

    def __init__(self, conf: Any) -> None:
        self.conf = conf
        self.engine = Engine(type(self).__name__, conf)
        self.listeners: list[Listener] = []
        self.iteration_count, self.epoch_count = conf.iteration_count, conf.epoch_count
        self.last_etl_ms, self.batch_size = 0.0, 0
        self.dtype: str = conf.base.dtype
        self.history: History | None = None
        self.random = Random(conf.base.seed or 0)

    # ---- initialisation

    @checked
    def init(self, params: Any = None, clone: bool = True) -> Self:
        """Make the vectors on the current backend and draw the weights from the configuration's seed.

        `params`, an array ``[1, n]``, takes the place of drawn weights; ShapeError if it is of another length. The
        network's generator, `random`, is then a copy of the one that this thread draws from. It becomes the thread's
        current one, so that `nd.random.set_seed` and `nd.rand` act on it as in Java. Where there are parameters
        already, loaded or trained, they stay, as in Java, unless others are given.

        With ``clone=False`` the parameters lie in the very memory of `params`, which training then changes; DTypeError
        unless that is an array of the network's backend and dtype that can be written to, ConfigurationError where
        there are parameters.
        """
        if self.engine.is_made:
            if params is not None and not clone:
                raise nd.ConfigurationError(
                    "init: clone=False must come with the first init, got a network with parameters. Call set_params."
                )
            if params is not None:
                self.set_params(params)
            return self
        memory = None if clone or params is None else shared_vector("init", params, self.conf)
        self.random = nd.random.get_random().copy() if params is not None else Random(self.conf.base.seed or 0)
        self.engine.make(self.conf, params, self.random, memory)
        nd.random.set_random(self.random)
        return self

    @property
    def init_done(self) -> bool:
        """Whether there are parameters: what Java 0.9 calls `is_init_called`."""
        return self.engine.is_made

    def is_init_called(self) -> bool:
        """Return whether there are parameters."""
        return self.engine.is_made

    @property
    def layers(self) -> list[LayerRuntime]:
        """The runtimes of all layers, in a graph also of its vertices, in the order in which they run."""
        return self.engine.layers

    @property
    def updater(self) -> NetworkUpdater:
        """The updaters over the flat vectors, with their state."""
        return self.engine.vectors.updater

    @property
    def backend(self) -> Any:
        """The backend on which its arrays lie: ``net.backend.name``. Raise ConfigurationError before `init`."""
        return self.engine.vectors.backend

    @property
    def lock(self) -> Any:
        """Held while anything computes with the network's memory: threads take turns, step by step."""
        return self.engine.lock

    def get_optimizer(self) -> ConvexOptimizer:
        """Return the optimizer, which takes the steps; raise ConfigurationError before `init`."""
        self.engine.check_made()
        return self._current_solver().optimizer

    def _current_solver(self) -> Solver:
        """Return the solver, which stays while its settings do: some optimizers learn from step to step."""
        solver = self.engine.solver
        if solver is None or solver.conf is not self.conf:
            solver = self.engine.solver = Solver(self.conf, self)
            solver.optimizer.belong_to_model()
        solver.optimizer.listeners = self.listeners
        return solver

    # ---- parameters

    def params(self) -> Array:
        """Return the flat parameter vector ``[1, n]`` itself, not a copy."""
        return self.engine.vectors.params

    def set_params(self, params: Any) -> None:
        """Copy a vector ``[1, n]`` or ``[n]`` into the parameters; raise ShapeError if it is of another length."""
        with self.lock, Restoring(), self.engine.on_backend():
            self.updater.guard.settle(self)
            copy_vector("set_params", params, self.params())
        self.engine.solver = None  # what it has learned is of other parameters

    @checked
    def num_params(self, backwards: bool = False) -> int:
        """Return the length of the parameter vector; `backwards` leaves out what pretraining alone trains."""
        return sum(view.spec.length for view in self.conf.layout().views if not (backwards and view.spec.pretrained))

    @checked
    def param_table(self, backprop_params_only: bool = False) -> dict[str, Array]:
        """Return key -> view in its own shape: ``"0_W"`` is the weight of layer 0, ``"conv1_W"`` that of a vertex.

        `backprop_params_only` leaves out what pretraining alone trains.
        """
        return self.engine.vectors.table(backprop_params_only)

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

        vector, layout = self.flattened_gradients(), self.engine.vectors.layout
        with self.engine.on_backend():
            return DefaultGradient(vector, layout.table(vector), {view.key: view.spec.order for view in layout.views})

    def flattened_gradients(self) -> Array:
        """Return the flat gradient vector ``[1, n]`` itself; after `fit` it holds the last update."""
        vectors = self.engine.vectors
        vectors.gradients.whole()
        return vectors.gradient

    def updater_state(self) -> Array:
        """Return the updater's state vector ``[1, m]`` itself, in DL4J's order; m = 0 without state."""
        return self.updater.state

    def set_updater_state(self, state: Any) -> None:
        """Copy a state vector ``[1, m]``; raise ShapeError if it is of another length."""
        with self.lock, Restoring(), self.engine.on_backend():
            self.updater.guard.settle(self)
            copy_vector("set_updater_state", state, self.updater_state())

    # ---- one minibatch

    @property
    def classes_of(self) -> tuple[ClassLabels, ...]:
        """The labels of every output: ``net.classes_of[1].names = [...]`` names the classes of the second one."""
        return self.engine.classes_of

    def _check_minibatch(self, who: str, data: object) -> None:
        """Raise DTypeError unless it is a minibatch as this network takes them."""
        if not isinstance(data, self._data_types):
            raise nd.DTypeError(
                f"{who}: expected a {kinds_of(self)}, got {type(data).__name__}. Wrap arrays as DataSet(x, y)."
            )

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
            DL4J's getters, `score` and `gradient`, read it.

        Raises
        ------
        ConfigurationError
            Input or labels are not set, or the last layer has no loss.
        ShapeError
            They do not fit the network.
        """
        if step is None or state.generator is not self.random:  # called by no step of this network
            self._check_losses()
            with self.lock, Restoring(), self.engine.on_backend(), nd.random.drawing(self.random):
                result = self.compute_gradient_and_score(self.engine.batch.step() if step is None else step)
                result.gradient()
            return result
        iteration, epoch, listeners = self.iteration_count, self.epoch_count, self.listeners
        show: OnForward | None = (
            self._show if bool(listeners) and listens(listeners, iteration, "on_forward_pass") else None
        )
        engine = self.engine
        if engine.around_nodes:
            from .around_nodes import calls_around  # which few programs need

            show = calls_around(self, show)
        if isinstance(step, StepInput):
            result = engine.gradients.compute(step, iteration, epoch, show)
        else:
            from ..step.sums import compute_sum  # which fit does not need

            result = compute_sum(engine.gradients, step, iteration, epoch, show)
        engine.last = result
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

    def _node_names(self) -> list[str]:
        """Return the names of all nodes, as users know them."""
        return [node.name for node in self.conf.nodes]

    def _show_gradient(self) -> None:
        """Let listeners look at the gradient, and write into it."""
        if listens(self.listeners, self.iteration_count, "on_backward_pass"):
            self.engine.vectors.gradients.whole()
        for listener in tuple(self.listeners):
            listener.on_backward_pass(self)

    def _check_losses(self) -> None:
        """Raise ConfigurationError unless every output is of a layer with a loss."""
        for number in self.engine.shared_nodes.outputs:
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
        last = self.engine.last
        if last is None:
            return float("nan")
        score = last.score
        if last.known_score is None:
            guard.score_asked(self)
        return score

    def _loss_and_outputs(self, data: Any, training: bool = False, *loss_weights: float) -> tuple[Array, list[Array]]:
        """Return the summed loss ``[]`` and the outputs of other data than the minibatch that is set, which stays."""
        self._check_losses()
        with self.lock, Restoring(), self.engine.on_backend(), self.backend.quiet(), nd.random.drawing(self.random):
            engine = self.engine
            step = replace(engine.other_step(engine.formed(data)), loss_weights=loss_weights)
            passed = self._forward(step.features, training, step.features_masks)
            loss = engine.propagation.losses_of(step, passed, way_back=False).loss
            told = zip(self.conf.output_nodes, self.conf.formats.outputs, strict=True)
            return nd.copy(loss), [outward(nd.copy(passed.outputs[number]), name) for number, name in told]

    def _forward(
        self, features: Sequence[Array], training: bool, masks: tuple[Array | None, ...] = (), **span: Any
    ) -> ForwardPass:
        """Run nodes one by one, with the noise of the iteration in force; see `Engine.forward`."""
        return self.engine.forward((self.iteration_count, self.epoch_count), features, training, masks, **span)

    def _score_from(self, loss: Array, examples: int) -> float:
        """Return the score of so many examples with that summed loss."""
        with Restoring(), self.engine.on_backend():
            penalty = self.engine.vectors.penalty_sum.at(self.iteration_count, self.epoch_count)
            return nd.item((loss / examples if self.conf.base.mini_batch else loss) + penalty)
