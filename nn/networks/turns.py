"""The lock of a network in a forked process that has it half updated."""

from __future__ import annotations

from typing import NoReturn

import nd
from nd.interrupts import PATIENCE


class Torn:
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
