"""Memory is asked for before it is taken: what no machine of this size has is refused, with what it would be for."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backends.typing import Array

from .errors import SizeError

if TYPE_CHECKING:
    from .base import Backend
    from .needed import Needed

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's limit stands, by version of Linux's control groups."""


@functools.cache
def host_memory() -> int | None:
    """Return the bytes of this machine's memory, or of what its container allows; None where nothing tells."""
    sizes = []
    with contextlib.suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no such limit, or "max"
            sizes.append(int(pathlib.Path(path).read_text()))
    return min(sizes, default=None)


def check_memory(who: str, needed: int, purpose: str, remedy: str, there: int | None = None) -> None:
    """Raise SizeError where more bytes are needed than there are, by default in all of the host's memory.

    Parameters
    ----------
    who : str
        For messages.
    needed : int
        Bytes.
    purpose, remedy : str
        For what, "labels [8, 1000000000, 20]", and what to do.
    there : int, optional
    """
    there = host_memory() if there is None else there
    if there is not None and needed > there:
        raise SizeError(f"{who}: {purpose} would take {needed:,} bytes, got a memory of {there:,}. {remedy}")


def check_memory_of(backend: Needed, who: str, needed: int, purpose: str, remedy: str) -> None:
    """Raise SizeError where arrays would need more bytes than there are; parameters as `check_memory`."""
    check_memory(who, needed, purpose, remedy, backend.memory_size())


def snapshot(backend: Backend, arrays: Sequence[Array]) -> list[Array]:
    """Return copies of arrays that lie to one another as they do, as far as the backend knows: one of each."""
    copies = {id(array): backend.copy(array) for array in arrays}
    return [copies[id(array)] for array in arrays]


def lasting(backend: Backend, length: int, dtype: str) -> Array:
    """Return an uninitialised vector that belongs to no recording, also while one is made."""
    return backend.empty((length,), dtype)
