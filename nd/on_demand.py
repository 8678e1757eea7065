"""Names of a package whose modules are imported when they are first asked for.

A program needs few of the layers, listeners and metrics, and importing all of them takes longer than importing NumPy.
A package has its names in the table of `names_on_demand`, in `__all__`, and as imports, which type checkers follow.
Where it has a table of classes, all three come from that: tests/type_imports.py writes the imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, ValuesView
from importlib import import_module
from typing import Any, TypeVar

from backends.errors import UnknownImportError, UnknownNameError
from backends.suggestions import suggestion

Class = TypeVar("Class")


def names_on_demand(
    package: str, names: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package, after PEP 562.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : mapping
        Module inside of the package -> the public names that it defines, with spaces between them.
    modules : str
        Modules inside of the package that are attributes themselves, with spaces between them.

    Notes
    -----
    In a package's ``__init__.py``, where type checkers read the other branch::

        if TYPE_CHECKING:
            from .dense import DenseLayer
        else:
            __getattr__, __dir__ = names_on_demand(__name__, {"dense": "DenseLayer"})
    """
    places = {name: module for module, of_module in names.items() for name in of_module.split()}
    places |= dict.fromkeys(modules.split(), "")

    def get(name: str) -> Any:
        if name not in places:
            raise unknown_name(package, name, names_there())
        if not places[name]:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, value)  # so that nobody asks again
        return value

    def names_there() -> list[str]:
        """Return what a program imports: no name that the package needs itself."""
        there = vars(sys.modules[package])
        return sorted({*there.get("__all__", places), *modules.split(), *(name for name in there if name[:2] == "__")})

    return get, names_there


def unknown_name(package: str, name: str, names: list[str]) -> Exception:
    """Return the error for a name that a module has not, for its `__getattr__` to raise; `names` are those it has."""
    names, place = vars(sys.modules[package]).get("__all__", names), f"name of {package}"
    if not _is_imported():
        return UnknownNameError(f"module {package!r} has no attribute {name!r}", place, name, list(names))
    hint = "" if name[:1] == "_" else suggestion(place, name, [one for one in names if one[:1] != "_"])
    return UnknownImportError(f"cannot import name {name!r} from {package!r}.{hint}")  # whose text Python leaves alone


def _is_imported() -> bool:
    """Tell whether the code that asks a module's `__getattr__` for a name imports it from there."""
    from inspect import currentframe
    from opcode import opmap

    frame = currentframe()
    for _ in range(3):  # this function, the one that makes the error, `__getattr__`
        frame = None if frame is None else frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


class ClassTable(Mapping[str, Class]):
    """A table name -> class; a class is imported when it is first asked for.

    Parameters
    ----------
    package : str
        The package of which the classes are attributes.
    classes : dict
        Name -> name of the class, sorted; with its module and a colon before it where `modules` is asked for.
    """

    def __init__(self, package: str, classes: dict[str, str]) -> None:
        self.package, self.classes = package, classes
        self._names = {key: place.rpartition(":")[2] for key, place in classes.items()}

    @property
    def class_names(self) -> ValuesView[str]:
        """Names of the classes, in the order of the table."""
        return self._names.values()

    def modules(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return module -> the table's classes in it and its `names`, as `names_on_demand` takes them."""
        of_modules = {module: set(of_module.split()) for module, of_module in names.items()}
        for place in self.classes.values():  # some of them are there by two names
            module, _, name = place.rpartition(":")
            of_modules.setdefault(module, set()).add(name)
        return {module: " ".join(sorted(of_modules[module])) for module in sorted(of_modules)}

    def __getitem__(self, key: str) -> Class:
        return self.load(self._names[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __contains__(self, key: object) -> bool:
        return key in self.classes

    def __repr__(self) -> str:
        return f"ClassTable({self.package!r}, {self.classes!r})"

    def load(self, class_name: str) -> Class:
        """Return the class of that name."""
        loaded: Class = getattr(sys.modules[self.package], class_name)
        return loaded

    def values(self) -> ValuesView[Class]:
        """Return the classes; asking whether a class is among them imports no other."""
        return _Classes(self)


class _Classes(ValuesView[Class]):
    def __init__(self, table: ClassTable[Class]) -> None:
        super().__init__(table)
        self._table = table

    def __contains__(self, value: object) -> bool:
        name = getattr(value, "__name__", "")
        return name in self._table.class_names and self._table.load(name) is value
