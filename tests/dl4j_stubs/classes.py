"""The stub of one class: the names that nn.dl4j gives it, and its methods that return such classes."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable
from typing import Any

from nd.dataset.iterator import MinibatchIterator
from nn import InputPreProcessor, InputType
from nn.dl4j.names import NAMES
from nn.dl4j.naming import OF_OBJECTS, Assigning, Default, Field, Renamed
from tests.java_spelling import is_javas

from .annotations import Translation, bindings

WITHIN = InputPreProcessor, InputType
"""Classes that programs hand over, and seldom get from a method."""
OURS = ("backends", "nd", "nn", "optimize")


def is_listed(kind: Any) -> bool:
    """Tell whether a class, or a base of it, has names in the table."""
    return isinstance(kind, type) and any(base.__qualname__ in NAMES.get(base.__module__, {}) for base in kind.__mro__)


def top_name(kind: type) -> str:
    """Return the name at the top of its module under which a class stands."""
    return kind.__qualname__.partition(".")[0]


class ClassStub:
    """Writes the stub of a class.

    Parameters
    ----------
    kind : type
    name : str
        Of the class in the stub.
    stub_name : callable
        Returns the stub's name of another class, None where it has none.

    Attributes
    ----------
    builder : str
        The stub's name of its Builder, if it has one.
    """

    def __init__(self, kind: type, name: str, stub_name: Callable[[Any], str | None]) -> None:
        self.kind, self.name, self.stub_name = kind, name, stub_name
        real = next(
            one for one in kind.__mro__ if isinstance(bindings(one.__module__).get(top_name(one)), ast.ClassDef)
        )
        self.modules = {real.__module__}
        listed = [str(stub_name(base)) for base in kind.__bases__ if is_listed(base)]
        bases = [f"{real.__module__}.{real.__qualname__}", *listed]
        self.lines = [f"class {name}({', '.join(bases)}):"]
        self.builder = ""

    def write(self) -> list[str]:
        """Return its lines: bases have theirs."""
        of_bases = OF_OBJECTS if any(map(is_listed, self.kind.__bases__)) else ()
        for name, value in sorted(vars(self.kind).items()):
            if name in ("Builder", "builder", *of_bases):
                continue
            if is_javas(self.kind, name):
                self._java_name(name, value)
            elif name[0] != "_":
                self._returning_listed(name, value)
        self._written_otherwise()
        if len(self.lines) == 1:
            self.lines.append("    ...")
        return self.lines

    def _written_otherwise(self) -> None:
        """Add what no name of the class says: what an iterator hands out, Java's arguments, the Builder."""
        if issubclass(self.kind, MinibatchIterator) and hasattr(self.kind, "kind"):
            batch = self.stub_name(self.kind.kind)
            if not any("def next(" in line for line in self.lines):
                self.lines.append(f"    def next(self, num: int | None = ...) -> {batch}: ...")
            self.lines.append(f"    def __next__(self) -> {batch}: ...")
        if "construct" in vars(self.kind):  # which Java's arguments are given to
            self.lines.append("    def __init__(self, *arguments: typing.Any, **settings: typing.Any) -> None: ...")
        if self.builder:
            self.lines += [f"    Builder: type[{self.builder}]", f"    builder: type[{self.builder}]"]

    # ---- names of the table

    def _java_name(self, name: str, value: Any) -> None:
        if isinstance(value, Default):
            self.lines.append(f"    {name}: {type(getattr(self.kind, name)).__name__}")
        elif isinstance(value, Field):
            static = inspect.getattr_static(self.kind, value.ours, None)
            text = self._returned(static.fget) if isinstance(static, property) else self._field(value.ours)
            self.lines += ["    @property", f"    def {name}(self) -> {text}: ..."]
        elif isinstance(value, Assigning):
            self.lines.append(f"    def {name}(self, value: typing.Any, /) -> None: ...")
        elif isinstance(value, Renamed):
            self._renamed(name, value.ours)
        else:
            self._function(name, value, self._module_of(value))

    def _renamed(self, name: str, ours: str) -> None:
        static = inspect.getattr_static(self.kind, ours, None)
        if isinstance(static, property):
            self.lines.append(f"    def {name}(self) -> {self._returned(static.fget)}: ...")
        elif isinstance(static, type):
            self.lines.append(f"    {name} = {ours}")
        elif isinstance(static, (staticmethod, classmethod)):
            self._function(name, static.__func__, self._module_of(static.__func__), type(static).__name__)
        elif callable(static):
            self._function(name, static, self._module_of(static))
        else:
            self.lines.append(f"    def {name}(self) -> {self._field(ours)}: ...")

    def _field(self, name: str) -> str:
        for base in self.kind.__mro__:
            annotation = vars(base).get("__annotations__", {}).get(name)
            if (
                annotation is not None
                and "ClassVar" not in str(annotation)
                and base.__module__.partition(".")[0] in OURS
            ):
                return self._translated(base.__module__, annotation)
        return "typing.Any"

    # ---- what returns a class with names

    def _returning_listed(self, name: str, value: Any) -> None:
        """Say anew what returns an object of such a class, so that the object's names are known."""
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not inspect.isfunction(function) or not self._is_ours(function):
            return
        translation = Translation(self._module_of(function), self.stub_name)
        returned = inspect.signature(function).return_annotation
        if returned is inspect.Signature.empty:
            return
        translation.text(returned)
        if not translation.named - {str(self.stub_name(kind)) for kind in WITHIN}:
            return
        if isinstance(value, property):
            setter = value.fset is not None
            text = self._returned(function)
            self.lines += ["    @property", f"    def {name}(self) -> {text}: ..."]
            if setter:
                self.lines += [f"    @{name}.setter", f"    def {name}(self, value: typing.Any) -> None: ..."]
            return
        decorator = type(value).__name__ if isinstance(value, (staticmethod, classmethod)) else ""
        self._function(name, function, self._module_of(function), decorator)

    # ---- one function

    def _function(self, name: str, function: Any, module: str, decorator: str = "") -> None:
        overloads = typing.get_overloads(inspect.unwrap(function))
        for one in overloads or [function]:
            self.lines += [f"    @{each}" for each in ("typing.overload" if overloads else "", decorator) if each]
            self.lines.append(f"    def {name}{self._signature(one, module)}: ...")

    def _signature(self, function: Any, module: str) -> str:
        signature = inspect.signature(function)
        parts, star = [], False
        for parameter in signature.parameters.values():
            text = parameter.name
            if parameter.annotation is not parameter.empty:
                text += f": {self._translated(module, parameter.annotation, argument=True)}"
            text += "" if parameter.default is parameter.empty else " = ..."
            if parameter.kind is parameter.VAR_POSITIONAL:
                text, star = f"*{text}", True
            elif parameter.kind is parameter.VAR_KEYWORD:
                text = f"**{text}"
            elif parameter.kind is parameter.KEYWORD_ONLY and not star:
                parts.append("*")
                star = True
            parts.append(text)
        returned = signature.return_annotation
        result = "typing.Any" if returned is signature.empty else self._translated(module, returned)
        return f"({', '.join(parts)}) -> {result}"

    def _returned(self, function: Any) -> str:
        returned = inspect.signature(function).return_annotation
        return (
            "typing.Any"
            if returned is inspect.Signature.empty
            else self._translated(self._module_of(function), returned)
        )

    def _translated(self, module: str, annotation: Any, argument: bool = False) -> str:
        """Return an annotation for the stub; arguments may be of the library's classes without Java's names."""
        translation = Translation(module, (lambda kind: None) if argument else self.stub_name)
        text = translation.text(annotation)
        self.modules |= translation.modules
        return text

    @staticmethod
    def _module_of(function: Any) -> str:
        return str(inspect.unwrap(function).__module__)

    def _is_ours(self, function: Any) -> bool:
        return self._module_of(function).partition(".")[0] in OURS
