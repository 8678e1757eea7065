"""Time training steps of this tree against other commits: every contender in a process of its own, in turn."""

from __future__ import annotations

import argparse
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import cycle
from typing import Any

from asking import answers_questions
from other_commits import HERE, Worker, answer_with_tree, unpacked

TIMED = (
    "tiny", "tiny_dropout", "mlp", "mlp_256", "mlp_dropout", "mlp_sizes_5", "mlp_sizes_20", "lenet_16", "lenet",
    "lenet_256",
)  # fmt: skip
WARM_S, TURN_S = 0.15, 0.3
"""Seconds of every turn that do not count, and that do."""
_made: dict[str, Callable[[], object]] = {}


def step_of(name: str) -> Callable[[], object]:
    """Return the training step of a case, on its minibatches in turn; ``lenet:64`` is one of the suite's networks."""
    if name not in _made and ":" in name:
        from networks import make

        network, _, batch = name.partition(":")
        one, data = make(network, int(batch))
        _made[name] = lambda: one.fit_batch(data)
    if name not in _made:
        from case_networks import CASES, minibatches

        from nn import MultiLayerNetwork

        net: Any = MultiLayerNetwork(CASES[name].conf()).init()
        batches = cycle(minibatches(CASES[name], net.conf.layers[-1].n_out))
        _made[name] = lambda: net.fit_batch(next(batches))
    return _made[name]


def milliseconds(name: str, seconds: float) -> float:
    """Return how long a step takes, over as many as fit into the time."""
    step = step_of(name)
    for counts in (min(WARM_S, seconds), seconds):
        started, steps = time.perf_counter(), 0
        while time.perf_counter() - started < counts:
            step()
            steps += 1
    return 1000.0 * (time.perf_counter() - started) / steps


def best_milliseconds(name: str, seconds: float) -> float:
    """Return how long the fastest step takes in that time: what other programs on the machine disturb least."""
    step, best = step_of(name), float("inf")
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        started = time.perf_counter()
        step()
        best = min(best, time.perf_counter() - started)
    return 1000.0 * best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="+", help="what this tree is timed against")
    cases = f"default: {' '.join(TIMED)}; or NETWORK:BATCH of suite.py"
    parser.add_argument("--case", nargs="+", default=TIMED, help=cases)
    parser.add_argument("--rounds", type=int, default=5, help="turns of everybody, default: 5")
    parser.add_argument("--seconds", type=float, default=TURN_S, help=f"of a turn that count, default: {TURN_S}")
    parser.add_argument("--best", action="store_true", help="the fastest step of all turns, in the place of medians")
    arguments = parser.parse_args()
    question, middle = ("best", min) if arguments.best else ("time", statistics.median)
    with tempfile.TemporaryDirectory() as folder:
        names = [HERE, *arguments.commits]
        workers = {each: Worker("against_commits.py", unpacked(each, pathlib.Path(folder))) for each in names}
        print("| case |", " | ".join(f"{each} ms" for each in names), "|", end=" ")
        said = "best" if arguments.best else "medians"
        print(" | ".join(f"here / {each}, {said} (rounds)" for each in arguments.commits), "|")
        print("|---" * (1 + len(names) + len(arguments.commits)) + "|")
        for case in arguments.case:
            turns = [
                {each: worker.ask(question, case, arguments.seconds) for each, worker in workers.items()}
                for _ in range(arguments.rounds + 1)
            ][1:]
            print(_row(case, names, turns, middle), flush=True)
        for worker in workers.values():
            worker.close()


def _row(case: str, names: list[str], turns: list[dict[str, float]], middle: Callable[[Iterable[float]], float]) -> str:
    medians = {each: middle([turn[each] for turn in turns]) for each in names}
    cells = [case, *(f"{medians[each]:.4g}" for each in names)]
    for other in names[1:]:
        ratios = sorted(turn[HERE] / turn[other] for turn in turns)
        cells.append(f"{medians[HERE] / medians[other]:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    if answers_questions():
        answer_with_tree({"best": best_milliseconds, "time": milliseconds})
    else:
        main()
