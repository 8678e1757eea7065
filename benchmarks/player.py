"""A contender in a process of its own, which `suite.py` starts: it makes its network once and takes turns with others.

Two OpenMP runtimes, or one of them and OpenBLAS's threads, get in each other's way within a process.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from asking import answer_all, answers_questions, arguments_given
from contenders import Contender, Numbers, contender
from interleaved import others_s, run_for
from networks import INFERENCE, STREAMED, TRAINING

from backends.onednn.library import library

STEPS: dict[str, Callable[[Contender], Callable[[], object]]] = {
    TRAINING: lambda who: who.train,
    INFERENCE: lambda who: who.predict,
    STREAMED: lambda who: who.stream,
}
"""Mode -> what is timed."""


class Player:
    """A contender on one network, with one minibatch at a time.

    Parameters
    ----------
    who : str
        One of `contenders.WHO`.
    name : str
        Of the network.
    """

    def __init__(self, who: str, name: str) -> None:
        self.who, self.name = who, name
        self._contender: Contender | None = None

    def make(self, batch: int) -> None:
        """Make the network anew, with a minibatch of so many examples; what was before is forgotten first."""
        self._contender = None
        gc.collect()
        self._contender = contender(self.who, self.name, batch)

    def numbers(self) -> Numbers | None:
        """Return what it computes before it is trained."""
        return self._made().numbers()

    def turn(self, mode: str, warm: float, seconds: float) -> tuple[float, float]:
        """Return milliseconds per step over so many seconds, after those that do not count, and how busy others were.

        The latter is the seconds of computing in a second of this turn: 1 is a core.
        """
        step = STEPS[mode](self._made())
        run_for(step, warm)
        started, before = time.perf_counter(), others_s()
        milliseconds = run_for(step, seconds)
        return milliseconds, (others_s() - before) / (time.perf_counter() - started)

    def _made(self) -> Contender:
        if self._contender is None:
            raise SystemExit("a minibatch comes first")
        return self._contender

    @staticmethod
    def onednn() -> str:
        """Name the oneDNN that this library uses; nothing without it."""
        found = library()
        return f"oneDNN {found.version}" if found else ""


if __name__ == "__main__" and answers_questions():
    player = Player(*arguments_given())
    answer_all({"make": player.make, "numbers": player.numbers, "turn": player.turn, "onednn": player.onednn})
