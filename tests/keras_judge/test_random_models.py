"""Models that Keras draws, runs and saves: loaded, they compute the same, in both forms. `make test-extras`."""

import numpy as np
import pytest

import nd
import nn
from nd import ConfigurationError
from nn.keras import graph_of
from tests.sweeps import share

from .models import draw

RELATIVE = 1e-5
"""Of the largest number of an output, and of 1 where that is smaller."""
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # of Keras 3.15, by NumPy 2
MODELS, BLOCK = share(200), 20
REFUSED: dict[tuple[int, str], str] = {}
"""(Seed, ending) -> what the refusal says; all others compute the same."""


def outputs_of(drawn):
    """Return what Keras computes, in one compiled program."""
    import jax

    inputs = drawn.inputs if len(drawn.inputs) > 1 else drawn.inputs[0]
    outputs = jax.jit(lambda x: drawn.model(x, training=False))(inputs)
    return [np.asarray(y) for y in (outputs if isinstance(outputs, list | tuple) else [outputs])]


def ours_of(path, inputs, isolated):
    """Return what the loaded network computes; HDF5 is read here, unless it is isolated in a process of its own."""
    net = nn.load(path) if isolated else graph_of(path, isolated=False)
    outputs = net.output(*inputs)
    return [nd.to_host(y) for y in (outputs if isinstance(outputs, list | tuple) else [outputs])]


def compare(ours, theirs, who):
    assert len(ours) == len(theirs), who
    for y, expected in zip(ours, theirs, strict=True):
        assert y.shape == expected.shape, who
        largest = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(y, expected, rtol=0, atol=RELATIVE * largest, err_msg=who)


def check(keras, seed, folder):
    """Compare both forms of the model of a seed; return what was refused."""
    drawn = draw(keras, seed)
    theirs, refused = outputs_of(drawn), {}
    for ending in ("keras", "h5"):
        path = folder / f"{seed}.{ending}"
        drawn.model.save(path)
        try:
            ours = ours_of(path, drawn.inputs, isolated=seed % BLOCK == 0)
        except ConfigurationError as error:
            refused[seed, ending] = str(error)
        else:
            compare(ours, theirs, f"{path.name}, {drawn.kind}")
        path.unlink()
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MODELS, BLOCK))
def test_random_models_compute_what_keras_computes(first, keras, tmp_path):
    refused = {}
    for seed in range(first, first + BLOCK):
        refused |= check(keras, seed, tmp_path)
    expected = {key: text for key, text in REFUSED.items() if first <= key[0] < first + BLOCK}
    assert refused.keys() == expected.keys(), refused
    for key, text in expected.items():
        assert text in refused[key]
