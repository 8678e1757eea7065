"""What normalizers of MultiDataSets refuse, and how they say so."""

import io

import numpy as np
import pytest

from nd import ArgumentError, ConfigurationError, DataError, DTypeError, ShapeError
from nd.dataset import (
    DataSet,
    ImageMultiPreProcessingScaler,
    MultiDataSet,
    MultiNormalizerHybrid,
    MultiNormalizerMinMaxScaler,
    MultiNormalizerStandardize,
)
from tests.cells import every_row

ROWS, SERIES = np.arange(15.0).reshape(3, 5), np.arange(24.0).reshape(3, 2, 4)


def with_labels(normalizer):
    normalizer.fit_label(True)
    return normalizer


def sample():
    return MultiDataSet([ROWS, SERIES], [ROWS[:, :2], SERIES])


def fitted():
    return MultiNormalizerStandardize().fit(sample())


@every_row(
    ("call", "error", "message"),
    [
        (
            lambda: MultiNormalizerStandardize().transform(sample()),
            DataError,
            "input 0 that was fitted, got none. Call f",
        ),
        (lambda: with_labels(fitted()).transform(sample()), DataError, "an output 0 that was fitted, got none"),
        (lambda: fitted().transform(DataSet([[1.0]])), DTypeError, "transform: expected a MultiDataSet, got DataSet"),
        (lambda: fitted().revert(["a", "b"]), DTypeError, "revert: expected a MultiDataSet, got list"),
        (
            lambda: fitted().transform(MultiDataSet([[1.0]])),
            DataError,
            "expected at least 2 arrays, as the inputs that",
        ),
        (
            lambda: fitted().transform_features([*sample().features, [[1.0]]]),
            DataError,
            r"expected an input 2 that was fitted, got \[0, 1\]",
        ),
        (
            lambda: fitted().transform_features([np.ones((3, 4)), np.ones((3, 2, 4))]),
            ShapeError,
            r"MultiNormalizerStandardize \(input 0\).transform_features: expected \[N, 5\]",
        ),
        (
            lambda: fitted().transform_features(sample().features, [None]),
            DataError,
            "a mask or None for each of 2 array",
        ),
        (lambda: fitted().fit([]), DataError, "fit: expected examples, got none"),
        (lambda: fitted().fit([MultiDataSet([[1.0]]), sample()]), ShapeError, r"expected \[N, columns"),
        (
            lambda: fitted().fit([sample(), MultiDataSet([[[1.0]]])]),
            DataError,
            "2 inputs and 2 outputs, as in the data b",
        ),
        (lambda: fitted().fit([DataSet([[1.0]])]), DTypeError, "expected a MultiDataSet, got DataSet"),
        (lambda: fitted().fit(3), DTypeError, "expected an iterable of MultiDataSets, got int"),
        (
            lambda: with_labels(fitted()).fit(MultiDataSet([[[1.0]]])),
            DataError,
            "expected labels, which are to be fitted",
        ),
        (
            lambda: fitted().fit(MultiDataSet([[[np.nan]]])),
            DataError,
            r"\(input 0\).fit: expected finite numbers, got nan",
        ),
        (lambda: fitted().get_feature_mean(2), DataError, r"get_feature_mean: index must be one of \[0, 1\], got 2"),
        (lambda: fitted().get_label_mean(0), DataError, "expected labels that were fitted, got none. Call fit_label"),
        (lambda: fitted().num_outputs(), DataError, "num_outputs: expected labels that were fitted"),
        (lambda: fitted().set_feature_stats([[1.0]]), ConfigurationError, "element 0 must be a pair of rows"),
        (lambda: fitted().set_feature_stats(3), ConfigurationError, "expected a pair of rows for each array, got 3"),
        (lambda: fitted().set_label_stats([([1.0], [-1.0])]), ConfigurationError, "std must not be negative"),
        (
            lambda: MultiNormalizerStandardize().save(io.BytesIO()),
            DataError,
            "save: expected features that were fitted",
        ),
        (lambda: MultiNormalizerHybrid().save(io.BytesIO()), DataError, "save: expected features that were fitted"),
        (lambda: MultiNormalizerMinMaxScaler(1, 1), ConfigurationError, "range must go from a number to a larger one"),
        (lambda: MultiNormalizerHybrid().min_max_scale_input(0, 1, 1), ConfigurationError, "from a number to a larger"),
        (lambda: MultiNormalizerHybrid().standardize_input(-1), ArgumentError, "index must be an integer >= 0, got -1"),
        (
            lambda: MultiNormalizerHybrid().fit_label(True),
            ConfigurationError,
            "labels are changed where a method for out",
        ),
        (lambda: MultiNormalizerHybrid().get_input_stats(0), DataError, "get_input_stats: expected features that were"),
        (
            lambda: ImageMultiPreProcessingScaler([]),
            ConfigurationError,
            r"indices must name at least one input, got \[\]",
        ),
        (lambda: ImageMultiPreProcessingScaler([-1]), ArgumentError, "indices must be"),
        (lambda: ImageMultiPreProcessingScaler([0]).fit_label(True), ConfigurationError, "labels are left as they are"),
        (
            lambda: ImageMultiPreProcessingScaler([1]).transform(MultiDataSet([[[1.0]]])),
            DataError,
            r"expected at least 2 inputs, as indices \[1\] say, got 1",
        ),
    ],
)
def test_what_they_do_not_take(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_statistics_that_were_refused_change_nothing():
    normalizer = fitted()
    with pytest.raises(ConfigurationError, match="std must not be negative"):
        normalizer.set_label_stats([([1.0], [-1.0])])
    assert not normalizer.is_fit_label()
    normalizer.set_label_stats([([1.0], [2.0])])
    assert normalizer.transform_labels([[[5.0]]])[0].tolist() == [[2.0]]
