"""Calls that bring whole columns of data sets to mean 0 and standard deviation 1, against NumPy."""

import numpy as np

from nd.dataset import DataSet, MultiDataSet, MultiNormalizerHybrid

RNG = np.random.default_rng(8)
X = RNG.normal(3.0, 2.0, (40, 3)).astype(np.float32)
Y = RNG.normal(-1.0, 5.0, (40, 2)).astype(np.float32)


def standardized(x, ddof):
    return (x - x.mean(0)) / x.std(0, ddof=ddof)


def test_features_of_a_data_set():
    data = DataSet(X.copy(), Y)
    data.normalize_zero_mean_zero_unit_variance()
    np.testing.assert_allclose(data.features, standardized(X.astype(np.float64), 1), atol=1e-5)
    assert data.labels is Y


def test_labels_of_all_outputs():
    data = MultiDataSet([X], [Y, 2 * Y + 1])
    normalizer = MultiNormalizerHybrid().standardize_all_outputs()
    normalizer.fit(data)
    normalizer.transform(data)
    for labels in data.labels:
        np.testing.assert_allclose(labels, standardized(Y.astype(np.float64), 0), atol=1e-5)
    np.testing.assert_array_equal(data.features[0], X)
