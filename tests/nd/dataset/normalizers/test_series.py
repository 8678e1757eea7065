"""Normalizers of series [N, C, T] with and without masks [N, T], against Deeplearning4j."""

import numpy as np
import pytest

from nd.dataset import DataSet, ListDataSetIterator, Normalizer, NormalizerMinMaxScaler, NormalizerStandardize
from tests.java_series import FOLDER

KINDS = {
    "NormalizerMinMaxScaler": lambda: NormalizerMinMaxScaler(-1.0, 2.0),
    "NormalizerStandardize": NormalizerStandardize,
}


def close(ours, javas):
    np.testing.assert_allclose(ours, javas, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", ["normalizers", "normalizers_masked"])
def test_features_and_labels_are_javas(folder, kind):
    """Fitted on all at once and on three minibatches, and read from Java's file."""
    with np.load(FOLDER / folder / "arrays.npz") as arrays:
        javas = {name: arrays[name] for name in arrays.files}

    def data():
        return DataSet(javas["x"], javas["y"], javas.get("xm"), javas.get("ym"))

    assert data().has_mask_arrays() == ("masked" in folder)
    fitted, by_parts = KINDS[kind](), KINDS[kind]()
    for normalizer, source in ((fitted, data()), (by_parts, ListDataSetIterator(data(), 1))):
        normalizer.fit_label(True)
        normalizer.fit(source)
    for normalizer in (fitted, by_parts, Normalizer.load(FOLDER / folder / f"{kind}.bin")):
        changed = normalizer.transform(data())
        close(changed.features, javas[f"{kind}_x"])
        close(changed.labels, javas[f"{kind}_y"])
        reverted = normalizer.revert(changed)
        close(reverted.features, javas[f"{kind}_reverted"])
        mask = np.ones(javas["y"].shape) if reverted.labels_mask is None else reverted.labels_mask[:, None]
        close(reverted.labels, javas["y"] * mask)
