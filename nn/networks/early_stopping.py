"""`patience` and `restore_best` of fit: the best epoch, when training ends, and the parameters to go back to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import nd
from nd.checks import check_choice
from optimize.earlystopping.epoch_conditions import improves

if TYPE_CHECKING:
    from nd.typing import Array

    from .history import History
    from .minibatch import FitSettings
    from .network import Network
    from .progress import Progress


class BestEpoch:
    """Ends a call of fit after epochs without improvement, and goes back to the best one.

    Everything but the parameters follows from the `History`, so that a checkpoint, which has it, needs no more of this
    than those.

    Parameters
    ----------
    network : Network
    settings : FitSettings
    minimized : mapping of str -> bool
        Columns of the history that there will be -> whether less is better.

    Raises
    ------
    ChoiceError, ConfigurationError
        There is no such column to monitor, or nothing to do with it.
    """

    def __init__(self, network: Network, settings: FitSettings, minimized: Mapping[str, bool | None]) -> None:
        if settings.patience is None and not settings.restore_best:
            raise nd.ConfigurationError(
                f"fit: monitor goes with patience or restore_best, got {settings.monitor!r} without. Give one of them."
            )
        by_default = "validation_score" if "validation_score" in minimized else "score"
        self.monitor = check_choice("fit", "monitor", settings.monitor or by_default, minimized)
        if minimized[self.monitor] is None:
            raise nd.ConfigurationError(
                f"fit: monitor must say whether more or less is better, got {self.monitor!r}, a function. Let its name "
                "end in _score where more is better, and in _error or _loss where less is."
            )
        self._minimized = bool(minimized[self.monitor])
        self._network, self._patience, self._restores = network, settings.patience, settings.restore_best
        self.epoch: int | None = None  # whose parameters are kept
        self.params: Array | None = None

    def note(self, history: History) -> None:
        """See the epoch that was closed: keep its parameters, or end training."""
        history.monitor = self.monitor
        values = history._column(self.monitor)
        best = best_of(values, self._minimized)
        history.best_epoch = history.epochs[best]
        if self._restores and best == len(values) - 1:
            network = self._network
            with network.engine.on_backend():
                self.epoch, self.params = history.best_epoch, nd.to_host(nd.copy(network.params()))
        self._end(history, len(values) - 1 - best, values[best])

    def _end(self, history: History, waited: int, best: float) -> None:
        fits = self._network.engine.progress
        if self._patience is not None and waited >= self._patience and fits.stop_reason is None:
            fits.stop_reason = (
                f"patience: {self.monitor} has not become better for {waited} epoch{'' if waited == 1 else 's'}, the "
                f"best was {best:.6g} in epoch {history.best_epoch}"
            )

    def go_back(self) -> None:
        """Put the best epoch's parameters in the place of those that there are, where they were kept."""
        if self.params is not None:
            self._network.set_params(self.params)

    def resume(self, awaited: Progress, history: History) -> None:
        """Go on from a checkpoint, whose epochs are in the history.

        Raises
        ------
        ConfigurationError
            The checkpoint does not say what has to be known of these epochs.
        """
        if not awaited.epochs:
            return
        values = history._column(self.monitor)
        if not values and (len(history) or awaited.history is None):
            raise self._unknown(f"has no {self.monitor!r} of the epochs before")
        if not values:
            return  # one minibatch, whose first epoch is still to be closed
        best = best_of(values, self._minimized)
        # A checkpoint from within the end of an epoch has that one's parameters already.
        if self._restores and awaited.best_epoch not in (history.epochs[best], history._next_epoch):
            raise self._unknown("does not hold the parameters of the best of them")
        if self._restores:
            self.epoch, self.params = awaited.best_epoch, awaited.best_params
        history.monitor, history.best_epoch = self.monitor, history.epochs[best]
        self._end(history, len(values) - 1 - best, values[best])

    @staticmethod
    def _unknown(what: str) -> nd.ConfigurationError:
        return nd.ConfigurationError(
            f"fit: a call that a checkpoint continues must have the patience, restore_best and monitor that it had, "
            f"got one whose checkpoint {what}. Give the same arguments, or read the network alone with nn.load(path)."
        )


def best_of(values: Sequence[float], minimized: bool) -> int:
    """Return the place of the first of the best numbers; NaN is worse than any."""
    best, of_best = 0, math.nan
    for place, value in enumerate(values):
        if improves(value, of_best, minimized):
            best, of_best = place, value
    return best
