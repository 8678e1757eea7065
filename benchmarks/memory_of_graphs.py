"""Measure the memory of activations, gradients and scratch in graphs of DL4J's zoo, with and without giving it back.

Bytes that are taken from the arenas of the nodes at once, at most, in one pass; and the peak of the process, which
holds parameters, their gradient, updater state and the program besides.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pathlib
import resource
import subprocess
import sys

MODES = ("inference", "training")
NETWORKS = {"resnet50": 224, "inception_resnet_v1": 160}


def measure(network: str, batch: int, mode: str, keep: bool) -> dict[str, float]:
    """Run one pass in this process; return its megabytes."""
    import numpy as np

    import nd
    from nd.dataset import DataSet
    from nn import ComputationGraph
    from tests.cases import zoo

    if keep:
        nd.Arena.give_back = lambda *_: None  # type: ignore[method-assign]
    size, rng = NETWORKS[network], np.random.default_rng(0)
    net = ComputationGraph(getattr(zoo, network)(1000, size)).init()
    x = rng.random((batch, 3, size, size), np.float32)
    y = np.eye(1000, dtype=np.float32)[rng.integers(0, 1000, batch)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if mode == "training":
        net.fit_batch(DataSet(x, y))
    else:
        net.output(x)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arenas = [each for each in gc.get_objects() if type(each) is nd.Arena]
    peak, size_of_all = (sum(getattr(each, name) for each in arenas) / 1e6 for name in ("peak", "size"))
    return {"arena_mb": peak, "reserved_mb": size_of_all, "before_mb": before / 1024, "after_mb": after / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", nargs="+", choices=NETWORKS, default=list(NETWORKS), help="default: both")
    parser.add_argument("--batch", type=int, default=8, help="images, default: 8")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        network, mode, keep = arguments.inside
        print(json.dumps(measure(network, arguments.batch, mode, keep == "keep")))
        return
    results = [
        {"network": network, "batch": arguments.batch, "mode": mode, **_in_a_process(arguments.batch, network, mode)}
        for network in arguments.network
        for mode in MODES
    ]
    print(json.dumps(results, indent=2) if arguments.json else table(results))


def _in_a_process(batch: int, network: str, mode: str) -> dict[str, dict[str, float]]:
    found, root = {}, str(pathlib.Path(__file__).parent.parent)
    for keep in ("give back", "keep"):
        command = [sys.executable, __file__, "--batch", str(batch), "--inside", network, mode, keep]
        settings = {**os.environ, "PYTHONPATH": root, "ND_BACKEND": "numpy", "ND_NUM_THREADS": "1"}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=settings)
        found[keep] = json.loads(done.stdout)
    return found


def table(results: list[dict[str, dict[str, float]]]) -> str:
    """Return a Markdown table, in MB."""
    lines = [
        "| network | batch | pass | taken at once | if all is kept | process | if all is kept |",
        "|---|" + "---|" * 6,
    ]
    for each in results:
        given, kept = each["give back"], each["keep"]
        cells = [each["network"], each["batch"], each["mode"]]
        cells += [f"{mode[name]:.0f}" for name in ("arena_mb", "after_mb") for mode in (given, kept)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
