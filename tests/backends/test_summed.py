"""Sums of formulas in one launch, against the same text on NumPy in float64."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.cuda.elementwise import BLOCK, MOST_BLOCKS
from nd.activations import ACTIVATIONS
from nd.losses import LOSSES
from optimize import L1Regularization, L2Regularization
from tests.backends.formulas import is_kernel, kernels_of, on

RNG = np.random.default_rng(9)
HOST = NumpyBackend(threads=1)
CLOSE = {"float32": 2e-5, "float64": 1e-12}


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


def total(device, formula, *arguments):
    """Return what the formula says on the device, where it is a kernel."""
    with nd.use_backend(device):
        found = formula(*on(device, arguments))
    assert is_kernel(formula)
    assert device.is_array(found)
    assert found.shape == ()
    return float(device.item(found))


def expected(formula, *arguments):
    exact = [np.array(each, float) if isinstance(each, np.ndarray) else each for each in arguments]
    with nd.use_backend(HOST):
        return float(formula.formula(*exact))


@pytest.mark.parametrize("n", [1, 255, 256, 257, 5000, BLOCK * MOST_BLOCKS + 1])
def test_sums_over_many_blocks(n, dtype, device):
    x = RNG.normal(size=n).astype(dtype)
    formula = nd.Summed(lambda x: nd.dot(x, x))
    found = total(device, formula, x)
    assert found == pytest.approx(expected(formula, x), rel=CLOSE[dtype])
    assert total(device, formula, x) == found  # the same bits, and nothing is left of the first


@pytest.mark.parametrize("n", [0, 1, 300, BLOCK * MOST_BLOCKS + 1])
def test_a_sum_is_one_launch(n, device, launches):
    """Of several blocks too: the last of them adds up what the others found. CuPy's own sum takes what is empty."""
    formula, (x,) = nd.Summed(lambda x: nd.dot(x, x)), on(device, [np.ones(n, "float32")])
    for _ in range(2):
        with nd.use_backend(device):
            formula(x)
        assert launches.taken() == ["formula"] * bool(n)


def two_sums_and_two_arrays(x, y, last):
    sums = nd.dot(x, x), 2.0 * nd.sum(y)
    nd.assign(y, nd.multiply(x, 3.0))
    nd.assign(last, nd.multiply(last, 2.0))
    return sums


@pytest.mark.parametrize("n", [1, 300, BLOCK * MOST_BLOCKS + 1])
def test_several_sums_and_arrays_are_one_launch(n, device, launches):
    formula, out = nd.Summed(two_sums_and_two_arrays), device.full((2,), np.nan, "float32")
    given = on(device, [np.ones(size, "float32") for size in (n, n, ())])
    with nd.use_backend(device):
        formula(*given, out=out)
        launches.clear()
        formula(*given, out=out)
    assert launches.all() == ["formula"]


@pytest.mark.parametrize("n", [1, 300, BLOCK * MOST_BLOCKS + 1])
def test_several_sums_and_arrays(n, dtype, device):
    x, y, last = (RNG.normal(size=size).astype(dtype) for size in (n, n, ()))
    given = on(device, [x, y, np.array(last)])
    summed, out = nd.Summed(two_sums_and_two_arrays), device.full((2,), np.nan, dtype)
    with nd.use_backend(device):
        found = summed(*given, out=out)
    assert is_kernel(summed)
    expected = (x.astype(float) ** 2).sum(), 2.0 * y.astype(float).sum()
    scale = (x.astype(float) ** 2).sum(), 2.0 * np.abs(y.astype(float)).sum()
    for got, cell, exact, size in zip(found, device.to_host(out), expected, scale, strict=True):
        assert got.shape == ()
        assert device.item(got) == cell
        assert abs(cell - exact) <= CLOSE[dtype] * size
    np.testing.assert_array_equal(device.to_host(given[1]), (x * 3).astype(dtype))
    assert device.item(given[2]) == 2.0 * last  # once, not once for every element


def test_sums_into_given_memory_on_numpy():
    with nd.use_backend(HOST):
        out = nd.zeros(2, dtype="float64")
        found = nd.Summed(lambda x: (nd.sum(x), nd.dot(x, x)))(nd.create([1.0, 3.0], dtype="float64"), out=out)
        assert [float(each) for each in found] == out.tolist() == [4.0, 10.0]


def test_penalties(dtype, device):
    l1, l2 = L1Regularization(0.3), L2Regularization(0.5)
    formula = nd.Summed(lambda w, where, a, b: l1.score(nd.multiply(w, where), a) + l2.score(w, b))
    w, where = RNG.normal(size=400).astype(dtype), (np.arange(400) < 100).astype(dtype)
    assert total(device, formula, w, where, 0.3, 0.5) == pytest.approx(
        0.3 * np.abs(w[:100].astype(float)).sum() + 0.25 * (w.astype(float) ** 2).sum(), rel=CLOSE[dtype]
    )


ELEMENTWISE = sorted(name for name, kind in LOSSES.items() if not (kind.couples_outputs or kind.other_labels))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_losses(name, order, device):
    loss, activation = LOSSES[name](), ACTIVATIONS["sigmoid"]()
    z = np.array(RNG.normal(size=(6, 5)), "float32", order=order)
    p, y = 1.0 / (1.0 + np.exp(-z)), RNG.uniform(0.1, 0.9, (6, 5)).astype("float32")
    formula = nd.Summed(lambda y, z, p: loss.score(y, z, p, activation))
    assert total(device, formula, y, z, p) == pytest.approx(expected(formula, y, z, p), rel=1e-4)


def test_strides_and_broadcasting(device):
    x, y = RNG.normal(size=(7, 6))[:, ::2], RNG.normal(size=(7, 1))
    formula = nd.Summed(lambda x, y: nd.sum(nd.multiply(x, y)) - 2.0 * nd.sum(x) / 4.0)
    assert total(device, formula, x, y) == pytest.approx((x * y).sum() - x.sum() / 2.0)


RUN_AS_WRITTEN = {
    "no sum": lambda x: x[0, ...],
    "sum and number": lambda x: nd.sum(x) + 1.0,
    "square of a sum": lambda x: nd.sum(x) * nd.sum(x),
    "root of a sum": lambda x: nd.sqrt(nd.dot(x, x)),
    "share of a sum": lambda x: nd.sum(x / nd.sum(x)),
    "number over a sum": lambda x: 1.0 / nd.sum(x),
    "largest": lambda x: nd.max(x),
}


@pytest.mark.parametrize("name", RUN_AS_WRITTEN)
def test_what_is_no_sum_of_single_elements_runs_as_it_is_written(name, device):
    x = np.abs(RNG.normal(size=5)) + 0.1
    with nd.use_backend(device):
        formula = nd.Summed(RUN_AS_WRITTEN[name])
        found = formula(*on(device, [x]))
    with nd.use_backend(HOST):
        assert float(device.item(found)) == pytest.approx(float(RUN_AS_WRITTEN[name](x)))
    assert not any(kernels_of(formula))


def test_a_sum_of_nothing_is_zero(device):
    with nd.use_backend(device):
        found = nd.Summed(lambda x: nd.sum(x))(*on(device, [np.zeros(0, "float32")]))
    assert float(device.item(found)) == 0.0
