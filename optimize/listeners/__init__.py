"""Listeners: a file for every one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .checkpoint import CheckpointListener
    from .checkpoint_folder import Checkpoint
    from .collect_scores import CollectScoresListener
    from .composable import ComposableIterationListener
    from .evaluative import EvaluativeListener
    from .html_report import HtmlReportListener
    from .nan import NanListener
    from .performance import PerformanceListener
    from .plateau import ReduceLearningRateOnPlateau
    from .progress import ProgressBarListener
    from .score import ScoreIterationListener
    from .statistics import ArrayStatistics, StatisticsListener, StatisticsRecord
    from .tensorboard import TensorBoardListener
    from .time_left import TimeIterationListener
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "checkpoint": "CheckpointListener",
            "checkpoint_folder": "Checkpoint",
            "collect_scores": "CollectScoresListener",
            "composable": "ComposableIterationListener",
            "evaluative": "EvaluativeListener",
            "html_report": "HtmlReportListener",
            "nan": "NanListener",
            "performance": "PerformanceListener",
            "plateau": "ReduceLearningRateOnPlateau",
            "progress": "ProgressBarListener",
            "score": "ScoreIterationListener",
            "statistics": "ArrayStatistics StatisticsListener StatisticsRecord",
            "tensorboard": "TensorBoardListener",
            "time_left": "TimeIterationListener",
        },
    )

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
    "ReduceLearningRateOnPlateau",
    "ScoreIterationListener",
    "StatisticsListener",
    "StatisticsRecord",
    "TensorBoardListener",
    "TimeIterationListener",
]
