"""Solvers, updaters, schedules, listeners. They know a network only as the `Model` protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from nd import __distribution__
    from nd.on_demand import names_on_demand
except Exception:
    from ndwright.origins import check_origins

    check_origins()  # says which package is another's
    raise

if TYPE_CHECKING:
    from .api import ConvexOptimizer as ConvexOptimizer
    from .api import Listener as Listener
    from .api import Model as Model
    from .api import OptimizerState as OptimizerState
    from .constraints import LayerConstraint as LayerConstraint
    from .constraints import MaxNormConstraint as MaxNormConstraint
    from .constraints import MinMaxNormConstraint as MinMaxNormConstraint
    from .constraints import NonNegativeConstraint as NonNegativeConstraint
    from .constraints import UnitNormConstraint as UnitNormConstraint
    from .line_search import BackTrackLineSearch as BackTrackLineSearch
    from .listeners import ArrayStatistics as ArrayStatistics
    from .listeners import Checkpoint as Checkpoint
    from .listeners import CheckpointListener as CheckpointListener
    from .listeners import CollectScoresListener as CollectScoresListener
    from .listeners import ComposableIterationListener as ComposableIterationListener
    from .listeners import EvaluativeListener as EvaluativeListener
    from .listeners import HtmlReportListener as HtmlReportListener
    from .listeners import NanListener as NanListener
    from .listeners import PerformanceListener as PerformanceListener
    from .listeners import ProgressBarListener as ProgressBarListener
    from .listeners import ReduceLearningRateOnPlateau as ReduceLearningRateOnPlateau
    from .listeners import ScoreIterationListener as ScoreIterationListener
    from .listeners import StatisticsListener as StatisticsListener
    from .listeners import StatisticsRecord as StatisticsRecord
    from .listeners import TensorBoardListener as TensorBoardListener
    from .listeners import TimeIterationListener as TimeIterationListener
    from .network_updater import NetworkUpdater as NetworkUpdater
    from .network_updater import Segment as Segment
    from .regularization import L1Regularization as L1Regularization
    from .regularization import L2Regularization as L2Regularization
    from .regularization import Regularization as Regularization
    from .regularization import WeightDecay as WeightDecay
    from .schedules import CosineSchedule as CosineSchedule
    from .schedules import CycleSchedule as CycleSchedule
    from .schedules import ExponentialSchedule as ExponentialSchedule
    from .schedules import FixedSchedule as FixedSchedule
    from .schedules import InverseSchedule as InverseSchedule
    from .schedules import MapSchedule as MapSchedule
    from .schedules import PolySchedule as PolySchedule
    from .schedules import RampSchedule as RampSchedule
    from .schedules import Schedule as Schedule
    from .schedules import ScheduleType as ScheduleType
    from .schedules import SigmoidSchedule as SigmoidSchedule
    from .schedules import StepSchedule as StepSchedule
    from .solver import Solver as Solver
    from .solvers import LBFGS as LBFGS
    from .solvers import ConjugateGradient as ConjugateGradient
    from .solvers import LineGradientDescent as LineGradientDescent
    from .solvers import StochasticGradientDescent as StochasticGradientDescent
    from .terminations import EpsTermination as EpsTermination
    from .terminations import Norm2Termination as Norm2Termination
    from .terminations import TerminationCondition as TerminationCondition
    from .terminations import ZeroDirection as ZeroDirection
    from .updaters import *  # noqa: F403
else:
    from . import updaters

    _NAMES = {
        "api": "ConvexOptimizer Listener Model OptimizerState",
        "constraints": (
            "LayerConstraint MaxNormConstraint MinMaxNormConstraint NonNegativeConstraint UnitNormConstraint"
        ),
        "line_search": "BackTrackLineSearch",
        "listeners": (
            "ArrayStatistics Checkpoint CheckpointListener CollectScoresListener ComposableIterationListener "
            "EvaluativeListener HtmlReportListener NanListener PerformanceListener ProgressBarListener "
            "ReduceLearningRateOnPlateau "
            "ScoreIterationListener StatisticsListener StatisticsRecord TensorBoardListener "
            "TimeIterationListener"
        ),
        "network_updater": "NetworkUpdater Segment",
        "regularization": "L1Regularization L2Regularization Regularization WeightDecay",
        "schedules": (
            "CosineSchedule CycleSchedule ExponentialSchedule FixedSchedule InverseSchedule MapSchedule "
            "PolySchedule RampSchedule Schedule ScheduleType SigmoidSchedule StepSchedule"
        ),
        "solver": "Solver",
        "solvers": "ConjugateGradient LBFGS LineGradientDescent StochasticGradientDescent",
        "terminations": "EpsTermination Norm2Termination TerminationCondition ZeroDirection",
        "updaters": " ".join(updaters.__all__),
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES, modules="earlystopping listeners solvers updaters")
    __all__ = sorted(" ".join(_NAMES.values()).split())
