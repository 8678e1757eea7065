import numpy as np
import pytest

import nd
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input

X = np.array([[0.5, -1.5, 0.0, 2.0], [3.0, -0.25, 1.0, -4.0]])
Y = np.array([[2.0, -1.5, 0.5, -1.0], [0.25, 8.0, 1.0, -2.0]])
POSITIVE = np.abs(X) + 0.25

TWO = {  # name -> what it must give, in float64 numpy
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "maximum": lambda x, y: (x + y + np.abs(x - y)) / 2,
    "minimum": lambda x, y: (x + y - np.abs(x - y)) / 2,
}
IN_PLACE = {"addi": "add", "subi": "subtract", "muli": "multiply", "divi": "divide"}
ONE = {  # name -> inputs, oracle
    "exp": (X, lambda x: np.cosh(x) + np.sinh(x)),
    "log": (POSITIVE, lambda x: np.log2(x) / np.log2(np.e)),
    "sqrt": (POSITIVE, lambda x: x**0.5),
    "square": (X, lambda x: np.abs(x) ** 2),
    "absolute": (X, lambda x: np.maximum(x, -x)),
    "sign": (X, lambda x: (x > 0).astype(float) - (x < 0)),
    "tanh": (X, lambda x: 1 - 2 / (np.exp(2 * x) + 1)),
}
COMPARE = {"greater": lambda x, y: x > y, "greater_equal": lambda x, y: x >= y}


def check(result, expected, dtype):
    assert nd.is_array(result)
    assert nd.dtype_name(result) == dtype
    np.testing.assert_allclose(nd.to_host(result), expected, **TOLERANCE[dtype])


def receivers(shape, dtype):
    """Arrays to write into, in c, f and strided order, all NaN."""
    nan = float("nan")
    return [
        nd.full(shape, value=nan, dtype=dtype),
        nd.full(shape, value=nan, dtype=dtype, order="f"),
        nd.full(shape[0], 2 * shape[1], value=nan, dtype=dtype)[:, ::2],
    ]


@pytest.mark.parametrize("name", sorted(TWO))
def test_two_arrays(backend, dtype, order, name):
    function, expected = getattr(nd, name), TWO[name](X, Y)
    x, y = as_input(backend, X, order, dtype), as_input(backend, Y, order, dtype)
    check(function(x, y), expected, dtype)
    for out in receivers(X.shape, dtype):
        assert function(x, y, out) is out
        check(out, expected, dtype)
    np.testing.assert_array_equal(nd.to_host(x), X)
    np.testing.assert_array_equal(nd.to_host(y), Y)


@pytest.mark.parametrize("name", sorted(TWO))
def test_an_array_and_a_number(backend, dtype, order, name):
    x = as_input(backend, X, order, dtype)
    check(getattr(nd, name)(x, 0.75), TWO[name](X, 0.75), dtype)
    check(getattr(nd, name)(x, 0.75, out=nd.zeros(X.shape, dtype=dtype)), TWO[name](X, 0.75), dtype)


@every_row("name", sorted(TWO))
@every_row("part", [np.s_[0:1], np.s_[:, 0:1], np.s_[1]])
def test_broadcasting(backend, dtype, order, name, part):
    y = as_input(backend, np.ascontiguousarray(Y[part]), order, dtype)
    check(getattr(nd, name)(as_input(backend, X, order, dtype), y), TWO[name](X, Y[part]), dtype)


@pytest.mark.parametrize("name", sorted(TWO))
def test_the_result_may_replace_either_operand(backend, dtype, name):
    function = getattr(nd, name)
    x, y = nd.create(X, dtype), nd.create(Y, dtype)
    assert function(x, y, x) is x
    check(x, TWO[name](X, Y), dtype)
    x = nd.create(X, dtype)
    assert function(x, y, y) is y
    check(y, TWO[name](X, Y), dtype)


@pytest.mark.parametrize("name", sorted(IN_PLACE))
def test_names_that_end_in_i_work_in_place(backend, dtype, order, name):
    function, oracle = getattr(nd, name), TWO[IN_PLACE[name]]
    y = as_input(backend, Y, order, dtype)
    for x in receivers(X.shape, dtype):
        nd.assign(x, nd.create(X, dtype))
        assert function(x, y) is x
        check(x, oracle(X, Y), dtype)
    np.testing.assert_array_equal(nd.to_host(y), Y)
    check(function(nd.create(X, dtype), 0.5), oracle(X, 0.5), dtype)
    check(function(nd.create(X, dtype), nd.create(Y[0], dtype)), oracle(X, Y[0]), dtype)


