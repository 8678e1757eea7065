"""Time training steps and predictions of many networks on the CPU against PyTorch.

Everybody computes in a process of its own; they take turns, so that one computes at a time, after they have computed
the same loss, predictions and gradients with the same weights. PyTorch's compiler takes part at one minibatch of each
network unless it is named. The figures at the end say how many times as long as this library PyTorch takes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from asking import Failed
from contenders import PRODUCTS, WHO
from figures import figures, table
from interleaved import TURN_S, machine, versions
from networks import INFERENCE, NETWORKS, STREAMED, TRAINING
from session import COMPILED, Result, Rules, Session

MODES = (TRAINING, INFERENCE, STREAMED)
QUICK: dict[str, Any] = {
    "batch": [16, 64],
    "network": [name for name, case in NETWORKS.items() if case.counts and INFERENCE in case.modes],
    "rounds": 3,
    "who": [who for who in WHO if who not in (COMPILED, PRODUCTS)],
}
"""What `--quick` takes for what is not said."""
ALL: dict[str, Any] = {"network": list(NETWORKS), "rounds": 5, "who": list(WHO)}


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--network", nargs="+", choices=NETWORKS, metavar="NAME", help=f"default: all of {', '.join(NETWORKS)}")
    add("--batch", type=int, nargs="+", metavar="N", help="default: those of each network, most often 1 to 1024")
    add("--mode", nargs="+", choices=MODES, default=MODES, help="default: all")
    add("--who", nargs="+", choices=WHO, help="default: all")
    add("--rounds", type=int, help="turns of everybody, default: 5")
    add("--seconds", type=float, default=TURN_S, help=f"of a turn that count, default: {TURN_S}")
    add("--quick", action="store_true", help="few networks, minibatches and rounds: minutes instead of most of an hour")
    add("--json", action="store_true", help="print JSON instead of tables")
    arguments = parser.parse_args()
    arguments.named = tuple(arguments.who or ())
    for name, value in (QUICK if arguments.quick else ALL).items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    return arguments


class Outcome(NamedTuple):
    """What there is to say of a run beside its times."""

    onednn: str
    """What is used of it; empty without it."""
    left_out: list[str]
    """Where PyTorch's compiler took no part, and why."""
    failures: list[str]


def measure(arguments: argparse.Namespace, each: Callable[[Result], None]) -> Outcome:
    """Hand every result on as soon as it is known."""
    rules = Rules(arguments.rounds, arguments.seconds, arguments.named)
    outcome = Outcome("", [], [])
    for name in arguments.network:
        with closing(Session(name, arguments.who, arguments.mode, rules)) as session:
            outcome = outcome._replace(onednn=outcome.onednn or session.onednn)
            outcome.failures.extend(_measure_one(session, arguments.batch or session.case.batches, each))
            outcome.left_out.extend(session.left_out)
    return outcome


def _measure_one(session: Session, batches: Sequence[int], each: Callable[[Result], None]) -> list[str]:
    """Return what went wrong with one network; a process that fails ends it."""
    failures = []
    for batch in batches:
        try:
            for result in session.results(batch):
                each(result)
        except SystemExit as failure:
            failures.append(f"{session.name}, batch {batch}: {failure}")
            if isinstance(failure, Failed):
                break
    return failures


def main() -> None:
    arguments = options()
    results: list[Result] = []

    def keep(result: Result) -> None:
        results.append(result)
        milliseconds = ", ".join(f"{who} {found['median_ms']:.3g}" for who, found in result["who"].items())
        print(f"{result['network']} {result['mode']} {result['batch']}: {milliseconds}", file=sys.stderr, flush=True)

    outcome = measure(arguments, keep)
    if arguments.json:
        print(json.dumps({**outcome._asdict(), "results": results}))
    else:
        modes = [mode for mode in arguments.mode if any(each["mode"] == mode for each in results)]
        head = f"{machine()}; {versions()}, {outcome.onednn or 'no oneDNN'}"
        print("\n\n".join([head, figures(results), *(table(results, mode) for mode in modes), *outcome.left_out]))
    if outcome.failures:
        raise SystemExit("\n".join(outcome.failures))


if __name__ == "__main__":
    main()
