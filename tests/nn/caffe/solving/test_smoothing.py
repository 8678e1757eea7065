"""The mean of the last losses."""

import numpy as np
import pytest

import nd
from nn.caffe.solving.smoothing import SmoothedLoss
from tests.cells import every_row


@every_row("average_loss", [1, 2, 7, 40, 100])
@every_row("start", [0, 13])
def test_it_is_the_mean_of_the_last(average_loss, start):
    losses = np.random.default_rng(3).normal(size=60)
    smoothed = SmoothedLoss(average_loss, start)
    assert smoothed.value == 0.0
    for number, loss in enumerate(losses):
        got = smoothed.add(float(loss), start + number)
        last = losses[max(0, number + 1 - average_loss) : number + 1]
        np.testing.assert_allclose(got, last.mean(), rtol=1e-12, atol=1e-13)
        assert smoothed.value == got


def test_the_loss_itself():
    smoothed = SmoothedLoss()
    assert [smoothed.add(loss, number) for number, loss in enumerate([0.5, 0.25, 8.0])] == [0.5, 0.25, 8.0]


def test_without_any():
    with pytest.raises(nd.ConfigurationError, match=r"average_loss must be >= 1, got 0"):
        SmoothedLoss(0)
