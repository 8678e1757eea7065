"""Reasons why CuPy does not work on this machine, with their cures: the messages of a `CupyBackend` that cannot be."""

from __future__ import annotations

import importlib.metadata
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import BackendError
from ..extras import install_command

if TYPE_CHECKING:
    from types import ModuleType


PACKAGES = (
    "amd-cupy", "cupy", "cupy-cuda102", "cupy-cuda110", "cupy-cuda111", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x",
    "cupy-cuda14x", "cupy-rocm-5-0", "cupy-rocm-7-0", "cupy-rocm-7-1",
)  # fmt: skip
"""Distributions that hold a package `cupy`, so that no two of them can be installed side by side."""

EXTRAS = (12, 13)
"""Majors of CUDA for which ndwright has an extra."""

GO_ON = "or select ND_BACKEND=numpy."


class Trouble(NamedTuple):
    """A kind of failure, known by words of its message."""

    words: tuple[str, ...]
    """In lower case; one of them is in the message."""
    must: str
    """The condition that must hold instead."""
    remedy: str
    """The cure; may name `{install}`, `{older}` and `{major}`."""


LOST = Trouble(
    (
        "cudaerrordevicesunavailable", "cudaerrordeviceuninitialized", "cudaerroreccuncorrectable", "uncorrectable ecc",
        "cudaerrorlaunchfailure", "unspecified launch failure", "cudaerrorillegaladdress", "illegal memory access",
        "cudaerrorhardwarestackerror", "cudaerrorsystemnotready", "fallen off the bus", "fell off the bus",
        "gpu is lost", "cudaerrorunknown",
    ),
    "the device must answer",
    "The device was lost, or another process holds it alone: restart this process. If it comes back, look at "
    "nvidia-smi and the kernel's log (dmesg, lines with Xid), end what uses the device, reload the driver or reboot, "
    f"{GO_ON}",
)  # fmt: skip
DRIVER_PARTS = Trouble(
    ("cudaerrorsystemdrivermismatch", "driver/library version mismatch"),
    "the driver's library and its kernel module must be of one version",
    f"The driver was updated while it was loaded: reboot, {GO_ON}",
)
OLD_DEVICE = Trouble(
    ("cudaerrornokernelimagefordevice", "no kernel image is available", "invalid value for --gpu-architecture"),
    "the device must be one that CUDA {major} compiles for",
    f"Older devices need an older CUDA: {{older}}, {GO_ON}",
)
HEADERS = Trouble(
    (
        "cannot open source file", "could not open source file", "cannot find include", "cuda headers", "cuda_path",
        "cuda_fp16.h", "cuda_runtime.h", "vector_types.h", "failed to find cuda",
    ),
    "CUDA's headers must be there to compile kernels",
    "Run: {install}, which brings CUDA's headers and libraries.",
)  # fmt: skip
LIBRARIES = Trouble(
    ("cannot open shared object file", "libnvrtc", "libcublas", "dynamiclibnotfound", "could not be found in"),
    "CUDA's libraries must be there",
    "Run: {install}, which brings CUDA's headers and libraries.",
)
OTHERS = Trouble(("",), "the device must run a kernel", "Run: {install}, which brings CUDA's headers and libraries.")
WHEN_COMPUTING = (LOST, DRIVER_PARTS, OLD_DEVICE, HEADERS, LIBRARIES, OTHERS)
"""Troubles in the order in which they are looked for."""


def not_importable(error: Exception) -> BackendError:
    """Return the error to raise when ``import cupy`` raised `error`."""
    several = conflict()
    if several:
        return BackendError(several)
    if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
        return BackendError(
            f"cupy: CuPy must be installed, got no module of that name. Run: {install_command('cuda13')}, "
            f"or for a driver of CUDA 12: {install_command('cuda12')}."
        )
    if isinstance(error, ModuleNotFoundError) and str(error.name).startswith("array_api_compat"):
        return BackendError(
            "cupy: array_api_compat must be installed, got no module of that name. Run: pip install array-api-compat."
        )
    if isinstance(error, PermissionError):  # CuPy makes its cache folder when it is imported
        return BackendError(
            f"cupy: CuPy's cache folder must be one that can be made, got {_one_line(error)} Set CUPY_CACHE_DIR to a "
            "folder of yours."
        )
    return BackendError(
        f"cupy: the installed CuPy must be importable, got {type(error).__name__}: {_one_line(error)} Uninstall "
        f"every package whose name begins with cupy, then run: {install_command('cuda13')} "
        "(with cuda12x for a driver of CUDA 12)."
    )


