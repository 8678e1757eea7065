"""Work side by side, through the facade, and the number of threads it may use."""

import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import nd
from backends.cpu import numpy_backend
from backends.cpu.numpy_backend import NumpyBackend
from nd.execution.workers import plan_work, run_tasks
from nd.state import state
from tests.cells import every_row
from tests.stand_ins import DIAGNOSIS

ROOT = pathlib.Path(__file__).parent.parent.parent
LENET = nd.Work(multiplications=3 * 2_293_000, largest=46_080, parameters=431_080)
PERCEPTRON = nd.Work(multiplications=3 * 794_000, largest=4_000, parameters=795_010)
SMALL_PERCEPTRON = nd.Work(multiplications=3 * 234_752, largest=3_136, parameters=235_146)
SMALL_LSTM = nd.Work(multiplications=3 * 2_500_000, largest=25_600, parameters=25_000, per_step=16_384)
LSTM = nd.Work(multiplications=3 * 27_000_000, largest=40_000, parameters=550_000, per_step=160_000)
LONG_LSTM = nd.Work(multiplications=3 * 540_000_000, largest=800_000, parameters=550_000, per_step=160_000)
EMBEDDING = nd.Work(multiplications=3 * 640, largest=12_800, parameters=640_650, looked_up=3 * 3_200)
LOOKUPS = nd.Work(multiplications=640, largest=12_800, parameters=0, looked_up=3_200)
PREDICTED_PERCEPTRON = nd.Work(multiplications=234_752, largest=3_136, parameters=0)
PREDICTED_IMAGES = nd.Work(multiplications=234_752, largest=50_176, parameters=0)
TINY = nd.Work(multiplications=3 * 80, largest=80, parameters=102)


def test_every_task_runs_on_the_current_backend(backend):
    seen = []
    workers = getattr(backend, "workers", 1)
    run_tasks([lambda: seen.append(state.backend)] * workers)
    assert seen == [backend] * workers


def test_the_other_worker_has_the_backend_of_the_caller():
    here, seen = NumpyBackend(threads=2), {}
    meet = threading.Barrier(2, timeout=20)

    def task(name):
        meet.wait()
        seen[name] = state.backend

    with nd.use_backend(here):
        run_tasks([lambda: task("first"), lambda: task("second")])
    assert seen == {"first": here, "second": here}


def sizes(plan):
    return [[each.stop - each.start for each in parts] for parts in plan.workers]


@every_row(
    ("threads", "examples", "work", "expected"),
    [
        (2, 64, LENET, [[32], [32]]),
        (2, 256, LENET, [[64, 64], [64, 64]]),
        (2, 200, LENET, [[64, 48], [48, 40]]),
        (2, 10, LENET, [[10]]),
        (1, 256, LENET, [[64, 64, 64, 64]]),
        (2, 64, PERCEPTRON, [[64]]),
        (2, 190, PERCEPTRON, [[190]]),
        (2, 256, PERCEPTRON, [[128], [128]]),
        (2, 120, SMALL_PERCEPTRON, [[120]]),
        (2, 128, SMALL_PERCEPTRON, [[64], [64]]),
        (2, 50, TINY, [[50]]),
        (2, 32, SMALL_LSTM, [[32]]),
        (2, 64, SMALL_LSTM, [[32], [32]]),
        (2, 32, LSTM, [[16], [16]]),
        (2, 32, LONG_LSTM, [[16], [16]]),
        (2, 1024, EMBEDDING, [[256, 256, 256, 256]]),
        (2, 16, LOOKUPS, [[16]]),
        (2, 64, PREDICTED_PERCEPTRON, [[64]]),
        (2, 128, PREDICTED_PERCEPTRON, [[64], [64]]),
        (2, 64, PREDICTED_IMAGES, [[32], [32]]),
        (2, 256, LOOKUPS, [[128], [128]]),
    ],
)
def test_how_a_minibatch_is_split(threads, examples, work, expected):
    with nd.use_backend(NumpyBackend(threads=threads)):
        assert sizes(plan_work(examples, work)) == expected


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_example_is_in_one_stretch(threads):
    with nd.use_backend(NumpyBackend(threads=threads)):
        for examples in range(1, 300):
            plan = plan_work(examples, LENET).workers
            order = [number for worker in plan for each in worker for number in range(each.start, each.stop)]
            assert order == list(range(examples))
            assert 1 <= len(plan) <= threads
            assert all(plan)


def test_other_backends_split_nothing(backend):
    if not backend.name.startswith("numpy"):
        assert plan_work(1000, LENET).workers == ((slice(0, 1000),),)
    assert plan_work(3, LENET).workers == ((slice(0, 3),),)
    assert plan_work(3, LENET).undivided


def test_what_must_not_be_split_stays_whole(backend):
    assert plan_work(1000, None).workers == ((slice(0, 1000),),)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_product_is_split_by_rows(order, monkeypatch):
    monkeypatch.setattr(numpy_backend, "LEAST_PRODUCT", 1)
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=(7, 5)), rng.normal(size=(5, 9)), np.empty((7, 9), order=order)
    backend = NumpyBackend(threads=3)
    ran = []
    monkeypatch.setattr(backend, "run_tasks", lambda tasks: [ran.append(task()) for task in tasks])
    assert backend.matmul(a, b, out) is out
    assert len(ran) == 3
    np.testing.assert_allclose(out, np.einsum("ij,jk->ik", a, b), rtol=1e-13)


@pytest.mark.parametrize(("setting", "threads"), [("1", 1), ("3", 3), (None, len(os.sched_getaffinity(0)))])
def test_the_environment_sets_the_number_of_threads(setting, threads):
    environment = {key: value for key, value in os.environ.items() if key != "ND_NUM_THREADS"}
    environment |= {"ND_BACKEND": "numpy"} | ({} if setting is None else {"ND_NUM_THREADS": setting})
    done = subprocess.run(
        [sys.executable, *DIAGNOSIS], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f"{threads} (ND_NUM_THREADS)" in done.stdout


def test_a_wrong_number_of_threads_is_named():
    environment = {**os.environ, "ND_BACKEND": "numpy", "ND_NUM_THREADS": "many"}
    done = subprocess.run(
        [sys.executable, "-c", "import nd; nd.backend()"], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert "ND_NUM_THREADS: expected an integer >= 1, got 'many'" in done.stderr
