"""Holding Ctrl-C back while something is done that must not be left half done."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the enumerations of `signal`, which take ten times as long
import os
import signal
import threading
import weakref
from collections.abc import Callable
from types import FrameType

_SIGINT = int(signal.SIGINT)
_DEFAULT = signal.default_int_handler


class _State(threading.local):
    """Of one thread; Python runs signal handlers in the main thread only."""

    depth = 0  # blocks of `Held` that it is in
    waiting = False  # whether a Ctrl-C has come meanwhile
    handled = False  # whether a block has put the handler in: asking Python for it takes longer
    block: weakref.ref[object] | None = None  # that block, which a debugger's Ctrl-C may have ended without its end

    def __init__(self) -> None:
        self.is_main = threading.get_ident() == threading.main_thread().ident


_state = _State()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(_state, "is_main", True))  # the thread that forks is then


def _handle(number: int, frame: FrameType | None) -> None:
    """Handle SIGINT in the place of Python's own handler."""
    if _state.depth:
        _state.waiting = True
        return
    _state.waiting = False
    if not _state.handled or _is_at_an_edge(frame):
        _uninstall()  # what is interrupted would have done so, or does not know yet that it has to
    signal.default_int_handler(number, frame)


def _is_at_an_edge(frame: FrameType | None) -> bool:
    """Whether a function that exchanges handlers is interrupted, or another signal's handler that interrupts one."""
    while frame is not None and frame.f_code not in _EDGES:
        frame = frame.f_back
    return frame is not None


class Handling:
    """Lets `Held` blocks inside cost little, by putting the handler in for the length of this block.

    Only in the main thread, and only where Python's default handler is in force: programs with a handler of their own
    keep it. A Ctrl-C that comes while a handler is exchanged leaves the default one.
    """

    __slots__ = ("__weakref__", "_installed")

    def __enter__(self) -> None:
        self._installed = _install(self)

    def __exit__(self, *error: object) -> None:
        if self._installed:
            _uninstall()


def _install(block: object) -> bool:
    """Put the handler in, where that is possible and nobody has another; tell whether this block has done so."""
    thread = _state
    is_installed = thread.handled and thread.block is not None and thread.block() is not None
    if is_installed or not thread.is_main:
        return False
    if _signal.getsignal(_SIGINT) not in (_DEFAULT, _handle):
        return False
    thread.block = weakref.ref(block)
    _signal.signal(_SIGINT, _handle)
    thread.handled = True
    return True


def _uninstall() -> None:
    _state.handled = False
    if _signal.getsignal(_SIGINT) is _handle:
        _signal.signal(_SIGINT, _DEFAULT)


class Held:
    """Holds a Ctrl-C back until the block ends, which then raises KeyboardInterrupt.

    Several that come meanwhile count as one, as they do while Python runs a long operation.
    """

    __slots__ = ("__weakref__", "_entered", "_installed")

    def __init__(self) -> None:
        self._entered = False

    def __enter__(self) -> None:
        thread = _state
        self._installed = thread.is_main and not (thread.handled or thread.depth) and _install(self)
        thread.depth += 1
        self._entered = True

    def begin(self) -> None:
        """Enter, unless that has been done."""
        if not self._entered:
            self.__enter__()

    def __exit__(self, *error: object) -> None:
        if not self._entered:  # in an ExitStack, where something went wrong before
            return
        thread = _state
        thread.depth -= 1
        if self._installed:
            _uninstall()
        if thread.waiting and not thread.depth:
            thread.waiting = False
            raise KeyboardInterrupt


_EDGES = {
    function.__code__
    for function in (_install, _uninstall, Handling.__enter__, Handling.__exit__, Held.__enter__, Held.__exit__)
}
"""Of the functions that put the handler in and give the default one back."""


class Finally:
    """Calls a function when a block ends, however it does."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def __enter__(self) -> None:
        """Do nothing, so that no Ctrl-C finds it half done."""

    def __exit__(self, *error: object) -> None:
        self._function()
