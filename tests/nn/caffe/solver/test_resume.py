"""A solver that goes on from a snapshot has the same bits as one that never stopped."""

import subprocess
import sys

import numpy as np
import pytest

import nd
from nn.caffe import read_state, write_state
from nn.caffe.solver import get_solver
from tests.cases.caffe_solvers import EVERYTHING, SETTINGS, solver_text, write_everything
from tests.cells import every_row

TEST = "test_iter: 2 test_interval: 3"
FORMATS = {"binary": "BINARYPROTO", "hdf5": "HDF5"}


@pytest.fixture
def folder(tmp_path):
    return write_everything(tmp_path)


def text(kind="Adam", **more):
    settings = SETTINGS[kind] + ' weight_decay: 0.01 snapshot_prefix: "saved" '
    return solver_text(EVERYTHING, settings, **more)


def everything(solver):
    """Return all parameters, statistics too, all states, and the count."""
    network = solver.net.network
    vectors = [np.array(blob.data).tobytes() for blob in solver.net.learnable_params]
    return vectors, nd.to_host(network.updater_state()).tobytes(), solver.iter, network.random.get_state()


def run(folder, text, steps, resume=None, **settings):
    solver = get_solver(text, folder=folder, **settings)
    if resume:
        solver.restore(resume)
    losses = [solver.step(1) for _ in range(steps)]
    return solver, losses


@every_row("kind", sorted(SETTINGS))
@every_row(("dtype", "form"), [("float32", "binary"), ("float64", "hdf5")])
@pytest.mark.slow
def test_a_stop_changes_nothing(kind, form, dtype, folder):
    said = text(kind, snapshot_format=FORMATS[form])
    whole, losses = run(folder, said, 8, dtype=dtype)
    half, _ = run(folder, said, 5, dtype=dtype)
    path = half.snapshot()
    assert path.endswith("saved_iter_5.solverstate" + (".h5" if form == "hdf5" else ""))
    resumed, rest = run(folder, said.replace("random_seed: 7", "random_seed: 8"), 3, path, dtype=dtype)
    assert rest == losses[5:]
    assert everything(resumed) == everything(whole)


@every_row("settings", [{"iter_size": 2}, {"lr_policy": "'multistep' gamma: 0.5 stepvalue: 3 stepvalue: 6"}])
def test_further_settings(settings, folder):
    said = text(**settings)
    whole, losses = run(folder, said, 8)
    half, _ = run(folder, said, 5)
    resumed, rest = run(folder, said, 3, half.snapshot())
    assert (rest, everything(resumed)) == (losses[5:], everything(whole))


def test_tests_in_between_go_on_too(folder):
    """Test nets have readers and generators of their own."""
    said = text() + " " + TEST
    whole, _ = run(folder, said, 10)
    half, _ = run(folder, said, 5)
    resumed, _ = run(folder, said, 5, half.snapshot())
    assert resumed.test() == whole.test()
    assert everything(resumed) == everything(whole)


def test_a_snapshot_changes_nothing(folder):
    quiet, _ = run(folder, text(), 6)
    often, _ = run(folder, text(snapshot=1), 6)
    assert everything(often) == everything(quiet)


IN_ANOTHER_PROCESS = """
import sys, hashlib
from tests.nn.caffe.solver.test_resume import everything, run
folder, path, said = sys.argv[1:]
solver, losses = run(folder, said, 3, path)
print(repr((losses, hashlib.sha256(repr(everything(solver)).encode()).hexdigest())))
"""


@pytest.mark.slow
def test_in_another_process(folder):
    import hashlib

    whole, losses = run(folder, text(), 8)
    half, _ = run(folder, text(), 5)
    program = [sys.executable, "-c", IN_ANOTHER_PROCESS, folder, half.snapshot(), text()]
    said = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert said.strip() == repr((losses[5:], hashlib.sha256(repr(everything(whole)).encode()).hexdigest()))


def test_solve_goes_on_from_a_file(folder):
    said = text(max_iter=8, snapshot=5)
    whole = get_solver(said, folder=folder)
    whole.solve()
    resumed = get_solver(said, folder=folder)
    resumed.solve(f"{folder}/saved_iter_5.solverstate")
    assert everything(resumed) == everything(whole)


def test_relative_folders(folder, monkeypatch, tmp_path):
    """Names in files are from the folder of the solver on, also where that is relative itself."""
    monkeypatch.chdir(tmp_path.parent)
    whole, _ = run(tmp_path.name, text(), 4)
    half, _ = run(tmp_path.name, text(), 2)
    path = half.snapshot()
    assert (tmp_path / "saved_iter_2.caffemodel").is_file()
    resumed, _ = run(tmp_path.name, text(), 2, path)
    assert everything(resumed) == everything(whole)


def test_without_what_caffe_does_not_write(folder):
    """Its own states do not say where readers stood: parameters and history are there, data begin anew."""
    half, _ = run(folder, text(), 5)
    path = half.snapshot()
    write_state(read_state(path)._replace(extra=b""), path)
    resumed = get_solver(text(), folder=folder)
    resumed.restore(path)
    assert everything(resumed)[:3] == everything(half)[:3]
    resumed.step(1)


@every_row(
    ("change", "error", "match"),
    [
        ({"history": []}, nd.FormatError, r"history must be 2 x 11 = 22 arrays"),
        ({"extra": b"{"}, nd.FormatError, r"where readers stood cannot be read"),
        ({"extra": b"[]"}, nd.FormatError, r"where readers stood cannot be read"),
        ({"extra": b"[1, 2]"}, nd.FormatError, r"where readers stood cannot be read"),
        ({"extra": b'[{"random": [1], "data": []}]'}, nd.FormatError, r"where readers stood cannot be read"),
        ({"extra": b'[{"random": [1, 2], "data": [1, 2, 3]}]'}, nd.NdError, r"a state must be a dict"),
        ({"extra": b'[{"random": [1, 2], "data": [{}, {}, {}]}]'}, nd.NdError, r"cursor of a state must be"),
        ({"learned_net": "none.caffemodel"}, FileNotFoundError, r"none\.caffemodel"),
        ({"learned_net": "list.txt"}, nd.FormatError, r"list\.txt"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_state_that_does_not_fit_changes_nothing(change, error, match, folder):
    half, _ = run(folder, text(), 3)
    path = half.snapshot()
    other, _ = run(folder, text(), 2)
    before, after = everything(other), everything(run(folder, text(), 4)[0])
    write_state(read_state(path)._replace(**change), path)
    with pytest.raises(error, match=match):
        other.restore(path)
    assert everything(other) == before
    other.step(2)
    assert everything(other) == after


def test_the_state_of_another_net(folder):
    half, _ = run(folder, text(), 3)
    path = half.snapshot()
    other = get_solver(text().replace("num_output: 3", "num_output: 5"), folder=folder)
    before = everything(other)
    with pytest.raises((nd.ShapeError, nd.FormatError), match=r"layer 'ip'|history"):
        other.restore(path)
    assert everything(other) == before
