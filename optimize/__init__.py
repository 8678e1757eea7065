"""Solvers, updaters, schedules, listeners. They know a network only as the `Model` protocol."""

from .api import ConvexOptimizer, Listener, Model
from .listeners import CollectScoresListener, PerformanceListener, ProgressBarListener, ScoreIterationListener
from .network_updater import NetworkUpdater, Segment
from .regularization import L1Regularization, L2Regularization, Regularization
from .schedules import FixedSchedule, MapSchedule, Schedule, ScheduleType, StepSchedule
from .solver import Solver
from .solvers import LBFGS, ConjugateGradient, LineGradientDescent, StochasticGradientDescent
from .terminations import EpsTermination, Norm2Termination, TerminationCondition, ZeroDirection
from .updaters import Adam, Nesterovs, NoOp, Sgd, Updater, get_updater

__all__ = [
    "LBFGS",
    "Adam",
    "CollectScoresListener",
    "ConjugateGradient",
    "ConvexOptimizer",
    "EpsTermination",
    "FixedSchedule",
    "L1Regularization",
    "L2Regularization",
    "LineGradientDescent",
    "Listener",
    "MapSchedule",
    "Model",
    "Nesterovs",
    "NetworkUpdater",
    "NoOp",
    "Norm2Termination",
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
    "TerminationCondition",
    "Updater",
    "ZeroDirection",
    "get_updater",
]
