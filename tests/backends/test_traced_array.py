"""Traceable arrays where nothing records, and products and updates whose memory is laid out unusually."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from tests.cells import every_row


@pytest.fixture(autouse=True)
def on_numpy():
    with nd.use_backend(NumpyBackend(threads=1)):
        yield


def test_a_traceable_array_is_like_any_other_where_nothing_records():
    memory = np.arange(6.0).reshape(2, 3)
    x = nd.traceable(memory)
    assert (bool(x[0, 1, ...]), float(x[1, 2, ...]), int(x[1, 1, ...]), x[0, :2].argmax()) == (True, 5.0, 4, 1)
    assert (x.item(4), x.tolist(), x.argmin(), x.tobytes()) == (4.0, memory.tolist(), 0, memory.tobytes())
    assert (x.copy() + nd.exp(x)).tolist() == (memory + np.exp(memory)).tolist()
    x[1] = nd.fill(x[0], 3.0)
    nd.addi(x, 1.0)
    assert memory.tolist() == [[4.0] * 3] * 2


UNKNOWN_TO_RECORDINGS = {
    "allclose": lambda x: np.allclose(x, 1.0),
    "cumsum": lambda x: x.cumsum(),
    "histogram": lambda x: np.histogram(x, 3)[0],
    "modf": lambda x: np.modf(x)[0],
    "outer": lambda x: np.multiply.outer(x, x),
    "split": lambda x: np.split(x, 2)[1],
    "svd": lambda x: nd.svd(x)[1],
    "fancy index": lambda x: x[np.array([1, 0, 1])],
    "flat": lambda x: list(x.flat),
    "sum of elements": lambda x: sum(x[0]),
}


@every_row("name", UNKNOWN_TO_RECORDINGS)
def test_what_a_recording_cannot_hold_works_where_nothing_records(name):
    memory = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_array_equal(
        UNKNOWN_TO_RECORDINGS[name](nd.traceable(memory)), UNKNOWN_TO_RECORDINGS[name](memory)
    )


def test_elements_can_be_set_where_nothing_records():
    memory = np.zeros((2, 3))
    x = nd.traceable(memory)
    x[0, 0] = 1.0
    x[memory > 0] = 5.0
    x[np.array([1]), 2] = 7.0
    np.add.at(x, (1, 2), 1.0)
    np.testing.assert_array_equal(memory, [[5.0, 0.0, 0.0], [0.0, 0.0, 8.0]])


def test_views_stay_traceable_where_nothing_records():
    x = nd.traceable(np.zeros((2, 3)))
    assert type(np.reshape(x, (3, 2))) is type(x[:, 1:]) is type(x.T) is type(x)


def test_a_product_into_a_part_of_f_ordered_memory():
    rng = np.random.default_rng(2)
    x, y, memory = rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), np.zeros((6, 4), order="F")
    program = nd.record(lambda: nd.gemm(nd.traceable(x), nd.traceable(y), nd.traceable(memory)[1:5]))
    x[:], y[:] = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    program.replay()
    np.testing.assert_allclose(memory[1:5], [[sum(x[i] * y[:, j]) for j in range(4)] for i in range(4)])


@pytest.mark.parametrize("n", [10, 10_000])
def test_axpby_of_overlapping_vectors(n):
    memory = np.random.default_rng(3).normal(size=n)
    expected = 2.0 * memory[:-1] + 3.0 * memory[1:]
    nd.axpby(2.0, memory[:-1], 3.0, memory[1:], np.empty(n - 1))
    np.testing.assert_allclose(memory[1:], expected)


@pytest.mark.parametrize("n", [10, 10_000])
def test_axpby_checks_what_it_is_given(n):
    x, y = np.ones(n), np.ones(n)
    with pytest.raises(ValueError, match="could not be broadcast"):
        nd.axpby(1.0, x[:7], 1.0, y, np.empty(n))
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        nd.axpby(1.0, x, 1.0, y, np.empty(n))
