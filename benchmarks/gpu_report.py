"""What `lenet_gpu.py` prints and writes."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from typing import Any

from sections import ON_GPU

COLUMNS = (
    "what", "batch", "who", "median ms", "best ms", "wall ms", "host ms", "busy ms", "kernels", "copies", "launches",
    "of the floor", "ratio",
)  # fmt: skip
LEGEND = """\
Times are per step, medians of blocks of steps; contenders run in turn in one process, after they computed the same
loss on the same weights and, for training, after the same steps. *median* and *best*: between events of the device
around a block, waiting included. *wall*: on the host's clock. *host*: until the host had issued the block; where it is
as long as the median, the host is what limits. *busy*: the sum of the kernels' times. *kernels*, *copies*, *launches*:
per step, as CUPTI counts them; launches are calls of the host, of which one may launch a whole graph. *of the floor*:
the least time (arithmetic or memory, `benchmarks/lenet_floor.py`) over the median. *ratio*: how many times as long as
the first."""


def about_here() -> dict[str, Any]:
    """Return date, device and versions."""
    import cupy
    import numpy as np
    import torch

    runtime, device = cupy.cuda.runtime, cupy.cuda.Device()
    return {
        "date": str(datetime.date.today()),
        "device": runtime.getDeviceProperties(device.id)["name"].decode(),
        "versions": {
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "cupy": cupy.__version__,
            "torch": torch.__version__,
            "CUDA of the driver": _version(runtime.driverGetVersion()),
            "CUDA of CuPy": _version(runtime.runtimeGetVersion()),
            "CUDA of PyTorch": str(torch.version.cuda),
        },
    }


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return a Markdown table; what could not be counted is a question mark."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for each in results:
        lines += [_row(each, name, found) for name, found in each["who"].items()]
    return "\n".join(lines)


def _row(each: dict[str, Any], name: str, found: dict[str, float]) -> str:
    seen = found.get("kernels", 0.0) > 0
    counts = [f"{found[key]:.3g}" if seen else "?" for key in ("busy_ms", "kernels", "copies", "launches")]
    times = [f"{found[key]:.3g}" for key in ("median_ms", "best_ms", "wall_ms", "host_ms")]
    share, ratio = f"{100 * found['floor_share']:.2g} %", f"{found['ratio']:.2f}"
    return f"| {' | '.join([each['what'], str(each['batch']), name, *times, *counts, share, ratio])} |"


def header(report: dict[str, Any]) -> str:
    """Name date, device, versions, and what the device was measured to do."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    copied, computed = report["ceilings"]["bytes_per_s"], report["ceilings"]["operations_per_s"]
    precision = "TF32 allowed to both" if report["tf32"] else "float32, no TF32"
    return (
        f"{report['date']}, {report['device']}; {versions}; {precision}.\n"
        f"Measured beside it: a large copy {copied / 1e9:,.0f} GB/s read and written, cuBLAS's matrix product "
        f"{computed / 1e12:.1f} TFLOP/s."
    )


def heading(inference: bool, tf32: bool) -> str:
    """Return the heading of the section of RESULTS.md."""
    return ON_GPU + ": predictions" * inference + ", TF32 allowed" * tf32


def section_text(report: dict[str, Any]) -> str:
    """Return the section of RESULTS.md."""
    parts = [
        heading(report["inference"], report["tf32"]),
        f"{header(report)}\nMade by `{report['command']}`.",
        LEGEND,
        table(report["results"]),
    ]
    done = report["epochs"]
    if done:
        rate = done["steps"] * done["batch"] / done["seconds"]
        parts.append(
            f"{done['epochs']} epochs of MNIST through `fit`, minibatches of {done['batch']}, data loading included: "
            f"{done['seconds']:.2f} s on the host's clock, {done['steps']} steps, {rate:,.0f} images/s."
        )
    return "\n\n".join([*parts, *report["notes"]])
