"""Embedding of Keras: rows of a table."""

import numpy as np
import pytest

from nd import ConfigurationError
from nn import EmbeddingSequenceLayer
from nn.keras.into.recognition import network_of
from tests.keras_models import check, layer, sequential

RNG = np.random.default_rng(19)
TABLE = RNG.normal(size=(7, 3))


def embedding(**config):
    return layer("Embedding", {"input_dim": 7, "output_dim": 3, "input_length": 4, **config}, embeddings=TABLE)


@pytest.mark.parametrize("shape", [(4,), (None,), (1,)])
def test_rows_of_numbers_become_series(shape):
    numbers = RNG.integers(0, 7, size=(3, shape[0] or 4))
    model = sequential(shape, embedding())
    check(model, [numbers.astype("float64")], TABLE[numbers])
    assert isinstance(network_of(model).conf.layers[0], EmbeddingSequenceLayer)


def test_other_arrays_of_numbers():
    numbers = RNG.integers(0, 7, size=(3, 4, 2))
    check(sequential((4, 2), embedding()), [numbers.astype("float64")], TABLE[numbers])


def test_flat_rows():
    numbers, kernel = RNG.integers(0, 7, size=(3, 4)), RNG.normal(size=(12, 2))
    dense = layer("Dense", {"units": 2, "use_bias": False}, kernel=kernel)
    expected = TABLE[numbers].reshape(3, 12) @ kernel
    check(sequential((4,), embedding(), layer("Flatten"), dense), [numbers.astype("float64")], expected)


def test_what_nothing_says_is_refused():
    with pytest.raises(ConfigurationError, match=r"mask_zero=True of numbers of shape \(4, 2\)"):
        network_of(sequential((4, 2), embedding(mask_zero=True)))
    with pytest.raises(ConfigurationError, match="without weights"):
        network_of(sequential((4, 2), embedding()._replace(weights=None)))
