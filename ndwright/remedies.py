"""What to do where a package is not ours, in commands that work where ndwright was installed from."""

from __future__ import annotations

import json
import os
import shlex
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from urllib.parse import unquote, urlsplit

from .origins import FOLDER, is_same

DISTRIBUTION = "ndwright"


def make_way(name: str, place: str) -> str:
    """Say what to do with a package that lies elsewhere, and is found first.

    Parameters
    ----------
    name : str
        Name of the package.
    place : str
        Its file, its folder where it has no ``__init__.py``, or an empty text where a program has made it.
    """
    if not place:
        return f"Leave {name!r} out of sys.modules, and {FOLDER} in sys.path."
    others = [owner for owner in _others_with(name) if _owns(owner, place)]
    if others:
        return (
            f"It belongs to {' and '.join(others)}. Run: pip uninstall {' '.join(others)}, or use another environment."
        )
    package = os.path.dirname(place) if os.path.basename(place).startswith("__init__.") else place
    return f"Python looks in {os.path.dirname(package)} first: rename that one, or run Python from another folder."


def reinstall(name: str) -> str:
    """Say how a package's files come back: from where pip had them, or where there was no pip, from git."""
    distribution = _installed_here()
    if distribution is None:
        return f"Take it from a copy of ndwright again; in a git checkout: git checkout -- {name}."
    others = _others_with(name)
    first = f"pip uninstall {' '.join(others)}, then " if others else ""
    return f"Run: {first}pip install --force-reinstall --no-deps {shlex.quote(_source(distribution))}."


def changed_files() -> list[str]:
    """Return the installed files that are gone or have other bytes than those that were installed, sorted."""
    distribution = _installed_here()
    return sorted(_changed(distribution)) if distribution else []


def _others_with(name: str) -> list[str]:
    """Return the other installed distributions that have a package of that name."""
    return sorted({*metadata.packages_distributions().get(name, ())} - {DISTRIBUTION})


def _owns(owner: str, place: str) -> bool:
    return any(is_same(str(file.locate()), place) for file in metadata.files(owner) or ())


def _installed_here() -> metadata.Distribution | None:
    """Return the distribution whose files these are; None for those of a checkout."""
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    return distribution if _owns(DISTRIBUTION, os.path.join(FOLDER, DISTRIBUTION, "__init__.py")) else None


def _source(distribution: metadata.Distribution) -> str:
    """Return what pip was given: a folder, a file, an address, else the name."""
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    url, control = origin.get("url", ""), origin.get("vcs_info", {}).get("vcs")
    if url.startswith("file://"):
        return unquote(urlsplit(url).path)
    return f"{control}+{url}" if control else url or DISTRIBUTION


def _changed(distribution: metadata.Distribution) -> Iterator[str]:
    for file in distribution.files or ():
        if file.hash is None:
            continue
        try:
            found = sha256(file.read_binary()).digest()
        except FileNotFoundError:
            yield str(file)
            continue
        if urlsafe_b64encode(found).rstrip(b"=").decode() != file.hash.value:
            yield str(file)
