"""Listeners: one file each."""

from .checkpoint import CheckpointListener
from .checkpoint_folder import Checkpoint
from .collect_scores import CollectScoresListener
from .composable import ComposableIterationListener
from .evaluative import EvaluativeListener
from .html_report import HtmlReportListener
from .nan import NanListener
from .performance import PerformanceListener
from .progress import ProgressBarListener
from .score import ScoreIterationListener
from .statistics import ArrayStatistics, StatisticsListener, StatisticsRecord
from .tensorboard import TensorBoardListener
from .time_left import TimeIterationListener

__all__ = [
    "ArrayStatistics",
    "Checkpoint",
    "CheckpointListener",
    "CollectScoresListener",
    "ComposableIterationListener",
    "EvaluativeListener",
    "HtmlReportListener",
    "NanListener",
    "PerformanceListener",
    "ProgressBarListener",
    "ScoreIterationListener",
    "StatisticsListener",
    "StatisticsRecord",
    "TensorBoardListener",
    "TimeIterationListener",
]
