"""The kernels that pull rows out of a table and add to them, against loops written by hand."""

import numpy as np
import pytest

import backends.cuda
import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.cuda.cupy_backend import CupyBackend
from tests.stand_ins import twin

RNG = np.random.default_rng(21)
SIZES = [(1, 1, 1), (5, 3, 1), (1, 4, 9), (7, 2, 256), (300, 5, 257), (9, 257, 40), (4, 300, 600), (1000, 16, 3)]
ORDERS = ("C", "F", "strided", "reversed")
HOST = NumpyBackend(threads=1)


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


def laid_out(x, order):
    if order == "strided":
        wide = np.zeros([2 * size for size in x.shape], x.dtype)
        wide[tuple(slice(None, None, 2) for _ in x.shape)] = x
        return wide[tuple(slice(None, None, 2) for _ in x.shape)]
    return x[::-1].copy()[::-1] if order == "reversed" else np.array(x, order=order)


def problem(size, dtype):
    """Return a table, indices of which some are equal, and updates whose sums depend on the order of adding."""
    rows, columns, n = size
    table, updates = (RNG.normal(scale=1e3, size=(each, columns)).astype(dtype) for each in (rows, n))
    updates[::3] *= 1e5
    return table, RNG.integers(0, min(rows, n // 2 + 1), n), updates


def added_up(table, index, updates):
    """The definition, rounded after every addition."""
    expected = table.copy()
    for i, row in enumerate(index):
        for column in range(table.shape[1]):
            expected[row, column] = expected[row, column] + updates[i, column]
    return expected


def on(device, *arrays):
    return [twin(device.cupy, each) for each in arrays]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rows_are_pulled(size, dtype, device):
    table, index, _ = problem(size, dtype)
    found = device.pull_rows(*on(device, table, index))
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(device.to_host(found), [table[row] for row in index])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rows_are_added_in_their_order(size, dtype, device):
    table, index, updates = problem(size, dtype)
    expected = added_up(table, index, updates)
    (found,) = on(device, table.copy())
    assert device.scatter_add(found, *on(device, index, updates)) is found
    np.testing.assert_array_equal(device.to_host(found), expected)
    np.testing.assert_array_equal(HOST.scatter_add(table, index, updates), expected)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_each_is_one_launch(size, dtype, device, launches):
    table, index, updates = on(device, *problem(size, dtype))
    launches.clear()
    device.pull_rows(table, index)
    assert launches.all() == ["gather_rows"]
    device.scatter_add(table, index, updates)
    assert launches.all() == ["scatter_add_rows"]


@pytest.mark.parametrize("index_order", ["C", "strided", "reversed"])
@pytest.mark.parametrize("update_order", ORDERS)
@pytest.mark.parametrize("order", ORDERS)
def test_matrices_lie_as_they_like(order, update_order, index_order, device):
    table, index, updates = problem((6, 5, 20), "float32")
    expected = added_up(table, index, updates)
    given, numbers = on(device, laid_out(table, order), laid_out(index, index_order))
    np.testing.assert_array_equal(device.to_host(device.pull_rows(given, numbers)), table[index])
    device.scatter_add(given, numbers, *on(device, laid_out(updates, update_order)))
    np.testing.assert_array_equal(device.to_host(given), expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_part_of_a_table_is_written_and_nothing_beside_it(order, device):
    table, index, updates = problem((6, 5, 20), "float64")
    whole = laid_out(np.full((8, 9), 7.0), order)
    whole[1:7, 2:7] = table
    found, *given = on(device, whole, index, updates)
    device.scatter_add(found[1:7, 2:7], *given)
    whole[1:7, 2:7] = added_up(table, index, updates)
    np.testing.assert_array_equal(device.to_host(found), whole)


def test_indices_of_32_bits_are_taken(device):
    table, index, updates = problem((6, 5, 20), "float32")
    expected = added_up(table, index, updates)
    given = on(device, table, index.astype("int32"), updates)
    np.testing.assert_array_equal(device.to_host(device.pull_rows(*given[:2])), table[index])
    np.testing.assert_array_equal(device.to_host(device.scatter_add(*given)), expected)


def test_what_is_not_the_number_of_a_row_gives_nan_and_adds_nothing(dtype, device):
    table, _, updates = problem((6, 5, 7), dtype)
    index = np.array([0, -1, 5, 6, 5, 1 << 40, -(1 << 62)])
    there = [0, 2, 4]
    found = device.to_host(device.pull_rows(*on(device, table, index)))
    np.testing.assert_array_equal(found[there], table[[0, 5, 5]])
    assert np.isnan(found[[1, 3, 5, 6]]).all()
    given, *more = on(device, table, index, updates)
    device.scatter_add(given, *more)
    np.testing.assert_array_equal(device.to_host(given), added_up(table, index[there], updates[there]))


def test_nan_and_infinity_stay_in_their_row(device):
    table, updates = np.ones((4, 3), "float32"), np.ones((3, 3), "float32")
    updates[1, 1], updates[2, 2] = np.nan, np.inf
    found, *given = on(device, table, np.array([0, 2, 2]), updates)
    device.scatter_add(found, *given)
    np.testing.assert_array_equal(device.to_host(found), [[2, 2, 2], [1, 1, 1], [3, np.nan, np.inf], [1, 1, 1]])


def test_indices_of_64_bits_give_the_same(cupy, monkeypatch):
    original = backends.cuda.options
    monkeypatch.setattr(backends.cuda, "options", lambda real: (*original(real), "-DWIDE_FROM=0"))
    device = CupyBackend()
    table, index, _ = problem((300, 5, 257), "float32")
    np.testing.assert_array_equal(device.to_host(device.pull_rows(*on(device, table, index))), table[index])


@pytest.mark.parametrize(("rows", "columns", "n"), [(4, 3, 0), (0, 3, 0), (4, 0, 2)])
def test_nothing_to_do(rows, columns, n, device):
    given = on(device, np.ones((rows, columns)), np.zeros(n, "int64"), np.ones((n, columns)))
    assert device.pull_rows(*given[:2]).shape == (n, columns)
    np.testing.assert_array_equal(device.to_host(device.scatter_add(*given)), np.ones((rows, columns)))


@pytest.mark.parametrize(("rows", "columns", "n"), [(4, 3, 0), (0, 3, 0), (4, 0, 2)])
def test_nothing_to_do_needs_no_launch(rows, columns, n, device, launches):
    table, index, updates = on(device, np.ones((rows, columns)), np.zeros(n, "int64"), np.ones((n, columns)))
    launches.clear()
    device.pull_rows(table, index)
    device.scatter_add(table, index, updates)
    assert launches.all() == []


def test_integers_take_the_generic_way(device):
    table, updates = np.arange(12, dtype="int32").reshape(4, 3), np.ones((3, 3), "int32")
    index = np.array([3, 0, 3])
    given = on(device, table, index, updates)
    np.testing.assert_array_equal(device.to_host(device.pull_rows(*given[:2])), table[index])
    np.testing.assert_array_equal(device.to_host(device.scatter_add(*given)), added_up(table, index, updates))
    with pytest.raises(
        nd.DataError, match="pull_rows: an index must be the number of a row, 0 or more and less than 4"
    ):
        device.pull_rows(*on(device, table, np.array([4])))


def test_a_graph_holds_both(device):
    table, index, updates = problem((6, 5, 20), "float32")
    memory, numbers, more = on(device, table, index.astype("int32"), updates)
    with nd.use_backend(device):
        program = nd.record(lambda: nd.pull_rows(nd.scatter_add(memory, numbers, more), numbers))
        expected = added_up(table, index, updates)
        for turn in range(3):
            np.testing.assert_array_equal(device.to_host(program.result), expected[index])
            device.assign(numbers, device.from_host((index + turn) % 6, "int32"))
            program.replay()
            expected, index = added_up(expected, device.to_host(numbers), updates), device.to_host(numbers)


def test_a_graph_is_launched(device, launches):
    memory, numbers, more = on(device, *problem((6, 5, 20), "float32"))
    with nd.use_backend(device):
        program = nd.record(lambda: nd.pull_rows(nd.scatter_add(memory, numbers, more), numbers))
        launches.clear()
        program.replay()
        program.replay()
    assert launches.all() == ["graph"] * 2
