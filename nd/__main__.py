"""``python -m nd``: the backends that run on this machine, the one that is chosen, and why not another."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.util import find_spec

from backends import ARRAY_API, BACKENDS, get_backend
from backends.errors import BackendError, ChoiceError
from ndwright import __version__

LIBRARIES = ("dask", "jax")
"""Modules of array libraries that people ask for; a backend is made of any that can be written in place."""


def diagnose() -> Iterator[str]:
    """Yield the lines of the diagnosis."""
    yield f"ndwright {__version__}, Python {platform.python_version()}, {platform.platform()}"
    unusable: dict[str, str] = {}
    for name in _names():
        yield ""
        yield from _describe(name, unusable)
    yield ""
    yield _choice(unusable)


def _names() -> list[str]:
    """Return our backends, those of array libraries that are installed, and what the environment names."""
    libraries = [f"{ARRAY_API}{name}" for name in LIBRARIES if find_spec(name) is not None]
    setting = os.environ.get("ND_BACKEND") or ""
    return sorted({*BACKENDS, *libraries, *([setting] if ":" in setting else [])})


def _describe(name: str, unusable: dict[str, str]) -> Iterator[str]:
    try:
        facts = get_backend(name).describe()
    except (BackendError, ChoiceError) as reason:
        unusable[name] = str(reason)
        yield f"backend {name}: not usable"
        yield f"  {reason}"
        return
    yield f"backend {name}: usable"
    width = max(map(len, facts), default=0)
    for fact, value in facts.items():
        yield f"  {fact:<{width}}  {value}"


def _choice(unusable: dict[str, str]) -> str:
    setting = os.environ.get("ND_BACKEND") or ""
    request = f"ND_BACKEND={setting}" if setting else "ND_BACKEND is not set, which means auto"
    try:
        chosen = get_backend().name
    except ChoiceError as error:
        return f"{request}: no backend is chosen. {error}"
    except BackendError as error:
        if setting in unusable:
            return f"{request}: no backend is chosen, because {setting} is not usable (see above). Use ND_BACKEND=auto."
        return f"{request}: no backend is chosen. {error}"
    if setting not in ("", "auto"):
        return f"{request}: {chosen} is chosen, because it is asked for and usable."
    if os.environ.get("ND_DEVICE", "").partition(":")[0] == "cpu":
        return f"{request}: {chosen} is chosen, because ND_DEVICE=cpu."
    if tried := [name for name in unusable if not name.startswith(ARRAY_API)]:  # by auto
        return f"{request}: {chosen} is chosen, because {' and '.join(tried)} is not usable (see above)."
    return f"{request}: {chosen} is chosen, because everything that it needs ran here."


if __name__ == "__main__":
    print("\n".join(diagnose()))
