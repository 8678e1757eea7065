"""Methods of arrays that write into them, as Java's do."""

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names are asked for here
from nd import DataError, DTypeError
from nd.dataset import DataSet
from nd.dataset.normalizers import NORMALIZERS

RNG = np.random.default_rng(5)
IMAGES = np.round(RNG.random((6, 3, 2, 2)) * 255).astype(np.float32)


@pytest.mark.parametrize("kind", NORMALIZERS)
def test_javas_methods_of_arrays_write_into_them(kind):
    normalizer, features = NORMALIZERS[kind]().fit(DataSet(IMAGES)), IMAGES.copy()
    expected = normalizer.transform_features(features)
    assert normalizer.transform(features) is features
    np.testing.assert_array_equal(features, expected)
    assert normalizer.revertFeatures(features) is features
    np.testing.assert_allclose(features, IMAGES, rtol=0, atol=1e-3)
    assert normalizer.revert_features(expected) is not expected
    with pytest.raises(DTypeError, match="transform: expected a DataSet or an array of floats to write into"):
        normalizer.transform(IMAGES.astype(np.uint8))
    with pytest.raises(DataError, match="transform: expected an array that can be written"):
        normalizer.transform(np.broadcast_to(IMAGES, IMAGES.shape))


@pytest.mark.parametrize("kind", ["min_max", "standardize"])
def test_labels_in_place(kind):
    labels = RNG.normal(size=(6, 2))
    normalizer = NORMALIZERS[kind]()
    normalizer.fit_label(True)
    normalizer.fit(DataSet(IMAGES, labels))
    changed = labels.copy()
    normalizer.transformLabel(changed)
    np.testing.assert_array_equal(changed, normalizer.transform_labels(labels))
    normalizer.revertLabels(changed)
    np.testing.assert_allclose(changed, labels, rtol=0, atol=1e-12)
