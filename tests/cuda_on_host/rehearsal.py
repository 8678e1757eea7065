"""``make gpu-rehearsal``: what runs in the first minutes on a real device, every line of it, without one.

`.ci/gpu-check` runs on the host CUDA as it is. So does `benchmarks/lenet_gpu.py`, but for PyTorch, which cannot live in
one process with another CUDA than NVIDIA's: our own network stands in its place. The figures mean nothing.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).parents[2]
WAYS = ([], ["--inference", "--tf32", "--no-compile"])
"""Options of the benchmark, so that every line runs."""
TOOL = """#!/bin/sh
# In the place of compute-sanitizer: runs the program, and watches nothing.
while [ "${1#--}" != "$1" ]; do
  case "$1" in --report-api-errors | --tool | --error-exitcode | --target-processes) shift ;; esac
  shift
done
exec "$@"
"""


def noise(batch, train=True, seed=None):
    """Return an iterator in the place of MNIST's: two minibatches of noise."""
    import numpy as np

    from nd.dataset import NumpyDataSetIterator

    rng = np.random.default_rng(seed)
    images = rng.random((2 * batch, 784), np.float32)
    return NumpyDataSetIterator(images, np.eye(10, dtype=np.float32)[rng.integers(0, 10, 2 * batch)], batch)


class Event:
    """As torch.cuda.Event, by the host's clock."""

    def __init__(self, enable_timing=False):
        self.seconds = 0.0

    def record(self):
        self.seconds = time.perf_counter()

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1000.0 * (end.seconds - self.seconds)


class Profile:
    """As torch.profiler.profile, which sees nothing."""

    def __init__(self, activities):
        self.activities = activities

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def events(self):
        return []


def in_the_place_of_torch():
    """Return a module with what the benchmark itself asks of PyTorch."""
    torch = types.ModuleType("torch")
    torch.__version__ = "in rehearsal"
    torch.version = types.SimpleNamespace(cuda="none")
    cuda = {"is_available": lambda: True, "Event": Event, "synchronize": lambda: None, "empty_cache": lambda: None}
    torch.cuda = types.SimpleNamespace(**cuda)
    torch.backends = types.SimpleNamespace(
        cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)),
        cudnn=types.SimpleNamespace(allow_tf32=False),
    )
    profiler = types.ModuleType("torch.profiler")
    profiler.profile, profiler.ProfilerActivity = Profile, types.SimpleNamespace(CPU=0, CUDA=1)
    sys.modules.update({"torch": torch, "torch.profiler": profiler})


def benchmark(arguments):
    """Run benchmarks/lenet_gpu.py with small sizes; PyTorch's contenders are our own network, run eagerly."""
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]
    in_the_place_of_torch()
    import gpu_clock
    import gpu_contenders as who
    import gpu_epochs
    import lenet_gpu

    def theirs(net, backend, data, peer, inference):
        if peer.compiled:
            raise RuntimeError("nothing is compiled in a rehearsal")
        return who.ours(who.make_backend(graphs=False, tf32=False), len(data.features))[0]._replace(events="torch")

    who.theirs, gpu_epochs.MnistDataSetIterator = theirs, noise
    gpu_clock.SIZES = (64, 64)
    gpu_clock.COPIES = gpu_clock.PRODUCTS = gpu_clock.WARM_STEPS = gpu_clock.PROFILED_STEPS = 1
    gpu_clock.MOST_STEPS = 2
    return lenet_gpu.main(["--batch", "4", "--rounds", "1", "--seconds", "0.01", *arguments])


def benchmark_in_every_way(folder):
    """Run the benchmark in processes of their own; return 1 if one fails."""
    command = [sys.executable, "-m", "tests.cuda_on_host.rehearsal", "--epochs", "1", "--json", f"{folder}/figures"]
    (pathlib.Path(folder) / "mnist").mkdir()
    environment = {**os.environ, "ND_DATA_DIR": str(folder)}
    codes = [subprocess.run([*command, *way], cwd=ROOT, env=environment, check=False).returncode for way in WAYS]
    return int(any(codes))


def main():
    """Rehearse; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder) / "compute-sanitizer"
        tool.write_text(TOOL)
        tool.chmod(0o755)
        # MNIST is left out: three epochs take the better part of an hour here.
        environment = {**os.environ, "PYTHON": sys.executable, "PATH": f"{folder}:{os.environ['PATH']}"}
        environment["ND_DATA_DIR"] = folder
        checked = subprocess.run([ROOT / ".ci" / "gpu-check", "--no-bench"], env=environment, check=False).returncode
        return int(any([checked, benchmark_in_every_way(folder)]))


if __name__ == "__main__":
    sys.exit(benchmark(sys.argv[1:]) if sys.argv[1:] else main())
