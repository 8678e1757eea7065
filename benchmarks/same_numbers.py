"""Hold this tree's numbers against another commit's, bit for bit: every network of `every_network`, on this machine.

What is compared after some steps: parameters, updater state, every score, the state of the generator, predictions.
ND_BACKEND and ND_ONEDNN count; without the first it is numpy.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from typing import Any

from asking import Failed, answers_questions
from other_commits import HERE, Worker, answer_with_tree, unpacked

STEPS = 4
EAGER, SPLIT = "eager", "split"
WAYS = {"recorded": (), "split": (SPLIT,), "eager": (EAGER,), "eager and split": (EAGER, SPLIT)}
"""Name -> how steps run: as they are written, every minibatch of two examples divided among the workers."""


def hashes(name: str, steps: int, how: Sequence[str]) -> dict[str, Any]:
    """Return hashes of what a network is after so many steps."""
    from every_network import every_network

    import nd

    with ExitStack() as around:
        if SPLIT in how:
            _split_small_minibatches(around)
        if EAGER in how:
            around.enter_context(nd.eager())
        return _hashes(*every_network()[name](), steps)


def _split_small_minibatches(around: ExitStack) -> None:
    """Until the end of the block; only NumPy divides minibatches by thresholds."""
    import pytest

    from tests.step_plans import split_small_minibatches

    patch = pytest.MonkeyPatch()
    around.callback(patch.undo)
    split_small_minibatches(patch)


def _hashes(net: Any, data: list[Any], steps: int) -> dict[str, Any]:
    import nd
    from optimize import CollectScoresListener

    scores = CollectScoresListener()
    net.set_listeners(scores)
    for batch in islice(cycle(data), steps):
        net.fit(batch)
    made = {"parameters": net.params(), "updater": net.updater_state(), "gradient": net.flattened_gradients()}
    for batch in data[:1]:
        made |= {"output": _output(net, batch, False), "output in training": _output(net, batch, True)}
    found = {what: _hash(nd, arrays) for what, arrays in made.items()}
    scored = hashlib.sha256(repr([scores.scores, [net.score(batch) for batch in data[:1]]]).encode()).hexdigest()[:16]
    last = scores.scores[-1] if scores.scores else "predicted only"
    return {**found, "scores": scored, "generator": net.random.get_state(), "last score": last}


def _output(net: Any, batch: Any, training: bool) -> Any:
    if isinstance(batch.features, (list, tuple)):
        return net.output(*batch.features, train=training, features_masks=batch.features_masks)
    return net.output(batch.features, train=training)


def _hash(nd: Any, arrays: Any) -> str:
    every = arrays if isinstance(arrays, (list, tuple)) else [arrays]
    return hashlib.sha256(b"".join(nd.to_host(array).tobytes() for array in every)).hexdigest()[:16]


def names() -> list[str]:
    """Return the networks that there are."""
    from every_network import every_network

    return list(every_network())


def _differences(workers: Sequence[Worker], question: tuple[Any, ...]) -> tuple[str, Any]:
    """Return what differs, and the last score; a failure of both differs too."""
    answers: list[Any] = []
    for worker in workers:
        try:
            answers.append(worker.ask("hashes", *question))
        except Failed as failure:
            answers.append({"failure": failure, "last score": str(failure).strip().splitlines()[-1]})
    ours, theirs = answers
    differ = [what for what in {**ours, **theirs} if ours.get(what) != theirs.get(what)]
    return ", ".join(differ), ours["last score"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="whose numbers these must be")
    parser.add_argument("--case", nargs="+", help="beginnings of names; default: all")
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS), help="default: all")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"default: {STEPS}")
    arguments = parser.parse_args()
    other = total = 0
    with tempfile.TemporaryDirectory() as folder:
        trees = [unpacked(each, pathlib.Path(folder)) for each in (HERE, arguments.commit)]
        workers = [Worker("same_numbers.py", tree) for tree in trees]
        known = set(workers[1].ask("names"))
        for case in workers[0].ask("names"):
            if arguments.case and not case.startswith(tuple(arguments.case)):
                continue
            if case not in known:
                print(f"{case}: is new")
                continue
            for way in arguments.way:
                differ, score = _differences(workers, (case, arguments.steps, WAYS[way]))
                other, total = other + bool(differ), total + 1
                print(f"{case:40} {way:16} {'differs: ' + differ if differ else 'same'}", score, flush=True)
        for worker in workers:
            worker.close()
    print(f"{other} of {total} have other numbers than at {arguments.commit}")
    raise SystemExit(other > 0)


if __name__ == "__main__":
    if answers_questions():
        answer_with_tree({"hashes": hashes, "names": names})
    else:
        main()
