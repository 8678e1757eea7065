"""The kernel for matrix products against NumPy's products in float64."""

import weakref

import numpy as np
import pytest

from backends.cuda import Kernels
from backends.cuda.products import Products
from backends.cuda.scratch import Scratches
from backends.cuda.splits import LEAST_INNER, SQUARE, Splits
from tests.stand_ins import twin

TILE = SQUARE.rows

SIZES = [
    (1, 1, 1), (3, 5, 2), (64, 16, 64), (65, 17, 63), (20, 25, 130), (130, 3, 70), (10, 500, 8),
    (7, 0, 5), (128, 40, 64),
]  # fmt: skip
ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53}
ORDERS = ("C", "F", "strided", "reversed")


def laid_out(x, order):
    if order == "strided":
        wide = np.zeros((2 * x.shape[0], 3 * x.shape[1]), x.dtype)
        wide[::2, ::3] = x
        return wide[::2, ::3]
    return x[::-1].copy()[::-1] if order == "reversed" else np.array(x, order=order)


def products(cupy, processors=1, scratches=None):
    return Products(Kernels(cupy), Splits(scratches or Scratches(cupy), processors))


def product(cupy, a, b, order="C", by=None):
    """Return the kernel's product, from memory that was NaN before."""
    out = twin(cupy, laid_out(np.full((a.shape[0], b.shape[1]), np.nan, a.dtype), order))
    (by or products(cupy)).run(twin(cupy, a), twin(cupy, b), out)
    return out.get()


def assert_is_product(out, a, b):
    expected = a.astype(float) @ b.astype(float)
    scale = np.abs(a).astype(float) @ np.abs(b).astype(float)
    assert (np.abs(out - expected) <= ROUNDING[a.dtype.name] * a.shape[1] * scale + 1e-30).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sizes_around_a_tile(size, dtype, cupy):
    rng, (m, k, n) = np.random.default_rng(1), size
    a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    assert_is_product(product(cupy, a, b), a, b)


