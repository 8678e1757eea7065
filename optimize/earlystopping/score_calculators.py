"""How good a model is, on data that it is not trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nd import DataError
from nd.checks import check_choice
from nd.dataset import DataSet
from nd.evaluation import Evaluation


class DataSetLossCalculator:
    """The loss over a data set, regularisation included; smaller is better.

    Parameters
    ----------
    iterator : DataSetIterator or other iterable of DataSet
        Read from where it stands, and from its beginning if nothing is left.
    average : bool
        Return the mean over the examples, else their sum.

    Notes
    -----
    Every minibatch's score counts as often as it has examples. Source: DL4J ``DataSetLossCalculator``.
    """

    minimize_score = True

    def __init__(self, iterator: Iterable[DataSet], average: bool = True) -> None:
        self.iterator, self.average = iterator, average

    def calculate_score(self, model: Any) -> float:
        """Return the model's loss; raise DataError if there are no data."""
        total, examples = 0.0, 0
        for batch in self.iterator:
            total += model.score(batch) * batch.num_examples()
            examples += batch.num_examples()
        if not examples:
            raise DataError("DataSetLossCalculator: the iterator must have at least one minibatch, got none.")
        return total / examples if self.average else total

    def __repr__(self) -> str:
        return f"DataSetLossCalculator(average={self.average})"


METRICS: dict[str, Callable[[Evaluation], float]] = {
    "accuracy": Evaluation.accuracy,
    "f1": Evaluation.f1,
    "gmeasure": Evaluation.g_measure,
    "mcc": Evaluation.matthews_correlation,
    "precision": Evaluation.precision,
    "recall": Evaluation.recall,
}
"""Name -> metric, sorted. Source: DL4J ``Evaluation.Metric``."""


class ClassificationScoreCalculator:
    """A metric of `Evaluation` over a data set; larger is better.

    Parameters
    ----------
    metric : {"accuracy", "f1", "gmeasure", "mcc", "precision", "recall"}
    iterator : DataSetIterator or other iterable of DataSet
        As in `DataSetLossCalculator`.

    Raises
    ------
    ChoiceError
        The metric is unknown.

    Notes
    -----
    Source: DL4J ``ClassificationScoreCalculator``.
    """

    minimize_score = False

    def __init__(self, metric: str, iterator: Iterable[DataSet]) -> None:
        self.metric = check_choice("ClassificationScoreCalculator", "metric", str(metric).lower(), METRICS)
        self.iterator = iterator

    def calculate_score(self, model: Any) -> float:
        """Return the metric; raise DataError if there are no data."""
        return METRICS[self.metric](model.evaluate(self.iterator))

    def __repr__(self) -> str:
        return f"ClassificationScoreCalculator({self.metric})"
