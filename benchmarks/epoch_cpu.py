"""Time an epoch of MNIST through `fit`, data loading included, against as many bare steps on one minibatch."""

from __future__ import annotations

import argparse
import json
import statistics
import time

from contenders import OURS
from interleaved import machine
from networks import make

from nd.dataset import MnistDataSetIterator

BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="epochs, default: 3")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    net, data = make("lenet", BATCH)
    iterator = MnistDataSetIterator(BATCH, train=True, seed=123)
    steps = len(iterator)
    times: dict[str, list[float]] = {"fit on MNIST": [], "bare steps": []}
    net.fit(iterator)
    for _ in range(arguments.rounds):
        started = time.perf_counter()
        net.fit(iterator)
        times["fit on MNIST"].append(time.perf_counter() - started)
        started = time.perf_counter()
        for _ in range(steps):
            net.fit_batch(data)
        times["bare steps"].append(time.perf_counter() - started)
    bare = statistics.median(times["bare steps"])
    results = [
        {
            "who": f"{OURS}, {name}",
            "steps": steps,
            "median_s": statistics.median(each),
            "ratio": statistics.median(each) / bare,
        }
        for name, each in times.items()
    ]
    print(json.dumps(results, indent=2) if arguments.json else f"{machine()}\n{table(results)}")


def table(results: list[dict[str, float]]) -> str:
    """Return a Markdown table; the ratio is to the bare steps."""
    lines = ["| who | steps | median s | ratio |", "|---|---|---|---|"]
    lines += [f"| {each['who']} | {each['steps']} | {each['median_s']:.2f} | {each['ratio']:.3f} |" for each in results]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
