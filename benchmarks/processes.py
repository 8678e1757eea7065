"""Contenders in processes of their own, which take turns: only one of them computes at a time.

Two OpenMP runtimes, or one and OpenBLAS's threads, get in each other's way within a process. Each process keeps its
network and minibatch from turn to turn and sleeps in between.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from contenders import ENVIRONMENTS, Contender, contender

WARM_S, TURN_S = 0.1, 0.15
"""Seconds of every turn that do not count, and that do. At first the idle threads of the contender before still keep a
core busy (up to 30 ms), and the system has yet to put this one's threads on different cores (up to 60 ms)."""
TRAINING, INFERENCE = "training", "inference"
STEPS: dict[str, Callable[[Contender], Callable[[], object]]] = {
    TRAINING: lambda contender: contender.train,
    INFERENCE: lambda contender: contender.predict,
}
"""Mode -> what is timed."""


class Process:
    """A contender in a process of its own.

    Parameters
    ----------
    who, name : str
        The contender, and the network.
    batch : int
    """

    def __init__(self, who: str, name: str, batch: int) -> None:
        self.who, self.name, self.batch = who, name, batch
        self._pipe, theirs = Pipe()
        environment = {**os.environ, "ND_BACKEND": "numpy", **ENVIRONMENTS[who]}
        command = [sys.executable, str(pathlib.Path(__file__)), str(theirs.fileno()), who, name, str(batch)]
        self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()

    def numbers(self) -> Any:
        """Return the `Numbers` that it computes before it is trained."""
        return self._ask("numbers")

    def turn(self, mode: str, warm: float, seconds: float) -> float:
        """Return milliseconds per step over so many seconds, after those that do not count."""
        return float(self._ask(mode, warm, seconds))

    def _ask(self, *request: Any) -> Any:
        """Raise SystemExit if it cannot do what it is asked to do."""
        try:
            self._pipe.send(request)
            answer, failure = self._pipe.recv()
        except (EOFError, OSError):
            answer, failure = None, f"its process ended with {self._process.wait()}"
        if failure:
            raise SystemExit(f"{self.who} on {self.name}, batch {self.batch}: {failure}")
        return answer

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.wait()


def run_for(step: Callable[[], object], seconds: float) -> float:
    """Step until the time is over; return milliseconds per step."""
    started, steps = time.perf_counter(), 0
    while True:
        step()
        steps += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            return 1000.0 * elapsed / steps


def serve(pipe: Connection, player: Contender) -> None:
    """Do what the pipe asks for, until it is closed."""
    while True:
        try:
            what, *times = pipe.recv()
        except EOFError:
            return
        try:
            if what == "numbers":
                answer: Any = player.numbers()
            else:
                step = STEPS[what](player)
                answer = [run_for(step, seconds) for seconds in times][-1]
            pipe.send((answer, None))
        except Exception:
            pipe.send((None, traceback.format_exc()))


if __name__ == "__main__":
    descriptor, who, name, batch = sys.argv[1:]
    serve(Connection(int(descriptor)), contender(who, name, int(batch)))
