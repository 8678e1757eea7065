"""Solvers, updaters, schedules, listeners. They know a network only as the `Model` protocol."""

from .api import ConvexOptimizer, Listener, Model
from .listeners import (
    Checkpoint,
    CheckpointListener,
    CollectScoresListener,
    PerformanceListener,
    ProgressBarListener,
    ScoreIterationListener,
)
from .network_updater import NetworkUpdater, Segment
from .regularization import L1Regularization, L2Regularization, Regularization
from .schedules import FixedSchedule, MapSchedule, Schedule, ScheduleType, StepSchedule
from .solver import Solver
from .solvers import StochasticGradientDescent
from .updaters import Adam, Nesterovs, NoOp, Sgd, Updater, get_updater

__all__ = [
    "Adam",
    "Checkpoint",
    "CheckpointListener",
    "CollectScoresListener",
    "ConvexOptimizer",
    "FixedSchedule",
    "L1Regularization",
    "L2Regularization",
    "Listener",
    "MapSchedule",
    "Model",
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
    "StepSchedule",
    "StochasticGradientDescent",
    "get_updater",
]