@pytest.mark.parametrize("name", sorted(ONE))
def test_one_array(backend, dtype, order, name):
    function, (values, oracle) = getattr(nd, name), ONE[name]
    expected = oracle(values)
    x = as_input(backend, values, order, dtype)
    check(function(x), expected, dtype)
    for out in receivers(values.shape, dtype):
        assert function(x, out) is out
        check(out, expected, dtype)
    np.testing.assert_array_equal(nd.to_host(x), values)
    own = nd.create(values, dtype)
    assert function(own, own) is own
    check(own, expected, dtype)


@pytest.mark.parametrize("exponent", [2, 0.5, -1, 3.0])
def test_power(backend, dtype, order, exponent):
    x = as_input(backend, POSITIVE, order, dtype)
    expected = np.exp(exponent * np.log(POSITIVE))
    check(nd.power(x, exponent), expected, dtype)
    out = nd.zeros(X.shape, dtype=dtype)
    assert nd.power(x, exponent, out) is out
    check(out, expected, dtype)
    check(nd.power(x, as_input(backend, Y, order, dtype)), np.exp(Y * np.log(POSITIVE)), dtype)


@pytest.mark.parametrize("name", sorted(COMPARE))
def test_comparisons(backend, dtype, order, name):
    function, expected = getattr(nd, name), COMPARE[name](X, Y)
    x, y = as_input(backend, X, order, dtype), as_input(backend, Y, order, dtype)
    result = function(x, y)
    assert nd.dtype_name(result) == "bool"
    np.testing.assert_array_equal(nd.to_host(result), expected)
    np.testing.assert_array_equal(nd.to_host(function(x, 0.0)), COMPARE[name](X, 0.0))
    for out in receivers(X.shape, dtype):
        assert function(x, y, out) is out
        check(out, expected.astype(float), dtype)


def test_where(backend, dtype, order):
    x, y = as_input(backend, X, order, dtype), as_input(backend, Y, order, dtype)
    chosen = nd.where(nd.greater(x, y), x, y)
    check(chosen, TWO["maximum"](X, Y), dtype)
    check(nd.where(nd.greater(x, 0.0), x, 0.0), np.clip(X, 0.0, None), dtype)


SUMS = {None: ("ij->", X), (0, 1): ("ij->", X), 0: ("ij->j", X), 1: ("ij->i", X), -1: ("ij->i", X)}
AXES = [(None, False), (0, False), (1, False), (0, True), (1, True), ((0, 1), False), ((0, 1), True), (-1, False)]


@every_row(("axis", "keepdims"), AXES)
@every_row("name", ["sum", "mean", "max"])
def test_reductions(backend, dtype, order, name, axis, keepdims):
    x = as_input(backend, X, order, dtype)
    result = getattr(nd, name)(x, axis, keepdims)
    expected = np.amax(X, axis, keepdims=keepdims) if name == "max" else np.einsum(*SUMS[axis])
    if name == "mean":
        expected = expected * expected.size / X.size
    np.testing.assert_allclose(nd.to_host(result), np.reshape(expected, result.shape), **TOLERANCE[dtype])
    assert result.shape == np.amax(X, axis, keepdims=keepdims).shape
    assert nd.dtype_name(result) == dtype
    np.testing.assert_array_equal(nd.to_host(x), X)


def test_sums_by_hand(backend, dtype, order):
    x = as_input(backend, X, order, dtype)
    assert nd.item(nd.sum(x)) == 0.75
    assert nd.to_host(nd.sum(x, 0)).tolist() == [3.5, -1.75, 1.0, -2.0]
    assert nd.to_host(nd.mean(x, 1)).tolist() == [0.25, -0.0625]
    assert nd.to_host(nd.max(x, 1)).tolist() == [2.0, 3.0]


def test_argmax_takes_the_first_of_equals(backend, dtype, order):
    x = as_input(backend, [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [-1.0, -2.0, -1.0]], order, dtype)
    assert nd.to_host(nd.argmax(x)).tolist() == [1, 0, 0]
    assert nd.to_host(nd.argmax(x, 0)).tolist() == [1, 0, 0]


@pytest.mark.parametrize("axis", [0, 1])
def test_sum_into(backend, dtype, order, axis):
    out = nd.full(X.shape[1 - axis], value=float("nan"), dtype=dtype)
    assert nd.sum_into(as_input(backend, X, order, dtype), axis, out) is out
    check(out, [3.5, -1.75, 1.0, -2.0] if axis == 0 else [1.0, -0.25], dtype)


@pytest.mark.parametrize(("value", "finite"), [(1.0, True), (np.nan, False), (np.inf, False), (-np.inf, False)])
def test_all_finite(backend, dtype, order, value, finite):
    values = X.copy()
    values[1, 2] = value
    assert nd.all_finite(as_input(backend, values, order, dtype)) is finite
