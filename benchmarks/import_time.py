"""Time imports in fresh processes, in turn: numpy, this library, PyTorch."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

LENET = """
import nd
from nd.dataset import MnistDataSetIterator
from nn import (
    ConvolutionLayer, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, SubsamplingLayer
)
from optimize import Nesterovs, PerformanceListener, ScoreIterationListener
nd.backend()
"""
IMPORTS = {"numpy": "import numpy", "ndwright": LENET, "torch": "import torch"}
"""The library imports what is asked for: here, what LeNet needs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="processes each, default: 7")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for number in range(arguments.rounds + 1):
        for name, code in IMPORTS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            if number:
                times[name].append(time.perf_counter() - started)
    results = [{"who": name, "median_s": statistics.median(each), "best_s": min(each)} for name, each in times.items()]
    print(json.dumps(results, indent=2) if arguments.json else table(results))


def table(results: list[dict[str, float]]) -> str:
    """Return a Markdown table."""
    lines = ["| import, starting Python included | median s | best s |", "|---|---|---|"]
    lines += [f"| {each['who']} | {each['median_s']:.2f} | {each['best_s']:.2f} |" for each in results]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
