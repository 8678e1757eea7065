"""Early stopping: train until a condition is met, and keep the best model that there was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
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
    from .reconstruction_scores import (
        AutoencoderScoreCalculator,
        VAEReconErrorScoreCalculator,
        VAEReconProbScoreCalculator,
    )
    from .savers import InMemoryModelSaver, LocalFileModelSaver
    from .score_calculators import (
        ClassificationScoreCalculator,
        DataSetLossCalculator,
        RegressionScoreCalculator,
        ROCScoreCalculator,
    )
    from .trainer import EarlyStoppingTrainer
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "api": (
                "EarlyStoppingListener EarlyStoppingModel EarlyStoppingModelSaver EpochTerminationCondition "
                "IterationTerminationCondition ScoreCalculator"
            ),
            "configuration": "EarlyStoppingConfiguration EarlyStoppingResult TerminationReason",
            "epoch_conditions": (
                "BestScoreEpochTerminationCondition MaxEpochsTerminationCondition "
                "ScoreImprovementEpochTerminationCondition"
            ),
            "iteration_conditions": (
                "InvalidScoreIterationTerminationCondition MaxScoreIterationTerminationCondition "
                "MaxTimeIterationTerminationCondition"
            ),
            "reconstruction_scores": (
                "AutoencoderScoreCalculator VAEReconErrorScoreCalculator VAEReconProbScoreCalculator"
            ),
            "savers": "InMemoryModelSaver LocalFileModelSaver",
            "score_calculators": (
                "ClassificationScoreCalculator DataSetLossCalculator ROCScoreCalculator RegressionScoreCalculator"
            ),
            "trainer": "EarlyStoppingTrainer",
        },
    )

__all__ = [
    "AutoencoderScoreCalculator",
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
    "VAEReconErrorScoreCalculator",
    "VAEReconProbScoreCalculator",
]
