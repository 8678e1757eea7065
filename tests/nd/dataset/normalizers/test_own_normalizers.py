"""Normalizers of one's own, and the library's with methods overridden."""

import pytest

from nd.dataset import DataSet, NormalizerStandardize
from nd.dataset.normalizers import Normalizer


class Halving(Normalizer):
    """One's own, by its methods of arrays."""

    kind = "CUSTOM"

    def transform_features(self, features, mask=None):
        return features / 2

    def revert_features(self, features, mask=None):
        return features * 2

    def write_body(self, stream):
        """Write nothing."""

    @classmethod
    def read_body(cls, stream):
        return cls()


class TenTimes(NormalizerStandardize):
    """The library's, with more to do."""

    def transform_features(self, features, mask=None):
        return super().transform_features(features, mask) * 10


def test_methods_of_arrays_that_a_subclass_overrides_change_data_sets():
    halved = Halving().pre_process(DataSet([[2.0], [6.0]], [[1.0], [3.0]]))
    assert (halved.features.tolist(), halved.labels.tolist()) == ([[1.0], [3.0]], [[1.0], [3.0]])
    assert Halving().revert(halved).features.tolist() == [[2.0], [6.0]]
    normalizer = TenTimes().fit(DataSet([[2.0], [6.0]]))
    assert normalizer.transform(DataSet([[2.0], [6.0]])).features.tolist() == [[-10.0], [10.0]]


def test_a_normalizer_that_does_not_say_how_is_told_so():
    class Nothing(Halving):
        transform_features = Normalizer.transform_features

    with pytest.raises(NotImplementedError, match="Nothing: expected a method way"):
        Nothing().pre_process(DataSet([[2.0]]))
