"""Run every benchmark of the CPU and put the tables into RESULTS.md; what is there of a GPU or by hand stays."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import epoch_cpu
import graph_chain_cpu
import import_time
import memory_cpu
from interleaved import machine, table, versions
from sections import kept

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
STEPS = ("lenet_cpu.py", "mlp_cpu.py", "tiny_cpu.py", "residual_cpu.py", "recurrent_cpu.py", "inference_cpu.py")


def run(script: str, *arguments: str) -> list[dict[str, Any]]:
    """Return what a benchmark prints with --json."""
    print(script, flush=True)
    command = [sys.executable, str(HERE / script), "--json", *arguments]
    environment = {**os.environ, "ND_BACKEND": "numpy"}
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", default="10", help="turns of everybody in the timings of steps, default: 10")
    arguments = parser.parse_args()
    steps = [each for script in STEPS for each in run(script, "--rounds", arguments.rounds)]
    parts = [
        "# Results",
        f"{datetime.date.today()}, {machine()}; {versions()}.\n"
        "Made by `make bench`; every script repeats its part alone.\n"
        "Contenders run in turn in one process, after the same loss was computed on the same weights; the ratio says\n"
        "how many times as long as ndwright they take (medians). Only ratios within one run count.",
        "## Steps",
        table(steps),
        "## LeNet as a graph, beside the same chain of layers",
        graph_chain_cpu.table(run("graph_chain_cpu.py", "--rounds", arguments.rounds)),
        "## Memory: a process that trains LeNet",
        memory_cpu.table(run("memory_cpu.py")),
        "## An epoch of MNIST through `fit`, data loading included",
        epoch_cpu.table(run("epoch_cpu.py")),
        "## Imports, in fresh processes",
        import_time.table(run("import_time.py")),
    ]
    before = RESULTS.read_text() if RESULTS.exists() else ""
    RESULTS.write_text("\n\n".join([*parts, *kept(before)]) + "\n")
    print(RESULTS)


if __name__ == "__main__":
    main()
