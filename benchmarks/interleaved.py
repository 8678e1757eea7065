"""Timing of contenders in turn, in one process: A B C A B C, so that the machine's mood hits all alike."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable


def interleave(contenders: dict[str, Callable[[], object]], rounds: int, steps: int) -> dict[str, list[float]]:
    """Return milliseconds per step of each contender, one number per round; two rounds before that do not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 2):
        for name, step in contenders.items():
            started = time.perf_counter()
            for _ in range(steps):
                step()
            if number >= 2:
                times[name].append(1000.0 * (time.perf_counter() - started) / steps)
    return times


def table(times: dict[str, list[float]], batch: int) -> str:
    """Return a Markdown table: median and best ms per step, images per second, ratio of medians to the first."""
    first = next(iter(times))
    lines = [f"| who | median ms | best ms | images/s | median / {first} |", "|---|---|---|---|---|"]
    for name, values in times.items():
        median = statistics.median(values)
        ratio = median / statistics.median(times[first])
        lines.append(f"| {name} | {median:.2f} | {min(values):.2f} | {1000 * batch / median:,.0f} | {ratio:.2f} |")
    return "\n".join(lines)


def machine() -> str:
    """Name the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
        return f"{names[0]}, {len(names)} cores"
    except (OSError, IndexError):
        return platform.processor() or platform.machine()
