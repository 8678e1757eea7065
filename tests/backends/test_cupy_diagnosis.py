"""Every way in which CuPy does not work here has its own cure: on stand-ins of a few lines, and on CuPy itself."""

import importlib.metadata
import os
import subprocess
import sys
import types

import pytest

from backends.cuda import diagnosis as cupy_diagnosis
from backends.cuda.cupy_backend import CupyBackend
from backends.errors import BackendError

NO_DRIVER = "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
NO_DEVICE = "cudaErrorNoDevice: no CUDA-capable device is detected"


class CompileException(Exception):
    """As cupy.cuda.compiler.CompileException."""


def fails(message):
    def call():
        raise RuntimeError(message)

    return call


def cupy_with(devices=0, driver=13010, built_for=13020):
    """Return as much of CuPy as the diagnosis asks; a text for a number is what CUDA raises instead."""
    answers = {"getDeviceCount": devices, "driverGetVersion": driver, "runtimeGetVersion": built_for}
    runtime = {
        name: fails(answer) if isinstance(answer, str) else lambda answer=answer: answer
        for name, answer in answers.items()
    }
    return types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=types.SimpleNamespace(**runtime)))


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Which distributions are installed: those of the list, which tests change."""
    names = ["cupy-cuda13x"]

    def distribution(name):
        if name not in names:
            raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return names


# ---- import cupy


def test_no_cupy(installed):
    installed.clear()
    message = str(cupy_diagnosis.not_importable(ModuleNotFoundError("No module named 'cupy'", name="cupy")))
    assert message == (
        "cupy: CuPy must be installed, got no module of that name. Run: pip install "
        '"cupy-cuda13x[ctk]>=14" "array-api-compat>=1.9", or for a driver of CUDA 12: pip install '
        '"cupy-cuda12x[ctk]>=14" "array-api-compat>=1.9".'
    )


def test_a_module_that_ndwright_needs_beside_it():
    error = ModuleNotFoundError("No module named 'array_api_compat'", name="array_api_compat")
    assert "Run: pip install array-api-compat." in str(cupy_diagnosis.not_importable(error))


def test_a_broken_installation():
    message = str(cupy_diagnosis.not_importable(ValueError("numpy.dtype size\n changed")))
    assert "the installed CuPy must be importable, got ValueError: numpy.dtype size changed Uninstall every" in message


def test_two_packages_at_once(installed):
    installed.append("cupy-cuda12x")
    expected = (
        "cupy: one package must hold CuPy, got 2: cupy-cuda12x and cupy-cuda13x. "
        'Run: pip uninstall -y cupy-cuda12x cupy-cuda13x, then pip install "cupy-cuda13x[ctk]>=14" '
        '"array-api-compat>=1.9" (with cuda12x for a driver of CUDA 12).'
    )
    assert str(cupy_diagnosis.not_importable(UserWarning("multiple CuPy packages"))) == expected
    assert str(cupy_diagnosis.does_not_compute(cupy_with(1), RuntimeError("undefined symbol"))) == expected


def test_two_packages_that_work_all_the_same_are_named_where_facts_are(installed, cupy):
    assert "but" not in CupyBackend().describe()
    installed.insert(0, "cupy")
    assert CupyBackend().describe()["but"].startswith("one package must hold CuPy, got 2: cupy and cupy-cuda13x. Run")


def test_the_names_are_looked_up_as_they_are_installed(monkeypatch):
    monkeypatch.undo()
    assert cupy_diagnosis.packages() == [name for name in cupy_diagnosis.PACKAGES if is_there(name)]


def is_there(name):
    return any(True for _ in importlib.metadata.distributions(name=name))


# ---- no device

DEVICES = {
    "a driver of CUDA 12 under a package for 13": (
        {"devices": NO_DRIVER, "driver": 12080},
        {},
        "the driver must support CUDA 13, for which cupy-cuda13x is built, got a driver of CUDA 12.8. Run: "
        'pip uninstall -y cupy-cuda13x, then pip install "cupy-cuda12x[ctk]>=14" "array-api-compat>=1.9"; or update '
        "the driver, or select ND_",
    ),
    "a driver older than all extras": (
        {"devices": NO_DRIVER, "driver": 11040},
        {},
        "got a driver of CUDA 11.4. Update the driver: ndwright runs from CUDA 12 on, or select ND_BACKEND=numpy.",
    ),
    "no driver": (
        {"devices": NO_DRIVER, "driver": 0},
        {},
        f"got none ({NO_DRIVER}). Install NVIDIA's driver until nvidia-smi lists the device",
    ),
    "a driver that says nothing": (
        {"devices": NO_DRIVER, "driver": "cudaErrorOperatingSystem"},
        {},
        "Install NVIDIA's driver",
    ),
    "no device": ({"devices": 0}, {}, "got none (0 devices). Check nvidia-smi and CUDA_VISIBLE_DEVICES"),
    "all hidden by an empty setting": (
        {"devices": NO_DEVICE},
        {"CUDA_VISIBLE_DEVICES": ""},
        f"got none ({NO_DEVICE}). CUDA_VISIBLE_DEVICES='' hides every device: unset it, or set it to numbers that",
    ),
    "all hidden by a number that is none": (
        {"devices": NO_DEVICE},
        {"CUDA_VISIBLE_DEVICES": "-1,0"},
        "CUDA_VISIBLE_DEVICES='-1,0' hides every device",
    ),
    "a number that may be a device": (
        {"devices": NO_DEVICE},
        {"CUDA_VISIBLE_DEVICES": "7"},
        "Check nvidia-smi and CUDA_VISIBLE_DEVICES, or",
    ),
    "a name of a device": ({}, {"CUDA_VISIBLE_DEVICES": "GPU-1d2c"}, "Check nvidia-smi and CUDA_VISIBLE_DEVICES, or"),
    "a lost device": (
        {"devices": "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable"},
        {},
        "the device must answer, got cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable "
        "The device was lost, or another process holds it alone: restart this process. If it comes back, look at "
        "nvidia-smi",
    ),
    "a driver that was updated": (
        {"devices": "cudaErrorSystemDriverMismatch: system has unsupported display driver / cuda driver combination"},
        {},
        "The driver was updated while it was loaded: reboot",
    ),
}


@pytest.mark.parametrize("name", DEVICES)
def test_no_device(name, monkeypatch):
    answers, environment, expected = DEVICES[name]
    for variable, setting in environment.items():
        monkeypatch.setenv(variable, setting)
    message = str(cupy_diagnosis.no_device(cupy_with(**answers)))
    assert message.startswith("cupy: ")
    assert expected in message


def said_by_a_program(**environment):
    """Return why a program finds no usable device."""
    program = (
        "from backends import get_backend; from backends.errors import BackendError\n"
        "try: get_backend('cupy')\nexcept BackendError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_no_device_as_cupy_says_it(cupy):
    said = said_by_a_program(CUDA_VISIBLE_DEVICES="-1", HOST_CUDA_DEVICES="0")
    assert said.startswith(f"cupy: a CUDA device must be visible, got none ({NO_DEVICE}). CUDA_VISIBLE_DEVICES='-1' ")


@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        (12080, "the driver must support CUDA 13, for which cupy-cuda13x is built, got a driver of CUDA 12.8. Run: "),
        (11040, "got a driver of CUDA 11.4. Update the driver: ndwright runs from CUDA 12 on, or select ND_BACKEND"),
        (0, f"got none ({NO_DRIVER}). Install NVIDIA's driver until nvidia-smi lists the device"),
    ],
)
def test_an_old_driver_as_cupy_says_it(driver, expected):
    """Which only the host CUDA can be told to have."""
    assert expected in said_by_a_program(HOST_CUDA_DRIVER=str(driver))


# ---- a device that does not compute

FAILURES = {
    "headers": (
        CompileException("kernels.cu(3): catastrophic error: cannot open source file\n  cuda_fp16.h"),
        "CUDA's headers must be there to compile kernels, got CompileException: kernels.cu(3): catastrophic error: "
        'cannot open source file cuda_fp16.h Run: pip install "cupy-cuda13x[ctk]", which brings',
    ),
    "headers, as CuPy says it": (
        RuntimeError("Failed to find CUDA headers. Please install CUDA"),
        'CUDA\'s headers must be there to compile kernels, got RuntimeError: Failed to find CUDA headers. Please '
        'install CUDA Run: pip install "cupy-cuda13x[ctk]"',
    ),
    "libraries": (
        ImportError("libnvrtc.so.13: cannot open shared object file: No such file or directory"),
        "CUDA's libraries must be there, got ImportError: libnvrtc.so.13",
    ),
    "launch failure": (RuntimeError("cudaErrorLaunchFailure: unspecified launch failure"), "the device must answer"),
    "memory": (RuntimeError("cudaErrorECCUncorrectable: uncorrectable ECC error encountered"), "restart this process"),
    "bus": (RuntimeError("GPU 0000:3B:00.0 has fallen off the bus"), "reload the driver or reboot"),
    "an old device": (
        RuntimeError("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device"),
        "the device must be one that CUDA 13 compiles for, got RuntimeError: CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel "
        "image is available for execution on the device Older devices need an older CUDA: run: pip uninstall -y "
        'cupy-cuda13x, then pip install "cupy-cuda12x[ctk]>=14" "array-api-compat>=1.9"',
    ),
    "anything else": (
        TypeError("what is this?"),
        'the device must run a kernel, got TypeError: what is this? Run: pip install "cupy-cuda13x[ctk]"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_device_that_fails(name):
    error, expected = FAILURES[name]
    assert expected in str(cupy_diagnosis.does_not_compute(cupy_with(1), error))


def test_the_driver_is_looked_at_first():
    cupy = cupy_with(1, driver=12040)
    message = str(cupy_diagnosis.does_not_compute(cupy, RuntimeError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")))
    assert "the driver must support CUDA 13, for which cupy-cuda13x is built, got a driver of CUDA 12.4" in message
    lost = cupy_diagnosis.does_not_compute(cupy, RuntimeError("cudaErrorUnknown: unknown error"))
    assert "the device must answer" in str(lost)


def test_the_oldest_extra_has_no_older_one():
    old = RuntimeError("cudaErrorNoKernelImageForDevice")
    message = str(cupy_diagnosis.does_not_compute(cupy_with(1, driver=12080, built_for=12090), old))
    assert "need an older CUDA: none that ndwright runs with, or select ND_BACKEND=numpy." in message


def test_without_either_package_the_extra_that_brings_both_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    monkeypatch.delitem(sys.modules, "array_api_compat.cupy", raising=False)
    with pytest.raises(BackendError, match=r'CuPy must be installed.*pip install "cupy-cuda13x\[ctk\]>=14"'):
        CupyBackend()


def test_a_cache_folder_that_cannot_be_made():
    message = str(cupy_diagnosis.not_importable(PermissionError(13, "Permission denied", "/root/.cupy")))
    assert "Permission denied" in message
    assert "Set CUPY_CACHE_DIR to a folder of yours." in message
    assert "Uninstall" not in message