@pytest.mark.parametrize("result", ORDERS)
@pytest.mark.parametrize("second", ORDERS)
@pytest.mark.parametrize("first", ORDERS)
def test_matrices_lie_as_they_like(first, second, result, cupy):
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(9, 21)).astype("f"), rng.normal(size=(21, 11)).astype("f")
    assert_is_product(product(cupy, laid_out(a, first), laid_out(b, second), result), a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_long_inner_axis_is_split_and_added_up_in_order(dtype, cupy):
    rng = np.random.default_rng(3)
    a, b = (
        rng.normal(size=(20, 5 * LEAST_INNER + 7)).astype(dtype),
        rng.normal(size=(5 * LEAST_INNER + 7, 70)).astype(dtype),
    )
    scratches = Scratches(cupy)
    by = products(cupy, 8, scratches)
    first = product(cupy, a, b, by=by)
    assert_is_product(first, a, b)
    splits = min((5 * LEAST_INNER + 7) // LEAST_INNER, 2 * 8)
    scratch = scratches.current()
    assert splits * 20 * 70 <= scratch.partial(a.dtype, 1).size < 2 * splits * 20 * 70  # it was split
    np.testing.assert_array_equal(product(cupy, a, b, by=by), first)
    assert (scratch.arrived(1).get() == 0).all()
    unsplit = product(cupy, a, b)
    assert_is_product(unsplit, a, b)


TILES = {(1, False): "gemm", (1, True): "gemm_large", (100, False): "gemm_small", (100, True): "gemm_small"}
"""Processors and whether the product counts as a large one -> the kernel that makes it."""


def tiled(cupy, monkeypatch, processors, much):
    """Return what makes a product, and all it is given: two matrices, a place for their product and one for sums."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(150, 70)), rng.normal(size=(70, 140))
    if much:
        monkeypatch.setattr("backends.cuda.products.MUCH", 1)
    return products(cupy, processors), (a, b, np.full((150, 140), np.nan), np.full(140, np.nan))


@pytest.mark.parametrize(("processors", "much"), TILES)
def test_every_tile_makes_the_same_product(processors, much, cupy, monkeypatch):
    by, hosts = tiled(cupy, monkeypatch, processors, much)
    a, b, out, sums = (twin(cupy, each) for each in hosts)
    by.run(a, b, out, sums)
    assert_is_product(out.get(), *hosts[:2])
    np.testing.assert_allclose(sums.get(), hosts[1].sum(0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("processors", "much"), TILES)
def test_the_tile_is_chosen_by_size(processors, much, cupy, monkeypatch, launches):
    by, hosts = tiled(cupy, monkeypatch, processors, much)
    given = [twin(cupy, each) for each in hosts]
    launches.clear()
    by.run(*given)
    assert launches.taken() == [TILES[processors, much]]


STACKS = [(1, 3, 5, 2), (3, 20, 5 * LEAST_INNER + 7, 40), (4, 65, 17, 63), (2, 9, 0, 4), (0, 2, 3, 4), (7, 64, 20, 1)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("processors", [1, 8, 100])
@pytest.mark.parametrize("size", STACKS, ids=str)
def test_stacks_of_matrices_are_one_launch(size, processors, dtype, cupy, launches):
    """They lie apart, or are views; with several processors blocks share the inner axis."""
    rng, (count, m, k, n) = np.random.default_rng(4), size
    a, b = rng.normal(size=(count, k, m)).astype(dtype).transpose(0, 2, 1), rng.normal(size=(count, k, n)).astype(dtype)
    out = twin(cupy, np.full((m, 2 * count, n), np.nan, dtype).transpose(1, 0, 2)[::2])
    by, given = products(cupy, processors), [twin(cupy, each) for each in (a, b)]
    for _ in range(2):  # the second one finds the counters as it needs them
        launches.clear()
        assert by.run_stacks(*given, out) is out
        assert len(launches.taken()) == (out.size > 0)
        for found, left, right in zip(out.get(), a, b, strict=True):
            assert_is_product(found, left, right)


def test_one_matrix_may_stand_for_a_stack(cupy):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(6, 9)), rng.normal(size=(3, 9, 4))
    out = twin(cupy, np.full((3, 6, 4), np.nan))
    products(cupy).run_stacks(cupy.broadcast_to(twin(cupy, a), (3, 6, 9)), twin(cupy, b), out)
    np.testing.assert_allclose(out.get(), a @ b, rtol=1e-12, atol=1e-12)


def test_the_memory_of_splits_grows_and_stays(cupy):
    scratches, rng, used = Scratches(cupy), np.random.default_rng(4), []
    by = products(cupy, 16, scratches)
    for rows in (8, 3 * TILE, 8):
        a, b = rng.normal(size=(rows, 3 * LEAST_INNER)), rng.normal(size=(3 * LEAST_INNER, 9))
        assert_is_product(product(cupy, a, b, by=by), a, b)
        used.append(weakref.ref(scratches.current().partial(a.dtype, 1)))
    assert used[0]() is not used[1]()
    assert used[1]() is used[2]()
    assert used[0]() is not None  # a graph may know its address


def test_nan_and_infinity_go_where_they_belong(cupy):
    a, b = np.ones((70, 20)), np.ones((20, 70))
    a[66, 3], b[5, 1] = np.nan, np.inf
    out = product(cupy, a, b)
    expected = np.full((70, 70), 20.0)
    expected[:, 1], expected[66] = np.inf, np.nan
    np.testing.assert_array_equal(out, expected)


def test_gradients_into_arrays_with_gaps_take_the_generic_way(device):
    x, delta = np.ones((3, 2)), np.arange(6.0).reshape(3, 2)
    given = [twin(device.cupy, each) for each in (x, delta)]
    W, b = device.full((2, 2), np.nan, "float64"), device.full((4,), 7.0, "float64")
    device.affine_gradients(*given, W, b[::2])
    np.testing.assert_array_equal(device.to_host(b), [6.0, 7.0, 9.0, 7.0])
    np.testing.assert_array_equal(device.to_host(W), [[6.0, 9.0], [6.0, 9.0]])
