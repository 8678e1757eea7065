"""The loop of fit: epochs, minibatches, waiting for data, listeners, the progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset import AsyncDataSetIterator, DataSet, DataSetIterator, ExistingDataSetIterator
from optimize import ProgressBarListener, Solver

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
            try:
                self._fit_single(solver, self.single) if self.single is not None else self._fit_epochs(solver)
            except BaseException:
                solver.abandon()
                raise

    def _progress_bar(self) -> list[ProgressBarListener]:
        """A bar for iterators, on a terminal, unless the user brought one."""
        shown = any(isinstance(listener, ProgressBarListener) for listener in self.network.listeners)
        if self.single is not None or shown or not sys.stderr.isatty():
            return []
        return [ProgressBarListener(self._batches(), self.epochs)]

    def _batches(self) -> int | None:
        """How many minibatches an epoch has, None where the iterator cannot tell."""
        try:
            return len(self.iterator)  # type: ignore[arg-type]
        except TypeError:
            return None

    def _fit_single(self, solver: Solver, batch: DataSet) -> None:
        for _ in range(self.epochs):
            self.network._set_batch(batch)
            self.network._optimize(solver)
        solver.finish()

    def _fit_epochs(self, solver: Solver) -> None:
        network = self.network
        with ExitStack() as stack:
            source: Any = self.iterator
            if source.async_supported():
                source = stack.enter_context(AsyncDataSetIterator(source))
            for number in range(self.epochs):
                if not source.has_next() and (number or source.reset_supported()):
                    source.reset()
                if not source.has_next():
                    raise nd.DataError("fit: the iterator must have at least one minibatch, got none.")
                for listener in network.listeners:
                    listener.on_epoch_start(network)
                self._fit_batches(solver, source)
                solver.finish()
                for listener in network.listeners:
                    listener.on_epoch_end(network)
                network.epoch_count += 1

    def _fit_batches(self, solver: Solver, source: Any) -> None:
        network = self.network
        while True:
            asked = time.perf_counter()
            if not source.has_next():
                return
            batch = source.next()
            network.last_etl_ms = 1000.0 * (time.perf_counter() - asked)
            network._set_batch(batch)
            network._optimize(solver)
