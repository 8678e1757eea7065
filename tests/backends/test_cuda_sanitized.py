"""The kernels on the CPU under AddressSanitizer and UndefinedBehaviorSanitizer.

The ordinary runs notice what is written outside of an array. Here every array is memory of its own without margins, and
reading one element too many, overrunning a shared array or overflowing an int ends the process.
"""

import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from backends.cuda import REALS

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.slow  # all are compiled anew, with the sanitizers
HERE = "tests/backends"
WRITES_OUTSIDE = f"{HERE}/test_cuda_on_cpu.py::test_the_stand_in_notices_a_write_outside_of_an_array"
GROUPS = {  # that take about as long; a few of the formulas, because each is compiled for itself
    "windows and tables": [
        f"{HERE}/test_cuda_convolutions.py",
        f"{HERE}/test_cuda_embedding.py",
        f"{HERE}/test_cuda_on_cpu.py",
        f"--deselect={WRITES_OUTSIDE}",
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
COMPILE = """
import sys
from backends.cuda import options, source
from tests.cuda_on_cpu import compile_for_cpu
compile_for_cpu(source(), options(sys.argv[1]), None)
"""
LAUNCH = """
import sys
from tests.fake_cupy import make_cupy
name, text = sys.argv[1:]
cupy = make_cupy(None)
x, y = cupy.empty(64, "f"), cupy.empty(64, "f")
x.fill(1)
cupy.RawModule(code=text, options=("-DREAL=float", "--std=c++17")).get_function(name)((1,), (64,), (x, y))
print("nothing was noticed")
"""


@pytest.fixture(scope="module")
def environment(kernel_folder, tmp_path_factory):
    """Variables of a process whose kernels are watched; `kernel_folder` sees to it that there is a g++."""
    folder = tmp_path_factory.mktemp("sanitized")
    libraries = {}
    for name in ("libasan.so", "libubsan.so"):
        command = ["g++", f"-print-file-name={name}"]
        libraries[name] = pathlib.Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout[:-1])
        if not libraries[name].is_absolute():
            pytest.skip(f"the kernels cannot be watched: g++ has no {name}")
    watched = {"ASAN_OPTIONS": OPTIONS, "LD_PRELOAD": str(libraries["libasan.so"]), "SANITIZED_KERNELS": str(folder)}
    return {**os.environ, **watched}


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
    return run_python(
        environment, "-m", "pytest", "--capture=no", "-p", "no:cacheprovider", f"--basetemp={folder}", *arguments
    )


def test_a_test_with_a_launch_that_writes_outside_fails(compiled, tmp_path):
    status, text = run_tests(compiled, tmp_path / "outside", [WRITES_OUTSIDE])
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
