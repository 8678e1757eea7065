"""Sums, softmax and normalisation of rows by their kernels against float64."""

import numpy as np
import pytest

from backends.cuda.rows import LONG
from tests.stand_ins import twin

RNG = np.random.default_rng(8)
SHAPES = [(1, 1), (3, 10), (10, 3), (5, LONG - 1), (5, LONG), (3, 517), (70, 7)]
CLOSE = {"float32": 2e-6, "float64": 1e-14}


def laid_out(x, order):
    if order == "strided":
        wide = np.zeros((2 * x.shape[0], 3 * x.shape[1]), x.dtype)
        wide[::2, ::3] = x
        return wide[::2, ::3]
    return np.array(x, order=order)


@pytest.fixture(params=["C", "F", "strided"])
def order(request):
    return request.param


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


def softmax_kernel(shape):
    return "softmax_long_rows" if shape[1] >= LONG else "softmax_rows"


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums(shape, axis, order, dtype, device):
    x = RNG.normal(size=shape).astype(dtype)
    out = device.empty((shape[1 - axis],), dtype)
    assert device.sum_into(twin(device.cupy, laid_out(x, order)), axis, out) is out
    expected = x.astype(float).sum(axis)
    np.testing.assert_allclose(device.to_host(out), expected, rtol=0, atol=CLOSE[dtype] * np.abs(x).sum(axis).max())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_sum_is_one_launch(shape, axis, order, dtype, device, launches):
    x, out = twin(device.cupy, laid_out(np.ones(shape, dtype), order)), device.empty((shape[1 - axis],), dtype)
    launches.clear()
    device.sum_into(x, axis, out)
    assert launches.taken() == ["sum_rows"]


def test_sums_into_a_part_of_a_vector(device):
    x, out = RNG.normal(size=(6, 4)), device.full((9,), -1.0, "float64")
    device.sum_into(twin(device.cupy, x), 0, out[1:9:2])
    np.testing.assert_allclose(device.to_host(out)[1:9:2], x.sum(0))
    np.testing.assert_array_equal(device.to_host(out)[::2], -1.0)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_softmax(shape, order, dtype, device):
    x = (30 * RNG.normal(size=shape)).astype(dtype)
    e = np.exp(x.astype(float) - x.max(1, keepdims=True))
    expected = e / e.sum(1, keepdims=True)
    given = twin(device.cupy, laid_out(x, order))
    made = device.softmax(given, 1)
    np.testing.assert_allclose(device.to_host(made), expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-37)
    np.testing.assert_array_equal(device.to_host(given), x)
    assert device.softmax(given, 1, given) is given
    np.testing.assert_array_equal(device.to_host(given), device.to_host(made))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_softmax_is_one_launch(shape, order, dtype, device, launches):
    given, out = twin(device.cupy, laid_out(np.ones(shape, dtype), order)), device.empty(shape, dtype)
    bias = device.full((1, shape[1]), 1.0, dtype)
    launches.clear()
    device.softmax(given, 1)
    device.softmax(given, 1, given)
    device.softmax(given, 1, given, bias)
    device.softmax(given, 1, out, bias)
    assert launches.all() == [softmax_kernel(shape)] * 4


def test_softmax_of_a_vector_and_of_large_numbers(device):
    x = twin(device.cupy, np.array([1e30, -1e30, 1e30], "float32"))
    np.testing.assert_array_equal(device.to_host(device.softmax(x, 0)), [0.5, 0.0, 0.5])


@pytest.mark.parametrize("columns", [5, 2 * LONG])
def test_softmax_hands_nan_on_in_its_row_alone(columns, device):
    x = np.zeros((3, columns), "float32")
    x[1, 3] = np.nan
    made = device.to_host(device.softmax(twin(device.cupy, x), 1))
    assert np.isnan(made[1]).all()
    np.testing.assert_array_equal(made[[0, 2]], np.float32(1.0 / columns))


