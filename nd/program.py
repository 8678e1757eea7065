"""Programs: a computation written down once, and run again without the Python around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.errors import NotRecorded

from .arguments import checked
from .explained import explained
from .random import get_random
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


@checked
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
        The computation decides by a value, or draws random numbers where the backend cannot repeat that. Parts of it
        may have run; the generator is as it was.
    """
    recorder, generator = backend().recorder(), get_random()
    if recorder is None:
        return None
    drawn = generator.get_state()

    def run_on_recorder() -> Array:
        with use_backend(recorder), recorder.quiet():
            return run()

    try:
        tape, result = recorder.record(run_on_recorder, generator)
    except NotRecorded:
        generator.set_state(drawn)
        raise
    return Program(tape.replay, result)


@explained
def traceable(x: Array) -> Array:
    """Return a view of an array for computations that are recorded."""
    return backend().traceable(x)
