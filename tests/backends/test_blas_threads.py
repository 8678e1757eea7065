"""What ndwright asks of the BLAS under NumPy: one thread for a while, and y = alpha x + beta y in one pass."""

import os
import threading
import types
import weakref

import numpy as np
import pytest

import nd
from backends.cpu import numpy_backend
from backends.cpu.blas_level1 import LEAST_ELEMENTS, LevelOne
from backends.cpu.blas_threads import BlasThreads
from backends.cpu.numpy_backend import NumpyBackend
from tests.cells import every_row

SPELLINGS = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads",
)


class FakeOpenBlas:
    """A library with a number of threads, which notes every number that it was given."""

    def __init__(self, count=4, spelling=SPELLINGS[0]):
        self.count, self.given = count, []
        setattr(self, spelling.format("get"), lambda: self.count)
        setattr(self, spelling.format("set"), lambda count: self._put(count))

    def _put(self, count):
        self.count = count
        self.given.append(count)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_one_thread_is_held_and_the_users_number_restored(spelling):
    library = FakeOpenBlas(4, spelling)
    blas = BlasThreads(library)
    assert blas.controllable
    assert blas.count() == 4
    held = blas.hold()
    assert blas.count() == library.count == 1
    blas.release(held)
    assert blas.count() == library.count == 4


def test_what_is_restored_is_what_was_there_at_the_time():
    library = FakeOpenBlas(4)
    blas = BlasThreads(library)
    for count in (3, 1, 6):
        library.count = count
        held = blas.hold()
        assert library.count == 1
        blas.release(held)
        assert library.count == count


def test_the_last_of_several_holders_restores():
    library = FakeOpenBlas(5)
    blas = BlasThreads(library)
    seen, held = [], []
    for step in "hhrhrr":
        if step == "h":
            held.append(blas.hold())
        else:
            blas.release(held.pop(0))
        seen.append((len(blas.holders), library.count))
    assert seen == [(1, 1), (2, 1), (1, 1), (2, 1), (1, 1), (0, 5)]
    assert library.given == [1, 5]


