"""Early stopping: train until a condition is met, and keep the best model that there was."""

from .api import (
    EarlyStoppingListener,
    EarlyStoppingModel,
    EarlyStoppingModelSaver,
    EpochTerminationCondition,
    IterationTerminationCondition,
    ScoreCalculator,
)
from .configuration import EarlyStoppingConfiguration, EarlyStoppingResult, TerminationReason
from .epoch_conditions import (
    BestScoreEpochTerminationCondition,
    MaxEpochsTerminationCondition,
    ScoreImprovementEpochTerminationCondition,
)
from .iteration_conditions import (
    InvalidScoreIterationTerminationCondition,
    MaxScoreIterationTerminationCondition,
    MaxTimeIterationTerminationCondition,
)
from .savers import InMemoryModelSaver, LocalFileModelSaver
from .score_calculators import (
    ClassificationScoreCalculator,
    DataSetLossCalculator,
    RegressionScoreCalculator,
    ROCScoreCalculator,
)
from .trainer import EarlyStoppingTrainer

__all__ = [
    "BestScoreEpochTerminationCondition",
    "ClassificationScoreCalculator",
    "DataSetLossCalculator",
    "EarlyStoppingConfiguration",
    "EarlyStoppingListener",
    "EarlyStoppingModel",
    "EarlyStoppingModelSaver",
    "EarlyStoppingResult",
    "EarlyStoppingTrainer",
    "EpochTerminationCondition",
    "InMemoryModelSaver",
    "InvalidScoreIterationTerminationCondition",
    "IterationTerminationCondition",
    "LocalFileModelSaver",
    "MaxEpochsTerminationCondition",
    "MaxScoreIterationTerminationCondition",
    "MaxTimeIterationTerminationCondition",
    "ROCScoreCalculator",
    "RegressionScoreCalculator",
    "ScoreCalculator",
    "ScoreImprovementEpochTerminationCondition",
    "TerminationReason",
]
