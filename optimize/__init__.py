"""Solvers, updaters, schedules, listeners. They know a network only as the `Model` protocol."""

from .api import ConvexOptimizer, Listener, Model
from .listeners import (
    ArrayStatistics,
    Checkpoint,
    CheckpointListener,
    CollectScoresListener,
    ComposableIterationListener,
    EvaluativeListener,
    HtmlReportListener,
    NanListener,
    PerformanceListener,
    ProgressBarListener,
    ScoreIterationListener,
    StatisticsListener,
    StatisticsRecord,
    TensorBoardListener,
    TimeIterationListener,
)
from .network_updater import NetworkUpdater, Segment
from .regularization import L1Regularization, L2Regularization, Regularization
from .schedules import FixedSchedule, MapSchedule, Schedule, ScheduleType, StepSchedule
from .solver import Solver
from .solvers import StochasticGradientDescent
from .updaters import Adam, Nesterovs, NoOp, Sgd, Updater, get_updater

__all__ = [
    "Adam",
    "ArrayStatistics",
    "Checkpoint",
    "CheckpointListener",
    "CollectScoresListener",
    "ComposableIterationListener",
    "ConvexOptimizer",
    "EvaluativeListener",
    "FixedSchedule",
    "HtmlReportListener",
    "L1Regularization",
    "L2Regularization",
    "Listener",
    "MapSchedule",
    "Model",
    "NanListener",
    "Nesterovs",
    "NetworkUpdater",
    "NoOp",
    "PerformanceListener",
    "ProgressBarListener",
    "Regularization",
    "Schedule",
    "ScheduleType",
    "ScoreIterationListener",
    "Segment",
    "Sgd",
    "Solver",
    "StatisticsListener",
    "StatisticsRecord",
    "StepSchedule",
    "StochasticGradientDescent",
    "TensorBoardListener",
    "TimeIterationListener",
    "get_updater",
]
