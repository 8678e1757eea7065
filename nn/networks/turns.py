"""The lock by which threads take turns on a network, also where the process is forked."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import nd
from nd.interrupts import PATIENCE, tell_of_forks

if TYPE_CHECKING:
    from .core import NetworkCore


class Turns:
    """Gives a network its lock, and has a fork wait for the step that another thread computes.

    The child then has the network as it is between two steps. Where the step takes too long, its copy may be updated in
    part: whatever asks for its lock raises.

    Parameters
    ----------
    network : NetworkCore
    """

    def __init__(self, network: NetworkCore) -> None:
        self._network = weakref.ref(network)
        network.lock = threading.RLock()  # with a block of C's, whose end no Ctrl-C can cut short
        tell_of_forks(self)

    def before_fork(self, deadline: float) -> Callable[[], object] | None:
        """Take the lock."""
        network = self._network()
        if network is None or not network.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return None
        return network.lock.release

    def in_child(self, stood_still: bool) -> None:
        """Forget a call of fit in a thread that is not here, and whoever has the lock."""
        network = self._network()
        if network is None:
            return
        if network.progress.thread != threading.get_ident():
            network.progress.call = None
        if not stood_still:
            network.lock = _Torn(type(network).__name__)
            if network.is_init_called():
                network.updater.lock = network.lock


class _Torn:
    """Takes the place of the lock of a network that may be updated in part."""

    def __init__(self, who: str) -> None:
        self._who = who

    def __enter__(self) -> NoReturn:
        raise nd.ConfigurationError(
            f"{self._who}: a process must fork between two steps of its networks, got a step that took longer than "
            f"{PATIENCE:g} s, so that this copy may be half updated. Give the child net.clone(), made before the fork."
        )

    def __exit__(self, *error: object) -> None:
        """Never called."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Return False: nothing that a further fork could wait for comes."""
        return False

    def release(self) -> None:
        """Never called."""
