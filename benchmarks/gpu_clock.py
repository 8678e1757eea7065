"""Time on the device: blocks of steps between two of its events, in turn; kernels of a step; what the device can do."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Step = Callable[[], object]

ROUNDS, SECONDS, MOST_STEPS, WARM_STEPS = 7, 0.1, 2000, 5
PROFILED_STEPS = 10
COPIES, PRODUCTS = 20, 10
SIZES, MUCH_MEMORY = (4096, 8192), 6 << 30
"""Rows of the arrays that show what a device can do, with less memory free and with more."""
LAUNCHES = ("cudaLaunchKernel", "cudaGraphLaunch", "cuLaunchKernel", "cuGraphLaunch")
"""Beginnings of the names of calls by which the host gives the device work."""


class Block(NamedTuple):
    """Milliseconds per step of one block."""

    device: float
    """Between an event before the block and one after it, on the device."""
    wall: float
    """On the host's clock, until the device has done the block."""
    host: float
    """On the host's clock, until the last step was issued."""


def measure(step: Step, steps: int, events: Any) -> Block:
    """Run a block of steps."""
    before, after = events.make(), events.make()
    started = time.perf_counter()
    before.record()
    for _ in range(steps):
        step()
    issued = time.perf_counter()
    after.record()
    after.synchronize()
    ended = time.perf_counter()
    milliseconds = events.between(before, after)
    return Block(milliseconds / steps, 1000.0 * (ended - started) / steps, 1000.0 * (issued - started) / steps)


class Events(NamedTuple):
    """How a library makes events and reads them."""

    make: Callable[[], Any]
    between: Callable[[Any, Any], float]


def events_of(library: str) -> Events:
    """Return the events of "cupy" or "torch", recorded on that library's current stream."""
    if library == "torch":
        import torch

        return Events(lambda: torch.cuda.Event(enable_timing=True), lambda before, after: before.elapsed_time(after))
    import cupy

    return Events(cupy.cuda.Event, cupy.cuda.get_elapsed_time)


def steps_in(seconds: float, step: Step, events: Events) -> int:
    """Return how many steps make a block of about that many seconds, after some that compile, capture and warm up."""
    measure(step, WARM_STEPS, events)
    return max(3, min(MOST_STEPS, int(1000.0 * seconds / measure(step, WARM_STEPS, events).wall)))


def in_turn(work: dict[str, tuple[Step, Events]], rounds: int, seconds: float) -> dict[str, list[Block]]:
    """Return the blocks of each contender, one per round: A B C A B C."""
    counts = {name: steps_in(seconds, *each) for name, each in work.items()}
    blocks: dict[str, list[Block]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, (step, events) in work.items():
            measure(step, WARM_STEPS, events)
            blocks[name].append(measure(step, counts[name], events))
    return blocks


def kernels(step: Step) -> dict[str, float]:
    """Count per step what CUPTI sees of this process, whoever launches it: kernels, copies, launches by the host."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        for _ in range(PROFILED_STEPS):
            step()
        _wait()
    return counted(found.events(), PROFILED_STEPS)


def counted(events: Any, steps: int) -> dict[str, float]:
    """Sort the profiler's events; the device's milliseconds are those in which a kernel runs."""
    on_device = [each for each in events if each.device_type.name == "CUDA" and not _is_label(each)]
    copies = [each for each in on_device if each.name.lower().startswith(("memcpy", "memset"))]
    run = [each for each in on_device if each not in copies]
    launches = [each for each in events if each.device_type.name == "CPU" and each.name.startswith(LAUNCHES)]
    return {
        "kernels": len(run) / steps,
        "copies": len(copies) / steps,
        "launches": len(launches) / steps,
        "busy_ms": sum(each.time_range.elapsed_us() for each in run) / 1000.0 / steps,
    }


def _is_label(event: Any) -> bool:
    """Tell whether it is no work but a name that PyTorch puts over some."""
    return bool(getattr(event, "is_user_annotation", False)) or event.name.startswith(("Optimizer.", "ProfilerStep"))


def _wait() -> None:
    import torch

    torch.cuda.synchronize()


def ceilings() -> dict[str, float]:
    """Measure the device on large arrays of noise: bytes read plus bytes written per second, and cuBLAS's products."""
    import cupy
    import numpy as np

    size = SIZES[cupy.cuda.Device().mem_info[0] > MUCH_MEMORY]
    noise = cupy.asarray(np.random.default_rng(0).random((size, size), np.float32))
    other, out, events = noise.T.copy(), cupy.empty_like(noise), events_of("cupy")
    copy = _best(lambda: cupy.copyto(out, noise), COPIES, events)
    product = _best(lambda: cupy.matmul(noise, other, out=out), PRODUCTS, events)
    return {"bytes_per_s": 2.0 * noise.nbytes / copy, "operations_per_s": 2.0 * size**3 / product}


def _best(work: Step, times: int, events: Events) -> float:
    """Return seconds: the median of single runs, after warm ones."""
    measure(work, 3, events)
    return statistics.median(measure(work, 1, events).device for _ in range(times)) / 1000.0
