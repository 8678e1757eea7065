"""The loss that a solver says: the mean over its last iterations."""

from __future__ import annotations

from nd import ConfigurationError


class SmoothedLoss:
    """The mean of the losses of the last `average_loss` iterations, or of as many as there were.

    Parameters
    ----------
    average_loss : int
        Iterations, >= 1.
    start : int
        The first iteration whose loss is added.

    Raises
    ------
    ConfigurationError
        `average_loss` is less than 1.

    Attributes
    ----------
    value : float
        0 before the first loss.

    Notes
    -----
    While there are n <= average_loss losses: value = ((n - 1) value + loss) / n; then each loss takes the place of the
    one that is `average_loss` iterations old: value += (loss - old) / average_loss. A solver begins anew in each call
    that takes steps. Source: BVLC Caffe, solver.cpp. Differs: computed in double precision, in Caffe in that of the
    net, where a long run adds up rounding errors.
    """

    def __init__(self, average_loss: int = 1, start: int = 0) -> None:
        if average_loss < 1:
            raise ConfigurationError(f"solver: average_loss must be >= 1, got {average_loss!r}.")
        self._most, self._start = average_loss, start
        self._losses: list[float] = []
        self.value = 0.0

    def add(self, loss: float, iteration: int) -> float:
        """Take the loss of an iteration; return the mean."""
        if len(self._losses) < self._most:
            self._losses.append(loss)
            count = len(self._losses)
            self.value = (self.value * (count - 1) + loss) / count
        else:
            place = (iteration - self._start) % self._most
            self.value += (loss - self._losses[place]) / self._most
            self._losses[place] = loss
        return self.value
