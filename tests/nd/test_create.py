import re

import numpy as np
import pytest

import nd
from tests.cells import every_row
from tests.stand_ins import as_input

NESTED = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
CREATORS = {
    "zeros": (nd.zeros, 0.0),
    "ones": (nd.ones, 1.0),
    "full": (lambda *shape, **named: nd.full(*shape, value=2.5, **named), 2.5),
    "create_uninitialized": (nd.create_uninitialized, None),
}
EVERY_CREATOR = pytest.mark.parametrize("name", sorted(CREATORS))


def is_f_ordered(array):
    """Tell whether writing along the last axis of a NumPy array jumps in memory."""
    return array.flags.f_contiguous and not array.flags.c_contiguous


# ---- create


@pytest.mark.parametrize(
    "data", [NESTED, [[1, 2, 3], [4, 5, 6]], tuple(map(tuple, NESTED))], ids=["floats", "integers", "tuples"]
)
def test_lists_get_the_default_dtype(backend, dtype, data):
    nd.set_default_dtype(dtype)
    array = nd.create(data)
    assert nd.is_array(array)
    assert nd.dtype_name(array) == dtype
    np.testing.assert_array_equal(nd.to_host(array), NESTED)


@pytest.mark.parametrize(("scalar", "shape"), [(2.5, ()), (True, ()), ([], (0,)), ([[]], (1, 0))])
def test_scalars_and_empty_lists(backend, scalar, shape):
    array = nd.create(scalar)
    assert (array.shape, nd.dtype_name(array)) == (shape, "float32")
    np.testing.assert_array_equal(nd.to_host(array), np.array(scalar, np.float32))


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int64", "uint8", "bool"])
def test_arrays_keep_their_dtype_unless_another_is_asked_for(backend, kind):
    host = np.array([[1, 0], [3, 1]]).astype(kind)
    assert nd.dtype_name(nd.create(host)) == kind
    assert nd.dtype_name(nd.create(nd.create(host))) == kind
    for source in (host, nd.create(host), host.tolist()):
        converted = nd.create(source, dtype="float64")
        assert nd.dtype_name(converted) == "float64"
        np.testing.assert_array_equal(nd.to_host(converted), host.astype("float64"))


def test_create_always_copies(backend, dtype, order):
    host = np.array(NESTED, dtype)
    source = as_input(backend, host, order)
    array = nd.create(source)
    nd.fill(array, -1.0)
    np.testing.assert_array_equal(nd.to_host(source), host)
    from_host = nd.create(host)
    nd.fill(from_host, -1.0)
    np.testing.assert_array_equal(host, NESTED)


def test_create_takes_any_memory_order(backend, dtype, order):
    array = nd.create(as_input(backend, NESTED, order, dtype))
    assert nd.dtype_name(array) == dtype
    np.testing.assert_array_equal(nd.to_host(array), NESTED)


@pytest.mark.parametrize("order_asked", ["c", "f"])
def test_create_gives_the_memory_order_asked_for(dtype, order, order_asked):
    with nd.use_backend("numpy") as backend:
        array = nd.create(as_input(backend, NESTED, order, dtype), order=order_asked)
    assert is_f_ordered(array) is (order_asked == "f")
    np.testing.assert_array_equal(array, NESTED)


@pytest.mark.parametrize(
    "data", ["abc", [["a"]], [[1.0, 2.0], [3.0]], {"a": 1}, [1j], object()],
    ids=["text", "texts", "ragged", "dict", "complex", "object"],
)  # fmt: skip
def test_what_is_not_numbers_is_refused(backend, data):
    with pytest.raises(nd.DTypeError, match="create: the data must be numbers in a regular nesting, got "):
        nd.create(data)


@pytest.mark.parametrize("kind", ["complex128", "datetime64[s]", object])
def test_host_arrays_that_are_not_numbers_are_refused(backend, kind):
    name = re.escape(np.dtype(kind).name.rstrip("0123456789"))
    for target in (None, "float32"):
        with pytest.raises(nd.DTypeError, match=rf"expected .*, got .*{name}"):
            nd.create(np.zeros(3, kind), target)
        with pytest.raises(nd.DTypeError, match=rf"expected .*, got .*{name}"):
            nd.as_array(np.zeros(3, kind), target)


def test_unknown_dtype(backend):
    with pytest.raises(nd.DTypeError, match=r"dtype: expected one of float32, float64, .*, got 'float23'"):
        nd.create([1.0], dtype="float23")
    with pytest.raises(nd.DTypeError, match=r"dtype: expected one of float32, float64, .*, got 'complex64'"):
        nd.zeros(3, dtype="complex64")


def test_unknown_order(backend):
    with pytest.raises(nd.ChoiceError, match=r"create: unknown order 'k', expected one of c, f\."):
        nd.create([1.0], order="k")
    for name, (make, _) in CREATORS.items():
        with pytest.raises(nd.ChoiceError, match=rf"{name}: unknown order 'fortran', expected one of c, f\."):
            make(3, order="fortran")