def no_device(cupy: ModuleType) -> BackendError:
    """Return the error to raise when CuPy sees no device."""
    runtime = cupy.cuda.runtime
    driver, built_for = _driver(runtime), _major(runtime.runtimeGetVersion())
    try:
        reason = f"{runtime.getDeviceCount()} devices"
    except Exception as error:  # CUDARuntimeError: no driver, one too old, a device that is lost
        reason = _one_line(error)
    trouble = _trouble(reason, (LOST, DRIVER_PARTS))
    if trouble:
        return _described(trouble, reason, built_for)
    if 0 < driver // 1000 < built_for:
        return _driver_too_old(driver, built_for)
    hidden = _hidden_by_the_environment()
    if not driver:
        remedy = f"Install NVIDIA's driver until nvidia-smi lists the device (in a container: --gpus all), {GO_ON}"
    elif hidden:
        remedy = f"{hidden} hides every device: unset it, or set it to numbers that nvidia-smi -L lists, {GO_ON}"
    else:
        remedy = f"Check nvidia-smi and CUDA_VISIBLE_DEVICES, {GO_ON}"
    return BackendError(f"cupy: a CUDA device must be visible, got none ({reason}). {remedy}")


def does_not_compute(cupy: ModuleType, error: Exception) -> BackendError:
    """Return the error to raise when a small computation on the device raised `error`."""
    several = conflict()
    if several:
        return BackendError(several)
    runtime = cupy.cuda.runtime
    driver, built_for = _driver(runtime), _major(runtime.runtimeGetVersion())
    reason = f"{type(error).__name__}: {_one_line(error)}"
    trouble = _trouble(reason, WHEN_COMPUTING) or OTHERS
    if trouble is not LOST and 0 < driver // 1000 < built_for:
        return _driver_too_old(driver, built_for)
    return _described(trouble, reason, built_for)


def conflict() -> str:
    """Return the remedy for several installed packages that all hold CuPy; an empty text where there is one at most."""
    installed = packages()
    if len(installed) < 2:
        return ""
    return (
        f"cupy: one package must hold CuPy, got {len(installed)}: {' and '.join(installed)}. Run: "
        f"pip uninstall -y {' '.join(installed)}, then {install_command('cuda13')} "
        "(with cuda12x for a driver of CUDA 12)."
    )


def doubts() -> dict[str, str]:
    """Return the facts that `CupyBackend.describe` adds where CuPy works, but may not for long."""
    several = conflict()
    return {"but": several.removeprefix("cupy: ")} if several else {}


def packages() -> list[str]:
    """Return the names of the installed distributions that hold CuPy."""
    return [name for name in PACKAGES if _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _driver_too_old(driver: int, built_for: int) -> BackendError:
    has = packages() or [f"cupy-cuda{built_for}x"]
    major = driver // 1000
    if major in EXTRAS:
        remedy = f"Run: pip uninstall -y {' '.join(has)}, then {install_command(f'cuda{major}')}; or update the driver"
    else:
        remedy = f"Update the driver: ndwright runs from CUDA {min(EXTRAS)} on"
    return BackendError(
        f"cupy: the driver must support CUDA {built_for}, for which {' and '.join(has)} is built, got a driver of CUDA "
        f"{major}.{driver % 1000 // 10}. {remedy}, {GO_ON}"
    )


def _described(trouble: Trouble, reason: str, major: int) -> BackendError:
    older = f"pip uninstall -y cupy-cuda13x, then {install_command('cuda12')}"
    names = {
        "install": f'pip install "cupy-cuda{major}x[ctk]"',
        "major": major,
        "older": f"run: {older}" if major > min(EXTRAS) else "none that ndwright runs with",
    }
    return BackendError(f"cupy: {trouble.must.format(**names)}, got {reason} {trouble.remedy.format(**names)}")


def _trouble(reason: str, troubles: tuple[Trouble, ...]) -> Trouble | None:
    text = reason.lower()
    return next((trouble for trouble in troubles if any(word in text for word in trouble.words)), None)


def _hidden_by_the_environment() -> str:
    """Return the setting of CUDA_VISIBLE_DEVICES where it hides everything."""
    setting = os.environ.get("CUDA_VISIBLE_DEVICES")
    if setting is None:
        return ""
    first = setting.split(",")[0].strip()  # CUDA reads up to the first entry that is none of its devices
    is_device = first.isdigit() or first.upper().startswith(("GPU-", "MIG-"))
    return "" if is_device else f"CUDA_VISIBLE_DEVICES={setting!r}"


def _driver(runtime: Any) -> int:
    """Return the newest CUDA that the driver supports, 12080 for 12.8; 0 without a driver."""
    try:
        return int(runtime.driverGetVersion())
    except Exception:  # of a driver so broken that it cannot even tell this
        return 0


def _major(version: int) -> int:
    return version // 1000


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
