"""Timing of contenders in turn, in one process: A B C A B C, so that the machine's mood hits all alike."""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import importlib.util
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from networks import PEERS, make, make_peer, of_images

from backends.cpu.blas_threads import numpy_extension

Step = Callable[[], object]
Result = dict[str, Any]

OURS = "ndwright"
TRAINING, INFERENCE = "training step", "inference"
WARM_S, TURN_S = 0.1, 0.15
"""Seconds of every turn that do not count, and that do. At first the idle threads of the contender before still keep a
core busy (up to 30 ms), and the system has yet to put this one's threads on different cores (up to 60 ms)."""


def interleave(contenders: dict[str, Step], rounds: int, seconds: float = TURN_S) -> dict[str, list[float]]:
    """Return milliseconds per step of each contender, one number per round; one round before that does not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, step in contenders.items():
            _run_for(step, min(WARM_S, seconds))
            milliseconds = _run_for(step, seconds)
            if number:
                times[name].append(milliseconds)
    return times


def _run_for(step: Step, seconds: float) -> float:
    """Step until the time is over; return milliseconds per step."""
    started, steps = time.perf_counter(), 0
    while True:
        step()
        steps += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            return 1000.0 * elapsed / steps


def result(what: str, batch: int, times: dict[str, list[float]]) -> Result:
    """Return medians, best and the ratios of medians to ours."""
    ours = statistics.median(times[OURS])
    who = {
        name: {"median_ms": statistics.median(each), "best_ms": min(each), "ratio": statistics.median(each) / ours}
        for name, each in times.items()
    }
    return {"what": what, "batch": batch, "who": who}


def table(results: Sequence[Result]) -> str:
    """Return a Markdown table; the ratio says how much longer than ours."""
    lines = ["| what | batch | who | median ms | best ms | examples/s | ratio |", "|---|---|---|---|---|---|---|"]
    for each in results:
        for name, found in each["who"].items():
            median, rate = found["median_ms"], 1000 * each["batch"] / found["median_ms"]
            cells = [each["what"], str(each["batch"]), name, f"{median:.3g}", f"{found['best_ms']:.3g}", f"{rate:,.0f}"]
            lines.append(f"| {' | '.join(cells)} | {found['ratio']:.2f} |")
    return "\n".join(lines)


def main(
    description: str | None, names: Sequence[str], batches: Sequence[int], modes: Sequence[str] = (TRAINING,)
) -> None:
    """Time the networks of those names against PyTorch, as the command line says."""
    arguments = options(description, batches)
    results = []
    for name, mode in product(names, modes):
        peers = [peer for peer in arguments.peer if peer != "torch-channels-last" or of_images(name)]
        results += [_compare(name, batch, peers, arguments, mode) for batch in arguments.batch]
    print_results(results, arguments)


def options(description: str | None, batches: Sequence[int] | None) -> argparse.Namespace:
    """Return what the command line says; `batch` is None for each network's own, if those are the default."""
    parser = argparse.ArgumentParser(description=description)
    own = "each network's" if batches is None else batches
    parser.add_argument("--batch", type=int, nargs="+", default=batches, help=f"default: {own}")
    parser.add_argument("--peer", nargs="*", choices=PEERS, default=PEERS[:2], help="default: the two memory formats")
    parser.add_argument("--rounds", type=int, default=10, help="turns of everybody, default: 10")
    parser.add_argument("--seconds", type=float, default=TURN_S, help=f"of a turn that count, default: {TURN_S}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


def print_results(results: Sequence[Result], arguments: argparse.Namespace) -> None:
    """Print them as the command line says."""
    print(json.dumps(results, indent=2) if arguments.json else f"{machine()}; {versions()}\n{table(results)}")


def _compare(name: str, batch: int, peers: Sequence[str], arguments: argparse.Namespace, mode: str) -> Result:
    net, data = make(name, batch)
    training = mode == TRAINING
    contenders: dict[str, Step] = {OURS: lambda: net.fit_batch(data) if training else net.output(data.features)}
    for peer in peers:
        found = make_peer(net, data, peer, training)
        contenders[peer] = found.step if training else found.output
    return result(f"{name} {mode}", batch, interleave(contenders, arguments.rounds, arguments.seconds))


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
