"""MultiLayerNetwork: a stack of layers that can be trained."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import nd
from nd.arguments import checked, converted, shown
from nd.dataset import DataSet
from nd.java_names import JavaNames
from nd.random import Random
from nd.rules import SWITCH
from nd.state import computing, within
from optimize import Listener, NetworkUpdater, Solver
from optimize.api import listens
from optimize.constraints import Constraining
from optimize.step_result import StepResult

from .class_labels import ClassLabels
from .compute import GradientComputer, OutputComputer
from .conf.network import MultiLayerConfiguration
from .gradient import DefaultGradient
from .history import History
from .inference import Inference
from .inside import Inside
from .layers.output import OutputMixin
from .layers.runtime import LayerRuntime
from .minibatch import FeaturesCheck, Minibatch
from .progress import FitProgress
from .propagation import Propagation, loss_mask
from .saving import Saved
from .step_input import StepInput
from .summary import summary
from .trainable import Trainable
from .vectors import FlatVectors, copy_vector

Array = Any


class MultiLayerNetwork(Trainable, Inference, Inside, Saved, JavaNames):
    """A network whose layers follow one another.

    Parameters
    ----------
    conf : MultiLayerConfiguration
    params : array ``[1, n]``, optional
        As in Java, `init` is called with them.

    Notes
    -----
    The network owns one parameter vector and one gradient vector, ``[1, n]``; layers hold views. It stays on the
    backend on which `init` ran, and takes data from the host or from that backend. What draws in training draws from
    `random`, its own generator, in any thread. Source: DL4J ``MultiLayerNetwork``. Differs: in Java a thread has one.
    """

    @checked
    def __init__(self, conf: MultiLayerConfiguration, params: Any = None) -> None:
        self.conf = conf
        self.listeners: list[Listener] = []
        self.iteration_count, self.epoch_count = conf.iteration_count, conf.epoch_count
        self.last_etl_ms = 0.0
        self.batch_size = 0
        self.dtype: str = conf.base.dtype  # type: ignore[assignment]
        self._vectors: FlatVectors | None = None
        self.last: StepResult | None = None
        """What the last step has computed."""
        self._solver: Solver | None = None
        self._progress = FitProgress()
        self._classes = ClassLabels(conf)
        self.history: History | None = None
        self.random = Random(conf.base.seed or 0)
        self._drawn: Random | None = None  # where it stood before the last feed_forward in training
        if params is not None:
            self.init(params)

    java_names: ClassVar[dict[str, str]] = {
        "clear_layer_mask_arrays": "clear_masks", "gradients_view_array": "flattened_gradients",
        "input_mini_batch_size": "batch_size", "nlayers": "n_layers", "set_layer_mask_arrays": "set_masks",
        "set_parameters": "set_params",
    }  # fmt: skip

    # ---- making

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
        self._make(params, generator)
        nd.random.set_random(generator)
        return self

    def _make(self, params: Any, generator: Random) -> None:
        """Make everything but the thread's current generator."""
        self._backend = nd.backend()
        self._vectors = vectors = FlatVectors(self.conf)
        self._whole = Propagation(self.conf, vectors.layout, vectors.params, vectors.gradient)
        self.gradients = GradientComputer(self.conf, vectors, self._whole)
        self.outputs = OutputComputer(self.conf, vectors, self._whole.layers)
        self._workspace, self.layers = self._whole.workspace, self._whole.layers
        accepts = FeaturesCheck(self.conf)
        self._batch = Minibatch(self.dtype, self._workspace.scope(), accepts)
        vectors.updater.watch.doubt = accepts.doubt
        self._inference_buffers = self._workspace.scope()
        self._solver = None
        vectors.draw_weights(generator) if params is None else self.set_params(params)
        self.random = generator

    @property
    def updater(self) -> NetworkUpdater:
        """The updaters over the flat vectors, with their state."""
        return self._made().updater

    @property
    def constraints(self) -> Constraining | None:
        """What the parameters are held to after every update, None for nothing."""
        return self._made().constraints

    def _made(self) -> FlatVectors:
        if self._vectors is None:
            raise nd.ConfigurationError("MultiLayerNetwork: init() must come first. Call net.init().")
        return self._vectors

    def clone(self) -> MultiLayerNetwork:
        """Return an independent copy: configuration, parameters, counters, state of updater, optimizer, generator."""
        params, state = self.params(), self.updater_state()
        with self._here():
            self.updater.watch.give_up(self)
            twin = MultiLayerNetwork(self.conf.with_counts(self.iteration_count, self.epoch_count))
            twin._make(params, self.random.copy())
            twin.class_names = self.class_names
            nd.assign(twin.updater_state(), state)
            if self._solver is not None:
                twin._made_solver().optimizer.set_state(self._solver.optimizer.get_state())
        return twin

    def _here(self) -> Any:
        """Make the network's backend the current one for a block."""
        return within(self._backend)

    # ---- parameters

    def params(self) -> Array:
        """Return the flat parameter vector ``[1, n]`` itself, not a copy."""
        return self._made().params

    def set_params(self, params: Any) -> None:
        """Copy a vector ``[1, n]`` or ``[n]`` into the parameters; raise ShapeError if it is of another length."""
        target = self.params()
        with self._here():
            self.updater.watch.give_up(self)
            copy_vector("set_params", params, target)
        self._solver = None  # what it has learned is of other parameters

    @checked
    def num_params(self, backwards: bool = False) -> int:
        """Return the length of the parameter vector; `backwards` is Java's, and changes nothing."""
        return self.conf.layout().length

    @checked
    def param_table(self, backprop_params_only: bool = False) -> dict[str, Array]:
        """Return key -> view: ``"0_W"`` is the weight of layer 0, in its own shape; all are trained by backprop."""
        return dict(self._made().param_table)

    @checked
    def get_param(self, key: str) -> Array:
        """Return the view of one parameter, ``"0_W"``; raise ChoiceError for an unknown key."""
        table = self.param_table()
        return table[nd.checks.check_choice("get_param", "parameter", key, table)]

    def gradient(self) -> DefaultGradient:
        """Return the gradient of the last minibatch by name: sums over examples, after `compute_gradient_and_score`."""
        self._add_up()
        return self._made().gradients

    def flattened_gradients(self) -> Array:
        """Return the flat gradient vector ``[1, n]`` itself; after `fit` it holds the last update."""
        self._add_up()
        return self._made().gradient

    def _add_up(self) -> None:
        """Make the gradient vector the whole gradient of the last step."""
        self._made()
        if self.last is not None and self.last.gradients:
            self.last.gradient()

    def updater_state(self) -> Array:
        """Return the updater's state vector ``[1, m]`` itself, in DL4J's order; m = 0 without state."""
        return self.updater.state

    def set_updater_state(self, state: Any) -> None:
        """Copy a state vector ``[1, m]``; raise ShapeError if it is of another length."""
        target = self.updater_state()
        with self._here():
            self.updater.watch.give_up(self)
            copy_vector("set_updater_state", state, target)

    @checked
    def get_layer(self, index: int | str) -> LayerRuntime:
        """Return a layer at work, by number or name: ``net.get_layer(0).pre_output(x)``.

        Raises
        ------
        ConfigurationError, ChoiceError
            There is no such layer.
        """
        self._made()
        if isinstance(index, str):
            names = self.layer_names
            index = names.index(nd.checks.check_choice("get_layer", "layer", index, names))
        if not 0 <= index < len(self.layers):
            raise nd.ConfigurationError(f"get_layer: index must be 0..{len(self.layers) - 1}, got {index}.")
        return self.layers[index]

    # ---- one minibatch

    def set_input(self, x: Any) -> None:
        """Set the minibatch's features ``[N, ...]``, from the host or from the network's backend."""
        self._made()
        with self._here(), self._workspace:
            self._batch.set_features(x)
        self.batch_size = self._batch.features.shape[0]

    def get_input(self) -> Array:
        """Return the features of the minibatch that is set, ``[N, ...]`` on the network's backend; None before."""
        self._made()
        return self._batch.features

    def get_labels(self) -> Array:
        """Return the labels of the minibatch that is set; None before."""
        self._made()
        return self._batch.labels

    def set_labels(self, y: Any) -> None:
        """Set the minibatch's labels ``[N, n_out]``."""
        self._made()
        with self._here():
            self._batch.set_labels(y)

    def set_masks(self, features_mask: Any = None, labels_mask: Any = None) -> None:
        """Set the minibatch's masks; see `DataSet` for their shapes. None for none."""
        self._made()
        with self._here():
            self._batch.set_masks(features_mask, labels_mask)

    def compute_gradient_and_score(self, step: StepInput | None = None) -> StepResult:
        """Run forward and backward on the minibatch that is set, or on `step`.

        `score` is then that of the minibatch, `gradient` the sums over its examples, neither divided by the minibatch
        size nor regularised.

        Returns
        -------
        StepResult
            Also `last`. Of a `step` that is given the gradient may still lie in parts.

        Raises
        ------
        ConfigurationError
            Input or labels are not set, or the last layer has no loss.
        ShapeError
            They do not fit the network.
        """
        self._last_layer()
        counts = (self.iteration_count, self.epoch_count)
        watching = bool(self.listeners) and listens(self.listeners, counts[0], "on_forward_pass")
        with self._here(), nd.random.drawing(self.random), self._workspace:
            given = self._batch.step() if step is None else step
            self.last = result = self.gradients.compute(given, *counts, self._show if watching else None)
            if step is None:
                result.gradient()
            if self.listeners:
                self._show_gradient(result)
        return result

    def _show_gradient(self, result: StepResult) -> None:
        looked_at = listens(self.listeners, self.iteration_count, "on_backward_pass")
        if looked_at:
            result.gradient()
        for listener in tuple(self.listeners):
            listener.on_backward_pass(self)
        if looked_at and result.observed:
            self._made().observe(result.loss)  # the gradient may be another one now

    def _show(self, activations: list[Array]) -> None:
        for listener in self.listeners:
            listener.on_forward_pass(self, activations)

    def _last_layer(self) -> Any:
        self._made()
        last = self.layers[-1]
        if not isinstance(last, OutputMixin):
            raise nd.ConfigurationError(
                f"{last.label}: the last layer must have a loss to train on. End with an OutputLayer or a LossLayer."
            )
        return last

    def _mean(self, loss: Array, batch_size: int) -> Array:
        return loss / batch_size if self.conf.base.mini_batch else loss

    def score(self, data: Any = None, training: bool = False) -> float:
        """Return the score of the last minibatch, or of `data`: mean loss and regularisation.

        The last minibatch's was computed before its update, as in DL4J. `data` is a DataSet, or (features, labels).
        """
        self._made()
        if training is not False:
            training = converted("score", "training", SWITCH, training, False)
        if data is not None:
            return self._score_of(data, training)
        last = self.last
        if last is None:
            return float("nan")
        if not last.scored:
            score = last.score
            last.watch.score_asked(self)
            return score
        return last.score

    def _score_of(self, data: Any, training: bool) -> float:
        batch = self._classes.data_set("score", *data) if isinstance(data, tuple) and len(data) == 2 else data
        if not isinstance(batch, DataSet):
            raise nd.DTypeError(f"score: data must be a DataSet or (features, labels), got {shown(data)}.")
        loss, _ = self._loss_and_output(batch, training)
        return self._score_from(loss, batch.num_examples())

    def _loss_and_output(self, data: DataSet, training: bool = False) -> tuple[Array, Array]:
        """Return the summed loss ``[]`` and the outputs of other data than the minibatch that is set, which stays."""
        last = self._last_layer()
        with computing(self._backend), nd.random.drawing(self.random), self._workspace.nested():
            step = self._other_step(self._classes.formed_set(data))
            whole = self._whole.at(self.iteration_count, self.epoch_count)
            activations, caches = whole.forward(step.features, training, mask=step.features_mask)
            loss = last.summed_loss(step.labels, caches[-1], loss_mask(step, caches[-1]))
            return nd.copy(loss), nd.copy(activations[-1])

    def _other_step(self, data: DataSet) -> StepInput:
        """Return other data than the minibatch that is set, which stays."""
        batch = Minibatch(self.dtype, self._inference_buffers, self._batch.accepts)
        batch.set(data)
        return batch.step()

    def _score_from(self, loss: Array, examples: int) -> float:
        """Return the score of so many examples with that summed loss."""
        with self._here():
            penalty = self._made().penalty(self.iteration_count, self.epoch_count)
            return nd.item(self._mean(loss, examples) + penalty)

    def _mask_of_outputs(self, features_mask: Any, examples: int) -> Array | None:
        """Return the mask that reaches the outputs from one of the features, on the host; None for none."""
        self._made()
        with self._here():
            mask = self._whole.mask_behind(nd.as_array(features_mask, self.dtype), examples)
            return None if mask is None else nd.to_host(mask)

    def _step_on(self, data: DataSet) -> StepInput:
        """Set a minibatch; return what a step on it computes from."""
        with self._workspace:
            self._batch.set(data)
            step = self._batch.step()
        self.batch_size = step.examples
        return step

    # ---- text

    def summary(self) -> str:
        """Return a table: layer, type, shapes in and out, parameters, and their total."""
        return summary(self.conf)
