"""A zip as .keras, read and saved as a zip again: outputs are the same."""

import numpy as np
import pytest

import nd
import nn
from nd import ConfigurationError
from tests.networks_of_all_kinds import KINDS

CLOSE = 1e-6
"""Of the largest number of an output, and of 1 where that is smaller."""
QUICK, MANY = 4, 60
pytestmark = pytest.mark.filterwarnings("ignore::nn.files.findings.ModelFileWarning")  # of settings of training


def outputs_of(net, features):
    outputs = net.output(*features)
    return [nd.to_host(y) for y in (outputs if isinstance(outputs, list | tuple) else [outputs])]


def goes_round(kind, number, folder):
    """Compare one network; return None where none is drawn, False where Keras cannot say it."""
    drawn = KINDS[kind](number)
    if drawn is None:
        return None
    net, features = drawn
    features = [nd.to_host(x) for x in features]
    net.save(folder / "first.zip")
    first = nn.load(folder / "first.zip")
    try:
        first.save(folder / "model.keras")
    except ConfigurationError:
        return False
    nn.load(folder / "model.keras").save(folder / "second.zip")
    second = nn.load(folder / "second.zip")
    for ours, expected in zip(outputs_of(second, features), outputs_of(first, features), strict=True):
        assert ours.shape == expected.shape, number
        largest = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(ours, expected, rtol=0, atol=CLOSE * largest, err_msg=f"{kind} {number}")
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick_rows("layers")
def test_a_few(kind, tmp_path):
    assert [goes_round(kind, number, tmp_path) for number in range(QUICK)].count(True) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind, tmp_path):
    results = [goes_round(kind, number, tmp_path) for number in range(MANY)]
    assert results.count(True) >= MANY // 2, results
