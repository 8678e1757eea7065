"""MultiLayerNetwork: a stack of layers that can be trained."""

from __future__ import annotations

import os
from typing import Any, Self

import nd
from nd.dataset import DataSet
from nd.state import within
from optimize import Listener, NetworkUpdater, Solver
from optimize.api import as_listeners, listens
from optimize.constraints import Constraining

from .conf.network import MultiLayerConfiguration
from .gradient import DefaultGradient
from .inference import Inference
from .layers.base import LayerRuntime
from .layers.output import OutputMixin
from .minibatch import Minibatch
from .progress import FitProgress
from .propagation import Propagation
from .splitting import SplitOutput, SplitStep
from .summary import summary
from .training import Training
from .vectors import FlatVectors, copy_vector

Array = Any


class MultiLayerNetwork(Inference):
    """A network whose layers follow one another.

    Parameters
    ----------
    conf : MultiLayerConfiguration

    Notes
    -----
    The network owns one parameter vector and one gradient vector, ``[1, n]``; layers hold views. It stays on the
    backend on which `init` ran, and takes data from the host or from that backend. Source: DL4J
    ``MultiLayerNetwork``.
    """

    def __init__(self, conf: MultiLayerConfiguration) -> None:
        if not isinstance(conf, MultiLayerConfiguration):
            raise nd.ConfigurationError(f"MultiLayerNetwork: expected a MultiLayerConfiguration, got {conf!r}.")
        self.conf = conf
        self.listeners: list[Listener] = []
        self.iteration_count, self.epoch_count = conf.iteration_count, conf.epoch_count
        self.last_etl_ms = 0.0
        self.batch_size = 0
        self.dtype: str = conf.base.dtype  # type: ignore[assignment]
        self._vectors: FlatVectors | None = None
        self._score: Any = float("nan")
        self._solver: Solver | None = None
        self._fitting = False  # until the update the gradient may stay in parts
        self._progress = FitProgress()

    # ---- making

    def init(self, params: Any = None) -> Self:
        """Make the vectors on the current backend and draw the weights from the configuration's seed.

        Parameters
        ----------
        params : array ``[1, n]``, optional
            Takes the place of drawn weights; then the random generator is not touched.

        Raises
        ------
        ShapeError
            `params` is of another length.
        """
        self._backend = nd.backend()
        self._vectors = vectors = FlatVectors(self.conf)
        self._whole = Propagation(self.conf, vectors.layout, vectors.params, vectors.gradient)
        self._split = SplitStep(self.conf, vectors, self._whole)
        self._outputs = SplitOutput(self.conf, vectors, self._whole)
        self._workspace, self.layers = self._whole.workspace, self._whole.layers
        self._batch = Minibatch(self.dtype, self._workspace.scope(), self.conf.rows_are_series)
        self._inference_buffers = self._workspace.scope()
        self._solver = None
        vectors.draw_weights() if params is None else self.set_params(params)
        return self

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
        """Return an independent copy: configuration, parameters, state of updater and optimizer, counters."""
        params, state = self.params(), self.updater_state()
        with self._here():
            self.updater.settle_steps(self)
            twin = MultiLayerNetwork(self.conf.with_counts(self.iteration_count, self.epoch_count)).init(params)
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
        """Copy a vector ``[1, n]`` or ``[n]`` into the parameters.

        Raises
        ------
        ShapeError
            It is of another length.
        """
        target = self.params()
        with self._here():
            self.updater.settle_steps(self)
            copy_vector("set_params", params, target)
        self._solver = None  # what it has learned is of other parameters

    def num_params(self) -> int:
        """Return the length of the parameter vector."""
        return self.conf.layout().length

    def param_table(self) -> dict[str, Array]:
        """Return key -> view: ``"0_W"`` is the weight of layer 0, in its own shape."""
        return dict(self._made().param_table)

    def get_param(self, key: str) -> Array:
        """Return the view of one parameter, ``"0_W"``; raise ChoiceError for an unknown key."""
        table = self.param_table()
        return table[nd.checks.check_choice("get_param", "parameter", key, table)]

    def gradient(self) -> DefaultGradient:
        """Return the gradient of the last minibatch by name: sums over examples, after `compute_gradient_and_score`."""
        self.updater.settle()
        return self._made().gradients

    def flattened_gradients(self) -> Array:
        """Return the flat gradient vector ``[1, n]`` itself; after `fit` it holds the last update."""
        self.updater.settle()
        return self._made().gradient

    def updater_state(self) -> Array:
        """Return the updater's state vector ``[1, m]`` itself, in DL4J's order; m = 0 without state."""
        return self.updater.state

    def set_updater_state(self, state: Any) -> None:
        """Copy a state vector ``[1, m]``; raise ShapeError if it is of another length."""
        target = self.updater_state()
        with self._here():
            self.updater.settle_steps(self)
            copy_vector("set_updater_state", state, target)

    def get_layer(self, index: int) -> LayerRuntime:
        """Return a layer at work: ``net.get_layer(0).pre_output(x)``; raise ConfigurationError if there is none."""
        self._made()
        if not isinstance(index, int) or not 0 <= index < len(self.layers):
            raise nd.ConfigurationError(f"get_layer: index must be 0..{len(self.layers) - 1}, got {index!r}.")
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

    def compute_gradient_and_score(self) -> None:
        """Run forward and backward on the current minibatch.

        `score` is then that of the minibatch, `gradient` the sums over its examples, neither divided by the minibatch
        size nor regularised.

        Raises
        ------
        ConfigurationError
            Input or labels are not set, or the last layer has no loss.
        ShapeError
            They do not fit the network.
        """
        self._last_layer()
        self._batch.check()
        watching = bool(self.listeners) and listens(self.listeners, self.iteration_count, "on_forward_pass")
        with self._here(), self._workspace:
            counts = (self.iteration_count, self.epoch_count)
            loss, penalty = self._split.compute(self._batch, counts, self._show if watching else None)
            self._score = (loss, penalty, self.batch_size)
            if self.listeners:
                self._show_gradient(loss)
            elif not self._fitting:
                self.updater.settle()

    def _show_gradient(self, loss: Array) -> None:
        looked_at = listens(self.listeners, self.iteration_count, "on_backward_pass", "on_gradient_calculation")
        if looked_at or not self._fitting:
            self.updater.settle()
        for listener in tuple(self.listeners):
            listener.on_backward_pass(self)
        if listens(self.listeners, self.iteration_count, "on_backward_pass"):
            self._split.watch_again(loss)  # the gradient may be another one now

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

    def score(self, data: DataSet | None = None, training: bool = False) -> float:
        """Return the score of the last minibatch, or of `data`: mean loss and regularisation.

        The last minibatch's was computed before its update, as in DL4J.
        """
        updater = self._made().updater
        if data is not None:
            return self._score_of(data, training)
        if type(self._score) is tuple:  # nobody has asked yet
            loss, penalty, batch_size = self._score
            with self._here():
                self._score = nd.item(self._mean(loss, batch_size) + penalty)
            if updater.guard is not None:
                updater.score_asked(self, self._fitting)
        return self._score

    def _score_of(self, data: DataSet, training: bool) -> float:
        """Score other data than the minibatch that is set, which stays."""
        last = self._last_layer()
        with self._here(), self._workspace.nested():
            batch = Minibatch(self.dtype, self._inference_buffers, self.conf.rows_are_series)
            batch.set(data)
            whole = self._whole.at(self.iteration_count, self.epoch_count)
            _, caches = whole.forward(batch.features, training, mask=batch.features_mask)
            loss = last.summed_loss(batch.labels, caches[-1], batch.loss_mask(caches[-1]))
            penalty = self._made().penalty(self.iteration_count, self.epoch_count)
            return nd.item(self._mean(loss, batch.features.shape[0]) + penalty)

    def _set_batch(self, data: DataSet) -> None:
        with self._workspace:
            self._batch.set(data)
        self.batch_size = self._batch.features.shape[0]

    # ---- training

    def set_listeners(self, *listeners: Listener) -> None:
        """Put these, or one list of them, in the place of the listeners before."""
        self.listeners[:] = as_listeners(listeners)

    def add_listeners(self, *listeners: Listener) -> None:
        """Add listeners, or one list of them, to those there are."""
        self.listeners.extend(as_listeners(listeners))

    def fit(self, data: Any, labels: Any = None, epochs: int = 1) -> None:
        """Train.

        Parameters
        ----------
        data : DataSetIterator, DataSet, or array of features ``[N, ...]``
            An iterator is read `epochs` times, each minibatch gives one step. Features or a DataSet are one minibatch:
            `epochs` steps, and as in DL4J no epoch is counted, neither for schedules nor for listeners.
        labels : array ``[N, n_out]``, optional
            Beside features.
        epochs : int
            After `load_checkpoint`, of a checkpoint that was written during a call of fit, this continues that call:
            epochs that it had completed count, so the same line trains what is left.

        Raises
        ------
        DataError
            The iterator is empty, or labels are missing; or it cannot go on where a checkpoint's stood.
        ConfigurationError
            A checkpoint was written while another kind of data was fitted.
        ShapeError, DTypeError
            The data do not fit the network.
        NumericError
            The score or the gradient is not finite; parameters, updater state and counters are as they were before
            that minibatch.

        Notes
        -----
        Ctrl-C stops between two operations and leaves the network usable. Source: DL4J ``MultiLayerNetwork.fit``.
        """
        self._made()
        Training(self, data, labels, epochs).run()

    def fit_batch(self, data: DataSet) -> None:
        """Train on one minibatch."""
        self._made()
        self._progress.forget()
        with self._here():
            self._set_batch(data)
            self._optimize(self._made_solver())

    def end_epoch(self) -> None:
        """Tell the listeners that an epoch is over, then count it: for loops of one's own around `fit_batch`."""
        self._progress.epoch_over = True
        try:
            for listener in self.listeners:
                listener.on_epoch_end(self)
        finally:
            self._progress.epoch_over = False
        self.epoch_count += 1

    def _made_solver(self) -> Solver:
        """Return the solver, which stays while its settings do: some optimizers learn from step to step."""
        made = self._solver
        if made is None or made.conf is not self.conf:
            made = self._solver = Solver(self.conf, self)
        made.optimizer.listeners = self.listeners
        return made

    def _optimize(self, solver: Solver, taken: int = 0) -> None:
        """Take the steps on the minibatch that is set, less those taken; on the network's backend."""
        self._fitting = True
        try:
            solver.optimize(taken)
        finally:
            self._fitting = False

    # ---- files and text

    def save(self, path: str | os.PathLike[str], save_updater: bool = True, normalizer: Any = None) -> None:
        """Write a DL4J 1.0 model zip; see `nn.serializer.write_model`."""
        from .serializer import write_model

        self.updater.settle_steps(self)
        write_model(self, path, save_updater, normalizer)

    @classmethod
    def load(cls, path: str | os.PathLike[str], load_updater: bool = True, strict: bool = True) -> MultiLayerNetwork:
        """Read a model zip of any DL4J release since 0.5; see `nn.serializer.restore_multi_layer_network`."""
        from .serializer import restore_multi_layer_network

        return restore_multi_layer_network(path, load_updater, strict)

    def save_checkpoint(self, path: str | os.PathLike[str], save_updater: bool = True) -> None:
        """Write a model zip from which training continues bit for bit; see `nn.checkpoint`."""
        from .checkpoint import write_checkpoint

        write_checkpoint(self, path, save_updater)

    @classmethod
    def load_checkpoint(cls, path: str | os.PathLike[str], number: int | None = None) -> MultiLayerNetwork:
        """Read a checkpoint, or from a folder the newest complete one, or that number; see `nn.checkpoint`."""
        from .checkpoint import read_checkpoint

        return read_checkpoint(path, number)

    def summary(self) -> str:
        """Return a table: layer, type, shapes in and out, parameters, and their total."""
        return summary(self.conf)
