"""Scores of a model, on data that it is not trained on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from nd import DataError
from nd.arguments import checked
from nd.checks import check_choice
from nd.classes import ExplainedType, overridable
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.iterator import MinibatchIterator
from nd.dataset.minibatches import Minibatches
from nd.dataset.pre_processor import looked_at
from nd.evaluation import ROC, Evaluation, RegressionEvaluation, ROCBinary, ROCMultiClass
from nd.java_enums import JavaEnum

from .api import EarlyStoppingModel

Data = DataSet | MultiDataSet


@overridable
class DataSetLossCalculator(metaclass=ExplainedType):
    """The loss over a data set, regularisation included; smaller is better.

    Parameters
    ----------
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        Read from where it stands, and from its beginning if nothing is left. For a ComputationGraph also MultiDataSets.
    average : bool
        Return the mean over the examples, else their sum.

    Raises
    ------
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    Every minibatch's score counts as often as it has examples. Source: DL4J ``DataSetLossCalculator``.
    """

    minimize_score = True

    @checked
    def __init__(self, iterator: Data | Iterable[Any], average: bool = True) -> None:
        self.iterator, self.average = data_sets("DataSetLossCalculator", iterator), average

    @checked
    def calculate_score(self, model: EarlyStoppingModel) -> float:
        """Return the model's loss; raise DataError if there are no data."""
        total, examples = 0.0, 0
        for batch in looked_at(self.iterator):
            total += model.score(batch) * batch.num_examples()
            examples += batch.num_examples()
        if not examples:
            raise DataError("DataSetLossCalculator: the iterator must have at least one minibatch, got none.")
        return total / examples if self.average else total

    def __repr__(self) -> str:
        return f"DataSetLossCalculator(average={self.average})"


class ClassificationScoreCalculator(metaclass=ExplainedType):
    """A metric of `Evaluation` over a data set; larger is better.

    Parameters
    ----------
    metric : {"accuracy", "f1", "gmeasure", "mcc", "precision", "recall"}
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        As in `DataSetLossCalculator`.
    output : int or str
        Number or name of the output of a ComputationGraph.

    Raises
    ------
    ChoiceError
        The metric is unknown.
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    Source: DL4J ``ClassificationScoreCalculator``.
    """

    minimize_score = False

    @checked
    def __init__(self, metric: str, iterator: Data | Iterable[Any], *, output: object = 0) -> None:
        self.metric = check_choice("ClassificationScoreCalculator", "metric", str(metric).lower(), Evaluation.METRICS)
        self.iterator, self.output = data_sets("ClassificationScoreCalculator", iterator), output

    @checked
    def calculate_score(self, model: EarlyStoppingModel) -> float:
        """Return the metric; raise DataError if there are no data."""
        evaluation = _evaluated(model, self.iterator, Evaluation(), self.output)
        if not evaluation.num_row_counter:
            raise DataError(f"{self}: the masks must leave labels to compare with, got none that count.")
        return evaluation.get_value(self.metric)

    def __repr__(self) -> str:
        return f"ClassificationScoreCalculator({self.metric})"


class RegressionScoreCalculator(metaclass=ExplainedType):
    """A metric of `RegressionEvaluation` over a data set, the mean over the columns.

    Parameters
    ----------
    metric : {"mae", "mse", "pc", "r2", "rmse", "rse"}
        Of "pc", the Pearson correlation, and "r2" more is better, of the errors less.
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        As in `DataSetLossCalculator`.
    output : int or str
        Number or name of the output of a ComputationGraph.

    Raises
    ------
    ChoiceError
        The metric is unknown.
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    Source: DL4J ``RegressionScoreCalculator``.
    """

    @checked
    def __init__(self, metric: str, iterator: Data | Iterable[Any], *, output: object = 0) -> None:
        names = RegressionEvaluation.METRICS
        self.metric = check_choice("RegressionScoreCalculator", "metric", str(metric).lower(), names)
        self.minimize_score = self.metric in RegressionEvaluation.MINIMIZED
        self.iterator, self.output = data_sets("RegressionScoreCalculator", iterator), output

    @checked
    def calculate_score(self, model: EarlyStoppingModel) -> float:
        """Return the metric; raise DataError if there are no data."""
        evaluation = _evaluated(model, self.iterator, RegressionEvaluation(), self.output)
        return evaluation.get_value(self.metric)

    def __repr__(self) -> str:
        return f"RegressionScoreCalculator({self.metric})"


KINDS = {"binary": ROCBinary, "multiclass": ROCMultiClass, "roc": ROC}
"""Name -> evaluation, sorted."""

AREAS = {"auc": "auroc", "auprc": "auprc"}
"""Name -> metric of those evaluations, sorted."""


class RocType(JavaEnum):
    """Names of `KINDS`, as ``ROCScoreCalculator.ROCType``."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    ROC = "roc"


class RocMetric(JavaEnum):
    """Names of `AREAS`, as ``ROCScoreCalculator.Metric``."""

    AUC = "auc"
    AUPRC = "auprc"


class ROCScoreCalculator(metaclass=ExplainedType):
    """An area under a curve, exact, over a data set; larger is better.

    Parameters
    ----------
    kind : {"binary", "multiclass", "roc"}
        The mean over independent outputs, the mean over classes against the rest, or of one or two outputs.
    metric : {"auc", "auprc"}
        The area under the ROC curve, or the precision/recall curve.
    iterator : DataSet, (features, labels), DataSetIterator or other iterable of those
        As in `DataSetLossCalculator`.
    output : int or str
        Number or name of the output of a ComputationGraph.

    Raises
    ------
    ChoiceError
        The kind or the metric is unknown.
    ConfigurationError
        `iterator` is nothing of that.

    Notes
    -----
    Source: DL4J ``ROCScoreCalculator``. Differs: Java returns the area under the ROC curve for "binary" with "auprc".
    """

    minimize_score = False

    ROCType: ClassVar = RocType
    Metric: ClassVar = RocMetric

    @checked
    def __init__(self, kind: str, metric: str, iterator: Data | Iterable[Any], *, output: object = 0) -> None:
        self.kind = check_choice("ROCScoreCalculator", "kind", str(kind).lower(), KINDS)
        self.metric = check_choice("ROCScoreCalculator", "metric", str(metric).lower(), AREAS)
        self.iterator, self.output = data_sets("ROCScoreCalculator", iterator), output

    @checked
    def calculate_score(self, model: EarlyStoppingModel) -> float:
        """Return the area; raise DataError if there are no data."""
        evaluation = _evaluated(model, self.iterator, KINDS[self.kind](), self.output)
        return evaluation.get_value(AREAS[self.metric])

    def __repr__(self) -> str:
        return f"ROCScoreCalculator({self.kind}, {self.metric})"


def _evaluated(model: EarlyStoppingModel, data: object, evaluation: object, output: object) -> Any:
    """Show a model's outputs, of one of them if it has several, to an evaluation; return it."""
    (shown,) = model.do_evaluation(data, {output: evaluation} if output else evaluation)
    return shown


def data_sets(who: str, data: object) -> Iterable[Any]:
    """Return what a calculator is given as an iterable of minibatches; raise ConfigurationError where it is none."""
    return data if isinstance(data, MinibatchIterator) else Minibatches(who, data)
