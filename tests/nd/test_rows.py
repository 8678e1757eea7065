import numpy as np
import pytest

import nd
from backends.cpu import embedding
from backends.cpu.embedding import CELLS
from backends.cpu.numpy_backend import NumpyBackend
from tests.stand_ins import TOLERANCE, as_input, make_backend

RNG = np.random.default_rng(22)
TABLE, UPDATES = RNG.normal(size=(5, 3)), RNG.normal(size=(6, 3))
INDEX = [4, 0, 4, 2, 4, 0]  # repeated ones, the first and the last row
KINDS = pytest.mark.parametrize("kind", ["int32", "int64"])


def sums(table, index, updates):
    """The definition, in float64."""
    expected = np.array(table, float)
    for i, row in enumerate(index):
        for column in range(expected.shape[1]):
            expected[row][column] += float(updates[i][column])
    return expected


def writable(values, dtype, order):
    """An array to write into: c order, f order, or every other column."""
    values = np.asarray(values)
    if order == "strided":
        return nd.assign(nd.zeros(values.shape[0], 2 * values.shape[1], dtype=dtype)[:, ::2], nd.create(values, dtype))
    return nd.create(values, dtype, order)


# ---- pull_rows


@KINDS
def test_rows_in_the_order_of_the_indices(backend, dtype, order, kind):
    table = as_input(backend, TABLE, order, dtype)
    found = nd.pull_rows(table, as_input(backend, np.array(INDEX), order, kind))
    assert nd.is_array(found)
    assert nd.dtype_name(found) == dtype
    np.testing.assert_array_equal(nd.to_host(found), [TABLE.astype(dtype)[row] for row in INDEX])
    np.testing.assert_array_equal(nd.to_host(table), TABLE.astype(dtype))


def test_rows_into_an_array(backend, dtype, order):
    out = writable(np.full((6, 3), 7.0), dtype, order)
    table = as_input(backend, TABLE, order, dtype)
    assert nd.pull_rows(table, nd.create(INDEX, "int32"), "embedding", out) is out
    np.testing.assert_array_equal(nd.to_host(out), TABLE.astype(dtype)[INDEX])


@pytest.mark.parametrize("recorded", [False, True])
def test_on_numpy_many_numbers_are_looked_up_by_all_workers(recorded, monkeypatch):
    monkeypatch.setattr(embedding, "LEAST_PULLED", 18)
    backend, ran = NumpyBackend(threads=2), []
    run_tasks = backend.run_tasks
    monkeypatch.setattr(backend, "run_tasks", lambda tasks: [ran.append(len(tasks)), run_tasks(tasks)])
    with nd.use_backend(backend):
        table, out = nd.create(TABLE, "float32", "f"), nd.traceable(nd.zeros(6, 3, order="f"))
        index = nd.traceable(nd.create(INDEX, "int64"))
        if recorded:
            program = nd.record(lambda: nd.pull_rows(table, index, "embedding", out))
            index[...] = INDEX[::-1]
            program.replay()
        else:
            nd.pull_rows(table, index, "embedding", out)
        np.testing.assert_array_equal(np.asarray(out), TABLE.astype(np.float32)[INDEX[::-1] if recorded else INDEX])
        nd.pull_rows(table, index[:5], "embedding", nd.zeros(5, 3, order="f"))
    assert ran == [2] * (1 + recorded)


def test_what_is_pulled_is_a_copy(backend):
    table = nd.create(TABLE)
    nd.fill(nd.pull_rows(table, nd.create([0, 1, 2, 3, 4], "int32")), 0.0)
    np.testing.assert_array_equal(nd.to_host(table), TABLE)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool"])
def test_tables_of_other_types(backend, dtype):
    found = nd.pull_rows(nd.create([[1, 0], [0, 1]], dtype), nd.create([1, 1, 0], "int32"))
    assert nd.dtype_name(found) == dtype
    np.testing.assert_array_equal(nd.to_host(found), [[0, 1], [0, 1], [1, 0]])


@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (4, 1), (1, 1), (4, 0)])
def test_thin_tables(backend, rows, columns):
    values = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    index = [rows - 1, 0, rows - 1]
    found = nd.pull_rows(nd.create(values), nd.create(index, "int64"))
    np.testing.assert_array_equal(nd.to_host(found), values[index])


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_no_indices(backend, dtype, rows):
    table, none = nd.full(rows, 3, value=2.0, dtype=dtype), nd.zeros(0, dtype="int32")
    assert nd.pull_rows(table, none).shape == (0, 3)
    assert nd.scatter_add(table, none, nd.zeros(0, 3, dtype=dtype)) is table
    np.testing.assert_array_equal(nd.to_host(table), np.full((rows, 3), 2.0))


