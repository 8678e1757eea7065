"""Formulas compiled to kernels: the same numbers as the Python text gives on NumPy."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.cuda import BLOCK
from nd.activations import ACTIVATIONS
from optimize import L1Regularization, L2Regularization, WeightDecay
from optimize.updaters import UPDATERS
from tests.backends.formulas import is_kernel, kernels_of, on
from tests.stand_ins import twin

RNG = np.random.default_rng(4)
HOST = NumpyBackend(threads=1)
ELEMENTWISE = sorted(name for name, kind in ACTIVATIONS.items() if not kind.over_rows)


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


def numbers(shape, dtype):
    """Return numbers of both signs, with zeros and limits of the activations among them."""
    x = RNG.normal(size=shape, scale=3.0).astype(dtype)
    x.reshape(-1)[: min(x.size, 8)] = [0.0, -0.0, 1.0, -1.0, 6.0, 2.5, -2.5, 1e-30][: x.size]
    return x


def assert_computes(device, formula, arrays, rtol=None):
    """Run the formula on both, on the device as a kernel, and compare every array."""
    expected = [each.copy(order="K") if isinstance(each, np.ndarray) else each for each in arrays]
    with nd.use_backend(HOST), np.errstate(all="ignore"):
        formula.formula(*expected)
    found = on(device, arrays)
    with nd.use_backend(device):
        formula(*found)
    assert is_kernel(formula)
    for got, want in zip(found, expected, strict=True):
        if isinstance(want, np.ndarray):
            if rtol is None:
                np.testing.assert_array_equal(device.to_host(got), want)
            else:
                np.testing.assert_allclose(device.to_host(got), want, rtol=rtol, atol=rtol)


CLOSE = {"float32": 4e-6, "float64": 1e-13}


def value_and_slope(activation):
    def formula(z, b, a, epsilon):
        activation.value(nd.addi(z, b), a)
        activation.backprop(z, a, epsilon, epsilon)

    return nd.Elementwise(formula)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_activation_and_its_slope(name, dtype, device):
    z, b, epsilon = numbers((3, 7), dtype), np.zeros((1, 7), dtype), numbers((3, 7), dtype)[::-1].copy()
    assert_computes(device, value_and_slope(ACTIVATIONS[name]()), [z, b, np.empty_like(z), epsilon], CLOSE[dtype])


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3])
def test_every_element_of_many_blocks(n, dtype, device):
    formula = nd.Elementwise(lambda x, y: nd.muli(nd.addi(x, y), 2.0))
    assert_computes(device, formula, [numbers(n, dtype), numbers(n, dtype)])


def test_in_place_with_the_bias_before_it(device):
    tanh = ACTIVATIONS["tanh"]()
    formula = nd.Elementwise(lambda z, b: tanh.value(nd.addi(z, b), z))
    z = np.asfortranarray(numbers((5, 4), "float32"))
    assert_computes(device, formula, [z, numbers((1, 4), "float32")], CLOSE["float32"])


def penalized(updater):
    """Return a step of an updater with penalties, of which the third argument is scratch memory."""
    l1, l2, decay = L1Regularization(0.01), L2Regularization(0.02), WeightDecay(0.03)

    def update(params, gradient, scratch, *rest):
        states, cells = rest[: len(updater.state_names)], rest[len(updater.state_names) :]
        nd.divi(gradient, 64)
        l1.apply(params, gradient, scratch, cells[0])
        l2.apply(params, gradient, scratch, cells[1])
        updater.apply(gradient, states, scratch, cells[3:])
        decay.apply(params, gradient, scratch, cells[2])
        nd.subi(params, gradient)

    return update


def arguments_of(updater, dtype):
    """Return its arrays and its numbers."""
    vectors, states = [numbers(50, dtype) for _ in range(2)], [np.abs(numbers(50, dtype)) for _ in updater.state_names]
    return [*vectors, np.empty(50, dtype), *states], [0.01, 0.02, 0.03, *updater.coefficients(3, 1)]


@pytest.mark.parametrize("name", UPDATERS)
def test_every_updater_with_penalties(name, dtype, device):
    updater = UPDATERS[name]()
    arrays, cells = arguments_of(updater, dtype)
    update = penalized(updater)
    formula = nd.Elementwise(update, scratch=(2,))
    for scalars in (cells, [np.array(each, dtype) for each in cells]):
        expected, found = [each.copy() for each in arrays], on(device, arrays)
        with nd.use_backend(HOST):
            update(*expected, *scalars)
        with nd.use_backend(device):
            formula(*found, *on(device, scalars))
        assert is_kernel(formula)
        for got, want in zip([*found[:2], *found[3:]], [*expected[:2], *expected[3:]], strict=True):
            np.testing.assert_allclose(device.to_host(got), want, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.parametrize("name", UPDATERS)
def test_an_updater_with_penalties_is_one_launch(name, device, launches):
    updater = UPDATERS[name]()
    arrays, cells = arguments_of(updater, "float32")
    formula, found = nd.Elementwise(penalized(updater), scratch=(2,)), on(device, arrays)
    for scalars in (cells, [np.array(each, "float32") for each in cells]):
        given = on(device, scalars)
        launches.clear()
        with nd.use_backend(device):
            formula(*found, *given)
        assert launches.all() == ["formula"]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_activation_with_its_slope_is_one_launch(name, device, launches):
    arrays = on(device, [numbers((3, 7), "float32"), np.zeros((1, 7), "float32"), *np.ones((2, 3, 7), "float32")])
    launches.clear()
    with nd.use_backend(device):
        value_and_slope(ACTIVATIONS[name]())(*arrays)
    assert launches.all() == ["formula"]


def order_of(x, order):
    if order == "strided":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if order == "reversed":
        return x[::-1].copy()[::-1]
    if order == "batch innermost":
        return np.ascontiguousarray(x.transpose(1, 2, 3, 0)).transpose(3, 0, 1, 2)
    return np.array(x, order=order)


ORDERS = ("C", "F", "strided", "reversed", "batch innermost")


@pytest.mark.parametrize("second", ORDERS)
@pytest.mark.parametrize("first", ORDERS)
def test_arrays_lie_in_memory_as_they_like(first, second, device):
    x, y = numbers((3, 2, 4, 5), "float32"), numbers((3, 2, 4, 5), "float32")
    formula = nd.Elementwise(lambda x, y: nd.muli(nd.addi(x, y), 0.3))
    expected = (x + y) * np.float32(0.3)
    device_x, device_y = on(device, [order_of(x, first), order_of(y, second)])
    with nd.use_backend(device):
        formula(device_x, device_y)
    np.testing.assert_array_equal(device.to_host(device_x), expected)
    np.testing.assert_array_equal(device.to_host(device_y), y)


@pytest.mark.parametrize("shape", [(1, 2, 1, 1), (5,), (3, 1, 4, 1), (4, 5), (1, 1, 1, 1), (3, 2, 4, 5)])
def test_smaller_arrays_are_broadcast(shape, device):
    formula = nd.Elementwise(lambda x, y: nd.subtract(y, x, x))
    assert_computes(device, formula, [numbers((3, 2, 4, 5), "float64"), numbers(shape, "float64")])


def test_axes_that_say_the_same_are_one(device):
    formula = nd.Elementwise(lambda x, y: nd.addi(x, y))
    for shape in ((6, 5, 4), (120,), (2, 3, 20)):
        assert_computes(device, formula, [numbers(shape, "float32"), numbers(shape, "float32")])
    assert len(kernels_of(formula)) == 1


def test_no_elements_need_no_launch(device, launches):
    assert_computes(device, nd.Elementwise(lambda x: nd.muli(x, 2.0)), [np.zeros((0, 3), "float32")])
    assert launches.taken() == []


def test_the_same_array_twice_is_one_array(device):
    def formula(x, y):
        nd.addi(x, 1.0)
        nd.muli(y, 3.0)

    x = numbers(9, "float32")
    found = twin(device.cupy, x)
    with nd.use_backend(device):
        nd.Elementwise(formula)(found, found)
    np.testing.assert_array_equal(device.to_host(found), (x + np.float32(1)) * np.float32(3))


def test_numbers_may_change_without_another_kernel(device):
    formula = nd.Elementwise(lambda x, rate: nd.muli(x, rate))
    for rate in (0.1, 0.2, 7, True):
        assert_computes(device, formula, [numbers(9, "float32"), rate])
    assert len(kernels_of(formula)) == 1


def test_constants_are_as_exact_as_numpys_and_may_be_infinite(dtype, device):
    def formula(x):
        nd.addi(x, 0.1)
        nd.maximum(x, -float("inf"), x)
        nd.minimum(x, float("inf"), x)
        nd.divi(x, 1e-3)

    assert_computes(device, nd.Elementwise(formula), [numbers(30, dtype)])


def test_nan_and_infinity_are_handed_on(dtype, device):
    x = np.array([np.nan, np.inf, -np.inf, 1.0], dtype)
    for function in (nd.maximum, nd.minimum):
        assert_computes(device, nd.Elementwise(lambda x, y, f=function: f(x, y, x)), [x, x[::-1].copy()])
        assert_computes(device, nd.Elementwise(lambda x, f=function: f(x, 0.5, x)), [x])
    assert_computes(device, nd.Elementwise(lambda x: nd.sign(x, x)), [x])
    assert_computes(device, nd.Elementwise(lambda x: x.__class__ and nd.addi(x, float("nan"))), [x])


RUN_AS_WRITTEN = {
    "reduction": lambda x: nd.subtract(x, nd.sum(x), x),
    "decision": lambda x: nd.muli(x, 2.0) if nd.item(nd.sum(x)) > 0 else nd.muli(x, 3.0),
    "softmax": lambda x: ACTIVATIONS["softmax"]().value(x, x),
    "sum along an axis": lambda x: nd.muli(x, nd.sum(x, 1, True)),
    "smaller result": lambda x, y: nd.addi(y, 1.0),
}


@pytest.mark.parametrize("name", RUN_AS_WRITTEN)
def test_what_is_no_formula_of_single_elements_runs_as_it_is_written(name, device):
    arrays = [numbers((3, 4), "float32"), numbers((1, 4), "float32")][: 2 if name == "smaller result" else 1]
    expected = [each.copy() for each in arrays]
    with nd.use_backend(HOST):
        RUN_AS_WRITTEN[name](*expected)
    found, again = on(device, arrays), on(device, arrays)
    formula = nd.Elementwise(RUN_AS_WRITTEN[name])
    with nd.use_backend(device):
        formula(*found)
        formula(*again)
    assert not any(kernels_of(formula))
    for got, twice, want in zip(found, again, expected, strict=True):
        np.testing.assert_allclose(device.to_host(got), want, rtol=1e-6)
        np.testing.assert_array_equal(device.to_host(got), device.to_host(twice))


def test_a_formula_that_asks_for_shapes_gets_a_kernel_for_each(device):
    formula = nd.Elementwise(lambda x: nd.muli(x, float(x.shape[0])))
    for shape in ((3, 4), (4, 3), (3, 4)):
        assert_computes(device, formula, [numbers(shape, "float32")])
    assert len(kernels_of(formula)) == 2


def test_arrays_of_other_types_run_as_they_are_written(device):
    x = twin(device.cupy, np.arange(5, dtype="int32"))
    with nd.use_backend(device):
        nd.Elementwise(lambda x: nd.addi(x, 3))(x)
    assert device.to_host(x).tolist() == [3, 4, 5, 6, 7]


def test_large_indices(device, monkeypatch):
    from backends.cuda import arguments, kernel_text

    monkeypatch.setattr(arguments, "NARROW", 0)
    monkeypatch.setattr(kernel_text, "NARROW", 0)
    formula = nd.Elementwise(lambda x, y: nd.addi(x, y))
    assert_computes(device, formula, [numbers((3, 4, 5), "float32"), numbers((3, 1, 5), "float32")])


@pytest.mark.parametrize("number", [np.float32(2.0), np.int64(2), np.array(2.0), np.True_], ids=repr)
def test_numbers_of_numpy_are_numbers_of_the_host(device, dtype, number):
    formula = nd.Elementwise(lambda x, factor: nd.muli(x, factor))
    x = numbers((3, 4), dtype)
    found = twin(device.cupy, x)
    with nd.use_backend(device):
        formula(found, number)
    np.testing.assert_array_equal(device.to_host(found), x * np.dtype(dtype).type(number))
