"""The device that CuPy computes on, where there are several."""

from __future__ import annotations

import os
import re
import sys

from ..errors import BackendError

_VISIBLE = "CUDA_VISIBLE_DEVICES"


class Narrowed:
    """What this process has been told of its devices."""

    number = 0


def choose_device(device: str) -> None:
    """Let this process see no device but one, before CUDA begins: so every thread computes on it.

    Parameters
    ----------
    device : str
        ``"cuda"``, ``"cuda:1"``; numbers are those of the devices that the process sees so far.

    Raises
    ------
    BackendError
        It is nothing of that kind, or CuPy has begun already.
    """
    match = re.fullmatch(r"cuda(?::(\d+))?", device)
    if match is None:
        raise BackendError(
            f"cupy: ND_DEVICE must be cuda:0, cuda:1 and so on, got {device!r}. Say cuda:1, or unset it."
        )
    number = int(match[1] or 0)
    if number == Narrowed.number:
        return
    if "cupy" in sys.modules:
        raise BackendError(
            f"cupy: ND_DEVICE={device} must be known before CuPy is imported, which has begun on device "
            f"{Narrowed.number}. Set it before the program starts."
        )
    visible = [name.strip() for name in os.environ.get(_VISIBLE, "").split(",") if name.strip()]
    if visible and number >= len(visible):
        raise BackendError(
            f"cupy: ND_DEVICE must be one of {len(visible)} that {_VISIBLE}={','.join(visible)} leaves, got {device}."
        )
    os.environ[_VISIBLE] = visible[number] if visible else str(number)
    Narrowed.number = number


def check_chosen(visible: int, device: str) -> None:
    """Raise BackendError unless CUDA sees the one device that was chosen."""
    if Narrowed.number and visible != 1:
        raise BackendError(
            f"cupy: ND_DEVICE must name a device of this machine, before CUDA begins, got {device}, with which "
            f"{visible} are visible. Look at nvidia-smi, or set {_VISIBLE} before the program starts."
        )
