"""The kernels on the host CUDA under AddressSanitizer and UndefinedBehaviorSanitizer.

The tight mode notices what is touched behind an array. Here the first element before it is noticed too, and overrunning
a shared array or overflowing an int ends the process.
"""

import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from backends.cuda import REALS

ROOT = pathlib.Path(__file__).parents[2]
# All are compiled anew, with the sanitizers; that CuPy is here is enough, whatever the processes that are started do.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("launches")]
HERE = "tests/backends"
GROUPS = {  # that take about as long; a few of the formulas, because each is compiled for itself
    "windows and tables": [
        f"{HERE}/test_cuda_convolutions.py",
        f"{HERE}/test_cuda_embedding.py",
        f"{HERE}/test_cuda_kernels.py",
        "-k",
        "not 64_bits",  # nor the kernels a third time, for wider indices
    ],
    "sums and formulas": [
        f"{HERE}/test_cuda_products.py",
        f"{HERE}/test_cuda_rows.py",
        f"{HERE}/test_elementwise.py::test_arrays_lie_in_memory_as_they_like",
        f"{HERE}/test_elementwise.py::test_large_indices",
        f"{HERE}/test_elementwise.py::test_smaller_arrays_are_broadcast",
        f"{HERE}/test_summed.py::test_strides_and_broadcasting",
        f"{HERE}/test_summed.py::test_sums_over_many_blocks[float32-257]",
        f"{HERE}/test_summed.py::test_sums_over_many_blocks[float64-5000]",
        "-k",
        "strided or not in_memory",  # the most awkward order stands for others
    ],
}
OPTIONS = "detect_leaks=0:redzone=512:max_redzone=512:quarantine_size_mb=8:malloc_context_size=5"

WRONG = """#line 1 "wrong.cu"
typedef REAL real;
extern "C" __global__ void right(const real *x, real *y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void reads_behind(const real *x, real *y) { y[threadIdx.x] = x[threadIdx.x + 1]; }
extern "C" __global__ void reads_before(const real *x, real *y) { y[threadIdx.x] = x[(int)threadIdx.x - 1]; }
extern "C" __global__ void writes_behind(const real *x, real *y) { y[threadIdx.x + 1] = x[threadIdx.x]; }
extern "C" __global__ void overflows(const real *x, real *y) { y[0] = x[0] + (0x7fffffc1 + (int)threadIdx.x); }
__device__ inline real shifted(real value, int by)
{
    __shared__ real shared[64];
    real *volatile place = shared + threadIdx.x;  // so that the compiler knows nothing about it
    place[by] = value;
    __syncthreads();
    return shared[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64) right_in_turns(const real *x, real *y)
{
    y[threadIdx.x] = shifted(x[threadIdx.x], 0);
}
extern "C" __global__ void __launch_bounds__(64) overruns_shared(const real *x, real *y)
{
    y[threadIdx.x] = shifted(x[threadIdx.x], 1);
}
extern "C" __global__ void __launch_bounds__(64) overruns_a_row(const real *x, real *y)
{
    __shared__ real shared[2][32];
    shared[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = shared[1][0];
}
extern "C" __global__ void __launch_bounds__(64) reads_behind_after_a_barrier(const real *x, real *y)
{
    real value = shifted(x[threadIdx.x], 0);
    y[threadIdx.x] = value + x[threadIdx.x + 1];
}
"""
NOTICED = {  # kernel -> line of wrong.cu, words of the report
    "reads_behind": (3, "heap-buffer-overflow", "READ of size 4"),
    "reads_before": (4, "heap-buffer-overflow", "READ of size 4"),
    "writes_behind": (5, "heap-buffer-overflow", "WRITE of size 4"),
    "overflows": (6, "signed integer overflow"),
    "overruns_shared": (11, "global-buffer-overflow", "WRITE of size 4"),
    "overruns_a_row": (26, "index 32 out of bounds"),
    "reads_behind_after_a_barrier": (33, "heap-buffer-overflow", "READ of size 4"),
}
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all -g1"
COMPILE = """
import sys, cupy
from backends.cuda import options, source
cupy.RawModule(code=source(), options=options(sys.argv[1])).get_function("random_raw")
"""
LAUNCH = """
import sys, cupy
from tests.cuda_on_host import tight
tight.install()
name, text = sys.argv[1:]
x, y = cupy.empty(64, "f"), cupy.empty(64, "f")
x.fill(1)
cupy.RawModule(code=text, options=("-DREAL=float", "--std=c++17")).get_function(name)((1,), (64,), (x, y))
cupy.cuda.Device().synchronize()
print("nothing was noticed")
"""
OUTSIDE = """
from tests.cuda_on_host import tight
tight.install()
from backends.cuda.cupy_backend import CupyBackend
device = CupyBackend()
device.kernels.launch("random_raw", "f", 5, (device.empty((4,), "uint64"), 1, 2, 5))
"""


@pytest.fixture(scope="module")
def environment():
    """Variables of a process whose kernels are watched, and where memory ends."""
    libraries = {}
    for name in ("libasan.so", "libubsan.so"):
        command = ["g++", f"-print-file-name={name}"]
        libraries[name] = pathlib.Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout[:-1])
        if not libraries[name].is_absolute():
            pytest.skip(f"the kernels cannot be watched: g++ has no {name}")
    watched = {"HOST_CUDA": "tight,watched", "HOST_CUDA_FLAGS": SANITIZERS, "ND_BACKEND": "numpy"}
    return {**os.environ, **watched, "ASAN_OPTIONS": OPTIONS, "LD_PRELOAD": str(libraries["libasan.so"])}


@pytest.fixture(scope="module")
def compiled(environment):
    """As `environment`, with all kernels compiled once for everybody."""
    with ThreadPoolExecutor() as pool:
        done = pool.map(lambda real: run_python(environment, "-c", COMPILE, real), REALS.values())
        assert list(done) == [(0, "")] * len(REALS)
    return environment


def run_python(environment, *arguments):
    """Return the exit status of a Python process and everything that it wrote."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def run_tests(environment, folder, arguments):
    # without a capture, which would keep the report of a process that ends within a test
    alone = ("-n", "0", "--backend=cupy", "--capture=no", "-p", "no:cacheprovider", f"--basetemp={folder}")
    return run_python(environment, "-m", "pytest", *alone, *arguments)


def test_a_launch_that_writes_outside_of_an_array_ends_the_process(compiled):
    status, text = run_python(compiled, "-c", OUTSIDE)
    assert status != 0
    assert "heap-buffer-overflow" in text
    assert "WRITE of size 8" in text
    assert "random.cu:" in text


def test_kernels_touch_nothing_but_their_arrays_and_do_nothing_undefined(compiled, tmp_path):
    with ThreadPoolExecutor(len(GROUPS)) as pool:
        runs = {name: pool.submit(run_tests, compiled, tmp_path / name.split()[0], GROUPS[name]) for name in GROUPS}
    for name, run in runs.items():
        status, text = run.result()
        assert status == 0, f"{name}: {text[-8000:]}"


@pytest.mark.parametrize("name", NOTICED)
def test_the_sanitizers_notice(name, environment):
    line, *words = NOTICED[name]
    status, text = run_python(environment, "-c", LAUNCH, name, WRONG)
    assert status != 0
    assert f"wrong.cu:{line}" in text
    assert [word for word in words if word not in text] == []
    assert "nothing was noticed" not in text


@pytest.mark.parametrize("name", ["right", "right_in_turns"])
def test_the_sanitizers_let_pass_what_is_right(name, environment):
    assert run_python(environment, "-c", LAUNCH, name, WRONG) == (0, "nothing was noticed\n")
