"""``python -m nn evaluate``: compare a model's predictions with labels."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import nd
from nd import ConfigurationError
from nd.dataset import DataSetIterator
from nd.evaluation import ROC, Evaluation, EvaluationCalibration, IEvaluation, RegressionEvaluation, ROCMultiClass

from ..networks.network import Network
from .data import add_data_arguments, iterator_of
from .models import add_lenient, add_output, load_network, output_number

HELP = "Evaluate a model on data with labels, and print the report as Deeplearning4j prints it."
EXAMPLES = (
    "lenet.zip --data mnist",
    "model.zip --csv test.csv --label species --roc",
    "model.zip --csv houses.csv --label -1 --regression",
    "graph.zip --csv test.csv --label age --output age --regression",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_data_arguments(parser, labels=True)
    parser.add_argument("--regression", action="store_true", help="labels are numbers: errors and correlations")
    parser.add_argument("--roc", action="store_true", help="areas under the ROC and precision-recall curves, exactly")
    parser.add_argument("--calibration", action="store_true", help="expected calibration error of every class")
    parser.add_argument("--json", action="store_true", help="print Deeplearning4j's JSON, an evaluation in each line")
    add_output(parser)
    add_lenient(parser)


def run(arguments: argparse.Namespace) -> None:
    """Evaluate."""
    if arguments.csv and arguments.label is None:
        raise ConfigurationError("evaluate: --csv needs --label, the column of the label, got none.")
    network = load_network(arguments)
    number = output_number(arguments, network)
    classes = network.classes_of[number]
    outputs = classes.columns or 1
    one_hot = outputs > 1 and not arguments.regression and arguments.label_to is None
    data = iterator_of(arguments, outputs if one_hot else None, classes.names)
    if data.class_names and one_hot:
        classes.check_names("evaluate", data.class_names, learn=False)
    evaluations = _evaluations(arguments, outputs, classes.names)
    _evaluate(network, number, data, evaluations)
    for evaluation in evaluations:
        if arguments.json:
            print(json.dumps(json.loads(evaluation.to_json())))
        elif isinstance(evaluation, EvaluationCalibration):
            errors = [evaluation.expected_calibration_error(number) for number in range(evaluation.num_classes())]
            lines = (f"  class {number}: {error:.4f}" for number, error in enumerate(errors))
            print("\n".join(["Expected calibration error", *lines]))
        else:
            print(evaluation.stats())


def _evaluate(network: Network, output: int, data: DataSetIterator, evaluations: list[IEvaluation]) -> None:
    """Show all predictions of an output to the evaluations; in the labels' unit where that was normalized."""
    normalizer: Any = data.pre_processor
    reverts = normalizer is not None and normalizer.is_fit_label()
    if not reverts and not output:
        network.do_evaluation(data, *evaluations)
        return
    for batch in data:  # whose labels are those of this output
        outputs: Any = nd.to_host(network.engine.outputs_of(batch)[output])
        labels = network.classes_of[output].formed(batch.labels)
        outputs, labels, mask = network.classes_of[output].compared(labels, outputs, batch.labels_mask)
        if reverts:
            outputs, labels = normalizer.revert_labels(outputs), normalizer.revert_labels(labels)
        for evaluation in evaluations:
            evaluation.eval(labels, outputs, mask)


def _evaluations(arguments: argparse.Namespace, outputs: int, names: Sequence[str] | None) -> list[IEvaluation]:
    if arguments.regression:
        if arguments.roc or arguments.calibration:
            raise ConfigurationError("evaluate: --roc and --calibration are for classes, got --regression too.")
        return [RegressionEvaluation()]
    evaluations: list[IEvaluation] = [Evaluation(list(names) if names else None)]
    evaluations += [ROC() if outputs <= 2 else ROCMultiClass()] if arguments.roc else []
    evaluations += [EvaluationCalibration()] if arguments.calibration else []
    return evaluations
