"""What a solver is asked to do by signals: stop, or write a snapshot."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self

from nd.checks import check_choice

ACTIONS = ("none", "snapshot", "stop")


class SignalActions:
    """Called, it returns the action that a signal has asked for since the last call: "none", "snapshot" or "stop".

    In a block it hears Ctrl-C (SIGINT) and the end of a terminal (SIGHUP); after it what was there hears them again.

    Parameters
    ----------
    on_sigint, on_sighup : {"none", "snapshot", "stop"}
        With "none" a signal does nothing.

    Raises
    ------
    ChoiceError
        It is no such action.

    Notes
    -----
    A solver asks before each iteration of a test and after each update. Only the main thread can hear signals: a block
    in another one hears none. Source: BVLC Caffe, signal_handler.cpp. Differs: a second Ctrl-C before the solver has
    asked raises KeyboardInterrupt, so that a step that takes too long can be ended.
    """

    def __init__(self, on_sigint: str = "stop", on_sighup: str = "snapshot") -> None:
        actions = {"SIGINT": on_sigint, "SIGHUP": on_sighup}
        for name, action in actions.items():
            check_choice(f"effect of {name}", "action", action, ACTIONS)
        self._actions = {getattr(signal, name): action for name, action in actions.items() if hasattr(signal, name)}
        self._pending: list[int] = []
        self._before: dict[int, Any] = {}

    def __call__(self) -> str:
        while self._pending:
            action = self._actions[self._pending.pop(0)]
            if action != "none":
                return action
        return "none"

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in self._actions}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in self._pending and self._actions[number] == "stop":
            raise KeyboardInterrupt
        self._pending.append(number)
