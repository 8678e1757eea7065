"""Programs: a computation written down once, and run again without the Python around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .state import backend, use_backend

Array = Any


class Program:
    """What `record` wrote down.

    Parameters
    ----------
    replay : callable
        Computes again, on the same memory.
    result : array
        What the computation returned; `replay` fills it anew.
    """

    def __init__(self, replay: Callable[[], None], result: Array) -> None:
        self.replay, self.result = replay, result


def record(run: Callable[[], Array]) -> Program | None:
    """Run a computation and write it down; None, without having run it, where the backend cannot record.

    Parameters
    ----------
    run : callable
        Reads and writes `traceable` arrays and buffers only, returns an array, and depends on nothing else that
        changes.

    Raises
    ------
    NotRecorded
        The computation draws random numbers, or decides by a value; parts of it may have run.
    """
    recorder = backend().recorder()
    if recorder is None:
        return None

    def run_on_recorder() -> Array:
        with use_backend(recorder):
            return run()

    tape, result = recorder.record(run_on_recorder)
    return Program(tape.replay, result)


def traceable(x: Array) -> Array:
    """Return a view of an array for computations that are recorded."""
    return backend().traceable(x)
