"""EvaluativeListener."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nd import DataError
from nd.arguments import Count, checked
from nd.checks import check_choice
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.iterator import MinibatchIterator
from nd.dataset.minibatches import Minibatches
from nd.evaluation import Evaluation

from ..api import Listener
from .reporting import report

INVOCATION_TYPES = ("epoch_end", "epoch_start", "fit_end", "iteration_end")


class EvaluativeListener(Listener):
    """Evaluates the network on other data while it trains.

    Parameters
    ----------
    data : DataSetIterator, DataSet, (features, labels), or iterable of those
        An iterator of its own, not the one that is trained on; reset before every evaluation. For a ComputationGraph
        also MultiDataSets.
    frequency : int, optional
        Evaluate at the first invocation and every so many after it; without it at the end of every epoch.
    invocation_type : {"epoch_end", "epoch_start", "fit_end", "iteration_end"}, optional
        Kind of an invocation: where a frequency is given alone, the end of an iteration, as in Java.
    evaluations : sequence of callable
        Every one makes an object with ``eval(labels, predictions, mask)`` and ``stats()``.
    callback : callable (listener, model, invocations, evaluations), optional
        Called after every evaluation, in place of printing.
    output : int or str
        Number or name of the output of a ComputationGraph that is evaluated.

    Attributes
    ----------
    evaluations : list
        The last ones, filled.
    invocations : int

    Raises
    ------
    ConfigurationError, ChoiceError
        The frequency is less than 1, or there is no such invocation type.
    DataError
        On evaluation: there are no data, or no labels.

    Notes
    -----
    Source: DL4J ``EvaluativeListener``; its ``InvocationType`` are these names but for "fit_end".
    """

    @checked
    def __init__(
        self,
        data: DataSet | MultiDataSet | Iterable[object],
        frequency: Count | None = None,
        invocation_type: str | None = None,
        evaluations: Sequence[Callable[[], object]] = (Evaluation,),
        callback: Callable[..., None] | None = None,
        *,
        output: object = 0,
    ) -> None:
        if invocation_type is None:
            invocation_type = "epoch_end" if frequency is None else "iteration_end"
        frequency = 1 if frequency is None else frequency
        self.invocation_type = check_choice(
            "EvaluativeListener", "invocation_type", str(invocation_type).lower(), INVOCATION_TYPES
        )
        self.data, self.frequency, self.callback, self.output = data, frequency, callback, output
        self._make = tuple(evaluations)
        self.evaluations: list[Any] = []
        self.invocations = 0

    def on_epoch_start(self, model: object) -> None:
        self._invoke("epoch_start", model)

    def on_epoch_end(self, model: object) -> None:
        self._invoke("epoch_end", model)

    def iteration_done(self, model: object, iteration: int, epoch: int) -> None:
        self._invoke("iteration_end", model)

    def on_fit_end(self, model: object) -> None:
        self._invoke("fit_end", model)

    def _invoke(self, invocation_type: str, model: Any) -> None:
        if invocation_type != self.invocation_type:
            return
        due = self.invocations % self.frequency == 0
        self.invocations += 1
        if not due:
            return
        evaluations = [make() for make in self._make]
        self.evaluations = evaluated("EvaluativeListener", model, self.data, evaluations, self.output)
        if self.callback is not None:
            self.callback(self, model, self.invocations, self.evaluations)
            return
        for evaluation in self.evaluations:
            report(f"Evaluation after {model.iteration_count} iterations:\n{evaluation.stats()}")


def evaluated(who: str, model: Any, data: object, evaluations: list[Any], output: object = 0) -> list[Any]:
    """Fill evaluations with a model's predictions, from the beginning of the data; return them."""
    if isinstance(data, MinibatchIterator) and data.reset_supported():
        data.reset()
    count = 0
    for batch in data if isinstance(data, MinibatchIterator) else Minibatches(who, data):
        if batch.labels is None:
            raise DataError(f"{who}: a data set needs labels to be compared with, got none.")
        count += 1
        model.do_evaluation(batch, *([{output: evaluations}] if output else evaluations))
    if not count:
        raise DataError(f"{who}: the data must have at least one minibatch, got none.")
    return evaluations
