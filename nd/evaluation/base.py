"""Shared by all evaluations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ClassVar, Self

from backends.errors import FormatError, check_choice
from nd.arguments import checked
from nd.classes import ExplainedABC, NamesSuggested, overridable
from nd.java_enums import JavaEnum

from .json_fields import parsed_json

KINDS = (
    "Evaluation", "EvaluationBinary", "EvaluationCalibration", "ROC", "ROCBinary", "ROCMultiClass",
    "RegressionEvaluation",
)  # fmt: skip
"""Names of the classes of evaluations."""


@overridable
class IEvaluation(NamesSuggested, metaclass=ExplainedABC):
    """Compares predictions with labels, minibatch by minibatch, and reduces its counts to numbers.

    Attributes
    ----------
    METRICS : dict
        Name -> method that returns the number, sorted. An average where there are several classes or outputs.
    MINIMIZED : frozenset of str
        The metrics of which less is better.

    Notes
    -----
    Source: org.nd4j.evaluation.IEvaluation, its ``getValue(IMetric)`` with the metric by name.

    Examples
    --------
    >>> from nd.evaluation import Evaluation, RegressionEvaluation
    >>> evaluation = Evaluation()
    >>> evaluation.eval([[1, 0], [0, 1]], [[0.9, 0.1], [0.6, 0.4]])
    >>> evaluation.get_value("accuracy")
    0.5
    >>> sorted(RegressionEvaluation.MINIMIZED)
    ['mae', 'mse', 'rmse', 'rse']
    """

    METRICS: ClassVar[Mapping[str, Callable[[Any], float]]] = {}
    MINIMIZED: ClassVar[frozenset[str]] = frozenset()
    Metric: ClassVar[type[JavaEnum]]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "METRICS" in vars(cls):
            cls.Metric = JavaEnum("Metric", {name.upper(): name for name in cls.METRICS})  # type: ignore[assignment, call-arg]

    def __eq__(self, other: object) -> bool:
        """Whether the other saw the same with the same settings, as far as the JSON tells."""
        return type(self) is type(other) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def eval(self, labels: Any, predictions: Any, mask: Any = None) -> None:
        """Count one minibatch.

        Parameters
        ----------
        labels, predictions : array, shape [N, C] or [N, C, T] (also [N, C, H, W], [N, C, D, H, W])
        mask : array, optional, shape [N] or [N, 1]; [N, T]; [N, H, W]
            Rows with 0 are left out.
        """

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the counts of another evaluation of the same task; `other` is left as it is.

        Raises
        ------
        DTypeError
            The other one is of another class.
        DataError, ShapeError
            The settings or the number of classes differ.
        """

    @abstractmethod
    def reset(self) -> None:
        """Forget everything but the settings, also a number of classes that came out of the data."""

    @abstractmethod
    def stats(self) -> str:
        """Return the report that Java prints."""

    @abstractmethod
    def to_json(self) -> str:
        """Return the JSON text that Java reads as an equal object."""

    @classmethod
    @abstractmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the evaluation that a JSON text holds, of package org.nd4j.evaluation or org.deeplearning4j.eval.

        ``IEvaluation.from_json`` reads every kind.

        Raises
        ------
        FormatError
            The text is not JSON, of another class, or contradicts itself.
        """
        value = parsed_json(cls.__name__, text)
        name = str(value.get("@class") if isinstance(value, dict) else value).rpartition(".")[2]
        if name not in KINDS:
            raise FormatError(f"{cls.__name__}.from_json: expected one of {', '.join(KINDS)}, got {name!r:.80}.")
        return getattr(import_module("nd.evaluation"), name).from_json(text)

    @checked
    def get_value(self, metric: str) -> float:
        """Return one of `METRICS` by its name.

        Raises
        ------
        ChoiceError
            There is no such metric.
        DataError
            Nothing was evaluated.
        """
        name = check_choice(f"{type(self).__name__}.get_value", "metric", str(metric).lower(), self.METRICS)
        return self.METRICS[name](self)

    def values(self) -> dict[str, float]:
        """Return every one of `METRICS`. Raises DataError if nothing was evaluated."""
        return {name: metric(self) for name, metric in self.METRICS.items()}

    def __str__(self) -> str:
        return self.stats()
