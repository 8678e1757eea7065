"""Timing in turns: A B C A B C, so that the machine's mood hits all alike. Here within a process, see also `asking`."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import time
from collections.abc import Callable

import numpy as np

from backends.cpu.blas_threads import numpy_extension

Step = Callable[[], object]

WARM_S, TURN_S = 0.1, 0.15
"""Seconds of every turn that do not count, and that do. At first the idle threads of the contender before still keep a
core busy (up to 30 ms), and the system has yet to put this one's threads on different cores (up to 60 ms)."""


def interleave(contenders: dict[str, Step], rounds: int, seconds: float = TURN_S) -> dict[str, list[float]]:
    """Return milliseconds per step of each contender, one number per round; one round before that does not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, step in contenders.items():
            run_for(step, min(WARM_S, seconds))
            milliseconds = run_for(step, seconds)
            if number:
                times[name].append(milliseconds)
    return times


def run_for(step: Step, seconds: float) -> float:
    """Step until the time is over; return milliseconds per step."""
    started, steps = time.perf_counter(), 0
    while True:
        step()
        steps += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            return 1000.0 * elapsed / steps


def others_s() -> float:
    """Return the seconds that all processors have computed for other processes; 0 where the system does not tell.

    It counts in ticks of some milliseconds, so that differences mean something over a tenth of a second.
    """
    try:
        with open("/proc/stat") as lines:
            user, nice, system, _, _, *interrupts = map(int, next(lines).split()[1:9])
    except (OSError, ValueError, StopIteration):
        return 0.0
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK") - time.process_time()


def machine() -> str:
    """Name the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        return f"{names[0]}, {len(names)} cores"
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


def versions() -> str:
    """Name what was timed."""
    found = f"Python {platform.python_version()}, numpy {np.__version__}{_blas_kernels()}"
    return f"{found}, torch {importlib.metadata.version('torch')}" if importlib.util.find_spec("torch") else found


def _blas_kernels() -> str:
    """Name the processor that NumPy's OpenBLAS computes for: OPENBLAS_CORETYPE may say an older one than it is."""
    library = numpy_extension()
    for spelling in ("scipy_openblas_get_corename64_", "openblas_get_corename64_", "openblas_get_corename"):
        name = getattr(library, spelling, None)
        if name is not None:
            name.restype = ctypes.c_char_p
            return f" with OpenBLAS for {name().decode()}"
    return ""
