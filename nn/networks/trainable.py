"""Training: fit and its listeners, stopping, learning rates."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import nd
from nd.arguments import Count, Natural, NonNegative, Range, called, checked, converted
from nd.dataset import DataSet
from nd.rules import rule_of
from nd.state import Restoring, in_force
from nd.typing import Array
from optimize import Listener, Schedule
from optimize.api import as_listeners

from ..conf.network import JAVAS_DEFAULT
from ..step.worker import StepInput
from ..terms.enums import BackpropType, OptimizationAlgorithm
from .core import NetworkCore
from .history import History
from .intake import masked, minibatch
from .minibatch import FitSettings
from .progress import second_call
from .training import Training

if TYPE_CHECKING:
    from .own_loop import OwnLoop

_EPOCHS: Any = rule_of(Natural)
_LOG = logging.getLogger(__name__)
Share = Annotated[float, Range("with 0 <= it < 1", lambda value: 0 <= value < 1)]


class Trainable(NetworkCore):
    """Training: fit and its listeners, stopping, learning rates."""

    # ---- listeners

    def set_listeners(self, *listeners: Listener | Sequence[Listener]) -> None:
        """Put these, or one list of them, in the place of the listeners before; call `init` if nobody has, as Java."""
        self.listeners[:] = as_listeners(listeners)
        self._notice_listeners()
        if not self.is_init_called():
            self.init()

    def add_listeners(self, *listeners: Listener | Sequence[Listener]) -> None:
        """Add listeners, or one list of them, to those there are."""
        self.listeners.extend(as_listeners(listeners))
        self._notice_listeners()

    def _notice_listeners(self) -> None:
        """Find those that are called around nodes, once."""
        self.engine.around_nodes = tuple(listener for listener in self.listeners if listener.hears_nodes())

    # ---- fit

    @checked
    def fit(
        self,
        data: object,
        labels: object = None,
        epochs: int | Array | Sequence[Array | None] | None = 1,
        *labels_mask: Array | Sequence[Array | None] | None,
        batch_size: Count | None = None,
        shuffle: bool = True,
        validation_data: object = None,
        class_weight: Mapping[Any, Any] | Literal["balanced"] | None = None,
        sample_weight: object = None,
        validation_split: Share | None = None,
        patience: Count | None = None,
        restore_best: bool = False,
        monitor: str | None = None,
        metrics: object = (),
        loss_weights: Mapping[str, NonNegative] | Sequence[NonNegative] | None = None,
        shards: Count | None = None,
    ) -> History:
        """Train.

        Parameters
        ----------
        data : iterator or iterable of minibatches, DataSet, or features ``[N, ...]``
            Features are an array, nested lists, or a table of numbers; a minibatch of an iterable is a DataSet, or
            (features, labels) as a torch DataLoader yields them. An iterator is read `epochs` times, each minibatch
            gives one step. Features or a DataSet are one minibatch: `epochs` steps, and as in DL4J no epoch is counted,
            neither for schedules nor for listeners. With `batch_size` they are cut into minibatches, and all is as with
            an iterator.
        labels : array ``[N, n_out]``, or classes ``[N]``, optional
            Beside features. Class numbers from 0, texts and pandas categories where the last layer has classes (a
            softmax, or a single sigmoid for two); the first call remembers the texts as `class_names`, a network that
            has been trained without them refuses texts until `class_names` are set. Beside an iterator
            one number is `epochs`, as in Java's ``fit(iterator, 5)``.
        epochs : int
            After `load_checkpoint`, of a checkpoint that was written during a call of fit, this continues that call:
            epochs that it had completed count, so the same line trains what is left. As in Java masks may stand in the
            place of it, ``fit(x, y, features_mask, labels_mask)``: arrays, lists of them, or None.
        batch_size : int, optional
            Examples in a minibatch of `data`; the last one has what is left.
        shuffle : bool
            With `batch_size`: take the examples in another order in each epoch, which follows from the network's seed,
            the number of epochs that it had when this call began, and the epoch within the call. An iterator has its
            own order.
        validation_data : (features, labels), (features, labels, weights), DataSet or iterator, optional
            Scored after every epoch, see `History`; `batch_size` examples at once.
        class_weight : dict of class -> weight, or "balanced", optional
            Multiplies the loss of the examples of that class, named by number or text; 1 for others. "balanced" gives
            n / (classes that occur * examples of the class), of the arrays that are trained on. Of several outputs
            "balanced", or a dict of an output's name -> one of these.
        sample_weight : array ``[N]``, for time steps also ``[N, T]``, optional
            Multiplies the loss of every example. Not with an iterator: put weights into the masks of its labels.
        validation_split : float, optional
            The share of the examples, the last ones before any shuffling, that is validated on instead of trained on,
            with their weights; of arrays, a DataSet or a MultiDataSet. As in Keras n - floor(n * (1 - share)) of them.
        patience : int, optional
            End training after so many epochs in a row in which `monitor` has not become better.
        restore_best : bool
            At the end put the parameters of the best epoch in the place of the last one's, whatever has ended training
            but an error or Ctrl-C. The updater's state and the counters stay as they are, as in Keras.
        monitor : str, optional
            The column of the `History` for these two: "score", with data to validate on "validation_score" (then the
            default), "validation_accuracy", or one of the metrics.
        metrics : str, function or sequence of them, or dict of an output's name -> these
            Computed on the data to validate on after every epoch, see `nn.networks.metrics.Metrics`.
        loss_weights : dict of an output's name -> weight, or sequence with one for every output, optional
            Multiplies the losses of the outputs, and so their gradients and parts of the scores, those of validation
            too. For this call only: files do not have them, nor has `score`.
        shards : int, optional
            Cut every minibatch into so many shards, at most 256, whose gradients are added in a fixed order: the same
            bits whatever ND_NUM_THREADS is. Without it as many parts as are fast. Random numbers are those of the whole
            minibatch.

        Returns
        -------
        History
            Also `network.history`.

        Raises
        ------
        DataError
            The iterator is empty, or labels are missing; or it cannot go on where a checkpoint's stood.
        ConfigurationError
            A checkpoint was written while another kind of data was fitted, or arguments do not go together.
        ShapeError, DTypeError
            The data do not fit the network.
        NumericError
            The score or the gradient is not finite; parameters, updater state and counters are as they were before
            that minibatch.

        Notes
        -----
        Weights go into the labels' mask: the score is the weighted sum of the examples' losses divided by their number
        (not by the sum of weights), and the gradient is its derivative. Ctrl-C comes at once, only never within an
        update: it is held back to the update's end, and what is saved then goes on by `load_checkpoint` and this method
        as if nothing had come. `stop_training` ends after a minibatch. A network without parameters is initialised, as
        in Java. Source: DL4J ``MultiLayerNetwork.fit``; what follows `epochs` is not in Java.
        """
        if not self.is_init_called():
            self.init()
        if type(labels) is int and not hasattr(data, "shape"):
            labels, epochs = None, labels
        if labels_mask:
            data, labels, epochs = masked(self, "fit", data, labels, epochs, labels_mask), None, 1
        if type(epochs) is not int or epochs < 0:
            epochs = converted("fit", "epochs", _EPOCHS, epochs, 1)
        settings = FitSettings(
            batch_size, shuffle, validation_data, class_weight, sample_weight, validation_split or None, patience,
            restore_best, monitor, metrics, loss_weights, shards,
        )  # fmt: skip
        training, base = Training(self, data, labels, epochs, settings), self.conf.base  # type: ignore[arg-type]
        early = base.pretrain or not base.backprop
        return self._pretrained_first(training) if early else training.run()  # type: ignore[attr-defined]

    @checked
    def stop_training(self, reason: str = "") -> None:
        """End the call of `fit` that runs after the minibatch that it is at: for listeners, in any hook.

        Early stopping ends so too, and says why in its result.

        The epoch ends as usual if that was its last minibatch; otherwise it is not counted. Listeners hear
        `on_fit_end` and are closed, fit returns, and `History.stopped` is the reason. A later fit is a new call; an
        iterator goes on where it stands, as always.

        Raises
        ------
        ConfigurationError
            No call of fit runs.
        """
        fits = self.engine.progress
        if fits.call is None and not fits.stoppable:
            raise nd.ConfigurationError(
                "stop_training: must be called while fit runs, from a listener, got no running fit. Leave your own "
                "loop instead."
            )
        fits.stop_reason = reason

    @contextmanager
    @called
    def stoppable(self) -> Iterator[Callable[[], str | None]]:
        """Let listeners call `stop_training` in a loop around `fit_batch`; yield a function that returns the reason.

        Examples
        --------
        ::

            with net.stoppable() as stop_reason:
                while stop_reason() is None:
                    net.fit_batch(next(batches))
        """
        fits = self.engine.progress
        fits.stoppable, fits.stop_reason = True, None
        try:
            yield lambda: fits.stop_reason
        finally:
            fits.stoppable = False

    @checked
    def own_loop(self, data: object, class_weight: Mapping[Any, object] | None = None) -> OwnLoop:
        """Begin a loop around `fit_batch` over an iterator, with a `history` as fit has; see `OwnLoop`."""
        from .own_loop import OwnLoop

        return OwnLoop(self, data, class_weight)  # type: ignore[arg-type]

    def _begin_series(self, data: object) -> list[StepInput]:
        """Set a minibatch; return its segments. As in Java truncated backprop clears the stored state first."""
        engine = self.engine
        step = engine.step_on(data)
        self.batch_size = step.examples
        segments = engine.segments(step)
        if self.conf.backprop_type != BackpropType.STANDARD:
            engine.stored = None
        return segments

    def _log_default_updater(self) -> None:
        """Say on the log, before the first step, where nobody has chosen an updater."""
        if self.iteration_count:
            return
        confs = [getattr(node.conf, "innermost", node.conf) for node in self.conf.nodes]
        searches = self.conf.optimization_algo != OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT  # along lines
        default = any(getattr(conf, "updater", None) is JAVAS_DEFAULT for conf in confs)
        if default and not searches:
            _LOG.warning(
                "%s: no updater was set, so it trains with Java's default, %r, which is slow. Say "
                "NeuralNetConfiguration(updater='adam'), or updater=Adam(0.001).",
                type(self).__name__,
                JAVAS_DEFAULT,
            )

    def _begin_fit(self, call: Training) -> None:
        """Let a call of fit be the one that runs; raise ConfigurationError while another one does."""
        with self.lock:
            fits = self.engine.progress
            if fits.call is not None or fits.of_layer is not None:
                raise second_call("fit")
            fits.call, fits.thread = call, threading.get_ident()

    def _end_fit(self, call: Training) -> None:
        """Let no call of fit run any more, if it is that one."""
        fits = self.engine.progress
        if fits.call is call:
            fits.call = None

    def fit_batch(self, data: object, labels: object = None) -> None:
        """Train on one minibatch: a DataSet or a MultiDataSet, or features and labels, as `fit` takes them.

        Raises
        ------
        DTypeError
            It is neither.
        ConfigurationError
            A call of fit runs.
        """
        engine = self.engine
        if engine.solver is None:
            self._check_losses()
            self._log_default_updater()
        learn = self.iteration_count == 0
        usual = labels is None and isinstance(data, DataSet) and bool(data.multi.labels)
        who = "fit_batch"
        data = engine.formed(data, who, learn) if usual else minibatch(self, who, data, labels, learn)
        fits = engine.progress
        with engine.lock, Restoring(), in_force(engine.vectors.backend, self.random):
            if fits.call is not None or fits.of_layer is not None:
                raise second_call("fit_batch")
            if fits.awaited is not None or fits.last.within:
                fits.forget()
            segments = self._begin_series(data)
            last, solver = len(segments) - 1, self._current_solver()
            for number, segment in enumerate(segments):
                try:
                    result = solver.optimizer.optimize(solver.iterations, engine.carrying(segment, number))
                except nd.NumericError as error:
                    from .finiteness import located

                    raise located(error, (data,), self.dtype) from error
                engine.state = () if number == last or result is None else result.state

    @checked
    def end_epoch(self, count: bool = True) -> None:
        """Tell the listeners that an epoch is over and, by default, count it: for own loops around `fit_batch`."""
        fits = self.engine.progress
        fits.epoch_over = True
        try:
            for listener in self.listeners:
                listener.on_epoch_end(self)
        finally:
            fits.epoch_over = False
        self.epoch_count += int(count)

    # ---- learning rates

    def set_learning_rate(self, *rate: float | Schedule | int | str | Mapping[int | str, float | Schedule]) -> None:
        """Change the learning rate of all layers, or of one, also in the middle of `fit`.

        Parameters
        ----------
        *rate
            A number or a Schedule for all layers; or a layer's number, in a graph its name, and what it gets; or a
            dict of both.

        Raises
        ------
        ConfigurationError
            There is no such layer, its updater has no learning rate, or the rate is no finite number.

        Notes
        -----
        The updaters' state stays, steps that were recorded or captured too where the layers' rates stay alike. As in
        Java a `bias_updater` keeps its own rate. Source: DL4J ``MultiLayerNetwork.setLearningRate``. Differs: Java
        says nothing where there is no rate to be changed.
        """
        self.engine.check_made()
        confs = [node.conf for node in self.conf.nodes]
        for number, value in self._rates_of_layers(rate).items():
            if not self._has_rate(number):
                raise nd.ConfigurationError(
                    f"set_learning_rate: {self.conf.nodes[number].label} must have an updater with a learning rate, "
                    f"got {getattr(confs[number], 'updater', None)!r}."
                )
            confs[number] = replace(confs[number], updater=replace(confs[number].updater, learning_rate=value))
        self.conf = self.conf.with_confs(confs)
        engine = self.engine
        if engine.solver is not None:  # which keeps what it has learned of the objective
            engine.solver.conf = self.conf
        with Restoring(), engine.on_backend():
            engine.vectors.set_updaters(self.conf)

    def _rates_of_layers(self, rate: tuple[Any, ...]) -> dict[int, object]:
        """Return node -> rate for the arguments of `set_learning_rate`, at least one."""
        if len(rate) == 1 and not isinstance(rate[0], Mapping):
            rates = {number: rate[0] for number in range(len(self.conf.nodes)) if self._has_rate(number)}
            if not rates:
                raise nd.ConfigurationError(
                    "set_learning_rate: a layer must have a learning rate, got a network without."
                )
            return rates
        if len(rate) not in (1, 2):
            raise nd.ConfigurationError(f"set_learning_rate: expected a rate, or a layer and a rate, got {rate!r}.")
        pairs = tuple(rate[0].items()) if len(rate) == 1 else (rate,)
        if not pairs:
            raise nd.ConfigurationError("set_learning_rate: expected a rate for a layer, got an empty dict.")
        return {self._checked_layer("set_learning_rate", layer): value for layer, value in pairs}

    def get_learning_rate(self, layer: int | str) -> float | None:
        """Return the learning rate of a layer's weights now, None where it has none; see `set_learning_rate`."""
        number = self._checked_layer("get_learning_rate", layer)
        if not self._has_rate(number):
            return None
        updater = self.conf.nodes[number].conf
        return updater.updater.learning_rate_at(self.iteration_count, self.epoch_count)

    def learning_rates(self) -> dict[int | str, float | None]:
        """Return the learning rates of all layers now, by their numbers, in a graph by their names."""
        return {layer: self.get_learning_rate(layer) for layer in self._layer_keys()}

    def _has_rate(self, number: int) -> bool:
        return hasattr(getattr(self.conf.nodes[number].conf, "updater", None), "learning_rate")

    def _layer_keys(self) -> Sequence[int | str]:
        """Return what layers are called by: their numbers, in a graph their names."""
        raise NotImplementedError

    def _checked_layer(self, who: str, layer: object) -> int:
        """Return the number of the node of a layer; raise ConfigurationError if there is no such one."""
        raise NotImplementedError
