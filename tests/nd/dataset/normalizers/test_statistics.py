"""Means, variances and bounds gathered in one pass, against NumPy's two passes in float64."""

import numpy as np
import pytest

from nd import DataError, DTypeError, ShapeError
from nd.dataset import DataSet, ListDataSetIterator, NormalizerMinMaxScaler, NormalizerStandardize
from nd.dataset.normalizers import statistics
from nd.dataset.normalizers.statistics import Bounds, Moments
from tests.cells import every_row

RNG = np.random.default_rng(11)
EXACT = 1e-12  # relative, of float64 sums of some thousand numbers


def gathered(kind, pieces, masks=None):
    found = kind("test")
    for i, piece in enumerate(pieces):
        found.add(piece, None if masks is None else masks[i])
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pieces_together_are_the_whole(dtype, order):
    x = (RNG.normal(size=(101, 5)) * 50 + 100).astype(dtype)
    found = gathered(Moments, [np.array(x[a:b], order=order) for a, b in [(0, 1), (1, 40), (40, 40), (40, 101)]])
    np.testing.assert_allclose(found.mean(), x.astype(np.float64).mean(axis=0), rtol=EXACT)
    np.testing.assert_allclose(found.variance(), x.astype(np.float64).var(axis=0), rtol=EXACT)
    bounds = gathered(Bounds, [x[:40], x[40:]])
    np.testing.assert_array_equal([bounds.lower, bounds.upper], [x.min(axis=0), x.max(axis=0)])


def test_offsets_cost_no_digits():
    """In one pass by sums of squares in float64, nothing would be left of these variances."""
    small = RNG.normal(size=(10_000, 3))
    x = small + 1e8
    exact = x - 1e8  # what rounding left, exactly
    found = gathered(Moments, np.array_split(x, 37))
    np.testing.assert_allclose(found.variance(), exact.var(axis=0), rtol=EXACT)
    np.testing.assert_allclose(found.mean() - 1e8, exact.mean(axis=0), atol=np.spacing(1e8))
    naive = (x**2).mean(axis=0) - x.mean(axis=0) ** 2
    assert not np.allclose(naive, exact.var(axis=0), rtol=0.1)


def test_large_arrays_are_looked_at_piece_by_piece(monkeypatch):
    """A piece is made small, as a test has no room for a large array."""
    x = RNG.normal(size=(50, 3, 4))
    monkeypatch.setattr(statistics, "_PIECE", 30)
    sizes = [values.shape for values, _ in statistics._pieces(x, None)]
    assert sizes == [(3, 8)] * 25
    found = gathered(Moments, [x])
    np.testing.assert_allclose(found.variance(), x.var(axis=(0, 2)), rtol=EXACT)


def test_constant_columns_are_found_exactly():
    x = np.full((1000, 2), 1e8 / 3)
    found = gathered(Moments, np.array_split(x, 7))
    np.testing.assert_array_equal(found.mean(), x[0])
    np.testing.assert_array_equal(found.variance(), [0, 0])


