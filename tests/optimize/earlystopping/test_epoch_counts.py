"""How many epochs the models have that early stopping keeps."""

import pytest

from optimize.earlystopping import (
    EarlyStoppingConfiguration,
    EarlyStoppingListener,
    EarlyStoppingTrainer,
    InMemoryModelSaver,
    MaxEpochsTerminationCondition,
    MaxScoreIterationTerminationCondition,
)
from tests.optimize.earlystopping.test_trainer import BATCHES, Fake, Resets, fit


def test_models_are_kept_before_their_epoch_is_counted():
    """As DL4J 1.0.0-M1.1: after epochs 0, 1, 2 both have 0, 1, 2 epochs, and within an epoch its number."""
    saver, counts = InMemoryModelSaver(), []

    class Heard(EarlyStoppingListener):
        def on_epoch(self, epoch, score, conf, model):
            kept = saver.get_best_model(), saver.get_latest_model()
            counts.append((epoch, model.epoch_count, *(copy.epoch_count for copy in kept)))

    settings = {"model_saver": saver, "save_last_model": True}
    fit(Fake(), MaxEpochsTerminationCondition(3), scores=[3.0, 2.0, 1.0], listener=Heard(), **settings)
    assert counts == [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2)]
    bad = [1.0] * BATCHES + [9.0]
    conditions = [MaxScoreIterationTerminationCondition(5.0)]
    fit(Fake(bad), scores=[1.0], iteration_termination_conditions=conditions, **settings)
    assert (saver.get_best_model().epoch_count, saver.get_latest_model().epoch_count) == (0, 1)


def test_an_epoch_whose_score_cannot_be_calculated_was_one():
    class Broken:
        minimize_score = True

        def calculate_score(self, model):
            raise OSError("no such file")

    model = Fake()
    conf = EarlyStoppingConfiguration(
        score_calculator=Broken(), epoch_termination_conditions=[MaxEpochsTerminationCondition(2)]
    )
    with pytest.raises(OSError, match="no such file"):
        EarlyStoppingTrainer(conf, model, Resets()).fit()
    assert model.epoch_count == 1
