"""Whose `nn`, `nd`, `optimize` and `backends` are found: their names are such as others give, too.

A user's own ``optimize.py`` beside the program comes before ours, and another distribution that has a package ``nn``
is installed over ours. This module imports nothing but Python's own, so that it can tell where nothing else works.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Where our packages lie."""
PACKAGES = ("backends", "nd", "optimize", "nn")
MARK = "__distribution__"
"""The attribute that each of our packages has."""


def check_origins() -> None:
    """Compare where Python finds the four packages with where they belong; nothing is imported.

    Raises
    ------
    ImportError
        One is not ours; the message says which file comes instead, where ours is, and what to do.
    """
    faults = {name: fault for name in PACKAGES if (fault := _fault(name))}
    if faults:
        raise ImportError(f"ndwright: {' '.join(faults.values())}", name=next(iter(faults)))


def is_same(place: str, ours: str) -> bool:
    """Whether that is our file, compiled or not."""
    return os.path.splitext(os.path.realpath(place))[0] == os.path.splitext(os.path.realpath(ours))[0]


def _fault(name: str) -> str:
    """Say what is wrong with a package, in some sentences; an empty text where it is ours."""
    ours = os.path.join(FOLDER, name, "__init__.py")
    spec = _spec(name)
    place = _place(spec)
    if is_same(place, ours) and _has_mark(name, spec):
        return ""
    from . import remedies  # which take long to import, and are seldom wanted

    if is_same(place, ours):
        return f"the package {name!r} must be ours, got another one, written over {ours}. {remedies.reinstall(name)}"
    if place in ("", os.path.dirname(ours)) and not os.path.exists(ours):
        return f"the package {name!r} must have {ours}, got no such file. {remedies.reinstall(name)}"
    got = place or "a module without a file"
    return f"the package {name!r} must be ours, {ours}, got {got}. {remedies.make_way(name, place)}"


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except ValueError:  # a module that a program has made, and that has none
        return None


def _place(spec: ModuleSpec | None) -> str:
    """Return the file of a package or module, the folder of one without ``__init__.py``, an empty text without any."""
    if spec is None:
        return ""
    return spec.origin if spec.has_location and spec.origin else next(iter(spec.submodule_search_locations or ()), "")


def _has_mark(name: str, spec: ModuleSpec | None) -> bool:
    """Look for our mark in the module, or in its file, which may be compiled; who cannot read it cannot tell."""
    if hasattr(sys.modules.get(name), MARK):
        return True
    read = getattr(spec and spec.loader, "get_data", None)
    return read is None or MARK.encode() in read(spec and spec.origin)
