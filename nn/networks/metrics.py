"""The metrics of fit: evaluations, and functions of one's own, on the data to validate on."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.checks import check_choice
from nd.evaluation import (
    ROC,
    Evaluation,
    EvaluationBinary,
    RegressionEvaluation,
    ROCBinary,
    ROCMultiClass,
)
from nd.evaluation.rows import Gathered
from nd.losses import LossBinaryXENT, LossSparseMCXENT

from .history import COLUMNS, History
from .output_weights import output_names

if TYPE_CHECKING:
    from nd.dataset.dataset import DataSet
    from nd.dataset.multi_data_set import MultiDataSet

    from .network import Network

AREAS = {"auc": "auroc", "auprc": "auprc"}
"""Name -> metric of ROC curves, sorted."""
_TOP = re.compile(r"top_([1-9][0-9]?)_accuracy")
ENDINGS = {"error": True, "loss": True, "score": False}
"""Last word of a function's name -> whether less is better, as scikit-learn names them."""


class Metric(NamedTuple):
    """A number about one output."""

    name: str
    """In the history."""
    output: int
    evaluation: str
    """Metrics that say the same here share what `make` makes."""
    make: Callable[[], Any]
    read: Callable[[Any], float]
    minimized: bool | None
    """Whether less is better."""


class Metrics:
    """The metrics of a call of fit.

    Parameters
    ----------
    network : Network
    given : str, function or sequence of them, or mapping of an output's name -> these
        Of an output with classes "accuracy", "f1", "gmeasure", "mcc", "precision" and "recall" as `Evaluation` has
        them, "auc" and "auprc", the areas under the ROC and the precision/recall curve (of more than two classes
        the mean of each against the rest), and "top_3_accuracy" for any number; of an output with several independent
        classes (the loss "xent") those of `EvaluationBinary`, and these areas; of these and of all other outputs "mae",
        "mse", "pc", "r2", "rmse" and "rse" as `RegressionEvaluation` has them. Without a mapping every output gets
        those that it can have. A function gets labels and outputs ``[rows, C]``, NumPy arrays, and returns a number.

    Attributes
    ----------
    minimized : dict of str -> bool or None
        Name in the history -> whether less is better. Of a function None unless its name ends in _score, _error or
        _loss.

    Raises
    ------
    ChoiceError
        There is no such metric, or no such output.
    ConfigurationError
        The output cannot have it, or two have one name.
    """

    def __init__(self, network: Network, given: Any) -> None:
        self._network = network
        names = output_names(network)
        if isinstance(given, Mapping):
            for output in given:
                check_choice("fit: metrics", "output", output, names)
            of_outputs = [_listed(given.get(name, ())) for name in names]
            for number, wanted in enumerate(of_outputs):
                _check_known(wanted, [self._choices(number)], names[number])
        else:
            wanted = _listed(given)
            choices = [self._choices(number) for number in range(len(names))]
            _check_known(wanted, choices, ", ".join(names))
            of_outputs = [
                [one for one in wanted if not isinstance(one, str) or _knows(known, one)] for known in choices
            ]
        self._metrics = [self._metric(number, one) for number, wanted in enumerate(of_outputs) for one in wanted]
        self.minimized = {metric.name: metric.minimized for metric in self._metrics}
        if len(self.minimized) < len(self._metrics) or self.minimized.keys() & set(COLUMNS):
            listed = [metric.name for metric in self._metrics]
            raise nd.ConfigurationError(f"fit: metrics must have different names, got {listed}. Rename a function.")
        self.begin()

    def begin(self) -> None:
        """Forget all that was seen."""
        made = {(metric.output, metric.evaluation): metric.make for metric in self._metrics}
        self._evaluations = {key: make() for key, make in made.items()}

    def see(self, batch: DataSet | MultiDataSet, outputs: Sequence[Any]) -> None:
        """Show the outputs for a minibatch to all evaluations."""
        parts, network = batch.multi, self._network
        for output in {output for output, _ in self._evaluations}:
            classes = network.classes_of[output]
            mask = parts.labels_masks[output] if parts.labels_masks else None
            seen = classes.compared(classes.formed(parts.labels[output]), nd.to_host(outputs[output]), mask)
            for (number, _), evaluation in self._evaluations.items():
                if number == output:
                    evaluation.eval(*seen)

    def add_to(self, history: History) -> None:
        """Append every metric's number, and forget all that was seen."""
        for metric in self._metrics:
            number = metric.read(self._evaluations[metric.output, metric.evaluation])
            history._column(metric.name).append(float(number))
        self.begin()

    # ---- one output

    def _choices(self, output: int) -> dict[str, type]:
        """Return name -> evaluation of the metrics that an output can have."""
        last = self._network.conf.nodes[self._network.conf.output_nodes[output]].conf.innermost
        classes, loss = self._network.classes_of[output], getattr(last, "loss", None)
        if classes.classes:
            roc = ROC if classes.columns <= 2 else ROCMultiClass
            return {**dict.fromkeys(Evaluation.METRICS, Evaluation), **dict.fromkeys(AREAS, roc)}
        if isinstance(loss, LossSparseMCXENT):
            return {}
        numbers = dict.fromkeys(RegressionEvaluation.METRICS, RegressionEvaluation)
        if not isinstance(loss, LossBinaryXENT):
            return {**numbers}
        return {
            **dict.fromkeys(EvaluationBinary.METRICS, EvaluationBinary),
            **dict.fromkeys(AREAS, ROCBinary),
            **numbers,
        }

    def _metric(self, output: int, given: Any) -> Metric:
        names = output_names(self._network)
        prefix = "" if len(names) == 1 else f"{names[output]}_"
        if not isinstance(given, str):
            read = functools.partial(_value, given)
            name = given.__name__
            less_is_better = ENDINGS.get(name.rpartition("_")[2])
            return Metric(prefix + name, output, "Gathered", Gathered, read, less_is_better)
        top = _TOP.fullmatch(given)
        if top is not None:
            n = int(top[1])
            make = functools.partial(Evaluation, None, n)
            return Metric(prefix + given, output, f"Evaluation {n}", make, Evaluation.top_n_accuracy, False)
        kind: Any = self._choices(output)[given]
        read = functools.partial(kind.get_value, metric=AREAS.get(given, given))
        return Metric(prefix + given, output, kind.__name__, kind, read, given in kind.MINIMIZED)


