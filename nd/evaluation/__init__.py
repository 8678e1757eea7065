"""Evaluation of classifiers: counts, metrics and the report that Deeplearning4j prints."""

from .classification import Evaluation
from .confusion import ConfusionMatrix

__all__ = ["ConfusionMatrix", "Evaluation"]
