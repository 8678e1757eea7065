"""The loop of fit: epochs, minibatches, waiting for data, listeners, the progress bar."""

from __future__ import annotations

import math
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import shown
from nd.dataset import DataSet
from nd.dataset.iterator import MinibatchIterator, State, position_of, reading_ahead
from nd.dataset.pre_processor import may_read_ahead
from nd.interrupts import Finally, Handling, Held
from nd.state import Restoring, in_force
from optimize import Listener, ProgressBarListener

from .history import History
from .minibatch import FitSettings, training_data
from .progress import Draws, Progress

if TYPE_CHECKING:
    from optimize.api import ConvexOptimizer

    from .early_stopping import BestEpoch
    from .network import Network
    from .validation import Validation

NOTHING_MORE = FitSettings()


class Training:
    """One call of fit.

    Parameters
    ----------
    network : Network
    data, labels, epochs
        As in `MultiLayerNetwork.fit`.
    settings : FitSettings
    """

    def __init__(
        self, network: Network, data: Any, labels: object, epochs: int, settings: FitSettings = NOTHING_MORE
    ) -> None:
        self.network, self.epochs = network, epochs
        self._given = data
        self._done = 0  # epochs
        self._complete = False
        self._left: Progress | None = None  # where it stood when it ended
        self._epoch: int | None = None  # the network's count when the epoch began that is trained on
        self._began = network.iteration_count  # at the first step on the minibatch that is trained on, or comes next
        self._before: State | nd.DataError | None = None  # where the source stood before that minibatch
        self._draws: Draws | None = None  # for an iterator's minibatches
        self._steps = 1  # on every minibatch, or segment of its series
        self._segment = 0  # of the minibatch that is trained on: the first without series in segments
        self._segments = 1
        self._source: MinibatchIterator[Any] | None = None
        self._data = training_data(network, data, labels, settings)
        self.single, self.iterator = self._data.single, self._data.iterator
        self._loss_weights: tuple[float, ...] = ()
        if settings.loss_weights is not None:
            from .output_weights import loss_weights

            self._loss_weights = loss_weights(network, settings.loss_weights)
        self._shards = settings.shards or 0
        self._validation: Validation | None = None
        measured = settings.metrics is not NOTHING_MORE.metrics
        if self._data.held_out is not None or settings.validation_data is not None or measured:
            from .validation import validation_of

            self._validation = validation_of(network, settings, self._data.held_out, self._loss_weights)
        self._best: BestEpoch | None = None
        if settings.patience is not None or settings.restore_best or settings.monitor is not None:
            from .early_stopping import BestEpoch

            columns = {} if self._validation is None else self._validation.minimized
            self._best = BestEpoch(network, settings, {"score": True, **columns})
        self._listeners: tuple[Listener, ...] | None = None  # those that there were before
        self.history, self._updater = History(), network.updater
        self._noted = 0  # epochs of the call whose numbers are all in the history
        self._added = -1  # the network's count when the history had its last score

    def run(self) -> History:
        """Train; however it ends, listeners are closed and the progress is written down.

        Ctrl-C, which may come at any moment, waits from the end of the training on.
        """
        network, held = self.network, Held()
        with (
            Finally(partial(network._end_fit, self)),
            Finally(self._close),
            Handling(),
            Restoring(),
            Finally(held.__exit__),
            in_force(network.backend, network.random),
        ):
            network._begin_fit(self)
            self._began = network.iteration_count  # another thread may have trained since this was made
            self._listeners = tuple(network.listeners)
            network._check_losses()
            network._log_default_updater()
            network.listeners.extend(self._progress_bar())
            with Finally(self._leave), Finally(held.begin):  # an interrupt as that begins finds the former to be done
                solver = network._current_solver()
                self._steps = solver.iterations
                self._train(solver.optimizer)
        fits = network.engine.progress
        if fits.last is self._left:  # else another thread has trained since
            fits.last = self._ended(self._left)
        return self.history

    def _train(self, optimizer: ConvexOptimizer) -> None:
        network, fits = self.network, self.network.engine.progress
        fits.stop_reason = None
        network.history = self.history
        try:
            self._fit_single(optimizer, self.single) if self.single is not None else self._fit_epochs(optimizer)
        except nd.NumericError as error:
            for listener in network.listeners:
                listener.on_numeric_error(network, error)
            raise
        except BaseException:
            optimizer.abandon()
            raise
        if self._best is not None:
            self._best.go_back()
        self.history.stopped = fits.stop_reason
        self._complete = True
        for listener in network.listeners:
            listener.on_fit_end(network)

    def _close(self) -> None:
        """Take the progress bar away, and close all listeners, the last one first, whatever one of them raises."""
        if self._listeners is None:
            return
        network, listeners = self.network, tuple(self.network.listeners)
        with ExitStack() as stack:
            for listener in listeners:
                stack.callback(listener.close)
            network.listeners[:] = self._listeners

    def _leave(self) -> None:
        fits = self.network.engine.progress
        with Held():
            self._complete = False  # an error may still come: the call, continued, then trains nothing more
            if fits.call is not self:  # this was done, and another thread's call may run
                return
            self._left = self.progress()
            self.network.engine.state = ()
            fits.last, fits.call = self._left, None  # at the end: now another thread's call may begin

    def _progress_bar(self) -> list[ProgressBarListener]:
        """Return a bar for iterators, on a terminal, unless the user brought one."""
        shown = any(isinstance(listener, ProgressBarListener) for listener in self.network.listeners)
        if self.single is not None or shown or not sys.stderr.isatty():
            return []
        awaited = self.network.engine.progress.awaited
        try:
            length: int | None = len(self.iterator)  # type: ignore[arg-type]
        except TypeError:  # the iterator cannot tell
            length = None
        return [ProgressBarListener(length, self.epochs, epochs_done=awaited.epochs if awaited else 0)]

    # ---- progress

    def progress(self) -> Progress:
        """Return the progress that a checkpoint keeps: of minibatches that were trained on, not of those read ahead."""
        network = self.network
        taken = network.iteration_count - self._began
        optimizer = network._current_solver().optimizer
        segment_done = taken >= self._steps or (taken > 0 and optimizer.ended)
        minibatch_done = segment_done and self._segment + 1 >= self._segments
        over = self._epoch is not None and network.epoch_count + network.engine.progress.epoch_over > self._epoch
        position = self._before
        if minibatch_done and self._source is not None:
            position = position_of(self._source)
        accepted = optimizer.accepted
        # Into the next segment: after the last step of one, that step's state.
        carried = accepted.state if segment_done and accepted is not None else network.engine.state
        restorable = isinstance(position, dict)
        epochs = self._done + (over or (self.single is not None and minibatch_done))
        progress = Progress(
            fitting="iterator" if self.single is None else "minibatch",
            epochs=epochs,
            within=self._epoch is not None and not over,
            steps=0 if segment_done else max(0, taken),
            segment=0 if minibatch_done else self._segment + segment_done,
            state=() if minibatch_done else carried,
            iterator=position if restorable else None,  # type: ignore[arg-type]
            obstacle="" if restorable or position is None else str(position),
            iteration=network.iteration_count,
            random=network.random.get_state(),
            fetched=None if minibatch_done or self._draws is None else self._draws.before,
            scored=None if over else self._scored(minibatch_done and taken > 0),
            history=None if self._complete else self.history._before(min(epochs, self._noted)),
            best_epoch=None if self._best is None else self._best.epoch,
            best_params=None if self._best is None else self._best.params,
        )
        return self._ended(progress) if self._complete else progress

    def check_position(self) -> None:
        """Raise DataError where the iterator's `state` returns no dict, which no checkpoint could keep."""
        position = self._before
        if self._source is not None and not isinstance(position, (dict, nd.DataError)):
            raise nd.DataError(
                f"save_checkpoint: {type(self.iterator).__name__}.state must return a dict, got {shown(position)}. "
                "Return {'position': ...}, say, and read it in restore."
            )

    def _scored(self, stepped: bool) -> tuple[float, int] | None:
        """Return the sum of the scores of the epoch that runs, also of a minibatch that the history has not had yet."""
        network = self.network
        noted = self._done if self.single is None else self._noted
        if self.history._next_epoch > noted:  # closed, and the epoch was cut short
            return self.history._reopened()
        unscored = stepped and self._added != network.iteration_count
        with Restoring(), network.engine.on_backend():
            return self.history._scored(network._current_solver().optimizer.accepted if unscored else None)

    def _ended(self, progress: Progress) -> Progress:
        """Return the progress of a call that is over; an iterator that fit made itself is made anew by the next one."""
        position = None if self._data.cut else progress.iterator
        nothing: dict[str, Any] = dict.fromkeys(("scored", "history", "best_epoch", "best_params"))
        return replace(progress, fitting="", epochs=0, within=False, iterator=position, **nothing)

    def _resume(self) -> None:
        """Go on from the progress of a checkpoint."""
        network, awaited = self.network, self.network.engine.progress.awaited
        if awaited is None:
            return
        kind = "iterator" if self.single is None else "minibatch"
        if awaited.fitting not in ("", kind):
            raise nd.ConfigurationError(
                f"fit: the checkpoint was written while fit trained on one {awaited.fitting}, got one {kind}. "
                "To train on something else, read the network alone with nn.load(path)."
            )
        if self._source is not None and (awaited.fitting or not self._data.cut):
            self._restore(self._source, awaited)
        if awaited.fitting and awaited.random is not None and awaited.iteration == network.iteration_count:
            network.random.set_state(awaited.random)
            if self._draws is not None:
                self._draws.resume(awaited)
        steps_before = network.iteration_count - awaited.steps
        self._done, self._began, self._segment = awaited.epochs, steps_before, awaited.segment
        self._epoch = network.epoch_count if awaited.within else None
        self._resume_history(awaited)
        network.engine.progress.awaited = None

    def _resume_history(self, awaited: Progress) -> None:
        """Go on with the epochs that a checkpoint has, and know the best of them."""
        history = History(awaited.epochs, awaited.scored)
        if awaited.history is not None and awaited.fitting:
            history = awaited.history._before(awaited.history._next_epoch, awaited.scored)
        self._noted = history._next_epoch
        if self._best is not None:
            self._best.resume(awaited, history)
        for name in () if self._validation is None else self._validation.minimized:
            values = history._column(name)  # NaN where the call before had no such column
            values += [math.nan] * (len(history) - len(values))
        self.history = self.network.history = history

    @staticmethod
    def _restore(source: MinibatchIterator[Any], awaited: Progress) -> None:
        if awaited.iterator is None and awaited.within:
            raise nd.DataError(
                "fit: the checkpoint was written within an epoch, and its iterator could not say where it stood "
                f"({awaited.obstacle}) To begin an epoch instead, read the network with nn.load(path)."
            )
        if awaited.iterator is not None:
            source.restore(awaited.iterator)

    # ---- the loops

    def _fit_single(self, optimizer: ConvexOptimizer, batch: object) -> None:
        self._resume()
        fits = self.network.engine.progress
        if self._noted < self._done:  # a checkpoint from after the last step of an epoch
            self._note_epoch(optimizer)
        while self._done < self.epochs and fits.stop_reason is None:
            self._train_on(batch, optimizer)
            self._note_epoch(optimizer)
            # in one line and without a call between, here and below: Ctrl-C finds both changed, or none
            self._done, self._began, self._segment = self._done + 1, self.network.iteration_count, 0
        optimizer.finish()

    def _train_on(self, batch: object, optimizer: ConvexOptimizer) -> None:
        network, engine = self.network, self.network.engine
        segments = network._begin_series(batch)
        if self._loss_weights:
            segments = [replace(segment, loss_weights=self._loss_weights) for segment in segments]
        self._segments = len(segments)
        for segment in segments[self._segment :]:
            segment = engine.carrying(segment.in_shards(self._shards), self._segment)
            try:
                steps = self._steps - (network.iteration_count - self._began)
                result = optimizer.optimize(steps, segment) or engine.last
            except nd.NumericError as error:
                raise self._located(error, batch) from error
            self.history._add_step(result)  # type: ignore[arg-type]
            self._added = network.iteration_count
            if self._segment + 1 < self._segments:
                state = result.state  # type: ignore[union-attr]
                engine.state, self._began, self._segment = state, network.iteration_count, self._segment + 1

    def _located(self, error: nd.NumericError, batch: object) -> nd.NumericError:
        """Return the error of a step, with the place in the data that is to blame, if it is these."""
        from .finiteness import located  # which programs without NaN do not need

        network = self.network
        with network.engine.on_backend():
            whole = DataSet(self._given) if hasattr(self._given, "shape") else self._given
            given = [whole] if isinstance(whole, network._data_types) else []
            return located(error, (*given, batch), network.dtype)

    def _note_epoch(self, optimizer: ConvexOptimizer) -> None:
        """Write down the scores of an epoch; to validate, and to know the best one, wait for its last step."""
        network = self.network
        self.history._end_epoch(self._updater.learning_rate_at(network.iteration_count - 1, network.epoch_count))
        if self._validation is not None or self._best is not None:
            optimizer.finish()
        if self._validation is not None:
            self._validation.add_to(self.history)
        self.history._level()
        if self._best is not None:
            self._best.note(self.history)
        self._noted = self.history._next_epoch

    def _fit_epochs(self, optimizer: ConvexOptimizer) -> None:
        iterator: Any = self.iterator
        with ExitStack() as stack:
            draws, source = Draws(self.network), iterator
            self._draws = draws
            if may_read_ahead(source):
                source = stack.enter_context(reading_ahead(source))
            self._before, self._source = position_of(source), source
            self._resume()
            self._before = position_of(source)
            fits = self.network.engine.progress
            while self._done < self.epochs and fits.stop_reason is None:
                self._fit_epoch(optimizer, source, draws)
        if self._epoch is None or source is iterator:
            return
        # an iterator that was read ahead goes behind the last minibatch that was trained on, or to its start
        if isinstance(self._before, dict):
            iterator.restore(self._before)
        elif iterator.reset_supported():
            iterator.reset()

    def _fit_epoch(self, optimizer: ConvexOptimizer, source: MinibatchIterator[Any], draws: Draws) -> None:
        network = self.network
        if self._epoch is None:
            if not source.has_next() and (self._done or source.reset_supported()):
                source.reset()
            if not source.has_next():
                raise nd.DataError("fit: the iterator must have at least one minibatch, got none.")
            self._before, self._epoch = position_of(source), network.epoch_count
        for listener in network.listeners:
            listener.on_epoch_start(network)
        complete = self._fit_batches(optimizer, source, draws)
        optimizer.finish()
        if not complete:
            return
        self._note_epoch(optimizer)
        network.end_epoch()
        self._done, self._epoch = self._done + 1, None

    def _fit_batches(self, optimizer: ConvexOptimizer, source: MinibatchIterator[Any], draws: Draws) -> bool:
        """Train on the rest of an epoch; tell whether its last minibatch was reached."""
        network, engine = self.network, self.network.engine
        while True:
            asked = time.perf_counter()
            if not source.has_next():
                return True
            if engine.progress.stop_reason is not None:
                return False
            batch = draws.fetch(source)
            if not isinstance(batch, network._data_types):
                network._check_minibatch("fit", batch)
            network.last_etl_ms = 1000.0 * (time.perf_counter() - asked)
            batch = engine.formed(batch, "fit", learn=not network.iteration_count)
            self._train_on(self._data.weighted(network, batch), optimizer)
            position, draws.before = position_of(source), None
            self._before, self._began, self._segment = position, network.iteration_count, 0
