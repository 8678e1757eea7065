"""One call of fit: minibatches, the loss of every epoch, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.dataset import DataSet

from .rates import CosineRate

if TYPE_CHECKING:
    from nd.typing import Array

    from ..networks.network import Network
    from .settings import EstimatorParameters


class Examples(NamedTuple):
    """Features ``[N, ...]`` and targets ``[N, n_out]`` on the host, with weights ``[N, 1]`` of mean 1, or None."""

    features: Any
    targets: Any
    weights: Any = None

    def rows(self, selection: Any) -> Examples:
        """Return those of some rows."""
        return Examples(*(None if array is None else array[selection] for array in self))

    def minibatch(self, start: int, stop: int) -> DataSet:
        """Return rows as a minibatch, whose mask multiplies the losses by the weights."""
        features, targets, weights = self.rows(slice(start, stop))
        return DataSet(features, targets, None, weights)


class Curves(NamedTuple):
    """What a call of fit found: a loss for every epoch, and a score where examples were held out."""

    losses: list[float]
    scores: list[float]


class EpochLoop:
    """Trains a network epoch by epoch.

    Parameters
    ----------
    network : Network
    settings : EstimatorParameters
    random : numpy.random.RandomState
        Of the order of the examples, as scikit-learn draws.
    score : callable, optional
        Returns the score of the examples that were held out; the more the better.
    report : callable, optional
        Is told the number of the epoch, its loss, and the score or None.
    """

    def __init__(
        self,
        network: Network,
        settings: EstimatorParameters,
        random: Any,
        score: Callable[[], float] | None = None,
        report: Callable[[int, float, float | None], object] | None = None,
    ) -> None:
        self._network, self._settings, self._random = network, settings, random
        self._score, self._report = score, report
        self._best: Array | None = None
        self._waited = 0

    def run(self, examples: Examples, epochs: int, to_the_end: bool = False) -> Curves:
        """Train until the loss, or the score, has not become better for long enough; `to_the_end` all the epochs.

        With a score the parameters of the best epoch are put back at the end.
        """
        network, settings, total = self._network, self._settings, len(examples.features)
        rows = settings.rows(total)
        curves = Curves([], [])
        loop = network.own_loop(None)
        rates = self._annealed(epochs * -(-total // rows)) if settings.anneals and not to_the_end else None
        try:
            for epoch in range(epochs):
                for batch in self._minibatches(examples, rows):
                    loop.fit_batch(batch)
                loop.end_epoch()
                network.end_epoch()
                if self._noted(curves, loop.history.score[-1], epoch) and not to_the_end:
                    break
        finally:
            if rates is not None:
                network.set_learning_rate(rates)
        if self._best is not None:
            network.set_params(self._best)
        return curves

    def pretrain(self, layer: int, examples: Examples, epochs: int) -> list[float]:
        """Train one layer to reconstruct what comes into it, through all epochs; return their losses."""
        network, losses = self._network, []
        rows = self._settings.rows(len(examples.features))
        for epoch in range(epochs):
            # one by one, as a call of its own over all would show a progress bar
            histories = [network.pretrain_layer(layer, batch) for batch in self._minibatches(examples, rows)]
            losses.append(sum(history.score[-1] for history in histories) / len(histories))
            if self._report is not None:
                self._report(epoch + 1, losses[-1], None)
        network.history = histories[-1]
        return losses

    def _annealed(self, steps: int) -> dict[int | str, Any] | None:
        """Let the rates fall to 0 in that many steps; return those before, None where there are none."""
        network = self._network
        rates = {layer: rate for layer, rate in network.learning_rates().items() if rate is not None}
        if not rates:
            return None
        network.set_learning_rate(
            {layer: CosineRate(rate, network.iteration_count, steps) for layer, rate in rates.items()}
        )
        return rates

    def _minibatches(self, examples: Examples, rows: int) -> Iterator[DataSet]:
        """Yield the minibatches of an epoch, views of arrays that were put in order once."""
        total = len(examples.features)
        if self._settings.shuffle and rows < total:
            examples = examples.rows(self._random.permutation(total))
        for start in range(0, total, rows):
            yield examples.minibatch(start, min(start + rows, total))

    def _noted(self, curves: Curves, loss: float, epoch: int) -> bool:
        """Add an epoch to the curves; tell whether to stop."""
        score = None if self._score is None else self._score()
        better = _better(curves, loss, score, self._settings.tol)
        curves.losses.append(loss)
        if score is not None:
            if not curves.scores or score > max(curves.scores):
                self._best = nd.copy(self._network.params())
            curves.scores.append(score)
        if self._report is not None:
            self._report(epoch + 1, loss, score)
        self._waited = 0 if better else self._waited + 1
        return self._waited > self._settings.n_iter_no_change


def _better(curves: Curves, loss: float, score: float | None, tol: float) -> bool:
    """Tell whether an epoch is better than all before by more than `tol`."""
    if score is not None:
        return score > max(curves.scores, default=-float("inf")) + tol
    return loss < min(curves.losses, default=float("inf")) - tol