def _value(function: Callable[..., float], gathered: Gathered) -> float:
    return gathered.value(f"fit: metric {function.__name__}", function)


def _knows(choices: Mapping[str, type], name: str) -> bool:
    return name in choices or (Evaluation in choices.values() and _TOP.fullmatch(name) is not None)


def _listed(given: Any) -> list[Any]:
    """Return metrics as a list, names in small letters."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    for one in several:
        named = isinstance(getattr(one, "__name__", None), str) and one.__name__.isidentifier()
        if not isinstance(one, str) and not (callable(one) and named):
            raise nd.ConfigurationError(
                f"fit: metrics must be names or functions with a name, got {shown(one)}. Define "
                "def my_score(y_true, y_pred)."
            )
    return [str(one).lower() if isinstance(one, str) else one for one in several]


def _check_known(wanted: Sequence[Any], choices: Sequence[Mapping[str, type]], outputs: str) -> None:
    """Raise an error unless an output can have each of the metrics."""
    for name in wanted:
        if not isinstance(name, str) or any(_knows(known, name) for known in choices):
            continue
        allowed = {name for known in choices for name in known}
        others = {*Evaluation.METRICS, *EvaluationBinary.METRICS, *RegressionEvaluation.METRICS, *AREAS}
        if name in others or _TOP.fullmatch(name):
            raise nd.ConfigurationError(
                f"fit: metrics must be of what output {outputs} gives, got {name!r}. Its metrics are "
                f"{', '.join(sorted(allowed)) or 'functions of your own: evaluations compare one-hot labels'}."
            )
        more = ["top_3_accuracy"] if any(Evaluation in known.values() for known in choices) else []
        check_choice("fit", "metric", name, [*allowed, *more])
