"""EarlyStoppingConfiguration: what it refuses, and Java's way to write it."""

import pytest

import nd
from optimize.earlystopping import (
    BestScoreEpochTerminationCondition,
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    InMemoryModelSaver,
    InvalidScoreIterationTerminationCondition,
    MaxEpochsTerminationCondition,
)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"score_calculator": None}, "score_calculator must be a ScoreCalculator, got None"),
        ({"epoch_termination_conditions": ()}, "at least one termination condition must be given, got none"),
        ({"epoch_termination_conditions": ["x"]}, r"must be a sequence of an EpochTerminationCondition, got \['x'\]"),
        (
            {"iteration_termination_conditions": [MaxEpochsTerminationCondition(1)]},
            r"must be a sequence of an IterationTermination.*, got \[MaxEpochsTerminationCondition\(1\)\]",
        ),
        ({"evaluate_every_n_epochs": 0}, "evaluate_every_n_epochs must be an integer >= 1, got 0"),
    ],
)
def test_configurations_that_make_no_sense(settings, message):
    sound = {
        "score_calculator": DataSetLossCalculator([]),
        "epoch_termination_conditions": [MaxEpochsTerminationCondition(1)],
    }
    with pytest.raises(nd.ConfigurationError, match=message):
        EarlyStoppingConfiguration(**{**sound, **settings})


def test_javas_builder():
    calculator, saver = DataSetLossCalculator([]), InMemoryModelSaver()
    first, second = MaxEpochsTerminationCondition(5), BestScoreEpochTerminationCondition(0.1)
    invalid = InvalidScoreIterationTerminationCondition()
    conf = (
        EarlyStoppingConfiguration.Builder()
        .epochTerminationConditions(first, second)
        .iterationTerminationConditions(invalid)
        .scoreCalculator(calculator)
        .evaluateEveryNEpochs(2)
        .modelSaver(saver)
        .saveLastModel(True)
        .build()
    )
    assert conf == EarlyStoppingConfiguration(
        epoch_termination_conditions=(first, second),
        iteration_termination_conditions=(invalid,),
        score_calculator=calculator,
        evaluate_every_n_epochs=2,
        model_saver=saver,
        save_last_model=True,
    )
