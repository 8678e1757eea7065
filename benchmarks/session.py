"""Everybody who takes turns on one network, each in a process of its own."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

from asking import Process
from contenders import ENVIRONMENTS, OURS, OURS_ALONE, check_numbers, plays
from interleaved import TURN_S, WARM_S
from networks import NETWORKS, STREAMED

COMPILED = "torch-compile"
LONGEST_S, LEAST_ROUNDS = 15.0, 3
"""Seconds after which no further round begins, if there were so many."""
TRIES, BUSY = 6, 0.3
"""How often a turn is taken at most, and from which share of a core on others disturb it: threads that wait for each
other by spinning, as OpenMP's and OpenBLAS's do, take a hundred times as long when one of two cores is busy."""
Result = dict[str, Any]


class Rules(NamedTuple):
    """How everybody is timed."""

    rounds: int = 5
    """Turns of everybody that count."""
    seconds: float = TURN_S
    """Of a turn that count."""
    named: tuple[str, ...] = ()
    """Contenders that were asked for by name: they take part everywhere."""


class Session:
    """Everybody on one network; to be closed.

    Parameters
    ----------
    name : str
        Of the network.
    who : sequence of str
        Of `contenders.WHO`.
    modes : sequence of str
    rules : Rules

    Attributes
    ----------
    onednn : str
        What this library uses of it; empty without it.
    left_out : list of str
        Where PyTorch's compiler took no part, and why.
    """

    def __init__(self, name: str, who: Sequence[str], modes: Sequence[str], rules: Rules) -> None:
        self.name, self.case, self.rules = name, NETWORKS[name], rules
        self.modes = [mode for mode in self.case.modes if mode in modes]
        self.left_out: list[str] = []
        self._stack, self._players = ExitStack(), dict[str, Process]()
        for each in who:
            if any(plays(each, name, mode) for mode in self.modes):
                process = Process("player.py", each, name, environment=ENVIRONMENTS[each])
                self._players[each] = self._stack.enter_context(closing(process))
        self.onednn: str = self._players[OURS].ask("onednn") if OURS in self._players else ""
        if OURS in self._players and not self.onednn and OURS_ALONE not in rules.named:
            self._players.pop(OURS_ALONE, None)  # it would be the same as ours

    def close(self) -> None:
        """End everybody's process."""
        self._stack.close()

    def results(self, batch: int) -> Iterator[Result]:
        """Yield the times of every mode; raise SystemExit where somebody fails, or there is nothing to compare."""
        players = self._with_minibatch(batch)
        for mode in self.modes:
            playing = {who: each for who, each in players.items() if plays(who, self.name, mode)}
            if mode != STREAMED or batch == 1:
                who = in_turn(playing, mode, self.rules)
                yield {"network": self.name, "batch": batch, "mode": mode, "who": who}

    def _with_minibatch(self, batch: int) -> dict[str, Process]:
        """Return those who have made a minibatch of that size, and have computed the same of it."""
        able: dict[str, Process] = {}
        first: Any = None
        for who, player in self._players.items():
            if who == COMPILED and who not in self.rules.named and batch != self.case.usual:
                continue
            try:
                player.ask("make", batch)
                numbers = player.ask("numbers")
                if first and numbers:
                    check_numbers(first, numbers, f"{who}, batch {batch},")
            except SystemExit as failure:
                if who != COMPILED:
                    raise
                self.left_out.append(f"{who} takes no part in {self.name}, batch {batch}: {last_line(failure)}")
            else:
                able[who], first = player, first or numbers
        return able


def in_turn(players: Mapping[str, Process], mode: str, rules: Rules) -> dict[str, dict[str, float]]:
    """Return medians and bests in milliseconds per step; the first round does not count."""
    times: dict[str, list[float]] = {who: [] for who in players}
    started = time.perf_counter()
    for number in range(rules.rounds + 1):
        if number > LEAST_ROUNDS and time.perf_counter() > started + LONGEST_S:
            break
        for who, player in players.items():
            milliseconds = _quiet_turn(player, mode, rules.seconds)
            if number:
                times[who].append(milliseconds)
    return {who: {"median_ms": statistics.median(each), "best_ms": min(each)} for who, each in times.items()}


def _quiet_turn(player: Process, mode: str, seconds: float) -> float:
    """Return milliseconds per step; take the turn again where something else on the machine computed meanwhile."""
    for _ in range(TRIES):
        milliseconds, others = player.ask("turn", mode, min(WARM_S, seconds), seconds)
        if others <= BUSY:
            break
    return milliseconds


def last_line(failure: SystemExit) -> str:
    """Return the last line of what went wrong."""
    return str(failure).strip().splitlines()[-1]
