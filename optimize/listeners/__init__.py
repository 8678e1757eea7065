"""Listeners: one file each."""

from .checkpoint import CheckpointListener
from .checkpoint_folder import Checkpoint
from .collect_scores import CollectScoresListener
from .performance import PerformanceListener
from .progress import ProgressBarListener
from .score import ScoreIterationListener

__all__ = [
    "Checkpoint",
    "CheckpointListener",
    "CollectScoresListener",
    "PerformanceListener",
    "ProgressBarListener",
    "ScoreIterationListener",
]
