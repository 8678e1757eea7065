"""Backends: the only floor that imports numpy, cupy or array_api_compat.

`get_backend` resolves a name; ``auto`` takes CuPy when one kernel really runs, else NumPy.
"""

from __future__ import annotations

import logging
import os
import sys
from importlib.util import find_spec

from .base import Backend
from .errors import BackendError, check_choice

__all__ = ["BACKENDS", "Backend", "get_backend"]
__distribution__ = "ndwright"  # by which our packages know each other from others of their names

logger = logging.getLogger("nd")

BACKENDS = {"cupy": "backends.cuda.cupy_backend:CupyBackend", "numpy": "backends.cpu.numpy_backend:NumpyBackend"}
"""Name -> ``module:class``; a class is imported when it is first asked for."""

_instances: dict[str, Backend] = {}


def get_backend(name: str | None = None, who: str = "get_backend") -> Backend:
    """Return the backend of that name, one instance per process.

    Parameters
    ----------
    name : str, optional
        ``"numpy"``, ``"cupy"`` or ``"auto"``; without it the environment variable ``ND_BACKEND`` decides
        (default ``"auto"``).
    who : str
        The function that is blamed for an unknown name.

    Raises
    ------
    ChoiceError
        An unknown name.
    BackendError
        The backend cannot run on this machine; the message says what is missing and how to install it.
    """
    who = "ND_BACKEND" if name is None else who
    requested = os.environ.get("ND_BACKEND") or "auto" if name is None else name
    chosen = check_choice(who, "backend", requested, {*BACKENDS, "auto"})
    return _detect() if chosen == "auto" else _load(chosen)


def _load(name: str) -> Backend:
    if name not in _instances:
        module_name, class_name = BACKENDS[name].split(":")
        module = __import__(module_name, fromlist=[class_name])
        _instances[name] = getattr(module, class_name)()
    return _instances[name]


def _detect() -> Backend:
    if "cupy" not in sys.modules and find_spec("cupy") is None:  # without CuPy's half of the backends being imported
        logger.info("backend: numpy, because cupy: CuPy must be installed, got no module of that name.")
        return _load("numpy")
    try:
        backend = _load("cupy")
    except BackendError as reason:
        logger.info("backend: numpy, because %s", reason)
        return _load("numpy")
    logger.info("backend: cupy, because a CUDA device ran a kernel: %s", backend.describe().get("device"))
    return backend
