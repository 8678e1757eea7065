"""Timing of contenders in turn, in one process: A B C A B C, so that the machine's mood hits all alike."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable

Step = Callable[[], object]

WARM_S, TURN_S = 0.1, 0.15
"""Seconds of every turn that do not count, and that do. At first the idle threads of the contender before still keep a
core busy (up to 30 ms), and the system has yet to put this one's threads on different cores (up to 60 ms)."""


def interleave(contenders: dict[str, Step], rounds: int) -> dict[str, list[float]]:
    """Return milliseconds per step of each contender, one number per round; one round before that does not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, step in contenders.items():
            _run_for(step, WARM_S)
            milliseconds = _run_for(step, TURN_S)
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


def table(times: dict[str, list[float]], batch: int) -> str:
    """Return a Markdown table: median and best ms per step, examples per second, how much longer than the first."""
    first = next(iter(times))
    lines = [f"| who | median ms | best ms | examples/s | median / {first} |", "|---|---|---|---|---|"]
    for name, values in times.items():
        median = statistics.median(values)
        ratio = median / statistics.median(times[first])
        lines.append(f"| {name} | {median:.3g} | {min(values):.3g} | {1000 * batch / median:,.0f} | {ratio:.2f} |")
    return "\n".join(lines)


def machine() -> str:
    """Name the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        return f"{names[0]}, {len(names)} cores"
    except (OSError, IndexError):
        return platform.processor() or platform.machine()