def test_another_axis(device):
    x = twin(device.cupy, RNG.normal(size=(3, 4)))
    np.testing.assert_allclose(device.to_host(device.softmax(x, 0)).sum(0), 1.0)


def test_another_axis_takes_the_generic_way(device, launches):
    x = twin(device.cupy, RNG.normal(size=(3, 4)))
    launches.clear()
    device.softmax(x, 0)
    launched = launches.all()
    assert launched
    assert not any(name.startswith("softmax") for name in launched)


def test_no_rows(device):
    empty = device.empty((0, 4), "float32")
    assert device.softmax(empty, 1).shape == (0, 4)
    out = device.full((4,), 7.0, "float32")
    device.sum_into(empty, 0, out)
    np.testing.assert_array_equal(device.to_host(out), 0.0)


@pytest.mark.parametrize("into", ["itself", "another"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_softmax_adds_a_bias_first(shape, into, order, dtype, device):
    x, bias = RNG.normal(size=shape).astype(dtype), RNG.normal(size=(1, shape[1])).astype(dtype)
    z = x.astype(float) + bias
    e = np.exp(z - z.max(1, keepdims=True))
    given = twin(device.cupy, laid_out(x, order))
    out = given if into == "itself" else device.empty(shape, dtype)
    assert device.softmax(given, 1, out, twin(device.cupy, bias)) is out
    np.testing.assert_allclose(device.to_host(out), e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-37)
    if into == "another":
        np.testing.assert_allclose(device.to_host(given), z, rtol=1e-5, atol=1e-5)  # as the activation's input


def test_a_bias_of_another_shape_is_added_as_written(device):
    x, bias = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 1))
    found = device.softmax(twin(device.cupy, x), 1, None, twin(device.cupy, bias))
    np.testing.assert_allclose(device.to_host(found).sum(1), 1.0)


def test_the_kernel_adds_no_bias_of_another_shape(device, launches):
    x, bias = device.full((3, 4), 1.0, "float64"), device.full((3, 1), 2.0, "float64")
    launches.clear()
    device.softmax(x, 1, None, bias)
    launched = launches.all()
    assert launched[0].startswith("cupy_add")
    assert "softmax_rows" not in launched[:-1]


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[1] > 1], ids=str)
def test_normalised_rows_and_errors_back_through_them(shape, order, dtype, device, launches):
    """The rows of the Jacobian are those of (I - 1 1' / n - a a' / n) / s."""
    x, errors = (RNG.normal(size=shape).astype(dtype) for _ in range(2))
    x[0] = 3.0  # nothing varies here
    deviation = x.std(1, keepdims=True, dtype=float)
    expected = np.divide(x - x.mean(1, keepdims=True, dtype=float), deviation, where=deviation > 0, out=np.zeros(shape))
    given, delta, out = (twin(device.cupy, laid_out(each, order)) for each in (x, errors, np.full_like(x, np.nan)))
    inverse = device.empty((shape[0], 1), dtype)
    launches.clear()
    assert device.normalize_rows(given, out, inverse) is out
    assert device.normalize_rows_back(delta, out, inverse, device.empty(shape, dtype)) is delta
    assert launches.taken() == ["normalize_rows", "normalize_rows_back"]
    close = {"rtol": 0, "atol": 50 * CLOSE[dtype]}
    np.testing.assert_allclose(device.to_host(out), expected, **close)
    for row in range(shape[0]):
        scale = 1.0 / deviation[row, 0] if deviation[row, 0] else 0.0
        np.testing.assert_allclose(device.to_host(inverse)[row, 0], scale, rtol=50 * CLOSE[dtype])
        n, a = shape[1], expected[row]
        jacobian = (np.eye(n) - np.ones((n, n)) / n - np.outer(a, a) / n) * scale
        np.testing.assert_allclose(device.to_host(delta)[row], errors[row] @ jacobian, **close)
