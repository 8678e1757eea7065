"""The array primitives of every backend against NumPy, in each memory order of the inputs."""

import itertools

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.errors import BackendError, DTypeError, ShapeError
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input

LAYOUTS = ("c", "f", "strided")


def numbers_on(backend, dtype, order):
    """Return what puts random numbers of a shape on the backend; it returns them and their host twin."""
    generator = np.random.default_rng(7)

    def make(*shape, low=-2.0, high=2.0):
        host = generator.uniform(low, high, shape).astype(dtype)
        return as_input(backend, host, order), host

    return make


def closeness(backend, dtype):
    def check(got, expected):
        got = backend.to_host(got)
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_allclose(got, expected, **TOLERANCE[dtype])

    return check


def output(backend, shape, dtype, layout):
    """Return an array to write into, contiguous in either order, or every other column of a wider one."""
    if layout != "strided":
        return backend.full(shape, 0.5, dtype, layout)
    return backend.full((shape[0], 2 * shape[1]), 0.5, dtype)[:, ::2]


UNARY = {
    "absolute": np.abs, "cos": np.cos, "exp": np.exp, "log": np.log, "relu": lambda x: np.maximum(x, 0),
    "sign": np.sign, "sin": np.sin, "sqrt": np.sqrt, "square": np.square, "tanh": np.tanh,
}  # fmt: skip
BINARY = {
    "add": np.add, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply,
    "power": np.power, "subtract": np.subtract,
}  # fmt: skip


@every_row("name", list(UNARY))
def test_unary(any_backend, dtype, order, name):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    x, host = given(3, 4, low=0.1 if name in ("log", "sqrt") else -2.0)
    expected = UNARY[name](host.astype("float64"))
    close(getattr(any_backend, name)(x), expected)
    for layout in LAYOUTS:
        out = output(any_backend, (3, 4), dtype, layout)
        assert getattr(any_backend, name)(x, out) is out
        close(out, expected)
    close(x, host)


@every_row("name", list(BINARY))
def test_binary(any_backend, dtype, order, name):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    (x, x_host), (y, y_host) = given(3, 4, low=0.1), given(3, 4, low=0.1)
    expected = BINARY[name](x_host.astype("float64"), y_host)
    close(getattr(any_backend, name)(x, y), expected)
    for layout in LAYOUTS:
        out = output(any_backend, (3, 4), dtype, layout)
        assert getattr(any_backend, name)(x, y, out) is out
        close(out, expected)
    close(getattr(any_backend, name)(x, 2.0), BINARY[name](x_host.astype("float64"), 2.0))
    close(getattr(any_backend, name)(x, y[:1, ...]), BINARY[name](x_host.astype("float64"), y_host[:1]))
    own = any_backend.copy(x)
    getattr(any_backend, name)(own, y, own)
    close(own, expected)
    close(x, x_host)


@pytest.mark.parametrize("name", ["greater", "greater_equal", "equal"])
def test_comparisons_give_bool_or_0_and_1_in_the_dtype_of_out(any_backend, dtype, order, name):
    host = np.array([[1, 2, 3], [3, 2, 1]], dtype)
    x, y = as_input(any_backend, host, order), as_input(any_backend, host[::-1], order)
    expected = getattr(np, name)(host, host[::-1])
    got = getattr(any_backend, name)(x, y)
    assert any_backend.dtype_name(got) == "bool"
    np.testing.assert_array_equal(any_backend.to_host(got), expected)
    for kind in (dtype, "int32"):
        out = any_backend.full((2, 3), 7, kind)
        assert getattr(any_backend, name)(x, y, out) is out
        assert any_backend.dtype_name(out) == kind
        np.testing.assert_array_equal(any_backend.to_host(out), expected)
    np.testing.assert_array_equal(any_backend.to_host(getattr(any_backend, name)(x, 2.0)), getattr(np, name)(host, 2))


