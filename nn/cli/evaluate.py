"""``python -m nn evaluate``: compare a model's predictions with labels."""

from __future__ import annotations

import argparse
import json

from nd import ConfigurationError
from nd.evaluation import ROC, Evaluation, EvaluationCalibration, IEvaluation, RegressionEvaluation, ROCMultiClass

from .data import add_data_arguments, iterator_of
from .models import add_lenient, load_network

HELP = "Evaluate a model on data with labels, and print the report as Deeplearning4j prints it."
EXAMPLES = (
    "lenet.zip --data mnist",
    "model.zip --csv test.csv --label species --skip-lines 1 --roc",
    "model.zip --csv houses.csv --label -1 --regression",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_data_arguments(parser, labels=True)
    parser.add_argument("--regression", action="store_true", help="labels are numbers: errors and correlations")
    parser.add_argument("--roc", action="store_true", help="areas under the ROC and precision-recall curves, exactly")
    parser.add_argument("--calibration", action="store_true", help="expected calibration error of every class")
    parser.add_argument("--json", action="store_true", help="print Deeplearning4j's JSON, an evaluation in each line")
    add_lenient(parser)


def run(arguments: argparse.Namespace) -> None:
    """Evaluate."""
    if arguments.csv and arguments.label is None:
        raise ConfigurationError("evaluate: --csv needs --label, the column of the label, got none.")
    network = load_network(arguments)
    outputs = getattr(network.conf.layers[-1].innermost, "n_out", None) or 1
    evaluations = _evaluations(arguments, outputs)
    network.do_evaluation(iterator_of(arguments, None if arguments.regression else max(outputs, 2)), *evaluations)
    for evaluation in evaluations:
        print(json.dumps(json.loads(evaluation.to_json())) if arguments.json else _text(evaluation))


def _evaluations(arguments: argparse.Namespace, outputs: int) -> list[IEvaluation]:
    if arguments.regression:
        if arguments.roc or arguments.calibration:
            raise ConfigurationError("evaluate: --roc and --calibration are for classes, got --regression too.")
        return [RegressionEvaluation()]
    found: list[IEvaluation] = [Evaluation()]
    found += [ROC() if outputs <= 2 else ROCMultiClass()] if arguments.roc else []
    found += [EvaluationCalibration()] if arguments.calibration else []
    return found


def _text(evaluation: IEvaluation) -> str:
    if not isinstance(evaluation, EvaluationCalibration):
        return evaluation.stats()
    errors = [evaluation.expected_calibration_error(number) for number in range(evaluation.num_classes())]
    return "\n".join(["Expected calibration error", *(f"  class {n}: {error:.4f}" for n, error in enumerate(errors))])
