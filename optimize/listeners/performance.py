"""PerformanceListener."""

from __future__ import annotations

import time

from nd.arguments import Count, checked

from ..api import Listener, Model
from .reporting import report

_WAITING_SHARE = 0.2  # of an iteration spent waiting for data, from which on it is worth saying so


class PerformanceListener(Listener):
    """Prints throughput and the time that training waited for data, every `frequency` iterations.

    Parameters
    ----------
    frequency : int
        Iterations between two lines.
    report_score : bool
        Add the score; on a GPU this waits for the device.

    Attributes
    ----------
    samples_per_second, batches_per_second : float
        Over the last `frequency` iterations; NaN before the first line.
    etl_ms : float
        Mean wait for a minibatch, milliseconds per iteration, over the same.

    Notes
    -----
    Source: DL4J ``PerformanceListener``. Differs: figures are means over the window, not of its last iteration;
    a line comes every 100 iterations where no frequency is given, which Java asks for (its Builder has 1).
    """

    @checked
    def __init__(self, frequency: Count = 100, report_score: bool = False) -> None:
        self.frequency, self.report_score = frequency, report_score
        self.samples_per_second = self.batches_per_second = self.etl_ms = float("nan")
        self._restart()

    def _restart(self) -> None:
        self._since, self._batches, self._samples, self._waited = time.perf_counter(), 0, 0, 0.0

    def on_epoch_start(self, model: object) -> None:
        self._restart()

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        self._batches += 1
        self._samples += model.batch_size
        self._waited += model.last_etl_ms
        if self._batches < self.frequency:
            return
        seconds = max(time.perf_counter() - self._since, 1e-9)
        self.samples_per_second, self.batches_per_second = self._samples / seconds, self._batches / seconds
        self.etl_ms = self._waited / self._batches
        iteration_ms = 1000.0 * seconds / self._batches
        waits = " (training waits for data)" if self.etl_ms > _WAITING_SHARE * iteration_ms else ""
        score = f"; score: {model.score():.6g}" if self.report_score else ""
        report(
            f"iteration {iteration}; ETL: {self.etl_ms:.2f} ms{waits}; iteration time: {iteration_ms:.2f} ms; "
            f"samples/sec: {self.samples_per_second:.1f}; batches/sec: {self.batches_per_second:.2f}{score}"
        )
        self._restart()
