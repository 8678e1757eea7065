import numpy as np
import pytest

import nd
from tests.stand_ins import as_input

X = np.arange(24.0).reshape(2, 3, 4)


def shares(view, array):
    """Tell whether what is written into `view` shows in `array`."""
    before = np.array(nd.to_host(array))
    nd.fill(view, -99.0)
    changed = np.count_nonzero(nd.to_host(array) != before)
    return changed == np.prod(view.shape)


# ---- views


@pytest.mark.parametrize("shape", [(24,), (4, 6), (2, 3, 4), (2, 2, 3, 2), (-1, 3)])
def test_reshape_reads_in_c_order(backend, dtype, order, shape):
    x = as_input(backend, X, order, dtype)
    reshaped = nd.reshape(x, shape)
    assert nd.dtype_name(reshaped) == dtype
    np.testing.assert_array_equal(nd.to_host(reshaped), X.reshape(shape))
    np.testing.assert_array_equal(nd.to_host(x), X)


def test_reshape_is_a_view_where_it_can_be(backend):
    x = nd.create(X)
    assert shares(nd.reshape(x, (6, 4)), x)


@pytest.mark.parametrize("order_read", ["c", "f"])
def test_reshape_view_reads_the_memory_in_either_order(backend, dtype, order_read):
    vector = nd.arange(6, dtype=dtype)
    matrix = nd.reshape_view(vector, (2, 3), order_read)
    expected = [[0, 1, 2], [3, 4, 5]] if order_read == "c" else [[0, 2, 4], [1, 3, 5]]
    np.testing.assert_array_equal(nd.to_host(matrix), expected)
    assert shares(matrix, vector)


@pytest.mark.parametrize("order_read", ["c", "f"])
def test_reshape_view_reaches_into_a_slice(backend, order_read):
    vector = nd.zeros(1, 10)
    nd.fill(nd.reshape_view(vector[0, 2:8], (2, 3), order_read), 5.0)
    np.testing.assert_array_equal(nd.to_host(vector), [[0, 0, 5, 5, 5, 5, 5, 5, 0, 0]])


@pytest.mark.parametrize("order_read", ["c", "f"])
@pytest.mark.parametrize("shape", [(1, 0), (0,), (0, 3)])
def test_reshape_view_of_nothing(backend, shape, order_read):
    """The updater state of a network without state is such an array."""
    assert nd.reshape_view(nd.zeros(1, 0), shape, order_read).shape == shape


def test_reshape_view_never_copies(backend):
    with pytest.raises((ValueError, AttributeError), match=r"copy|in-place"):
        nd.reshape_view(nd.transpose(nd.create(X)), (24,))


def test_transpose_and_permute_are_views(backend, dtype, order):
    x = as_input(backend, X, order, dtype)
    np.testing.assert_array_equal(nd.to_host(nd.transpose(x)), X.T)
    np.testing.assert_array_equal(nd.to_host(nd.permute(x, (1, 2, 0))), np.moveaxis(X, 0, 2))
    for change in (nd.transpose, lambda array: nd.permute(array, (1, 2, 0))):
        own = nd.create(X, dtype)
        assert shares(change(own), own)


def test_transpose_of_few_axes(backend):
    vector = nd.arange(3)
    np.testing.assert_array_equal(nd.to_host(nd.transpose(vector)), [0, 1, 2])
    assert nd.transpose(nd.create(2.0)).shape == ()


# ---- copies


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat(backend, dtype, order, axis):
    x = as_input(backend, X, order, dtype)
    joined = nd.concat([x, x, nd.create(X + 100.0, dtype)], axis)
    assert nd.dtype_name(joined) == dtype
    np.testing.assert_array_equal(nd.to_host(joined), np.concatenate([X, X, X + 100.0], axis))


def test_concat_joins_rows_by_default(backend):
    assert nd.concat([nd.zeros(2, 3), nd.ones(1, 3)]).shape == (3, 3)


