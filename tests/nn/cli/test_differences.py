"""How far arrays are apart: absolute, relative and in units in the last place, compared with NumPy's own spacing."""

import numpy as np
import pytest

import nd
from nn.cli.proof.differences import difference
from nn.cli.proof.proving import LAYER, OUTPUT, Compared, prove
from nn.cli.proof.sides import Results, Side


def expected_of(first, second):
    first, second = first.astype(np.float64), second.astype(np.float64)
    return np.abs(first).max(), np.abs(first - second).max(), np.abs(first - second).max() / np.abs(first).max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e20])
def test_as_numpy_computes_them(dtype, scale):
    rng = np.random.default_rng(7)
    first = (rng.normal(size=(5, 4, 3)) * scale).astype(dtype)
    second = (first * (1 + 1e-6 * rng.normal(size=first.shape))).astype(dtype)
    found = difference(first, second)
    units = np.abs(first.astype(np.float64) - second) / np.spacing(np.maximum(np.abs(first), np.abs(second)))
    np.testing.assert_allclose((found.largest, found.absolute, found.relative), expected_of(first, second), rtol=1e-12)
    np.testing.assert_allclose(found.ulps, units.max(), rtol=1e-12)
    assert found.numbers == 60


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_next_number_is_one_unit_away(dtype):
    first = np.array([1.0, -3.7, 1e-20, 5e6, -0.1], dtype)
    assert difference(first, np.nextafter(first, np.array(-np.inf, dtype))).ulps == 1.0
    assert difference(first, first).ulps == 0.0
    assert difference(np.zeros(3, dtype), -np.zeros(3, dtype)).absolute == 0.0


def test_of_two_types_the_unit_is_that_of_the_shorter():
    first = np.array([1.0, 2.0], np.float32)
    assert difference(first, np.nextafter(first, np.float32(9)).astype(np.float64)).ulps == 1.0


def test_infinities_and_nan_must_stand_at_the_same_places():
    first = np.array([1.0, np.nan, np.inf, -np.inf, 2.0], np.float32)
    same = first.copy()
    same[0] = np.nextafter(same[0], np.float32(9))
    found = difference(first, same)
    assert (found.largest, found.ulps) == (2.0, 1.0)
    for place, value in ((0, np.nan), (1, 0.0), (2, -np.inf), (2, np.nan), (3, 1e30), (4, np.inf)):
        other = first.copy()
        other[place] = value
        for pair in ((first, other), (other, first)):
            assert difference(*pair).absolute == np.inf
            assert difference(*pair).relative == np.inf


def test_nothing_is_not_apart():
    empty = difference(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
    assert (empty.numbers, empty.absolute, empty.relative, empty.ulps) == (0, 0.0, 0.0, 0.0)
    assert difference(np.arange(3), np.arange(3)).largest == 2.0


# ---- two models


class Table(Side):
    """A model of given values."""

    def __init__(self, outputs, named, reader="table"):
        self.outputs, self.named, self.names, self.reader = outputs, named, frozenset(named), reader

    def run(self, xs, wanted):
        return Results(self.outputs, {name: value for name, value in self.named.items() if name in wanted})


X = [np.zeros((2, 3), np.float32)]
A = np.arange(24, dtype=np.float32).reshape(2, 4, 3)


def rows_of(first, second, outputs=("y",), tolerance=1e-5):
    return prove(first, second, outputs, [X], tolerance).rows


def test_layers_that_both_name_and_outputs_at_their_places():
    first = Table([A], {"a": A, "b": A, "y": A, "left": A})
    second = Table([A + 1], {"y": A + 1, "b": A + 0.5, "a": A, "right": A})
    proof = prove(first, second, ("y",), [X], 1e-5)
    found = [(row.name, row.kind, row.difference.absolute) for row in proof.rows]
    assert found == [("a", LAYER, 0.0), ("b", LAYER, 0.5), ("y", OUTPUT, 1.0)]
    assert [row.name for row in proof.beyond] == ["b", "y"]
    assert proof.unnamed == ("left",)
    assert prove(first, second, ("y",), [X], 0.05).beyond == ()


@pytest.mark.parametrize(
    "turned",
    [A.transpose(0, 2, 1), A.reshape(2, 4, 3, 1), A.reshape(2, 4, 1, 3), A.transpose(2, 0, 1).reshape(3, 1, 2, 4)],
)
def test_inner_layers_may_have_their_axes_in_another_order(turned):
    (row, output) = rows_of(Table([A], {"a": A}), Table([A], {"a": turned}))
    assert (row.difference.absolute, output.difference.absolute) == (0.0, 0.0)


def test_outputs_must_have_the_same_shape():
    first, second = Table([A], {"a": A}), Table([A.transpose(0, 2, 1)], {"a": A[:, :2]})
    layer, output = rows_of(first, second)
    assert layer.difference is None
    assert layer.is_within(0.0)
    assert output.difference is None
    assert not output.is_within(1e9)


def test_of_several_runs_the_largest_difference_counts():
    one = Compared("a", LAYER, (2, 3), difference(np.ones(3), np.ones(3) + 0.5), (2, 3))
    other = Compared("a", LAYER, (1, 3), difference(4 * np.ones(2), 4 * np.ones(2) + 0.25), (1, 3))
    joined = one.joined(other)
    assert joined.difference.numbers == 5
    assert (joined.difference.largest, joined.difference.absolute) == (4.0, 0.5)
    assert (joined.difference, joined.shape) == (other.joined(one).difference, (2, 3))
    none = Compared("a", LAYER, (1, 3), None, (1, 4))
    assert none.joined(one).difference is None
    assert one.joined(none).difference is None


def test_models_without_anything_in_common():
    with pytest.raises(nd.ConfigurationError, match="something in common to compare, got nothing"):
        prove(Table([], {"a": A}), Table([A], {"b": A}), ("y",), [X], 1e-5)
