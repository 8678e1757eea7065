"""Holding Ctrl-C back while something is done that must not be left half done."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the enumerations of `signal`, which take ten times as long
import signal
import threading
from types import FrameType

_SIGINT = int(signal.SIGINT)


class _State(threading.local):
    """Of one thread; Python runs signal handlers in the main thread only."""

    depth = 0  # blocks of `Held` that it is in
    waiting = False  # whether a Ctrl-C has come meanwhile
    handled = False  # whether a `Handling` block has put the handler in: asking Python for it takes longer


_state = _State()


def _handle(number: int, frame: FrameType | None) -> None:
    """Handle SIGINT in the place of Python's own handler."""
    if _state.depth:
        _state.waiting = True
        return
    _state.waiting = False
    signal.default_int_handler(number, frame)


class Handling:
    """Lets `Held` blocks inside cost little, by putting the handler in for the length of this block.

    Only in the main thread, and only where Python's default handler is in force: programs with a handler of their own
    keep it. A Ctrl-C that comes while the default handler is given back may leave this one, which does the same.
    """

    __slots__ = ("_installed",)

    def __enter__(self) -> None:
        self._installed = (
            threading.get_ident() == threading.main_thread().ident
            and _signal.getsignal(_SIGINT) is signal.default_int_handler
        )
        if self._installed:
            _signal.signal(_SIGINT, _handle)
            _state.handled = True

    def __exit__(self, *error: object) -> None:
        if self._installed and _signal.getsignal(_SIGINT) is _handle:
            _signal.signal(_SIGINT, signal.default_int_handler)
        if self._installed:
            _state.handled = False


class Held:
    """Holds a Ctrl-C back until the block ends, which then raises KeyboardInterrupt.

    Several that come meanwhile count as one, as they do while Python runs a long operation.
    """

    __slots__ = ("_entered", "_handling")

    def __init__(self) -> None:
        self._entered = False

    def __enter__(self) -> None:
        self._handling: Handling | None = None
        if not (_state.handled or _state.depth) and threading.get_ident() == threading.main_thread().ident:
            self._handling = Handling()
            self._handling.__enter__()
        _state.depth += 1
        self._entered = True

    def begin(self) -> None:
        """Enter, unless that has been done."""
        if not self._entered:
            self.__enter__()

    def __exit__(self, *error: object) -> None:
        if not self._entered:  # in an ExitStack, where something went wrong before
            return
        _state.depth -= 1
        if self._handling is not None:
            self._handling.__exit__()
        if _state.waiting and not _state.depth:
            _state.waiting = False
            raise KeyboardInterrupt