def test_copy_is_independent_and_c_ordered(backend, dtype, order):
    x = as_input(backend, X, order, dtype)
    twin = nd.copy(x)
    assert nd.dtype_name(twin) == dtype
    np.testing.assert_array_equal(nd.to_host(twin), X)
    if backend.name.startswith("numpy"):
        assert twin.flags.c_contiguous
    nd.fill(twin, 0.0)
    np.testing.assert_array_equal(nd.to_host(x), X)


# ---- writing


def test_assign_writes_and_returns_its_target(backend, dtype, order):
    target, source = nd.zeros(2, 3, 4, dtype=dtype), as_input(backend, X, order, dtype)
    assert nd.assign(target, source) is target
    np.testing.assert_array_equal(nd.to_host(target), X)
    np.testing.assert_array_equal(nd.to_host(source), X)


@pytest.mark.parametrize("target_order", ["c", "f"])
def test_assign_casts_to_the_dtype_of_its_target(backend, dtype, target_order):
    for kind in ("float32", "float64", "int64", "bool"):
        source = nd.create([[1, 0, 1], [0, 0, 1]], kind)
        target = nd.zeros(2, 3, dtype=dtype, order=target_order)
        nd.assign(target, source)
        assert nd.dtype_name(target) == dtype
        np.testing.assert_array_equal(nd.to_host(target), [[1, 0, 1], [0, 0, 1]])


@pytest.mark.parametrize("kind", ["int32", "int64", "uint8", "bool"])
def test_assign_casts_numbers_to_integers(backend, dtype, kind):
    target = nd.assign(nd.create([0, 1, 0], kind), nd.create([1.0, 0.0, 1.0], dtype))
    assert nd.dtype_name(target) == kind
    np.testing.assert_array_equal(nd.to_host(target), [1, 0, 1])


@pytest.mark.parametrize("shape", [(4,), (3, 1), (2, 1, 1), ()])
def test_assign_broadcasts(backend, shape):
    source = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    target = nd.assign(nd.zeros(2, 3, 4), nd.create(source))
    np.testing.assert_array_equal(nd.to_host(target), np.broadcast_to(source, (2, 3, 4)))


def test_assign_to_a_part(backend):
    target = nd.zeros(2, 4)
    nd.assign(target[:, ::2], nd.create([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(nd.to_host(target), [[1, 0, 2, 0], [3, 0, 4, 0]])


def test_fill_sets_every_element(backend, dtype):
    whole = [nd.zeros(2, 3, dtype=dtype, order=order) for order in "cf"]
    for array in (*whole, nd.zeros(2, 6, dtype=dtype)[:, ::2]):
        assert nd.fill(array, 2.5) is array
        np.testing.assert_array_equal(nd.to_host(array), np.full((2, 3), 2.5))


# ---- the backend's preferred order of activations


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (2, 3, 4, 5)])
def test_activations_keep_their_elements(backend, dtype, order, shape):
    values = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    x = as_input(backend, values, order)
    placed = nd.to_activation_order(x, nd.Buffers(dtype))
    assert placed.shape == shape
    np.testing.assert_array_equal(nd.to_host(placed), values)
    np.testing.assert_array_equal(nd.to_host(x), values)


def test_on_numpy_the_batch_is_innermost_and_what_lies_so_is_not_copied():
    with nd.use_backend("numpy"):
        buffers = nd.Buffers("float32")
        placed = nd.to_activation_order(nd.create(X), buffers)
        assert placed.strides == (4, 4 * 4 * 2, 4 * 2)
        assert nd.to_activation_order(placed, buffers) is placed


def test_flattened_in_both_orders(backend):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(4.0)
    first, second = as_input(backend, a, "c", "float64"), as_input(backend, b, "c", "float64")
    assert nd.to_host(nd.to_flattened("c", [first, second])).tolist() == [*a.ravel("C"), *b]
    assert nd.to_host(nd.to_flattened("f", [first, second])).tolist() == [*a.ravel("F"), *b]
    with pytest.raises(nd.ChoiceError, match="to_flattened: unknown order 'x'"):
        nd.to_flattened("x", [first])
