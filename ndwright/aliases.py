"""Second names of modules: ``from ndwright.nn.layers import DenseLayer`` gives what ``nn.layers`` has.

Without this Python would find the files of ``nn.layers`` under the second name, and make every class twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Aliases:
    """Finder and loader of modules that have a package's name before theirs.

    Parameters
    ----------
    prefix : str
        The name before theirs, with its dot.
    packages : sequence of str
        Top-level packages that have a second name, with all that is in them.
    """

    def __init__(self, prefix: str, packages: Sequence[str]) -> None:
        self.prefix, self.packages = prefix, frozenset(packages)
        self._own_specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return how a module of a second name is loaded, None for all others."""
        if not fullname.startswith(self.prefix):
            return None
        loader: Any = self  # a base class of Python's for it costs more time than the rest of the package
        package = fullname.removeprefix(self.prefix).partition(".")[0]
        return ModuleSpec(fullname, loader) if package in self.packages else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module by its own name."""
        module = import_module(spec.name.removeprefix(self.prefix))
        self._own_specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Put back the spec, in whose place Python has put the one of the second name."""
        if module.__spec__ is not None:
            module.__spec__ = self._own_specs.pop(module.__spec__.name)
