"""The device that CuPy computes on, where there are several."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import BackendError

VISIBLE = "CUDA_VISIBLE_DEVICES"


class Chosen:
    """What this process has told CUDA."""

    number = 0


@contextmanager
def only_device(device: str) -> Iterator[None]:
    """Let CUDA, which begins in this block, see one device only: so every thread computes on it.

    The environment is then as before: processes that are started choose for themselves, by the same ND_DEVICE.

    Parameters
    ----------
    device : str
        ``"cuda"``, ``"cuda:1"``; numbers are those of the devices that the process sees so far. Empty: all are seen.

    Raises
    ------
    BackendError
        It is nothing of that kind, or CuPy has begun already.
    """
    number = _number_of(device)
    if number == Chosen.number:
        yield
        return
    if "cupy" in sys.modules:
        raise BackendError(
            f"cupy: ND_DEVICE={device} must be known before CuPy is imported, which has begun on device "
            f"{Chosen.number}. Set it before the program starts."
        )
    before = os.environ.get(VISIBLE)
    visible = None if before is None else [name.strip() for name in before.split(",") if name.strip()]
    if visible is not None and number >= len(visible):
        raise BackendError(
            f"cupy: ND_DEVICE must be one of the {len(visible)} devices that {VISIBLE}={before} leaves, got {device}. "
            f"Unset {VISIBLE}, or count from cuda:0."
        )
    os.environ[VISIBLE] = str(number) if visible is None else visible[number]
    try:
        yield
        Chosen.number = number
    finally:
        os.environ.pop(VISIBLE)
        if before is not None:
            os.environ[VISIBLE] = before


def _number_of(device: str) -> int:
    match = re.fullmatch(r"(?:cuda(?::(\d+))?)?", device)
    if match is None:
        raise BackendError(
            f"cupy: ND_DEVICE must be cuda:0, cuda:1 and so on, got {device!r}. Say cuda:1, or unset it."
        )
    return int(match[1] or 0)


def check_chosen(count: int, device: str) -> None:
    """Raise BackendError unless CUDA sees the one device that is chosen."""
    if _number_of(device) and count != 1:
        raise BackendError(
            f"cupy: ND_DEVICE must name a device of this machine, before CUDA begins, got {device}, with which "
            f"{count} are visible. Look at nvidia-smi, or set {VISIBLE} before the program starts."
        )
