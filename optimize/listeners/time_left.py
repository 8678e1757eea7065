"""TimeIterationListener."""

from __future__ import annotations

import datetime
import time

from nd.arguments import Count, checked

from ..api import Listener
from .reporting import report


class TimeIterationListener(Listener):
    """Prints the time that training will still take, every `frequency` iterations.

    Parameters
    ----------
    total_iterations : int
        Of all of the training: epochs times minibatches per epoch. The network's own count says how many of them are
        done, also after a checkpoint was loaded.
    frequency : int
        Iterations between two lines.

    Attributes
    ----------
    remaining_seconds : float
        At the last line, by the mean time of the iterations since this listener heard its first; NaN before.

    Raises
    ------
    ConfigurationError
        A number is less than 1.

    Notes
    -----
    The first iteration, which may compile, is not in the mean. Source: DL4J ``TimeIterationListener``.
    """

    @checked
    def __init__(self, total_iterations: Count, frequency: Count = 1) -> None:
        self.total_iterations, self.frequency = total_iterations, frequency
        self.remaining_seconds = float("nan")
        self._since: float | None = None
        self._heard = 0

    def iteration_done(self, model: object, iteration: int, epoch: int) -> None:
        if self._since is None:
            self._since = time.monotonic()
            return
        self._heard += 1
        if self._heard % self.frequency:
            return
        left = max(0, self.total_iterations - iteration - 1)
        self.remaining_seconds = left * (time.monotonic() - self._since) / self._heard
        end = datetime.datetime.now().astimezone() + datetime.timedelta(seconds=self.remaining_seconds)
        report(
            f"iteration {iteration + 1} of {self.total_iterations}; remaining time: "
            f"{datetime.timedelta(seconds=round(self.remaining_seconds))}; end expected: {end:%Y-%m-%d %H:%M:%S}"
        )