def test_holders_in_many_threads():
    library = FakeOpenBlas(8)
    blas, counts, meet = BlasThreads(library), set(), threading.Barrier(4, timeout=20)

    def holder():
        meet.wait()
        for _ in range(200):
            held = blas.hold()
            counts.add(library.count)
            blas.release(held)

    threads = [threading.Thread(target=holder) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert counts == {1}
    assert (len(blas.holders), library.count) == (0, 8)


def test_what_is_not_released_ends_with_the_one_who_held_it():
    library = FakeOpenBlas(3)
    blas = BlasThreads(library)
    first, second = blas.hold(), blas.hold()
    del first
    assert (len(blas.holders), library.count) == (1, 1)
    del second
    assert (len(blas.holders), library.count) == (0, 3)


def test_releasing_twice_is_releasing_once():
    library = FakeOpenBlas(3)
    blas = BlasThreads(library)
    first, second = blas.hold(), blas.hold()
    blas.release(first)
    blas.release(first)
    assert (len(blas.holders), library.count) == (1, 1)
    blas.release(second)
    assert library.count == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_finds_the_users_number_again():
    library = FakeOpenBlas(3)
    blas = BlasThreads(library)
    held = blas.hold()
    child = os.fork()
    if child == 0:
        os._exit(10 * library.count + len(blas.holders))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 30
    assert (len(blas.holders), library.count) == (1, 1)
    blas.release(held)


@pytest.mark.parametrize("names", [(), ("openblas_get_num_threads",), ("openblas_set_num_threads",), ("MKL_Set",)])
def test_a_library_without_both_functions_is_left_alone(names):
    def called(*arguments):
        raise AssertionError(f"called with {arguments}")

    blas = BlasThreads(types.SimpleNamespace(**dict.fromkeys(names, called)))
    assert not blas.controllable
    assert blas.count() is None
    held = blas.hold()
    assert len(blas.holders) == 1
    blas.release(held)
    assert len(blas.holders) == 0


def test_where_numpys_extension_cannot_be_opened_nothing_is_found(monkeypatch):
    monkeypatch.setattr(np._core._multiarray_umath, "__file__", "/nowhere/to/be/found.so")
    x = np.ones(2 * LEAST_ELEMENTS)
    assert not BlasThreads().controllable
    assert LevelOne().bound(1.0, x, 1.0, x.copy()) is None


# ---- in the backend


def backend_on(library, monkeypatch, threads):
    monkeypatch.setattr(numpy_backend, "BlasThreads", lambda: BlasThreads(library))
    return NumpyBackend(threads=threads)


def test_without_control_there_is_one_worker(monkeypatch):
    backend = backend_on(types.SimpleNamespace(), monkeypatch, 3)
    assert backend.workers == 1
    assert backend.describe()["threads"] == "as the BLAS chooses"
    assert backend_on(FakeOpenBlas(), monkeypatch, 3).workers == 3


@pytest.mark.parametrize(("threads", "light", "seen"), [(4, True, 4), (4, False, 1), (3, True, 1)])
def test_one_light_task_leaves_a_blas_alone_that_uses_as_many_threads(threads, light, seen, monkeypatch):
    library, counts = FakeOpenBlas(4), []
    backend = backend_on(library, monkeypatch, threads)
    with nd.use_backend(backend):
        nd.run_tasks([lambda: counts.append(library.count)], light=light)
    assert counts == [seen]
    assert library.count == 4


@pytest.fixture
def numpys():
    """The BLAS of NumPy, at a number of threads that nobody would choose."""
    blas = BlasThreads()
    if not blas.controllable:
        pytest.skip("the BLAS of this NumPy is no OpenBLAS")
    before, put = blas.count(), blas._functions[1]
    put(3)
    yield blas
    put(before)


def test_numpys_blas_has_one_thread_in_the_workers_and_its_own_number_after(numpys):
    assert numpys.count() == 3
    backend, counts = NumpyBackend(threads=2), []
    backend.run_tasks([lambda: counts.append(numpys.count())] * 2)
    assert counts == [1, 1]
    assert numpys.count() == 3


def test_numpys_blas_has_its_own_number_after_an_error(numpys):
    def fail():
        raise ValueError("went wrong")

    for tasks in ([fail, int], [int, fail], [fail]):
        with pytest.raises(ValueError, match="went wrong"):
            NumpyBackend(threads=2).run_tasks(tasks)
        assert numpys.count() == 3


def test_runs_inside_of_runs_restore_once(numpys):
    backend, counts = NumpyBackend(threads=2), []

    def task():
        backend.run_tasks([lambda: counts.append(numpys.count())] * 2)
        counts.append(numpys.count())

    backend.run_tasks([task, task])
    assert counts == [1] * 6
    assert numpys.count() == 3


# ---- y = alpha x + beta y

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


@pytest.fixture(scope="module")
def level_one():
    found = LevelOne()
    if None in found._routines.values():
        pytest.skip("the BLAS of this NumPy has no axpby")
    return found


def vectors(n, dtype, step=1):
    rng = np.random.default_rng(n)
    return [rng.normal(size=n * step).astype(dtype)[::step] for _ in range(2)]


def by_loop(alpha, x, beta, y):
    """Sums in float64, and how far rounding to the vectors' dtype may be from them."""
    kind = x.dtype.type
    alpha, beta = float(kind(alpha)), float(kind(beta))
    products = [(alpha * float(a), beta * float(b)) for a, b in zip(x, y, strict=True)]
    room = 2 * EPSILON[x.dtype.name]
    return np.array([a + b for a, b in products]), np.array([room * (abs(a) + abs(b)) for a, b in products])


@pytest.mark.parametrize("factors", [(0.3, -0.7), (1.0, 1.0), (-2.5, 0.9)])
@pytest.mark.parametrize("n", [LEAST_ELEMENTS, LEAST_ELEMENTS + 1, 3 * LEAST_ELEMENTS + 17])
def test_the_routine_against_a_loop(n, factors, dtype, level_one):
    (x, y), (alpha, beta) = vectors(n, dtype), factors
    expected, room = by_loop(alpha, x, beta, y)
    untouched = x.copy()
    level_one.bound(alpha, x, beta, y)()
    assert (np.abs(y - expected) <= room).all()
    np.testing.assert_array_equal(x, untouched)


@every_row("step", [1, 2])
@every_row("n", [1, 7, LEAST_ELEMENTS - 1, LEAST_ELEMENTS, LEAST_ELEMENTS + 5])
def test_the_backends_axpby_against_a_loop(n, step, dtype):
    x, y = vectors(n, dtype, step)
    expected, room = by_loop(0.3, x, -0.7, y)
    assert NumpyBackend(threads=1).axpby(0.3, x, -0.7, y, np.empty(n, dtype)) is y
    assert (np.abs(y - expected) <= room).all()


@pytest.mark.parametrize(("n", "fast"), [(LEAST_ELEMENTS - 1, False), (LEAST_ELEMENTS, True)])
def test_the_routine_is_used_from_so_many_elements_on(n, fast, dtype, level_one):
    (x, y), scratch = vectors(n, dtype), np.full(n, 123, dtype)
    NumpyBackend(threads=1).axpby(0.3, x, -0.7, y, scratch)
    assert (scratch == 123).all() == fast
    assert (level_one.bound(0.3, x, -0.7, y) is not None) == fast


BIG = 2 * LEAST_ELEMENTS


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones(2 * BIG)[::2], np.ones(BIG)),
        (np.ones(BIG), np.ones(2 * BIG)[::2]),
        (np.ones(BIG)[::-1], np.ones(BIG)),
        (np.ones(BIG, "float32"), np.ones(BIG)),
        (np.ones(BIG), np.ones(BIG, "float32")),
        (np.ones(BIG, "float16"), np.ones(BIG, "float16")),
        (np.ones(BIG, "int64"), np.ones(BIG, "int64")),
        (np.ones(BIG, "complex64"), np.ones(BIG, "complex64")),
        (np.ones(BIG, ">f8"), np.ones(BIG, ">f8")),
        (np.ones((BIG, 2), order="F"), np.ones((BIG, 2), order="F")),
    ],
    ids=["x strided", "y strided", "x backwards", "y wider", "x wider", "float16", "int64", "complex", "swapped", "F"],
)
def test_what_the_routine_does_not_take(x, y, level_one):
    assert level_one.bound(1.0, x, 1.0, y) is None
    assert level_one.bound(1.0, np.ones(BIG), 1.0, np.ones(BIG)) is not None


