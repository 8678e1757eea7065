"""Methods of evaluations that exist for Java's sake. Source: org.nd4j.evaluation."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TypeVar

from nd import DataError
from nd.arguments import Natural, checked
from nd.evaluation import Evaluation, EvaluationBinary, IEvaluation

Kind = TypeVar("Kind", bound=IEvaluation)


@checked
def add_to_confusion(evaluation: Evaluation, actual: Natural, predicted: Natural) -> None:
    """Count one prediction; raise DataError before the number of classes is known."""
    if evaluation.confusion is None:
        raise DataError("addToConfusion: the classes must be known, got none. Write Evaluation(their number).")
    evaluation.confusion.add(actual, predicted)


def new_instance(evaluation: Kind) -> Kind:
    """Return an evaluation with the same settings that has counted nothing."""
    twin = deepcopy(evaluation)
    twin.reset()
    return twin


def top_n_correct_count(evaluation: Evaluation) -> int:
    """Return in how many rows the actual class was among the most probable ones; 0 with a `top_n` of 1."""
    return evaluation.top_n_counts[0]


def top_n_total_count(evaluation: Evaluation) -> int:
    """Return how many rows were looked at for that."""
    return evaluation.top_n_counts[1]


def _counts(method: str) -> Callable[[EvaluationBinary], list[int]]:
    def counts(evaluation: EvaluationBinary) -> list[int]:
        """Return the count of every output."""
        return [getattr(evaluation, method)(output) for output in range(evaluation.num_labels())]

    return counts


count_true_positive, count_false_positive = _counts("true_positives"), _counts("false_positives")
count_true_negative, count_false_negative = _counts("true_negatives"), _counts("false_negatives")
