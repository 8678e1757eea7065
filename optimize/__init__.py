"""Solvers, updaters, schedules, listeners. They know a network only as the `Model` protocol."""

from .api import ConvexOptimizer, Listener, Model
from .listeners import CollectScoresListener, PerformanceListener, ProgressBarListener, ScoreIterationListener
from .network_updater import NetworkUpdater, Segment
from .regularization import L1Regularization, L2Regularization, Regularization, WeightDecay
from .schedules import (
    CycleSchedule,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    PolySchedule,
    RampSchedule,
    Schedule,
    ScheduleType,
    SigmoidSchedule,
    StepSchedule,
)
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
    "CycleSchedule",
    "ExponentialSchedule",
    "FixedSchedule",
    "InverseSchedule",
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
    "PolySchedule",
    "ProgressBarListener",
    "RampSchedule",
    "Regularization",
    "RmsProp",
    "Schedule",
    "ScheduleType",
    "ScoreIterationListener",
    "Segment",
    "Sgd",
    "SigmoidSchedule",
    "Solver",
    "StepSchedule",
    "StochasticGradientDescent",
    "WeightDecay",
    "get_updater",
]
