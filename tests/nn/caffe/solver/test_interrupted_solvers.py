"""Ctrl-C at any moment, minibatches that are not finite, readers that raise, a full disk: a solver loses nothing."""

import contextlib
import functools
import gc
import pathlib
import random
import resource
import signal
import time

import h5py
import numpy as np
import pytest

import nd
from nn.caffe.data.database_layer import Data
from nn.caffe.solver import get_solver
from tests.cases.caffe_solvers import EVERYTHING, SETTINGS, least_squares, solver_text, write_everything
from tests.cells import every_row
from tests.nn.caffe.solver.test_resume import everything
from tests.nn.step.test_interrupted_at_random import Alarm
from tests.sweeps import share

STEPS = 30
SEED = 20261128


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_everything(tmp_path_factory.mktemp("everything"))


def text(**more):
    settings = SETTINGS["Adam"] + ' weight_decay: 0.01 snapshot_prefix: "saved" '
    return solver_text(EVERYTHING, settings, **more)


def places(solver):
    return [layer.get_state() for layer in solver.net.data_layers]


@functools.cache
def uninterrupted(folder, said):
    """Return what a solver is after each number of steps."""
    solver = get_solver(said, folder=folder)
    after = [(everything(solver), places(solver))]
    for _ in range(STEPS):
        solver.step(1)
        after.append((everything(solver), places(solver)))
    return after


