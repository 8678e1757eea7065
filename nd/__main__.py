"""``python -m nd``: the backends that run on this machine, the one that is chosen, and why not another."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator

from backends import BACKENDS, get_backend
from backends.errors import BackendError, ChoiceError
from ndwright import __version__


def diagnose() -> Iterator[str]:
    """Yield the lines of the diagnosis."""
    yield f"ndwright {__version__}, Python {platform.python_version()}, {platform.platform()}"
    unusable: dict[str, str] = {}
    for name in sorted(BACKENDS):
        yield ""
        yield from _describe(name, unusable)
    yield ""
    yield _choice(unusable)


def _describe(name: str, unusable: dict[str, str]) -> Iterator[str]:
    try:
        facts = get_backend(name).describe()
    except BackendError as reason:
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
    except BackendError:
        return f"{request}: no backend is chosen, because {setting} is not usable (see above). Use ND_BACKEND=auto."
    if setting not in ("", "auto"):
        return f"{request}: {chosen} is chosen, because it is asked for and usable."
    if unusable:
        return f"{request}: {chosen} is chosen, because {' and '.join(unusable)} is not usable (see above)."
    return f"{request}: {chosen} is chosen, because everything that it needs ran here."


if __name__ == "__main__":
    print("\n".join(diagnose()))
