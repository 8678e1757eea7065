"""Names of this library that are asked of the wrong one of its modules: ``from nn import Adam``.

Looks upward, by name and while an error is made: what may be asked of each module of the library stands in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pkgutil import get_data

from .suggestions import plain

MODULES = (
    "nn", "nd", "optimize", "nd.dataset", "nd.evaluation", "optimize.earlystopping", "nd.losses", "nd.activations",
    "nd.random", "nd.serde", "nn.layers", "nn.vertices", "optimize.listeners", "optimize.updaters", "optimize.solvers",
)  # fmt: skip
"""Where a name is looked for, in this order."""
JAVA_NAMES = "nn.dl4j"
"""Looked at last, in its stub: it has the names of all others, and importing it names the library's classes."""
_STUB = "nn", "dl4j/__init__.pyi"
_IN_STUB = re.compile(r"^(?:class|def) ([A-Z]\w*)|^from .* as ([A-Z]\w*)$|^([A-Z]\w*) = ", re.MULTILINE)


def place_of(name: str, package: str = "") -> str:
    """Return the path of a public name, ``optimize.Adam`` for ``Adam``; empty where no module has it.

    Of several modules the first is one below the same package as `package`, which does not have the name. A name
    that is written exactly so is preferred to another spelling. Modules are imported for it, but nn.dl4j is not.
    """
    root = package.partition(".")[0]
    there = {module: _public(module) for module in sorted(MODULES, key=lambda one: one.partition(".")[0] != root)}
    there.pop(package, None)
    for module, names in there.items():
        if name in names:
            return f"{module}.{name}"
    for module, names in there.items():
        for one in names:
            if plain(one) == plain(name):
                return f"{module}.{one}"
    return f"{JAVA_NAMES}.{name}" if package != JAVA_NAMES and name in _for_java() else ""


def _for_java() -> set[str]:
    """Return the names that nn.dl4j offers; none where its stub was not installed."""
    try:
        stub = get_data(*_STUB) or b""
    except (ImportError, OSError):
        return set()
    return {name for names in _IN_STUB.findall(stub.decode()) for name in names if name}


def _public(module: str) -> Iterable[str]:
    """Return the names that a module offers: its `__all__`, else what it defines."""
    try:
        there = import_module(module)
    except ImportError:  # while it is being imported, say
        return ()
    names: Iterable[str] | None = getattr(there, "__all__", None)
    if names is not None:
        return names
    return [
        name
        for name, value in vars(there).items()
        if name[0] != "_" and callable(value) and getattr(value, "__module__", "") == there.__name__
    ]
