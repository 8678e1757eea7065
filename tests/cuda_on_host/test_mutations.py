"""The faults that only a device shows are caught: each of these mutations of the library fails a test, in its mode."""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).parents[2]
UPLOADS, GRAPHS, KERNELS, PRODUCTS = (
    f"tests/backends/test_{name}.py" for name in ("uploads", "cuda_graphs", "cuda_kernels", "cuda_products")
)


class Mutation(NamedTuple):
    """A text of one file of `backends` that becomes another, and the tests that have to fail then."""

    file: str
    old: str
    new: str
    modes: str
    tests: str


MUTATIONS = {
    "pinned memory is filled while it is copied": Mutation(
        "cuda/uploads.py", "self.copied.synchronize()  #", "#", "late", UPLOADS
    ),
    "nobody waits for the copy": Mutation(
        "cuda/uploads.py", "current.wait_event(slot.copied)", "pass", "late", UPLOADS
    ),
    "the copy does not wait for who reads the one before": Mutation(
        "cuda/uploads.py", "stream.wait_event(self.consumed)", "pass", "late", UPLOADS
    ),
    "the copy is on the wrong stream": Mutation(
        "cuda/uploads.py", "self.device.set(self.pinned, stream)", "self.device.set(self.pinned)", "late", UPLOADS
    ),
    "who has read is recorded on the wrong stream": Mutation(
        "cuda/uploads.py", "slot.consumed.record(current)", "slot.consumed.record(self._stream)", "late", UPLOADS
    ),
    "a graph is launched on a stream that nobody waits for": Mutation(
        "cuda/graphs.py",
        "        else:\n            self._graph.launch()",
        "        else:\n            self._graph.launch(self._cupy.cuda.Stream(non_blocking=True))",
        "late",
        GRAPHS,
    ),
    "memory of a graph is freed": Mutation(
        "cuda/graphs.py", "self._kept.append(memory)", "pass", "tight", GRAPHS
    ),
    "the random state of a graph stays where it was": Mutation(
        "cuda/draws.py", "if state != self._on_device:", "if False:", "", GRAPHS
    ),
    "counters of a product begin anywhere": Mutation(
        "cuda/scratch.py", "self._arrived.fill(0)", "pass", "tight", PRODUCTS
    ),
    "an index off by one behind an array": Mutation(
        "cuda/random.cu", "if (i >= total)", "if (i > total)", "tight", GRAPHS
    ),
    "a row of a table that is not there": Mutation(
        "cuda/embedding.cu", "bool there = row >= 0 && row < l.rows", "bool there = row >= 0 && row <= l.rows",
        "tight", "tests/backends/test_cuda_embedding.py",
    ),
    "a barrier less before shared memory is written again": Mutation(
        "cuda/gemm.cu", "DEPTH) {\n        __syncthreads();", "DEPTH) {", "reverse", PRODUCTS
    ),
    "a barrier less before shared memory is read": Mutation(
        "cuda/gemm.cu", "right.step(k + DEPTH);\n        __syncthreads();", "right.step(k + DEPTH);", "", PRODUCTS
    ),
    "a grid of too few blocks": Mutation(
        "cuda/__init__.py", "(-(-total // block),)", "(max(total // block, 1),)", "", KERNELS
    ),
    "a grid of too few blocks for a formula": Mutation(
        "cuda/elementwise.py", "(-(-plan.total // BLOCK),)", "(max(plan.total // BLOCK, 1),)", "",
        "tests/backends/test_elementwise.py",
    ),
    "a graph uses the scratch memory of a stream": Mutation(
        "cuda/recorder.py", "self.scratches.holding(scratch, run)", "run()", "",
        "tests/backends/test_two_streams.py",
    ),
    "an argument of the wrong type": Mutation(
        "cuda/recorder.py", "*move, p, out.shape[0]", "*move, int(p), out.shape[0]", "", GRAPHS
    ),
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    """A copy of the library and its tests."""
    for name in ("backends", "nd", "nn", "optimize", "tests", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def run(tree, modes, tests):
    environment = {**os.environ, "PYTHONPATH": str(tree), "HOST_CUDA": modes, "ND_BACKEND": "numpy"}
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", "--backend=cupy", tests]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", MUTATIONS)
def test_its_text_stands_once_in_its_file(name):
    mutation = MUTATIONS[name]
    assert (ROOT / "backends" / mutation.file).read_text().count(mutation.old) == 1
    assert (ROOT / mutation.tests).is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize(("modes", "tests"), sorted({(each.modes, each.tests) for each in MUTATIONS.values()}))
def test_without_a_mutation_they_pass(modes, tests, tree):
    status, text = run(tree, modes, tests)
    assert status == 0, text[-3000:]


@pytest.mark.slow
@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_caught(name, tree):
    mutation = MUTATIONS[name]
    path = tree / "backends" / mutation.file
    text = path.read_text()
    path.write_text(text.replace(mutation.old, mutation.new))
    status, said = run(tree, mutation.modes, mutation.tests)
    assert status == 1, said[-3000:]
    assert " failed" in said