@every_row("function", [nd.create, nd.as_array])
@every_row("shape", [(2,), (2, 3), (), (0, 3), (2, 0)])
def test_numpy_arrays_are_host_data_and_are_moved(backend, dtype, function, shape):
    array = function(np.full(shape, 1.5, dtype))
    assert nd.is_array(array)
    assert (array.shape, nd.dtype_name(array)) == (shape, dtype)
    np.testing.assert_array_equal(nd.to_host(array), np.full(shape, 1.5))


# ---- as_array


def test_as_array_copies_nothing_where_nothing_is_to_do(backend, dtype, order):
    array = as_input(backend, NESTED, order, dtype)
    assert nd.as_array(array) is array
    assert nd.as_array(array, dtype) is array
    other = "float64" if dtype == "float32" else "float32"
    converted = nd.as_array(array, other)
    assert (nd.dtype_name(converted), nd.dtype_name(array)) == (other, dtype)
    np.testing.assert_array_equal(nd.to_host(converted), NESTED)


# ---- zeros, ones, full, create_uninitialized


@EVERY_CREATOR
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (0, 3), ()])
def test_shapes_as_arguments_or_as_one(backend, name, shape):
    make, value = CREATORS[name]
    for arrays in ([make(*shape)] if shape else []), [make(shape)], [make(list(shape))]:
        for array in arrays:
            assert (array.shape, nd.dtype_name(array)) == (shape, "float32")
            if value is not None:
                np.testing.assert_array_equal(nd.to_host(array), np.full(shape, value))


@EVERY_CREATOR
def test_dtype_of_new_arrays(backend, dtype, name):
    make, _ = CREATORS[name]
    assert nd.dtype_name(make(2, dtype=dtype)) == dtype
    nd.set_default_dtype(dtype)
    assert nd.dtype_name(make(2)) == dtype


@pytest.mark.parametrize("kind", ["int32", "int64", "uint8"])
def test_new_arrays_of_integers(backend, kind):
    for array, value in (nd.zeros(2, dtype=kind), 0), (nd.ones(2, dtype=kind), 1), (nd.full(2, value=7, dtype=kind), 7):
        assert nd.dtype_name(array) == kind
        np.testing.assert_array_equal(nd.to_host(array), [value, value])


@EVERY_CREATOR
@pytest.mark.parametrize("order_asked", ["c", "f"])
def test_order_of_new_arrays(name, order_asked):
    make, _ = CREATORS[name]
    with nd.use_backend("numpy"):
        array = make(3, 4, order=order_asked)
    assert is_f_ordered(array) is (order_asked == "f")


@EVERY_CREATOR
@pytest.mark.parametrize("shape", [(-1,), (2, -3), (2.0,), (2, "3"), (None,)])
def test_bad_shapes(backend, name, shape):
    with pytest.raises(nd.ShapeError, match=rf"{name}: every length must be an integer >= 0, got \["):
        CREATORS[name][0](*shape)


@EVERY_CREATOR
def test_lengths_that_numpy_computed_are_integers(name):
    """As `numpy.zeros` takes them."""
    assert CREATORS[name][0](np.int64(3), np.int32(2)).shape == (3, 2)


@EVERY_CREATOR
def test_new_arrays_are_their_own(backend, name):
    first, second = CREATORS[name][0](3), CREATORS[name][0](3)
    nd.fill(second, 1.0)
    nd.fill(first, 7.0)
    np.testing.assert_array_equal(nd.to_host(second), [1.0, 1.0, 1.0])


# ---- arange, eye


def test_arange(backend, dtype):
    np.testing.assert_array_equal(nd.to_host(nd.arange(4)), [0, 1, 2, 3])
    np.testing.assert_array_equal(nd.to_host(nd.arange(2, 5, dtype=dtype)), [2, 3, 4])
    assert nd.arange(3, 3).shape == nd.arange(0).shape == (0,)
    assert nd.dtype_name(nd.arange(2)) == "float32"
    assert nd.dtype_name(nd.arange(2, dtype="int64")) == "int64"


def test_eye(backend, dtype):
    identity = nd.eye(3, dtype)
    assert nd.dtype_name(identity) == dtype
    np.testing.assert_array_equal(nd.to_host(identity), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert nd.eye(0).shape == (0, 0)


@pytest.mark.parametrize("dtype", ["float64", np.float64, np.dtype("float64")])
def test_a_dtype_may_be_that_of_an_array(dtype):
    found = [
        nd.zeros(2, dtype=dtype), nd.ones(2, dtype=dtype), nd.full(2, value=1.0, dtype=dtype), nd.eye(2, dtype),
        nd.create([1.0], dtype), nd.arange(2, dtype=dtype), nd.create_uninitialized(2, dtype=dtype),
    ]  # fmt: skip
    assert {nd.dtype_name(each) for each in found} == {"float64"}
    for wrong in (7, "float", [np.float64], complex):
        with pytest.raises(nd.DTypeError, match=r"dtype: expected one of float32, float64, .*, got"):
            nd.zeros(2, dtype=wrong)
