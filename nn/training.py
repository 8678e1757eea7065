"""The loop of fit: epochs, minibatches, waiting for data, listeners, the progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset import AsyncDataSetIterator, DataSet, DataSetIterator, ExistingDataSetIterator
from nd.dataset.iterator import State, position_of
from optimize import ProgressBarListener, Solver

from .progress import Progress

if TYPE_CHECKING:
    from .multilayer import MultiLayerNetwork


class Training:
    """One call of fit.

    Parameters
    ----------
    network : MultiLayerNetwork
    data, labels, epochs
        As in `MultiLayerNetwork.fit`.
    """

    def __init__(self, network: MultiLayerNetwork, data: Any, labels: Any, epochs: int) -> None:
        if not hasattr(epochs, "__index__") or epochs < 0:
            raise nd.ConfigurationError(f"fit: epochs must be an integer >= 0, got {epochs!r}.")
        if isinstance(data, DataSetIterator) and labels is not None:
            raise nd.DTypeError(f"fit: an iterator brings its labels, got {labels!r} beside it. Say epochs={labels!r}.")
        self.network, self.epochs = network, epochs
        self._done = 0  # epochs
        self._within = self._ended = self._complete = False  # an epoch has begun; is over; the call is over
        self._steps = 0  # taken on the minibatch that comes next, by the run before
        self._began: int | None = None  # iteration at the first step on the minibatch that is trained on
        self._before: State | nd.DataError | None = None  # where the source stood before that minibatch
        self._source: DataSetIterator | None = None
        self.single: DataSet | None = None
        if isinstance(data, DataSet):
            self.single = data
        elif labels is not None:
            self.single = DataSet(data, labels)
        elif hasattr(data, "shape"):
            raise nd.DataError("fit: features need labels, got features alone. Call fit(features, labels).")
        elif not isinstance(data, Iterable):
            raise nd.DTypeError(f"fit: expected features, a DataSet or an iterator of them, got {data!r}.")
        else:
            self.iterator = data if isinstance(data, DataSetIterator) else ExistingDataSetIterator(data)

    def run(self) -> None:
        """Train; listeners are closed however it ends."""
        network = self.network
        with ExitStack() as stack:
            stack.callback(network.set_listeners, *network.listeners)
            network.add_listeners(*self._progress_bar())
            for listener in network.listeners:
                stack.callback(listener.close)
            stack.enter_context(nd.use_backend(network._backend))
            solver = network._made_solver()
            stack.callback(self._leave)
            network._progress.call = self
            self._fit(solver)
            self._complete = True
            for listener in network.listeners:
                listener.on_fit_end(network)

    def _fit(self, solver: Solver) -> None:
        try:
            self._fit_single(solver, self.single) if self.single is not None else self._fit_epochs(solver)
        except nd.NumericError as error:
            for listener in self.network.listeners:
                listener.on_numeric_error(self.network, error)
            raise
        except BaseException:
            solver.abandon()
            raise

    def _leave(self) -> None:
        fits = self.network._progress
        fits.last, fits.call = self.progress(), None

    def _progress_bar(self) -> list[ProgressBarListener]:
        """A bar for iterators, on a terminal, unless the user brought one."""
        shown = any(isinstance(listener, ProgressBarListener) for listener in self.network.listeners)
        if self.single is not None or shown or not sys.stderr.isatty():
            return []
        awaited = self.network._progress.awaited
        return [ProgressBarListener(self._batches(), self.epochs, epochs_done=awaited.epochs if awaited else 0)]

    def _batches(self) -> int | None:
        """How many minibatches an epoch has, None where the iterator cannot tell."""
        try:
            return len(self.iterator)  # type: ignore[arg-type]
        except TypeError:
            return None

    # ---- where it stands

    def progress(self) -> Progress:
        """Return what a checkpoint keeps: what was trained on, not what was read ahead."""
        network = self.network
        taken = 0 if self._began is None else network.iteration_count - self._began
        whole = self._began is None or network._made_solver().is_done(taken)
        position = self._before
        if whole and self._source is not None:
            position = position_of(self._source)
        known = isinstance(position, dict)
        found = Progress(
            fitting="iterator" if self.single is None else "minibatch",
            epochs=self._done + (self._ended or (self.single is not None and self._began is not None and whole)),
            within=self._within and not self._ended,
            steps=0 if whole else max(0, taken),
            iterator=position if known else None,  # type: ignore[arg-type]
            obstacle="" if known or position is None else str(position),
            iteration=network.iteration_count,
            random=nd.random.get_random().get_state(),
        )
        return replace(found, fitting="", epochs=0, within=False) if self._complete else found

    def _resume(self) -> None:
        """Go on where a checkpoint's call stood."""
        network, found = self.network, self.network._progress.awaited
        if found is None:
            return
        kind = "iterator" if self.single is None else "minibatch"
        if found.fitting not in ("", kind):
            raise nd.ConfigurationError(
                f"fit: the checkpoint was written while fit trained on one {found.fitting}, got one {kind}. "
                "To train on something else, read the network alone with MultiLayerNetwork.load(path)."
            )
        if self._source is not None:
            self._restore(self._source, found)
        if found.random is not None and found.iteration == network.iteration_count:
            nd.random.get_random().set_state(found.random)
        self._done, self._within, self._steps = found.epochs, found.within, found.steps
        network._progress.awaited = None

    @staticmethod
    def _restore(source: DataSetIterator, found: Progress) -> None:
        if found.iterator is None and found.within:
            raise nd.DataError(
                "fit: the checkpoint was written within an epoch, and its iterator could not say where it stood "
                f"({found.obstacle}) To begin an epoch instead, read the network with MultiLayerNetwork.load(path)."
            )
        if found.iterator is not None:
            source.restore(found.iterator)

    # ---- the loops

    def _fit_single(self, solver: Solver, batch: DataSet) -> None:
        self._resume()
        while self._done < self.epochs:
            self._train_on(batch, solver)
            self._done += 1
        solver.finish()

    def _train_on(self, batch: DataSet, solver: Solver) -> None:
        network = self.network
        self._began = network.iteration_count - self._steps
        network._set_batch(batch)
        network._optimize(solver, self._steps)
        self._began, self._steps = None, 0

    def _fit_epochs(self, solver: Solver) -> None:
        with ExitStack() as stack:
            source: Any = self.iterator
            if source.async_supported():
                source = stack.enter_context(AsyncDataSetIterator(source))
            self._source = source
            self._resume()
            while self._done < self.epochs:
                self._fit_epoch(solver, source)

    def _fit_epoch(self, solver: Solver, source: DataSetIterator) -> None:
        network = self.network
        if not self._within:
            if not source.has_next() and (self._done or source.reset_supported()):
                source.reset()
            if not source.has_next():
                raise nd.DataError("fit: the iterator must have at least one minibatch, got none.")
        self._within = True
        for listener in network.listeners:
            listener.on_epoch_start(network)
        self._fit_batches(solver, source)
        solver.finish()
        self._ended = True
        network.end_epoch()
        self._done += 1
        self._within = self._ended = False

    def _fit_batches(self, solver: Solver, source: DataSetIterator) -> None:
        network = self.network
        while True:
            self._before = position_of(source)
            asked = time.perf_counter()
            if not source.has_next():
                return
            batch = source.next()
            network.last_etl_ms = 1000.0 * (time.perf_counter() - asked)
            self._train_on(batch, solver)
