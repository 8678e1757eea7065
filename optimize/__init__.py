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
    from .api import ConvexOptimizer, Listener, Model, OptimizerState
    from .constraints import (
        LayerConstraint,
        MaxNormConstraint,
        MinMaxNormConstraint,
        NonNegativeConstraint,
        UnitNormConstraint,
    )
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
        ReduceLearningRateOnPlateau,
        ScoreIterationListener,
        StatisticsListener,
        StatisticsRecord,
        TensorBoardListener,
        TimeIterationListener,
    )
    from .network_updater import NetworkUpdater, Segment
    from .regularization import L1Regularization, L2Regularization, Regularization, WeightDecay
    from .schedules import (
        CosineSchedule,
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
    from .solvers import LBFGS, ConjugateGradient, LineGradientDescent, StochasticGradientDescent
    from .terminations import EpsTermination, Norm2Termination, TerminationCondition, ZeroDirection
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
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "api": "ConvexOptimizer Listener Model OptimizerState",
            "constraints": (
                "LayerConstraint MaxNormConstraint MinMaxNormConstraint NonNegativeConstraint UnitNormConstraint"
            ),
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
            "updaters": (
                "AMSGrad AdaBelief AdaDelta AdaGrad AdaMax Adam Nadam Nesterovs NoOp RmsProp Sgd Updater get_updater"
            ),
        },
        modules="earlystopping listeners solvers updaters",
    )

__all__ = [
    "LBFGS",
    "AMSGrad",
    "AdaBelief",
    "AdaDelta",
    "AdaGrad",
    "AdaMax",
    "Adam",
    "ArrayStatistics",
    "Checkpoint",
    "CheckpointListener",
    "CollectScoresListener",
    "ComposableIterationListener",
    "ConjugateGradient",
    "ConvexOptimizer",
    "CosineSchedule",
    "CycleSchedule",
    "EpsTermination",
    "EvaluativeListener",
    "ExponentialSchedule",
    "FixedSchedule",
    "HtmlReportListener",
    "InverseSchedule",
    "L1Regularization",
    "L2Regularization",
    "LayerConstraint",
    "LineGradientDescent",
    "Listener",
    "MapSchedule",
    "MaxNormConstraint",
    "MinMaxNormConstraint",
    "Model",
    "Nadam",
    "NanListener",
    "Nesterovs",
    "NetworkUpdater",
    "NoOp",
    "NonNegativeConstraint",
    "Norm2Termination",
    "OptimizerState",
    "PerformanceListener",
    "PolySchedule",
    "ProgressBarListener",
    "RampSchedule",
    "ReduceLearningRateOnPlateau",
    "Regularization",
    "RmsProp",
    "Schedule",
    "ScheduleType",
    "ScoreIterationListener",
    "Segment",
    "Sgd",
    "SigmoidSchedule",
    "Solver",
    "StatisticsListener",
    "StatisticsRecord",
    "StepSchedule",
    "StochasticGradientDescent",
    "TensorBoardListener",
    "TerminationCondition",
    "TimeIterationListener",
    "UnitNormConstraint",
    "Updater",
    "WeightDecay",
    "ZeroDirection",
    "get_updater",
]
