"""Time training steps and predictions of many networks on the CPU against PyTorch.

Everybody computes in a process of its own; they take turns, so that one computes at a time, after the same loss,
predictions and gradients were found on the same weights.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

from contenders import OURS, WHO, check_loss, check_numbers, plays
from networks import NETWORKS
from processes import INFERENCE, TRAINING, TURN_S, WARM_S, Process

Result = dict[str, Any]
LONGEST_S = 25.0
"""Seconds after which no further round of a network and minibatch begins, if there were three."""


def compare(name: str, batch: int, modes: Sequence[str], who: Sequence[str], arguments: argparse.Namespace) -> list[Result]:
    """Return the times of all contenders on a network and minibatch."""
    with ExitStack() as stack:
        players = [stack.enter_context(closing(Process(each, name, batch))) for each in who if plays(each, name)]
        numbers = [each.numbers() for each in players]
        for player, found in zip(players[1:], numbers[1:], strict=True):
            check_numbers(numbers[0], found, player.who)
        return [
            {"network": name, "batch": batch, "mode": mode, "who": in_turn(players, mode, arguments)} for mode in modes
        ]


def in_turn(players: Sequence[Process], mode: str, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return medians and bests in milliseconds per step; the first round does not count."""
    times: dict[str, list[float]] = {player.who: [] for player in players}
    for number in range(arguments.rounds + 1):
        for player in players:
            milliseconds = player.turn(mode, min(WARM_S, arguments.seconds), arguments.seconds)
            if number:
                times[player.who].append(milliseconds)
    return {
        who: {"median_ms": statistics.median(each), "best_ms": min(each)} for who, each in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--batch", type=int, nargs="+")
    parser.add_argument("--mode", nargs="+", choices=(TRAINING, INFERENCE), default=[TRAINING, INFERENCE])
    parser.add_argument("--who", nargs="+", choices=WHO, default=WHO)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=TURN_S)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.network:
        for batch in arguments.batch or NETWORKS[name].batches:
            for each in compare(name, batch, arguments.mode, arguments.who, arguments):
                print(json.dumps(each), flush=True)


if __name__ == "__main__":
    main()
