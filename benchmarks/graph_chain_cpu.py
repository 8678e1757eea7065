"""Time LeNet on the CPU as a ComputationGraph against this library's same chain of layers, a MultiLayerNetwork.

Both take the same steps on the same minibatch in turn; the ratio is the median of those of neighbouring turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

import numpy as np
from interleaved import TURN_S, interleave, machine, versions
from networks import make

import nd

CHAIN, GRAPH = "lenet", "lenet-graph"
STEPS = 3


def compare(batch: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Return medians in milliseconds, and the median, least and largest ratio of turns in pairs.

    Raises
    ------
    SystemExit
        They compute other numbers: then there is nothing to compare.
    """
    (chain, data), (graph, _) = make(CHAIN, batch), make(GRAPH, batch)
    for _ in range(STEPS):
        chain.fit_batch(data)
        graph.fit_batch(data)
    if not np.array_equal(nd.to_host(chain.params()), nd.to_host(graph.params())):
        raise SystemExit(f"the graph has other parameters after {STEPS} steps: nothing to compare")
    times = interleave({CHAIN: lambda: chain.fit_batch(data), GRAPH: lambda: graph.fit_batch(data)}, rounds, seconds)
    ratios = [theirs / ours for ours, theirs in zip(times[CHAIN], times[GRAPH], strict=True)]
    medians = {"chain_ms": statistics.median(times[CHAIN]), "graph_ms": statistics.median(times[GRAPH])}
    return {"batch": batch, **medians, "ratio": statistics.median(ratios), "range": [min(ratios), max(ratios)]}


def table(results: list[dict[str, Any]]) -> str:
    """Return a Markdown table; the ratio says how much longer the graph takes."""
    lines = ["| batch | chain, median ms | graph, median ms | graph / chain (turns) |", "|---|---|---|---|"]
    for each in results:
        least, most = each["range"]
        cells = [str(each["batch"]), f"{each['chain_ms']:.3g}", f"{each['graph_ms']:.3g}"]
        lines.append(f"| {' | '.join(cells)} | {each['ratio']:.3f} ({least:.3f} to {most:.3f}) |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[16, 64, 256], help="default: 16 64 256")
    parser.add_argument("--rounds", type=int, default=20, help="turns of both, default: 20")
    parser.add_argument("--seconds", type=float, default=TURN_S, help=f"of a turn that count, default: {TURN_S}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    results = [compare(batch, arguments.rounds, arguments.seconds) for batch in arguments.batch]
    print(json.dumps(results, indent=2) if arguments.json else f"{machine()}; {versions()}\n{table(results)}")


if __name__ == "__main__":
    main()