def test_where_chooses(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    (x, x_host), (y, y_host) = given(3, 4), given(3, 4)
    close(any_backend.where(any_backend.greater(x, 0.0), x, y), np.where(x_host > 0, x_host, y_host))


@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_reductions(any_backend, dtype, order, name):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    x, host = given(3, 4, 5)
    for axis, keepdims in itertools.product((None, 0, 1, 2, (0, 2), (1, 2)), (False, True)):
        expected = getattr(np, name)(host.astype("float64"), axis=axis, keepdims=keepdims)
        got = getattr(any_backend, name)(x, axis, keepdims)
        assert tuple(got.shape) == expected.shape
        close(got, expected)


def test_argmax_is_the_first_maximum(any_backend, dtype, order):
    x = as_input(any_backend, np.array([[1, 3, 3, 2], [0, 0, 0, 0]], dtype), order)
    assert any_backend.to_host(any_backend.argmax(x, 1)).tolist() == [1, 0]
    assert any_backend.to_host(any_backend.argmax(x, 0)).tolist() == [0, 0, 0, 0]


def test_sum_into_writes_into_a_view(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    x, host = given(3, 4)
    whole = any_backend.full((6,), 9.0, dtype)
    any_backend.sum_into(x, 1, whole[1:4])
    close(whole, [9, *host.astype("float64").sum(1), 9, 9])


def test_dot_and_item(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    (x, x_host), (y, y_host) = given(50), given(50)
    product = any_backend.item(any_backend.dot(x, y))
    assert type(product) is float
    np.testing.assert_allclose(product, x_host.astype("float64") @ y_host.astype("float64"), **TOLERANCE[dtype])
    assert any_backend.item(1.5) == 1.5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_all_finite(any_backend, dtype, order, bad):
    host = np.ones((3, 4), dtype)
    assert any_backend.all_finite(as_input(any_backend, host, order)) is True
    host[2, 1] = bad
    assert any_backend.all_finite(as_input(any_backend, host, order)) is False


@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_of_large_values_does_not_overflow(any_backend, dtype, order, axis):
    close = closeness(any_backend, dtype)
    host = np.array([[1000.0, 1001.0, -1000.0], [1000.0, 1000.0, 1000.0], [-5.0, 0.0, 88.0]], dtype)
    shifted = np.exp(host.astype("float64") - host.max(axis, keepdims=True))
    expected = shifted / shifted.sum(axis, keepdims=True)
    x = as_input(any_backend, host, order)
    close(any_backend.softmax(x, axis), expected)
    out = any_backend.full((3, 3), 0.0, dtype)
    assert any_backend.softmax(x, axis, out) is out
    close(out, expected)
    close(x, host)


@every_row("shape", [(3, 4, 5), (1, 4, 5), (3, 4, 1), (1, 1, 1), (3, 1, 5)])
def test_matmul_into_out_of_every_layout(any_backend, dtype, order, shape):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    m, k, n = shape
    (a, a_host), (b, b_host) = given(m, k), given(k, n)
    expected = a_host.astype("float64") @ b_host.astype("float64")
    close(any_backend.matmul(a, b), expected)
    for layout in LAYOUTS:
        out = output(any_backend, (m, n), dtype, layout)
        assert any_backend.matmul(a, b, out) is out
        close(out, expected)
    close(a, a_host)


@every_row(("alpha", "beta"), [(1.0, 0.0), (2.0, 0.0), (1.0, 1.0), (-0.5, 3.0), (1.0, 0.5)])
def test_gemm_scales_and_accumulates(any_backend, dtype, order, alpha, beta):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    (a, a_host), (b, b_host) = given(3, 4), given(5, 4)
    product = alpha * (a_host.astype("float64") @ b_host.T.astype("float64"))
    close(any_backend.gemm(a, any_backend.transpose(b), None, alpha, 0.0), product)
    for layout in LAYOUTS:
        c = output(any_backend, (3, 5), dtype, layout)
        assert any_backend.gemm(a, any_backend.transpose(b), c, alpha, beta) is c
        close(c, product + beta * 0.5)
    close(b, b_host)


def test_gemm_with_beta_0_does_not_read_c(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    a, _ = given(2, 2)
    c = any_backend.full((2, 2), float("nan"), dtype)
    assert any_backend.all_finite(any_backend.gemm(a, a, c, 1.0, 0.0))


def test_svd_multiplies_back(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    a, host = given(4, 3)
    u, s, vh = any_backend.svd(a)
    close(any_backend.matmul(any_backend.multiply(u, any_backend.reshape(s, (1, 3))), vh), host)


@every_row("source_dtype", ["float32", "float64", "int32", "uint8", "bool"])
def test_assign_casts_and_broadcasts(any_backend, dtype, order, source_dtype):
    host = np.array([[0, 1, 1]], source_dtype)
    target = any_backend.full((2, 3), 5.0, dtype)
    assert any_backend.assign(target, as_input(any_backend, host, order)) is target
    assert any_backend.to_host(target).tolist() == [[0, 1, 1], [0, 1, 1]]
    assert any_backend.dtype_name(target) == dtype
    any_backend.assign(target[:, 1:], 4.0)
    assert any_backend.to_host(target).tolist() == [[0, 4, 4], [0, 4, 4]]


@pytest.mark.parametrize("layout", ["c", "f"])
def test_new_arrays_have_shape_values_and_dtype(any_backend, dtype, layout):
    x = any_backend.full((2, 3, 4), 1.5, dtype, layout)
    assert (tuple(x.shape), any_backend.dtype_name(x)) == ((2, 3, 4), dtype)
    np.testing.assert_array_equal(any_backend.to_host(x), np.full((2, 3, 4), 1.5))
    any_backend.fill(x[:, 1, ...], 2.5)
    assert any_backend.to_host(x)[:, :, 0].tolist() == [[1.5, 2.5, 1.5]] * 2
    assert any_backend.to_host(any_backend.arange(2, 6, dtype)).tolist() == [2, 3, 4, 5]


def test_order_f_has_the_first_axis_innermost(any_backend, dtype):
    x = any_backend.empty((2, 3), dtype, "f")
    flat = any_backend.reshape_view(any_backend.transpose(x), (6,))
    any_backend.assign(flat, any_backend.arange(0, 6, dtype))
    assert any_backend.to_host(x).tolist() == [[0, 2, 4], [1, 3, 5]]


@every_row("shape", [(2, 3, 4, 5), (2, 3, 4), (2, 3), (6,), ()])
def test_activations_lie_with_the_batch_innermost(any_backend, dtype, shape):
    size = int(np.prod(shape))
    flat = any_backend.full((size + 2,), -1.0, dtype)
    view = any_backend.activation_view(flat, shape)
    assert tuple(view.shape) == shape
    any_backend.assign(flat[:size], any_backend.arange(0, size, dtype))
    expected = np.moveaxis(np.arange(size).reshape(shape[1:] + shape[:1]), -1, 0) if shape else 0
    np.testing.assert_array_equal(any_backend.to_host(view), expected)
    fresh = any_backend.empty_activation(shape, dtype)
    assert (tuple(fresh.shape), any_backend.dtype_name(fresh)) == (shape, dtype)


def test_to_activation_order_copies_only_what_lies_otherwise(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    x, host = given(3, 2, 4)
    asked = []

    def buffer(name, shape):
        asked.append(name)
        return any_backend.empty_activation(shape, dtype)

    moved = any_backend.to_activation_order(x, buffer)
    close(moved, host)
    asked.clear()
    close(any_backend.to_activation_order(moved, buffer), host)
    assert asked in ([], ["input"])


def test_copy_is_apart_and_astype_converts(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    x, host = given(3, 4)
    twin = any_backend.copy(x)
    any_backend.fill(twin, 0.0)
    close(x, host)
    other = "float64" if dtype == "float32" else "float32"
    assert any_backend.dtype_name(any_backend.astype(x, other)) == other
    assert any_backend.astype(x, dtype) is x


def test_shapes(any_backend, dtype, order):
    given = numbers_on(any_backend, dtype, order)
    close = closeness(any_backend, dtype)
    x, host = given(2, 3, 4)
    close(any_backend.reshape(x, (4, -1)), host.reshape(4, -1))
    close(any_backend.transpose(x), host.T)
    close(any_backend.permute(x, (1, 2, 0)), host.transpose(1, 2, 0))
    close(any_backend.concat([x, any_backend.copy(x)], 1), np.concatenate([host, host], 1))


def test_reshape_view_refuses_to_copy(any_backend, dtype):
    x = any_backend.full((2, 3), 1.0, dtype)
    any_backend.fill(any_backend.reshape_view(x, (6,)), 2.0)
    assert any_backend.to_host(x).tolist() == [[2, 2, 2], [2, 2, 2]]
    # CuPy through array_api_compat raises AttributeError, everybody else ValueError.
    with pytest.raises((ValueError, AttributeError), match=r"(?i)copy|shape"):
        any_backend.reshape_view(any_backend.transpose(x), (6,))


def test_from_host_and_back(any_backend):
    for source, target in (("uint8", "float32"), ("float64", "float32"), ("float32", "float64"), ("int32", "int32")):
        host = np.array([[1, 2, 250]], source)
        x = any_backend.from_host(host, target)
        assert any_backend.is_array(x)
        assert any_backend.dtype_name(x) == target
        any_backend.fill(x, 0)
        assert host.tolist() == [[1, 2, 250]]
        assert type(any_backend.to_host(x)) is np.ndarray


def test_what_is_no_array_of_the_backend(any_backend):
    assert not any_backend.is_array([1.0])
    assert not any_backend.is_array(1.0)

    class Foreign:
        shape, __array_function__ = (2,), None

    with pytest.raises(BackendError, match=r"gemm: the backend is '.*', got an array of '.*test_base_primitives"):
        any_backend.look_at("gemm", Foreign())


def test_what_is_no_dtype_of_ours_is_refused(any_backend):
    with pytest.raises(DTypeError, match=r"expected one of float32, .*, got 'float8'"):
        any_backend.empty((2,), "float8")
    with pytest.raises(DTypeError, match=r"got \['float32'\]"):
        any_backend.dtype(["float32"])


@pytest.mark.parametrize("data", [[[1.0], [1.0, 2.0]], ["one"]], ids=["ragged", "text"])
def test_data_that_are_no_numbers_are_refused(any_backend, data):
    with pytest.raises(DTypeError, match="create: the data must be numbers in a regular nesting, got"):
        any_backend.asarray(data, "float32")


def test_matrices_that_do_not_fit_are_refused(any_backend):
    a, b = any_backend.full((2, 3), 1.0, "float32"), any_backend.full((4, 2), 1.0, "float32")
    with (
        nd.use_backend(any_backend),
        pytest.raises(ShapeError, match=r"gemm: the inner axes must agree, got \[2, 3\] @ \[4, 2\]"),
    ):
        nd.gemm(a, b)
    with nd.use_backend(any_backend), pytest.raises(ShapeError, match=r"gemm: c must be \[4, 3\], got \[2, 3\]"):
        nd.gemm(b, a, a)


def test_describe_and_synchronize(any_backend):
    any_backend.synchronize()
    facts = any_backend.describe()
    assert facts
    assert all(type(name) is str and type(fact) is str for name, fact in facts.items())


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 2, 3, 0), (2, 1, 3, 0)])
def test_sums_over_places_in_every_memory_order(order, keepdims):
    x = np.random.default_rng(3).normal(2.0, size=(8, 3, 28, 27))
    lying = np.ascontiguousarray(x.astype(np.float32).transpose(order)).transpose(np.argsort(order))
    found = NumpyBackend(threads=1).sum(lying, (2, 3), keepdims)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, x.sum((2, 3), keepdims=keepdims), rtol=1e-6)
