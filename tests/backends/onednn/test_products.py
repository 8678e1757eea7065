"""Matrix products of oneDNN: transposed, of slices of wider matrices, of one row or column."""

import numpy as np
import pytest

from backends.cpu.numpy_backend import LEAST_OF_ONEDNN, LEAST_PRODUCT, NumpyBackend
from backends.onednn import products
from tests.backends.onednn.draws import FEW, MANY, empty_laid, laid, numbers, sweep
from tests.backends.onednn.oracles import close


def operand(rng, values):
    """Return a matrix as part of a wider one, transposed or not, or in an order that no product takes."""
    wide = np.full((values.shape[0] + 2, values.shape[1] + int(rng.integers(0, 5))), np.nan, np.float32)
    part = wide[1:-1, : values.shape[1]]
    part[...] = values
    kind = rng.integers(4)
    if kind == 0:
        return part
    return np.asarray(np.asfortranarray(values)) if kind == 1 else laid(rng, values)


def check_product(rng, multiply):
    rows, depth, columns = (int(n) for n in rng.choice([1, 2, 3, 7, 16, 33, 100, 257], 3))
    a, b = numbers(rng, (rows, depth)), numbers(rng, (depth, columns))
    out = np.full((rows, columns), np.nan, np.float32)
    multiply(operand(rng, a), operand(rng, b), out)
    exact = a.astype(np.float64), b.astype(np.float64)
    close(out, exact[0] @ exact[1], abs(exact[0]) @ abs(exact[1]))


MULTIPLY = {"at once": products.product, "noted": products.note_product}


@pytest.mark.parametrize("name", MULTIPLY)
def test_products(name):
    sweep(check_product, FEW, MULTIPLY[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MULTIPLY)
def test_products_500_times(name):
    sweep(check_product, MANY, MULTIPLY[name])


def test_which_matrices_are_multiplied_as_they_lie():
    wide = np.zeros((20, 30), np.float32)
    for fits in (wide, wide.T, wide[3:5], wide[:, 2:9], wide[:, 2:9].T, wide[:1], wide[::2]):
        assert products.is_operand(fits)
    for other in (wide[:, ::2], wide[::-1], wide[:, ::-1], np.broadcast_to(wide[:1], (20, 30))):
        assert not products.is_operand(other)


@pytest.mark.parametrize("order", ["c", "f"])
def test_large_products_of_the_backend_are_oneDNNs(accelerated, ran, order):
    rng, side = np.random.default_rng(5), round(LEAST_OF_ONEDNN ** (1 / 3)) + 1
    a, b = numbers(rng, (side, side)), numbers(rng, (side, side))
    out = np.empty((side, side), np.float32, order.upper())
    accelerated.matmul(a, b, out)
    assert ran == []  # the BLAS has all threads
    accelerated.run_tasks([lambda: accelerated.matmul(a, b, out)])
    assert ran == ["sgemm"]
    exact = a.astype(np.float64), b.astype(np.float64)
    close(out, exact[0] @ exact[1], abs(exact[0]) @ abs(exact[1]))


def test_products_that_are_none_of_oneDNNs(accelerated, unaided, ran):
    side = round(LEAST_OF_ONEDNN ** (1 / 3)) + 1
    a = np.ones((side, side), np.float32)

    def products():
        accelerated.matmul(a[:50], a[:, :50], np.empty((50, 50), np.float32))  # few multiplications
        accelerated.matmul(a.astype(np.float64), a.astype(np.float64), np.empty((side, side)))
        accelerated.matmul(a, np.broadcast_to(a[:1], a.shape), np.empty((side, side), np.float32))
        accelerated.matmul(a[:, :0], a[:0], np.empty((side, side), np.float32))

    accelerated.run_tasks([products])
    unaided.run_tasks([lambda: unaided.matmul(a, a, np.empty((side, side), np.float32))])
    assert ran == []


def test_large_products_outside_of_workers_are_shared(ran, onednn):

    backend, side = NumpyBackend(2), round(LEAST_PRODUCT ** (1 / 3)) + 1
    if backend.workers < 2:
        pytest.skip("the BLAS cannot be held to one thread")
    rng = np.random.default_rng(6)
    a, b = numbers(rng, (side, side)), numbers(rng, (side, side))
    out = backend.matmul(a, b, empty_laid(rng, (side, side), "as it is"))
    assert ran == ["sgemm", "sgemm"]
    exact = a.astype(np.float64), b.astype(np.float64)
    close(out, exact[0] @ exact[1], abs(exact[0]) @ abs(exact[1]))