@pytest.mark.parametrize("shape", [(7, 3, 5), (7, 3, 2, 4), (7, 3, 2, 2, 3)])
def test_further_axes_belong_to_their_column(shape):
    x = RNG.normal(size=shape)
    axes = (0, *range(2, len(shape)))
    found = gathered(Moments, [x[:2], x[2:]])
    np.testing.assert_allclose(found.mean(), x.mean(axis=axes), rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(found.variance(), x.var(axis=axes), rtol=EXACT)


MASKS = [  # shape of the data, of the mask, and of the mask beside the data
    ((6, 3, 5), (6, 5), (6, 1, 5)),
    ((6, 3, 5), (6, 3, 5), (6, 3, 5)),
    ((6, 3), (6, 1), (6, 1)),
    ((6, 3), (6, 3), (6, 3)),
    ((6, 3), (6,), (6, 1)),
    ((6, 3, 2, 4), (6, 1, 2, 1), (6, 1, 2, 1)),
]


@pytest.mark.parametrize(("shape", "mask_shape", "beside"), MASKS)
def test_what_is_masked_does_not_count(shape, mask_shape, beside):
    x, mask = RNG.normal(size=shape), (RNG.random(mask_shape) > 0.4).astype(np.float32)
    mask[0] = 1  # in every column something counts
    full = np.broadcast_to(mask.reshape(beside) != 0, shape)
    x[~full] = np.nan
    moments, bounds = (gathered(kind, [x[:2], x[2:]], [mask[:2], mask[2:]]) for kind in (Moments, Bounds))
    for column in range(3):
        counted = x[:, column][full[:, column]]
        assert moments.mean()[column] == pytest.approx(counted.mean(), rel=EXACT)
        assert moments.variance()[column] == pytest.approx(counted.var(), rel=EXACT)
        assert (bounds.lower[column], bounds.upper[column]) == (counted.min(), counted.max())
        assert moments.count[column] == counted.size


def test_minibatches_that_are_all_masked_change_nothing():
    x = RNG.normal(size=(4, 2, 3))
    found = gathered(Moments, [x, x, x + 7], [np.zeros((4, 3)), np.ones((4, 3)), np.zeros((4, 3))])
    np.testing.assert_allclose(found.mean(), x.mean(axis=(0, 2)), rtol=EXACT)
    np.testing.assert_allclose(found.variance(), x.var(axis=(0, 2)), rtol=EXACT)


def test_against_scikit_learn():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    x = RNG.normal(size=(200, 4)) * [1, 10, 100, 1000]
    data_set = DataSet(x)
    for ours, theirs in [
        (NormalizerStandardize(), preprocessing.StandardScaler()),
        (NormalizerMinMaxScaler(-2, 5), preprocessing.MinMaxScaler((-2, 5))),
    ]:
        ours.fit(ListDataSetIterator(data_set, 32))
        theirs.fit(x)
        np.testing.assert_allclose(ours.transform_features(x), theirs.transform(x), rtol=1e-10, atol=1e-12)
        y = RNG.normal(size=(5, 4))
        np.testing.assert_allclose(ours.revert_features(y), theirs.inverse_transform(y), rtol=1e-10)


@every_row(
    ("pieces", "masks", "error", "message"),
    [
        ([], None, DataError, "test: expected examples, got none"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], None, ShapeError, r"expected \[N, 3\], as in the data before, got \[2"),
        ([np.array([[1, 2], [3, np.nan]])], None, DataError, "expected finite numbers, got nan in column 1"),
        ([np.array([[1, -np.inf]])], None, DataError, "got -inf in column 1"),
        ([np.zeros((2, 3, 4))], [np.zeros((2, 4))], DataError, "got only masked ones in column 0"),
        ([np.zeros((2, 3, 4))], [np.zeros((2, 5))], ShapeError, r"a mask that fits \[2, 3, 4\], got \[2, 5\]"),
        ([np.zeros((2, 3))], [np.zeros((3, 1))], ShapeError, r"a mask that fits \[2, 3\], got \[3, 1\]"),
        ([np.zeros((2, 0))], None, ShapeError, r"expected columns of numbers, got \[2, 0\]\. Give some"),
        ([np.zeros((2, 3, 4))], [-np.ones((2, 4))], DataError, r"masks must be finite and >= 0, got values from -1\.0"),
        (
            [np.zeros((2, 3))],
            [np.full((2, 1), np.nan)],
            DataError,
            "masks must be finite and >= 0, got values from nan",
        ),
        ([np.zeros(3)], None, ShapeError, r"expected \[N, columns, ...\], got \[3\]\. Reshape to \[N, 1\]"),
        ([np.array([["a"]])], None, DTypeError, "expected numbers"),
    ],
)
def test_refusals(pieces, masks, error, message):
    with pytest.raises(error, match=message):
        gathered(Moments, pieces, masks).variance()
