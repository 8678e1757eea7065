"""Hold this tree's numbers against another commit's, bit for bit: every network of `case_networks`, on this machine.

What is compared after some steps: parameters, updater state, every score, the state of the generator, predictions.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import tempfile
from itertools import cycle, islice
from typing import Any

from asking import answers_questions
from other_commits import HERE, Worker, answer_with_tree, unpacked

STEPS = 20


def hashes(name: str, steps: int) -> dict[str, Any]:
    """Return hashes of what a network is after so many steps."""
    from case_networks import CASES, minibatches

    import nd
    from nn import MultiLayerNetwork
    from optimize import CollectScoresListener

    net: Any = MultiLayerNetwork(CASES[name].conf()).init()
    scores = CollectScoresListener()
    net.set_listeners(scores)
    last = net.conf.layers[-1]
    data = minibatches(CASES[name], getattr(last, "n_out", None) or net.conf.layers[-2].n_out)
    for batch in islice(cycle(data), steps):
        net.fit_batch(batch)
    made = {
        "parameters": net.params(), "updater": net.updater_state(), "gradient": net.flattened_gradients(),
        "output": net.output(data[0].features), "output in training": net.output(data[0].features, True),
    }  # fmt: skip
    found = {what: hashlib.sha256(nd.to_host(array).tobytes()).hexdigest()[:16] for what, array in made.items()}
    scored = hashlib.sha256(repr([scores.scores, net.score(data[0])]).encode()).hexdigest()[:16]
    return {**found, "scores": scored, "generator": net.random.get_state(), "last score": scores.scores[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="whose numbers these must be")
    parser.add_argument("--case", nargs="+", help="default: all")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"default: {STEPS}")
    arguments = parser.parse_args()
    from case_networks import CASES

    other = 0
    with tempfile.TemporaryDirectory() as folder:
        trees = [unpacked(each, pathlib.Path(folder)) for each in (HERE, arguments.commit)]
        workers = [Worker("same_numbers.py", tree) for tree in trees]
        for case in arguments.case or CASES:
            ours, theirs = (worker.ask("hashes", case, arguments.steps) for worker in workers)
            differ = [what for what in ours if ours[what] != theirs[what]]
            other += bool(differ)
            print(f"{case:20} {'differs: ' + ', '.join(differ) if differ else 'same'}", ours["last score"], flush=True)
        for worker in workers:
            worker.close()
    print(f"{other} of {len(arguments.case or CASES)} networks have other numbers than at {arguments.commit}")
    raise SystemExit(other > 0)


if __name__ == "__main__":
    if answers_questions():
        answer_with_tree({"hashes": hashes})
    else:
        main()
