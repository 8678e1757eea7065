"""Evaluation of classifiers and of regression: counts, metrics, curves and the reports that Deeplearning4j prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .base import IEvaluation
    from .binary import EvaluationBinary
    from .calibration import EvaluationCalibration
    from .classification import Evaluation
    from .confusion import ConfusionMatrix
    from .curves import PrecisionRecallCurve, RocCurve
    from .histograms import Histogram, ReliabilityDiagram
    from .plots import (
        plot_confusion_matrix,
        plot_histogram,
        plot_precision_recall_curve,
        plot_reliability_diagram,
        plot_roc_curve,
    )
    from .regression import RegressionEvaluation
    from .roc import ROC
    from .roc_binary import ROCBinary
    from .roc_multi_class import ROCMultiClass
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "base": "IEvaluation",
            "binary": "EvaluationBinary",
            "calibration": "EvaluationCalibration",
            "classification": "Evaluation",
            "confusion": "ConfusionMatrix",
            "curves": "PrecisionRecallCurve RocCurve",
            "histograms": "Histogram ReliabilityDiagram",
            "plots": (
                "plot_confusion_matrix plot_histogram plot_precision_recall_curve plot_reliability_diagram "
                "plot_roc_curve"
            ),
            "regression": "RegressionEvaluation",
            "roc": "ROC",
            "roc_binary": "ROCBinary",
            "roc_multi_class": "ROCMultiClass",
        },
    )

__all__ = [
    "ROC",
    "ConfusionMatrix",
    "Evaluation",
    "EvaluationBinary",
    "EvaluationCalibration",
    "Histogram",
    "IEvaluation",
    "PrecisionRecallCurve",
    "ROCBinary",
    "ROCMultiClass",
    "RegressionEvaluation",
    "ReliabilityDiagram",
    "RocCurve",
    "plot_confusion_matrix",
    "plot_histogram",
    "plot_precision_recall_curve",
    "plot_reliability_diagram",
    "plot_roc_curve",
]
