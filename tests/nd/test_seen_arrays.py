"""What stays of arrays that were seen: numbers within a budget, statistics, samples; and where two of them part."""

import numpy as np
import pytest

import nd
from nd.execution.seen_arrays import ArrayKeeper, parting, sample_of, scaled

RNG = np.random.default_rng(4)


def seen(host, budget=1 << 20):
    return ArrayKeeper(budget).seen("x", np.asarray(host), np.asarray)


def test_what_is_known_of_an_array():
    x = RNG.normal(size=(7, 30)).astype("float32")
    x[2, 3], x[4, 4] = np.nan, np.inf
    content = seen(x).content
    finite = x[np.isfinite(x)].astype(float)
    assert (content.low, content.high, content.not_finite) == (finite.min(), finite.max(), 2)
    assert content.mean == pytest.approx(finite.mean())
    assert list(content.histogram) == np.histogram(finite, 32, (finite.min(), finite.max()))[0].tolist()
    np.testing.assert_array_equal(seen(x).values, x)


@pytest.mark.parametrize("x", [np.zeros((0, 3)), np.full(3, np.nan), np.array(2.5), np.array([1, 1]), np.array([True])])
def test_arrays_of_every_kind(x):
    one = seen(x)
    assert (one.shape, one.dtype, one.nbytes) == (x.shape, str(x.dtype), x.nbytes)
    assert sum(one.content.histogram) + one.content.not_finite == x.size
    np.testing.assert_array_equal(one.values, x)
    assert repr(one).startswith("x [")


def test_what_is_seen_stays_when_the_array_is_written():
    x = np.ones(3)
    one = seen(x)
    x[:] = 7
    assert one.values.tolist() == [1, 1, 1]


def test_equal_arrays_are_kept_once_and_the_order_of_memory_does_not_count():
    keeper, x = ArrayKeeper(100), np.arange(12.0).reshape(3, 4)
    one, other = keeper.seen("a", x, np.asarray), keeper.seen("b", np.asfortranarray(x), np.asarray)
    assert one.content is other.content
    assert keeper.left == 4
    third = keeper.seen("c", x + 1, np.asarray)
    assert not third.is_kept
    with pytest.raises(nd.DataError, match="c: 96 bytes were beyond the budget of the trace, got a sample only"):
        third.values


@pytest.mark.parametrize(
    ("shape", "most", "expected"),
    [((4, 5), 100, (4, 5)), ((32, 20, 12, 12), 4096, (1, 20, 12, 12)), ((32, 20, 12, 12), 1024, (1, 7, 12, 12)),
     ((800, 500), 4096, (64, 64)), ((3, 5000), 300, (3, 100)), ((5000,), 40, (40,)), ((2, 2, 9), 1, (1, 1, 1))],
)  # fmt: skip
def test_a_sample_is_the_beginning_along_every_axis(shape, most, expected):
    x = np.arange(np.prod(shape)).reshape(shape)
    sample = sample_of(x, most)
    assert sample.shape == expected
    np.testing.assert_array_equal(sample, x[tuple(map(slice, expected))])


def test_numbers_of_pictures():
    x = np.array([-1.0, 0.5, 3.0, np.nan, np.inf])
    data, low, high = scaled(x)
    parts = np.frombuffer(data, "<u2")
    assert (low, high) == (-1.0, 3.0)
    np.testing.assert_allclose(low + (high - low) * parts[:3] / 65534, x[:3], atol=1e-4)
    assert parts[3:].tolist() == [65535, 65535]
    assert scaled(np.full(2, 4.0)) == (b"\0" * 4, 4.0, 4.0)


def test_where_two_arrays_part():
    x = RNG.normal(size=(3, 4, 5))
    y = x.copy()
    assert parting(x, y, 0.0) is None
    y[1, 2, 3] += 1e-6
    y[2, 0, 0] += 5e-6
    found = parting(x, y, 0.0)
    assert (found.place, found.first, found.second, found.elements) == ((1, 2, 3), x[1, 2, 3], y[1, 2, 3], 2)
    assert found.largest == pytest.approx(5e-6)
    assert parting(x, y, 1e-5) is None
    assert parting(x, y, 3e-6 / np.abs(y).max()).place == (2, 0, 0)


def test_what_is_not_finite_parts_from_everything_else():
    x = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert parting(x, x.copy(), 0.0) is None
    for place, other in enumerate((1.0, np.nan, np.inf, np.nan)):
        y = x.copy()
        y[place] = other
        assert parting(x, y, 0.5).place == (place,)
