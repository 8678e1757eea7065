"""Switches that the environment sets."""

from __future__ import annotations

import os

from .errors import BackendError

ONEDNN = "ND_ONEDNN"
OFF = ("0", "false", "no", "off")


def switch(name: str, default: bool) -> bool:
    """Return the value of an environment variable that is 0 or 1; `default` where it is not set.

    Raises
    ------
    BackendError
        It is something else.
    """
    setting = os.environ.get(name, "").strip() or str(int(default))
    if setting not in ("0", "1"):
        raise BackendError(f"{name}: expected 0 or 1, got {setting!r}. Unset it for the default, {int(default)}.")
    return setting == "1"


def wants_onednn() -> bool:
    """Tell whether backends made now use oneDNN where it is there: all but those made with ``ND_ONEDNN=0``."""
    return os.environ.get(ONEDNN, "").strip().lower() not in OFF