def faults(solver, folder, said):
    """Yield what is wrong with a solver that was interrupted."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield "another handler of SIGINT is left"
    whole = uninterrupted(folder, said)
    if (everything(solver), places(solver)) != whole[solver.iter]:
        yield "not what a solver is that was stopped between two steps"
    resumed = get_solver(said, folder=folder)
    resumed.restore(solver.snapshot())
    for one in (solver, resumed):
        one.step(STEPS - one.iter)
        if (everything(one), places(one)) != whole[STEPS]:
            yield "it does not go on like one that was never stopped"


def check(folder, said, count):
    uninterrupted(folder, said)
    began = time.perf_counter()
    get_solver(said, folder=folder).step(STEPS)
    seconds, rng = time.perf_counter() - began, random.Random(SEED)
    stopped, wrong = [], []
    for _ in range(10 * count):
        solver, alarm = get_solver(said, folder=folder), Alarm()

        def work(alarm, solver=solver):
            alarm.after(rng.uniform(0.0, seconds))
            solver.step(STEPS)

        gc.collect()
        gc.disable()  # Python swallows what comes while it takes the solvers before this one to pieces
        try:
            error = alarm.interrupting(work)
        finally:
            gc.enable()
        if error is not None:
            stopped.append(solver.iter)
            wrong += [(solver.iter, fault) for fault in faults(solver, folder, said)]
        if len(stopped) == count:
            break
    assert len(stopped) == count
    assert wrong == []
    return stopped


@pytest.mark.slow
def test_interrupts_at_random_moments(folder):
    assert len(set(check(folder, text(), 8))) > 3
    check(folder, text(iter_size=2), 3)


@pytest.mark.slow
def test_150_interrupts_at_random_moments(folder):
    assert len(set(check(folder, text(), share(100)))) > share(100) // 7
    check(folder, text(iter_size=2), share(50))


def test_sigint_stops_a_solver_that_asks(folder):
    """As Caffe does it: an action is asked for after every step."""
    from nn.caffe.solving.actions import SignalActions

    solver = get_solver(text(), folder=folder)
    with SignalActions() as actions:
        solver.set_action_function(actions)
        solver.add_callback(lambda: signal.raise_signal(signal.SIGINT) if solver.iter == 4 else None, lambda: None)
        solver.step(10)
        assert solver.iter == 5
        solver.step(2)
        assert solver.iter == 7
    assert everything(solver) == uninterrupted(folder, text())[7][0]


# ---- errors


@pytest.fixture
def poisoned(tmp_path):
    """HDF5Data whose 4th minibatch of 4 has a NaN."""
    rng = np.random.default_rng(2)
    data = rng.normal(size=(24, 3, 4, 5)).astype("float32")
    data[13, 1, 2, 3] = np.nan
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"], file["targets"] = data, rng.normal(size=(24, 2)).astype("float32")
    (tmp_path / "list.txt").write_text("a.h5\n")
    return tmp_path


HDF5 = """layer { name: "data" type: "HDF5Data" top: "data" top: "targets"
  hdf5_data_param { source: "list.txt" batch_size: %d } }"""


@pytest.mark.parametrize("size", [1, 2])
def test_a_minibatch_that_is_not_finite_changes_nothing(size, poisoned):
    """Parameters, history and count are those before it; the next step takes the next minibatches."""
    solver = get_solver(least_squares("Adam", data=HDF5, iter_size=size), folder=poisoned)
    solver.step(3 // size)
    before = everything(solver)
    with pytest.raises(nd.NumericError, match=r"must be finite, got nan at iteration"):
        solver.step(1)
    assert everything(solver) == before
    solver.step(1)
    assert solver.iter == 3 // size + 1


def test_a_callback_that_writes_nan_into_the_gradient():
    solver = get_solver(least_squares("SGD"))
    before = everything(solver)
    solver.add_callback(lambda: None, lambda: solver.net.learnable_params[0].diff.fill(np.nan))
    with pytest.raises(nd.NumericError, match="norm of the gradient must be finite"):
        solver.step(1)
    assert everything(solver) == before


def test_diffs_that_are_not_finite_are_not_applied():
    solver = get_solver(least_squares("SGD"))
    before = everything(solver)
    solver.net.learnable_params[1].diff = np.full(2, np.inf)
    with pytest.raises(nd.NumericError, match="norm of the gradient must be finite, got inf"):
        solver.apply_update()
    assert everything(solver) == before


@pytest.mark.parametrize("size", [1, 2])
def test_a_reader_that_raises(size, folder, monkeypatch):
    """Once it reads again, training goes on with the minibatch that was not there, to the same bits."""
    said = text(iter_size=size)
    solver, (given, heard) = get_solver(said, folder=folder), (Data.read, [])

    def read(layer):
        tops = given(layer)
        heard.append(layer)
        if len(heard) == 8:
            raise nd.DataError("the disk is gone")
        return tops

    monkeypatch.setattr(Data, "read", read)
    with pytest.raises(nd.DataError, match=r"layer 0 'pictures' \(Data\): the disk is gone"):
        solver.step(STEPS)
    assert 0 < solver.iter < STEPS
    solver.step(STEPS - solver.iter)
    assert (everything(solver), places(solver)) == uninterrupted(folder, said)[STEPS]


def test_a_callback_that_raises(folder):
    for place in (0, 1):
        solver, calls = get_solver(text(), folder=folder), [lambda: None, lambda: None]
        calls[place] = lambda solver=solver: 1 // (solver.iter != 3)
        solver.add_callback(*calls)
        with pytest.raises(ZeroDivisionError, match="by zero"):
            solver.step(5)
        assert (everything(solver), places(solver)) == uninterrupted(folder, text())[3]


@contextlib.contextmanager
def files_up_to(size):
    """The system refuses to write more into a file, as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@every_row("form", ["BINARYPROTO", "HDF5"])
def test_a_full_disk_leaves_the_old_files(form, tmp_path):
    (tmp_path / form).mkdir()
    folder = write_everything(tmp_path / form)
    solver = get_solver(text(snapshot_format=form), folder=folder)
    solver.step(2)
    solver.snapshot()
    before = {path: path.read_bytes() for path in pathlib.Path(folder).glob("*saved_iter_2.*")}
    assert len(before) >= 2
    with files_up_to(100), pytest.raises(OSError, match=r"saved_iter_2\.caffemodel"):
        solver.snapshot()
    assert {path: path.read_bytes() for path in pathlib.Path(folder).glob("*saved_iter_2.*")} == before
    with files_up_to(100), pytest.raises(OSError, match=r"saved_iter_3\.caffemodel"):
        solver.step(1), solver.snapshot()
    assert not list(pathlib.Path(folder).glob("*saved_iter_3.*"))
    solver.step(1)
    assert everything(solver) == uninterrupted(folder, text())[4][0]
