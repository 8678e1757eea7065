"""Metrics of one class against the rest, and their averages over classes.

Source: org.nd4j.evaluation.EvaluationUtils and the averaging in Evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from backends.errors import check_choice

from .confusion import ConfusionMatrix

AVERAGES = ("macro", "micro")


class Outcomes(NamedTuple):
    """Right and wrong decisions about one class."""

    tp: int
    fp: int
    fn: int
    tn: int


# None means 0/0: such a class has no value and leaves a macro average.
Metric = Callable[[Outcomes], "float | None"]


def outcomes(confusion: ConfusionMatrix) -> list[Outcomes]:
    """Return the outcomes of every class, in order."""
    counts = confusion.counts
    tp = counts.diagonal()
    fp, fn = counts.sum(axis=0) - tp, counts.sum(axis=1) - tp
    tn = counts.sum() - tp - fp - fn
    return [Outcomes(*row) for row in zip(tp.tolist(), fp.tolist(), fn.tolist(), tn.tolist(), strict=True)]


def average(who: str, metric: Metric, per_class: list[Outcomes], averaging: str) -> float:
    """Average a metric over classes.

    Parameters
    ----------
    averaging : {"macro", "micro"}
        The mean over the classes that have a value (NaN where none has), or the metric of the summed outcomes.

    Raises
    ------
    ChoiceError
        Any other `averaging`.
    """
    check_choice(who, "averaging", averaging, AVERAGES)
    if averaging == "micro":
        return metric(Outcomes(*(sum(column) for column in zip(*per_class, strict=True)))) or 0.0
    values = [value for value in map(metric, per_class) if value is not None]
    return sum(values) / len(values) if values else math.nan


def precision(o: Outcomes) -> float | None:
    """tp / (tp + fp)."""
    return o.tp / (o.tp + o.fp) if o.tp + o.fp else None


def recall(o: Outcomes) -> float | None:
    """tp / (tp + fn)."""
    return o.tp / (o.tp + o.fn) if o.tp + o.fn else None


def f_beta(o: Outcomes, beta: float) -> float | None:
    """(1 + beta^2) * precision * recall / (beta^2 * precision + recall)."""
    p, r = precision(o), recall(o)
    if p is None or r is None:
        return None
    if p == 0.0 or r == 0.0:
        return 0.0
    return (1 + beta * beta) * p * r / (beta * beta * p + r)


def g_measure(o: Outcomes) -> float:
    """sqrt(precision * recall), with 0 for 0/0."""
    return math.sqrt((precision(o) or 0.0) * (recall(o) or 0.0))


def matthews_correlation(o: Outcomes) -> float:
    """(tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)), NaN for 0/0."""
    product = (o.tp + o.fp) * (o.tp + o.fn) * (o.tn + o.fp) * (o.tn + o.fn)
    return (o.tp * o.tn - o.fp * o.fn) / math.sqrt(product) if product else math.nan


def false_positive_rate(o: Outcomes) -> float:
    """fp / (fp + tn), 0 for 0/0."""
    return o.fp / (o.fp + o.tn) if o.fp + o.tn else 0.0


def false_negative_rate(o: Outcomes) -> float:
    """fn / (fn + tp), 0 for 0/0."""
    return o.fn / (o.fn + o.tp) if o.fn + o.tp else 0.0
