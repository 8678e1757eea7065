"""Solvers, updaters, schedules, listeners. They know a network only as the `Model` protocol."""

from .api import ConvexOptimizer, Listener, Model
from .listeners import CollectScoresListener, PerformanceListener, ProgressBarListener, ScoreIterationListener
from .network_updater import NetworkUpdater, Segment
from .regularization import L1Regularization, L2Regularization, Regularization
from .schedules import FixedSchedule, MapSchedule, Schedule, ScheduleType, StepSchedule
from .solver import Solver
from .solvers import StochasticGradientDescent
from .updaters import (
    AdaBelief,
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    AMSGrad,
    Nadam,
    Nesterovs,
    NoOp,
    RmsProp,
    Sgd,
    Updater,
    get_updater,
)

__all__ = [
    "AMSGrad",
    "AdaBelief",
    "AdaDelta",
    "AdaGrad",
    "AdaMax",
    "Adam",
    "CollectScoresListener",
    "ConvexOptimizer",
    "FixedSchedule",
    "L1Regularization",
    "L2Regularization",
    "Listener",
    "MapSchedule",
    "Model",
    "Nadam",
    "Nesterovs",
    "NetworkUpdater",
    "NoOp",
    "PerformanceListener",
    "ProgressBarListener",
    "Regularization",
    "RmsProp",
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
