"""The loop of early stopping."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

from nd import ConfigurationError, DataError, NumericError
from nd.arguments import checked
from nd.classes import ExplainedType, overridable
from nd.dataset import DataSet, ListDataSetIterator, MultiDataSet
from nd.dataset.iterator import MinibatchIterator, iterator_over, reading_ahead
from nd.dataset.minibatches import Minibatches
from nd.dataset.pre_processor import fetched, may_read_ahead
from nd.interrupts import Handling

from ..solver import Solver
from .api import EarlyStoppingListener, EarlyStoppingModel, StoppingCondition
from .configuration import EarlyStoppingConfiguration, EarlyStoppingResult, TerminationReason
from .epoch_conditions import improves
from .savers import LocalFileModelSaver

_LOG = logging.getLogger(__name__)


class _End(NamedTuple):
    """Why training ends."""

    reason: TerminationReason
    details: str
    error: Exception | None = None


class _PlainLoop:
    """The steps of a model that writes no history."""

    history = None

    def __init__(self, model: EarlyStoppingModel) -> None:
        self.fit_batch = model.fit_batch

    def end_epoch(self) -> None:
        """Do nothing."""


class _PretrainingLoop:
    """Steps of pretraining of one layer."""

    history = None

    def __init__(self, model: Any, layer: int | str) -> None:
        self._model, self._layer = model, layer

    def fit_batch(self, batch: object) -> None:
        """Pretrain on a minibatch; what listeners stop ends the whole."""
        stopped = self._model.pretrain_layer(self._layer, batch).stopped
        if stopped is not None:
            self._model.stop_training(stopped)

    def end_epoch(self) -> None:
        """Do nothing."""


@overridable
class EarlyStoppingTrainer(metaclass=ExplainedType):
    """Trains a network epoch by epoch until a condition is met.

    Parameters
    ----------
    conf : EarlyStoppingConfiguration
    model : EarlyStoppingModel
        A network after `init`. It is trained itself; the best model is a copy.
    train_iterator : DataSetIterator, DataSet, (features, labels) or other iterable of those
        Reset before every epoch, the first included, if it can be. For a ComputationGraph also MultiDataSets.
    listener : EarlyStoppingListener, optional
    class_weight : dict of class -> weight, optional
        As of a network's `fit` with an iterator; of several outputs a dict of an output's name -> such a dict.

    Raises
    ------
    ConfigurationError
        One of them is something else.

    Notes
    -----
    For every epoch 0, 1, 2, ...: after every minibatch the iteration conditions are looked at. After the epoch, if it
    is a multiple of `evaluate_every_n_epochs`: the score is calculated; the model is kept if it is the first or better
    than the best one; then the epoch conditions are looked at, in their order. Score, saved models and epoch
    conditions see the model after the epoch's last step and, as in Java, before that epoch is counted: the best model's
    `epoch_count` is the number of its epoch, 0-based. Then it is counted.

    As `fit` does, this gives the network the names of the classes that the iterator knows, and a `history`.

    A listener's ``model.stop_training(reason)`` ends training as an iteration condition does, with the reason among
    the details. An error in a step ends training with `TerminationReason.ERROR`; Ctrl-C comes out of `fit`. Where a
    score or gradient is not finite, the step is not taken, and the iteration conditions decide on a score of NaN.

    Source: DL4J ``BaseEarlyStoppingTrainer``. Differs: the network's epochs count on from where they stood, in Java
    they begin at 0, and the epoch that ends training is counted too; any score is better than NaN; `on_completion` is
    called after an error too; a network that was saved before this training is never returned as the best.
    """

    @checked
    def __init__(
        self,
        conf: EarlyStoppingConfiguration,
        model: EarlyStoppingModel,
        train_iterator: DataSet | MultiDataSet | Iterable[Any],
        listener: EarlyStoppingListener | None = None,
        *,
        class_weight: Mapping[Any, Any] | None = None,
    ) -> None:
        self.conf, self.model, self.listener = conf, model, listener or EarlyStoppingListener()
        self._iterator = _as_iterator(train_iterator, model)
        self._class_weight = class_weight
        self._layer: int | str | None = None
        self._forget()

    def _forget(self) -> None:
        self._scores: dict[int, float] = {}
        self._best_epoch, self._best_score = -1, float("nan")
        self._stop_reason: Callable[[], str | None] = lambda: None

    def fit(self) -> EarlyStoppingResult:
        """Train; return the reason of the end, and the best model.

        Raises
        ------
        ConfigurationError
            The network has not been initialised.
        DataError
            The training data are empty, or can be read only once and are needed again.
        OSError
            A model cannot be saved.
        """
        self._forget()
        if isinstance(self.conf.model_saver, LocalFileModelSaver) and hasattr(self.model, "check_saveable"):
            self.model.check_saveable()  # now, not when hours have gone by
        self._loop = self._begin_loop()
        solver = Solver(self.model.conf, self.model, self.model.listeners)
        solver.finish()
        conditions: list[StoppingCondition] = [*self.conf.iteration_termination_conditions]
        for condition in [*conditions, *self.conf.epoch_termination_conditions]:
            condition.initialize()
        self.listener.on_start(self.conf, self.model)
        with Handling(), ExitStack() as stack:
            for listener in self.model.listeners:
                stack.callback(listener.close)
            source = self._iterator
            if may_read_ahead(source):
                source = stack.enter_context(reading_ahead(source))
            stack.push(lambda kind, error, traceback: solver.abandon() if error is not None else None)
            self._stop_reason = stack.enter_context(self.model.stoppable())
            result = self._run(source, solver)
            if result.error is None:
                for listener in self.model.listeners:
                    listener.on_fit_end(self.model)
        self.listener.on_completion(result)
        return result

    @checked
    def pretrain(self, layer: int | str = 0) -> EarlyStoppingResult:
        """Pretrain one layer in the place of training on labels; return the reason of the end, and the best model.

        Parameters
        ----------
        layer : int or str
            Number or name, see `MultiLayerNetwork.pretrain_layer`.

        Raises
        ------
        ConfigurationError, DataError, OSError
            As of `fit`; or the layer is none that is pretrained.

        Notes
        -----
        Iteration conditions are asked about the score of the reconstruction. Source: DL4J
        ``BaseEarlyStoppingTrainer.pretrain``, which pretrains the first layer.
        """
        self._layer = layer
        try:
            return self.fit()
        finally:
            self._layer = None

    def _begin_loop(self) -> Any:
        """Return what takes the steps; networks have one that knows of classes and writes a history."""
        if self._layer is not None:
            return _PretrainingLoop(self.model, self._layer)
        if hasattr(self.model, "own_loop"):
            return self.model.own_loop(self._iterator, self._class_weight)
        if self._class_weight is not None:
            raise ConfigurationError(
                f"EarlyStoppingTrainer: class_weight needs a network, got {type(self.model).__name__}. Leave it out."
            )
        return _PlainLoop(self.model)

    def _run(self, source: object, solver: Solver) -> EarlyStoppingResult:
        epoch = 0
        while True:
            end = self._epoch(source, solver, epoch)
            if end is not None:
                return self._result(end, epoch)
            _LOG.info("completed epoch %d", epoch)
            try:
                end = self._evaluated(epoch) if epoch % self.conf.evaluate_every_n_epochs == 0 else None
                end = end or self._stopped()
            finally:
                self.model.epoch_count += 1
            epoch += 1
            if end is not None:
                return self._result(end, epoch)

    def _epoch(self, source: Any, solver: Solver, epoch: int) -> _End | None:
        """Train on all minibatches; return the condition that ends training before or with the last of them."""
        if source.reset_supported() or epoch:
            source.reset()
        if not source.has_next():
            raise DataError("EarlyStoppingTrainer: the iterator must have at least one minibatch, got none.")
        for listener in self.model.listeners:
            listener.on_epoch_start(self.model)
        end = self._steps(source, solver)
        if end is not None and end.reason is TerminationReason.ERROR:
            return end
        over = not source.has_next()
        if over:
            self._loop.end_epoch()
            self.model.end_epoch(count=False)
        if end is not None and self.conf.save_last_model:
            self.conf.model_saver.save_latest_model(self.model, float("nan"))
        if end is not None and over:
            self.model.epoch_count += 1
        return end

    def _steps(self, source: object, solver: Solver) -> _End | None:
        end = self._stopped()
        try:
            while end is None and (batch := self._next(source)) is not None:
                self._loop.fit_batch(batch)
                end = self._iteration_end()
            solver.finish()
        except NumericError as error:
            # A condition that met the score first has ended training, and the device tells of the same step.
            end = end or self._iteration_end(error) or self._error_end(self._told(error))
        except Exception as error:
            return self._error_end(error)
        return end

    def _told(self, error: NumericError) -> NumericError:
        """Tell the listeners of the error; return it, or the one that a listener raises in its place."""
        try:
            for listener in self.model.listeners:
                listener.on_numeric_error(self.model, error)
        except NumericError as said:
            return said
        return error

    def _next(self, source: Any) -> DataSet | MultiDataSet | None:
        asked = time.perf_counter()
        if not source.has_next():
            return None
        batch = fetched(source, getattr(self.model, "random", None) if source.draws() else None)
        self.model.last_etl_ms = 1000.0 * (time.perf_counter() - asked)
        return batch

    def _iteration_end(self, error: NumericError | None = None) -> _End | None:
        """Ask the conditions, after a step or about one that could not be taken."""
        conditions = self.conf.iteration_termination_conditions
        score = float("nan")
        if error is None and any(condition.needs_score for condition in conditions):
            score = self.model.score()
        for condition in conditions:
            if condition.terminate(score):
                return _End(TerminationReason.ITERATION_TERMINATION, str(condition), error)
        return None if error is not None else self._stopped()

    def _stopped(self) -> _End | None:
        """Tell whether a listener has asked for the end."""
        reason = self._stop_reason()
        return None if reason is None else _End(TerminationReason.ITERATION_TERMINATION, f"stop_training({reason!r})")

    def _error_end(self, error: Exception) -> _End:
        _LOG.warning("training ended by an error", exc_info=error)
        return _End(TerminationReason.ERROR, f"{type(error).__name__}: {error}", error)

    def _evaluated(self, epoch: int) -> _End | None:
        """Calculate the score, keep models, ask the conditions."""
        conf, calculator = self.conf, self.conf.score_calculator
        minimize: bool = calculator.minimize_score  # type: ignore[union-attr]
        score = self._scores[epoch] = calculator.calculate_score(self.model)  # type: ignore[union-attr]
        _LOG.info("score after epoch %d: %s", epoch, score)
        if self._best_epoch < 0 or improves(score, self._best_score, minimize):
            self._best_epoch, self._best_score = epoch, score
            conf.model_saver.save_best_model(self.model, score)
        if conf.save_last_model:
            conf.model_saver.save_latest_model(self.model, score)
        self.listener.on_epoch(epoch, score, conf, self.model)
        for condition in conf.epoch_termination_conditions:
            if condition.terminate(epoch, score, minimize):
                return _End(TerminationReason.EPOCH_TERMINATION, str(condition))
        return None

    def _result(self, end: _End, total_epochs: int) -> EarlyStoppingResult:
        return EarlyStoppingResult(
            termination_reason=end.reason,
            termination_details=end.details,
            score_vs_epoch=self._scores,
            best_model_epoch=self._best_epoch,
            best_model_score=self._best_score,
            total_epochs=total_epochs,
            best_model=self.conf.model_saver.get_best_model() if self._best_epoch >= 0 else None,
            error=end.error,
            history=self._loop.history,
        )


def _as_iterator(data: Any, model: EarlyStoppingModel) -> MinibatchIterator[Any]:
    if isinstance(data, MinibatchIterator):
        return data
    if isinstance(data, DataSet):
        return ListDataSetIterator(data)
    if isinstance(data, (tuple, MultiDataSet)):
        data = [*Minibatches("EarlyStoppingTrainer", data)]
    else:
        Minibatches("EarlyStoppingTrainer", data)  # refuses what is none
    several = any(len(getattr(model.conf, name, ())) > 1 for name in ("input_names", "output_nodes"))
    return iterator_over(data, several)
