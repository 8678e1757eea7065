"""Backends: the only floor that imports numpy, cupy or array_api_compat.

`get_backend` resolves a name; ``auto`` takes CuPy when one kernel really runs, else NumPy.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import sys
import threading
from importlib.util import find_spec
from operator import attrgetter
from typing import Any

from .base import Backend
from .errors import BackendError, ChoiceError, check_choice

__all__ = ["BACKENDS", "Backend", "get_backend"]
__distribution__ = "ndwright"  # by which our packages know each other from others of their names

logger = logging.getLogger("nd")

BACKENDS = {
    "array_api:torch": "backends.array_api:ArrayApiBackend",
    "cupy": "backends.cuda.cupy_backend:CupyBackend",
    "numpy": "backends.cpu.numpy_backend:NumpyBackend",
}
"""Name -> ``module:class``; a class is imported when it is first asked for."""
ARRAY_API = "array_api:"
"""Begins the name of a backend on another library's arrays."""

LIBRARIES: dict[tuple[type[Backend], str, str], Backend] = {}
"""(class, name, device) -> a backend on another library's arrays; made by this process, the last one of a kind."""

_instances: dict[tuple[str, str], Backend] = {}
_making = threading.RLock()


def get_backend(name: str | None = None, who: str = "get_backend") -> Backend:
    """Return the backend of that name, one instance per process and device.

    Parameters
    ----------
    name : str, optional
        ``"numpy"``, ``"cupy"`` or ``"auto"``; ``"array_api:torch"``, or another namespace of the array API;
        ``"module:Class"``, a `Backend` of one's own. Without it the environment variable ``ND_BACKEND`` decides
        (default ``"auto"``). ``ND_DEVICE`` says on which device of its library: ``"cuda:1"``, ``"cpu"``, ``"mps"``.
    who : str
        The function that is blamed for an unknown name.

    Raises
    ------
    ChoiceError
        An unknown name.
    BackendError
        The backend cannot run on this machine; the message says what is missing and how to install it.
    """
    requested, device = name, os.environ.get("ND_DEVICE", "").strip()
    if requested is None:
        who, requested = "ND_BACKEND", os.environ.get("ND_BACKEND") or "auto"
        if device.partition(":")[0] not in ("", "cpu") and requested == "numpy":
            raise BackendError(
                f"ND_DEVICE: NumPy computes on the host, got {device!r} beside ND_BACKEND=numpy. Unset one of them, or "
                "set ND_BACKEND=cupy or ND_BACKEND=array_api:torch."
            )
    if re.fullmatch(r"(cpu|cuda|mps|xpu):\d+|mps|xpu", requested):
        raise ChoiceError(
            f"{who}: the backend must be a library's, got the device {requested!r}. Set ND_DEVICE={requested}, and "
            f"ND_BACKEND=cupy or ND_BACKEND={ARRAY_API}torch."
        )
    if ":" in requested:
        return _instance(requested, device)
    chosen = check_choice(who, "backend", requested, {*BACKENDS, "auto", "module:Class"})
    return _detect(device) if chosen == "auto" else _instance(chosen, device)


def selector_of(backend: Backend) -> str:
    """Return the name by which `get_backend` finds a backend of this kind, here or in another process."""
    kind = type(backend.plain)
    path = f"{kind.__module__}:{kind.__qualname__}"
    if path == BACKENDS["array_api:torch"]:
        return backend.name
    return next((name for name, known in BACKENDS.items() if known == path), path)


def owner_of(array: object) -> Backend | None:
    """Return the backend of `LIBRARIES` of an array; None where it has none."""
    return next((backend for backend in tuple(LIBRARIES.values()) if backend.is_array(array)), None)


def _instance(name: str, device: str) -> Backend:
    device = "" if name == "numpy" else device
    with _making:  # threads that come at once get the same one
        known = _instances.get((name, device))
        if known is None:
            known = _instances[name, device] = _made(name, device)
        return known


def _made(name: str, device: str) -> Backend:
    of_device = {"device": device} if device else {}
    if name.startswith(ARRAY_API):
        from .array_api import ArrayApiBackend

        return ArrayApiBackend(name.removeprefix(ARRAY_API), **of_device)
    if name in BACKENDS:
        return _class_of(name, BACKENDS[name])(**of_device)
    own = _class_of(name, name)
    try:
        return own(**of_device)
    except BackendError:
        raise
    except Exception as error:  # whatever a class of a user's own raises
        remedy = " ND_DEVICE is given to it as device." if device else ""
        raise BackendError(f"{name}: the backend must be made without arguments, got {error}.{remedy}") from error


def _class_of(name: str, path: str) -> type[Backend]:
    """Return a class by its ``module:class``; raise BackendError where it is not there, or no backend."""
    module_name, _, class_name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever a module of a user's own raises
        raise BackendError(
            f"{name}: the module {module_name!r} must be importable, got {error}. A backend is named by module:Class, "
            f"or by {ARRAY_API}NAMESPACE; a device by ND_DEVICE."
        ) from error
    try:
        kind = attrgetter(class_name)(module)
    except AttributeError:
        kind = None
    if not isinstance(kind, type) or not issubclass(kind, Backend):
        raise BackendError(
            f"{name}: {class_name!r} must be a class of backends.Backend in {module_name!r}, got "
            f"{'nothing of that name' if kind is None else type(kind).__name__}. See docs/backends.md."
        )
    return kind


def _detect(device: str) -> Backend:
    """Return CuPy's backend where it computes, else NumPy's, unless a device is asked for that only CuPy may have."""
    if device.partition(":")[0] == "cpu":
        return _instance("numpy", "")
    if "cupy" not in sys.modules and find_spec("cupy") is None:  # without CuPy's half of the backends being imported
        reason = "cupy: CuPy must be installed, got no module of that name."
    else:
        try:
            backend = _instance("cupy", device)
        except BackendError as error:
            reason = str(error)
        else:
            facts = backend.describe()
            logger.info("backend: cupy, because a CUDA device ran a kernel: %s", facts.get("device"))
            return backend
    if device:
        raise BackendError(
            f"ND_DEVICE: with ND_BACKEND=auto the device must be CuPy's or cpu, got {device!r}. {reason} For a device "
            f"of PyTorch's set ND_BACKEND={ARRAY_API}torch."
        )
    logger.info("backend: numpy, because %s", reason)
    return _instance("numpy", "")
