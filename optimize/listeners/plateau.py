"""ReduceLearningRateOnPlateau."""

from __future__ import annotations

import math
from typing import Annotated, Any

from nd import ConfigurationError
from nd.arguments import Count, Natural, NonNegative, Range, checked
from nd.checks import check_choice

from ..api import Listener
from ..schedules import Schedule
from .reporting import report

MONITORS = ("score", "validation_score")


class ReduceLearningRateOnPlateau(Listener):
    """Multiplies the learning rates of all layers by a factor when a score has not become smaller for some epochs.

    Parameters
    ----------
    factor : float
        0..1, both excluded.
    patience : int
        After so many epochs in a row without improvement the rate is reduced, at the end of the last one.
    min_delta : float
        An improvement is by more than this.
    min_learning_rate : float
        No rate becomes smaller.
    monitor : {"score", "validation_score"}
        Of `History`, the latter where fit has validation_data.
    cooldown : int
        Epochs after a reduction that are not counted.
    verbose : bool
        Print a line for every reduction.

    Raises
    ------
    ConfigurationError, ChoiceError
        A number is out of range; at the end of an epoch: a rate follows a schedule, or there is no such score
        (loops of one's own write no `History`, early stopping no validation score).

    Notes
    -----
    It hears of epochs, so fit needs an iterator or a `batch_size`; own loops have no `History`.
    Rates of a `bias_updater` stay. Its best score and its counts are not kept in checkpoints, the rates are.

    Source: Keras' ``ReduceLROnPlateau``, epoch by epoch; PyTorch's reduces one epoch later (patience + 1 epochs), and
    takes its threshold as a share of the best score by default.
    """

    @checked
    def __init__(
        self,
        factor: Annotated[float, Range("> 0 and < 1", lambda value: 0 < value < 1)] = 0.1,
        patience: Count = 10,
        min_delta: NonNegative = 1e-4,
        min_learning_rate: NonNegative = 0.0,
        monitor: str = "score",
        cooldown: Natural = 0,
        verbose: bool = False,
    ) -> None:
        self.factor, self.patience, self.min_delta = factor, patience, min_delta
        self.min_learning_rate, self.cooldown, self.verbose = min_learning_rate, cooldown, verbose
        self.monitor = check_choice(type(self).__name__, "monitor", monitor, MONITORS)
        self._best = math.inf
        self._waited = self._cooling = 0
        self._known = (None, 0)  # a History, and its number of scores

    def iteration_done(self, model: object, iteration: int, epoch: int) -> None:
        self._known = self._written(model)

    def on_epoch_end(self, model: object) -> None:
        scores = self._scores(model)
        if not scores or self._written(model) == self._known:  # scores of an earlier fit are not this epoch's
            remedy = "Give fit validation_data" if self.monitor == "validation_score" else "Train with fit"
            raise ConfigurationError(f"{type(self).__name__}: {self.monitor} must be known, got none. {remedy}.")
        score = scores[-1]
        if self._cooling:
            self._cooling -= 1
            self._waited = 0
        if score < self._best - self.min_delta:
            self._best, self._waited = score, 0
        elif not self._cooling:
            self._waited += 1
            if self._waited >= self.patience:
                self._reduce(model)

    def _written(self, model: object) -> tuple[Any, int]:
        return getattr(model, "history", None), len(self._scores(model))

    def _scores(self, model: object) -> list[float]:
        return getattr(getattr(model, "history", None), self.monitor, [])

    def _reduce(self, model: Any) -> None:
        rates = model.learning_rates()
        if any(isinstance(getattr(updater, "learning_rate", None), Schedule) for updater in model.updater.updaters):
            raise ConfigurationError(
                f"{type(self).__name__}: learning rates must be numbers, got a schedule. Use one of the two."
            )
        reduced = {
            layer: max(rate * self.factor, self.min_learning_rate)
            for layer, rate in rates.items()
            if rate is not None and rate > self.min_learning_rate
        }
        if reduced:
            model.set_learning_rate(reduced)
            self._cooling, self._waited = self.cooldown, 0
            if self.verbose:
                report(f"{self.monitor} has not improved: learning rate {max(reduced.values()):.6g}")