# ---- scatter_add


@KINDS
def test_updates_of_equal_indices_add_up(backend, dtype, order, kind):
    table = writable(TABLE, dtype, order)
    updates, index = as_input(backend, UPDATES, order, dtype), as_input(backend, np.array(INDEX), order, kind)
    assert nd.scatter_add(table, index, updates) is table
    assert nd.dtype_name(table) == dtype
    np.testing.assert_allclose(nd.to_host(table), sums(TABLE, INDEX, UPDATES), **TOLERANCE[dtype])
    np.testing.assert_array_equal(nd.to_host(updates), UPDATES.astype(dtype))


def test_the_bits_are_those_of_adding_in_order(backend, dtype, order):
    index, updates = RNG.integers(0, 3, 50), RNG.normal(size=(50, 4)).astype(dtype)
    updates[::7] *= 1e6
    expected = np.zeros((3, 4), dtype)
    for i, row in enumerate(index):
        expected[row] = expected[row] + updates[i]
    backwards = np.zeros((3, 4), dtype)
    for i in reversed(range(50)):
        backwards[index[i]] = backwards[index[i]] + updates[i]
    assert (expected != backwards).any()  # so that the order shows
    for _ in range(2):
        table = writable(np.zeros((3, 4)), dtype, order)
        nd.scatter_add(table, nd.create(index), as_input(backend, updates, order))
        np.testing.assert_array_equal(nd.to_host(table), expected)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integers_are_added(backend, dtype):
    table = nd.ones(3, 2, dtype=dtype)
    nd.scatter_add(table, nd.create([2, 2], "int32"), nd.create([[1, 2], [3, 4]], dtype))
    np.testing.assert_array_equal(nd.to_host(table), [[1, 1], [1, 1], [5, 7]])


def test_a_view_of_a_vector_is_written_and_nothing_beside_it(backend, dtype):
    for order in "cf":
        flat = nd.full(1, 17, value=7.0, dtype=dtype)
        view = nd.reshape_view(flat[0, 1:-1], (5, 3), order)
        nd.scatter_add(view, nd.create(INDEX, "int32"), nd.create(UPDATES, dtype))
        expected = sums(np.full((5, 3), 7.0), INDEX, UPDATES).ravel(order.upper())
        np.testing.assert_allclose(nd.to_host(flat)[0], [7.0, *expected, 7.0], **TOLERANCE[dtype])


@pytest.mark.parametrize("order", ["c", "f"])
@pytest.mark.parametrize("columns", [3, 300])
def test_on_numpy_many_updates_go_in_several_calls(order, columns, monkeypatch):
    rows, n = 7, 3 * CELLS // columns + 5
    table, index, updates = RNG.normal(size=(rows, columns)), RNG.integers(0, rows, n), RNG.normal(size=(n, columns))
    expected = table.copy()
    np.add.at(expected, index, updates)
    with nd.use_backend("numpy"):
        found = nd.scatter_add(nd.create(table, order=order), nd.create(index), nd.create(updates))
    np.testing.assert_array_equal(found, expected)


# ---- recorded


def test_a_recording_holds_both_and_the_check():
    with nd.use_backend(NumpyBackend(threads=1)):
        table, updates = (nd.traceable(nd.create(each, "float64")) for each in (TABLE, UPDATES))
        index = nd.traceable(nd.create(INDEX, "int64"))
        program = nd.record(lambda: nd.multiply(nd.pull_rows(nd.scatter_add(table, index, updates), index), 2.0))
        expected = sums(TABLE, INDEX, UPDATES)
        np.testing.assert_allclose(program.result, 2.0 * expected[INDEX])
        index[...] = [1, 1, 0, 3, 3, 3]
        program.replay()
        expected = sums(expected, [1, 1, 0, 3, 3, 3], UPDATES)
        np.testing.assert_allclose(table, expected)
        np.testing.assert_allclose(program.result, 2.0 * expected[[1, 1, 0, 3, 3, 3]])
        index[2:3] = 5
        with pytest.raises(nd.DataError, match="scatter_add: an index must be the number of a row"):
            program.replay()


# ---- refused

LOOKUPS = {
    "pull_rows": lambda table, index: nd.pull_rows(table, index),
    "scatter_add": lambda table, index: nd.scatter_add(table, index, nd.ones(2, 3)),
}
BOTH = pytest.mark.parametrize("name", LOOKUPS)


