"""Run every benchmark of the CPU and put the tables into RESULTS.md; what is there of a GPU or by hand stays.

The suite takes most of an hour, the others some minutes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import epoch_cpu
import graph_chain_cpu
import import_time
import memory_cpu
from figures import figures, notes, table
from interleaved import machine, versions
from networks import INFERENCE, STREAMED, TRAINING
from sections import kept

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
HEADINGS = {TRAINING: "Training steps", INFERENCE: "Predictions", STREAMED: "One step of a series at a time"}


def run(script: str, *arguments: str) -> Any:
    """Return what a benchmark prints with --json; one that fails has printed what it knows, or nothing."""
    print(script, flush=True)
    command = [sys.executable, str(HERE / script), "--json", *arguments]
    environment = {**os.environ, "ND_BACKEND": "numpy"}
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, env=environment)
    if not done.stdout:
        raise SystemExit(f"{script} has ended with {done.returncode}")
    return json.loads(done.stdout)


def of_networks(rounds: str) -> list[str]:
    """Return what there is to say of the suite."""
    started = time.monotonic()
    suite = run("suite.py", "--rounds", rounds)
    minutes = (time.monotonic() - started) / 60
    results = suite["results"]
    modes = [mode for mode in HEADINGS if any(each["mode"] == mode for each in results)]
    return [
        f"{datetime.date.today()}, {machine()}; {versions()}, {suite['onednn'] or 'no oneDNN'}.\n"
        f"Made by `make bench` in {minutes:.0f} minutes; every script repeats its part alone.\n"
        "Everybody computes in a process of its own, in turn, after the same loss, predictions and gradients were\n"
        "found with the same weights. Only ratios within one run count. Medians of turns, in ms a step.",
        "## Figures",
        f"How many times as long as this library PyTorch takes; more than 1: this library is faster.\n{notes()}",
        figures(results),
        *(f"- {each}" for each in suite["left_out"]),
        *(f"- Not measured: {each.splitlines()[-1]}" for each in suite["failures"]),
        *(part for mode in modes for part in (f"## {HEADINGS[mode]}", table(results, mode))),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", default="5", help="turns of everybody in the timings of networks, default: 5")
    arguments = parser.parse_args()
    parts = [
        "# Results",
        *of_networks(arguments.rounds),
        "## LeNet as a graph, beside the same chain of layers",
        graph_chain_cpu.table(run("graph_chain_cpu.py")),
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
