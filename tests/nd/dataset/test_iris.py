"""The bundled irises."""

import numpy as np
import pytest

import nd
from nd.dataset import IrisDataSetIterator
from nd.dataset.iris import load_iris


def test_the_flowers_are_fishers_as_uci_has_them():
    features, species = load_iris()
    assert features.shape == (150, 4)
    assert np.bincount(species).tolist() == [50, 50, 50]
    assert np.all(np.diff(species) >= 0)
    # Fisher's own means of each species, in his table of 1936, but for the two rows that UCI's copy, and so
    # Deeplearning4j's, has another way: [4.9, 3.1, 1.5, 0.2] and [4.9, 3.6, 1.4, 0.1] are printed there.
    assert features[[34, 37]].tolist() == [[4.9, 3.1, 1.5, 0.1], [4.9, 3.1, 1.5, 0.1]]
    features[[34, 37]] = [[4.9, 3.1, 1.5, 0.2], [4.9, 3.6, 1.4, 0.1]]
    means = [[5.006, 3.428, 1.462, 0.246], [5.936, 2.770, 4.260, 1.326], [6.588, 2.974, 5.552, 2.026]]
    np.testing.assert_allclose([features[species == each].mean(0) for each in range(3)], means, atol=1e-12)


def test_minibatches():
    iterator = IrisDataSetIterator(64)
    shapes = [(each.features.shape, each.labels.shape) for each in iterator]
    assert shapes == [((64, 4), (64, 3)), ((64, 4), (64, 3)), ((22, 4), (22, 3))]
    first = IrisDataSetIterator(60, 51).next()
    assert first.features.dtype == first.labels.dtype == np.float32
    assert first.labels.sum(0).tolist() == [50.0, 1.0, 0.0]


@pytest.mark.parametrize("count", [0, 151])
def test_there_are_150(count):
    with pytest.raises(nd.DataError, match=rf"num_examples must be 1\.\.150, got {count}"):
        IrisDataSetIterator(10, count)