@BOTH
@pytest.mark.parametrize(("index", "got"), [([0, 5], 5), ([-1, 2], -1), ([7, -3], -3), ([2, 1 << 40], 1 << 40)])
def test_a_row_that_is_not_there(backend, name, index, got):
    table = nd.ones(5, 3)
    message = f"{name}: an index must be the number of a row, 0 or more and less than 5, got {got}. Check the data"
    if nd.deferred_memory(1, "float32") is not None:  # which would have to wait to find out
        found = nd.to_host(LOOKUPS[name](table, nd.create(index, "int64")))
        outside = [not 0 <= each < 5 for each in index]
        np.testing.assert_array_equal(np.isnan(found).all(1), outside if name == "pull_rows" else [False] * 5)
        return
    with pytest.raises(nd.DataError, match=message):
        LOOKUPS[name](table, nd.create(index, "int64"))
    np.testing.assert_array_equal(nd.to_host(table), 1.0)


@BOTH
@pytest.mark.parametrize("kind", ["float32", "float64", "bool", "uint8", "uint64"])
def test_indices_must_be_integers(backend, name, kind):
    message = f"{name}: indices must be int32 or int64, got {kind}. Convert them with nd.astype"
    with pytest.raises(nd.DTypeError, match=message):
        LOOKUPS[name](nd.ones(5, 3), nd.create([True, False], kind))


@BOTH
def test_indices_must_be_an_array(backend, name):
    with pytest.raises(nd.DTypeError, match=f"{name}: expected arrays, got list. Make them with nd.create"):
        LOOKUPS[name](nd.ones(5, 3), [0, 1])


@pytest.mark.parametrize("shape", [(2, 1), ()])
def test_indices_must_be_a_vector(backend, shape):
    indices, message = nd.zeros(shape, dtype="int32"), "indices: expected an array of rank 1, got shape .* nd.reshape"
    with pytest.raises(nd.ShapeError, match=f"pull_rows: {message}"):
        nd.pull_rows(nd.ones(5, 3), indices)
    with pytest.raises(nd.ShapeError, match=f"scatter_add: {message}"):
        nd.scatter_add(nd.ones(5, 3), indices, nd.ones(2, 3))


@BOTH
@pytest.mark.parametrize("shape", [(15,), (1, 5, 3)])
def test_the_table_must_be_a_matrix(backend, name, shape):
    with pytest.raises(nd.ShapeError, match=f"{name}: table: expected an array of rank 2, got shape"):
        LOOKUPS[name](nd.ones(shape), nd.zeros(2, dtype="int32"))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (3,), (2, 3, 1)])
def test_the_rows_fit_into_the_array_for_them(backend, shape):
    with pytest.raises(nd.ShapeError, match=r"layer 0: out: expected \[2, 3\], got \["):
        nd.pull_rows(nd.ones(5, 3), nd.zeros(2, dtype="int32"), "layer 0", nd.ones(shape))


def test_the_array_for_rows_has_the_dtype_of_the_table(backend):
    with pytest.raises(nd.DTypeError, match=r"pull_rows: expected arrays of one dtype, got .*float64"):
        nd.pull_rows(nd.ones(2, 3), nd.zeros(2, dtype="int32"), out=nd.ones(2, 3, dtype="float64"))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (3,), (2, 3, 1)])
def test_there_is_an_update_for_every_index(backend, shape):
    with pytest.raises(nd.ShapeError, match=r"scatter_add: updates: expected \[2, 3\], got \["):
        nd.scatter_add(nd.ones(5, 3), nd.zeros(2, dtype="int32"), nd.ones(shape))


def test_updates_have_the_dtype_of_the_table(backend):
    with pytest.raises(nd.DTypeError, match=r"scatter_add: expected arrays of one dtype, got .*float64"):
        nd.scatter_add(nd.ones(2, 3), nd.zeros(2, dtype="int32"), nd.ones(2, 3, dtype="float64"))
    flags = nd.create([[True, False]], "bool")
    with pytest.raises(nd.DTypeError, match="scatter_add: the table must hold numbers, got bool"):
        nd.scatter_add(flags, nd.zeros(1, dtype="int32"), flags)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_array_of_another_backend_is_refused(backend, position):
    with nd.use_backend(make_backend("numpy" if backend.name == "strict" else "strict")):
        foreign = [nd.ones(5, 3), nd.zeros(2, dtype="int32"), nd.ones(2, 3)][position]
    arrays = [nd.ones(5, 3), nd.zeros(2, dtype="int32"), nd.ones(2, 3)]
    arrays[position] = foreign
    with pytest.raises(nd.BackendError, match=rf"scatter_add: the backend is '{backend.name}', got an array of '"):
        nd.scatter_add(*arrays)
