"""Listeners: one file each."""

from .collect_scores import CollectScoresListener
from .performance import PerformanceListener
from .progress import ProgressBarListener
from .score import ScoreIterationListener

__all__ = ["CollectScoresListener", "PerformanceListener", "ProgressBarListener", "ScoreIterationListener"]