@pytest.mark.parametrize("n", [9, BIG])
def test_one_vector_may_be_both(n, dtype):
    y = np.arange(n, dtype=dtype)
    NumpyBackend(threads=1).axpby(2.0, y, 3.0, y, np.empty(n, dtype))
    np.testing.assert_array_equal(y, 5 * np.arange(n))


@pytest.mark.parametrize("n", [9, BIG])
def test_factors_are_read_each_time(n, dtype, level_one):
    alpha, beta = np.array(2.0, dtype), np.array(0.0, dtype)
    x, y = np.arange(n, dtype=dtype), np.ones(n, dtype)
    backend, run = NumpyBackend(threads=1), level_one.bound(alpha, x, beta, y)
    for factors in ((2.0, 1.0), (-1.0, 4.0), (0.5, -2.0)):
        alpha[...], beta[...] = factors
        y[:] = 3.0
        backend.axpby(alpha, x, beta, y, np.empty(n, dtype)) if run is None else run()
        np.testing.assert_array_equal(y, factors[0] * np.arange(n) + factors[1] * 3)


def test_the_vectors_live_as_long_as_what_is_bound_to_them(level_one):
    x, y = np.ones(BIG), np.ones(BIG)
    alive = [weakref.ref(x), weakref.ref(y)]
    run = level_one.bound(1.0, x, 1.0, y)
    del x, y
    assert all(each() is not None for each in alive)
    run()
    assert (alive[1]() == 2.0).all()
    del run
    assert [each() for each in alive] == [None, None]


@pytest.mark.parametrize("spelling", ["scipy_cblas_{}64_", "cblas_{}64_"])
def test_spellings_and_arguments_of_the_routines(spelling):
    called = []
    names = {spelling.format(name): lambda *given, name=name: called.append((name, given)) for name in KINDS.values()}
    level_one = LevelOne(types.SimpleNamespace(**names))
    for dtype, name in KINDS.items():
        x, y = np.ones(BIG, dtype), np.ones(BIG, dtype)
        level_one.bound(0.25, x, np.array(-2.0, dtype), y)()
        assert called.pop() == (name, (BIG, 0.25, x.ctypes.data, 1, -2.0, y.ctypes.data, 1))


KINDS = {"float32": "saxpby", "float64": "daxpby"}


def test_a_library_with_one_of_the_routines():
    level_one = LevelOne(types.SimpleNamespace(cblas_daxpby64_=lambda *given: None))
    assert level_one.bound(1.0, np.ones(BIG, "float32"), 1.0, np.ones(BIG, "float32")) is None
    assert level_one.bound(1.0, np.ones(BIG), 1.0, np.ones(BIG)) is not None
