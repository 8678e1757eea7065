"""Gives the library's classes the names that Deeplearning4j has for their methods and fields, as `names` lists them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from inspect import Parameter, isroutine, signature
from itertools import takewhile
from operator import attrgetter
from types import ModuleType
from typing import Any

from nd import ConfigurationError
from nd.java_names import snake_case

from .names import NAMES


class Renamed:
    """A method by another name, or a method that returns a field: ``net.numParams()``, ``net.getEpochCount()``.

    What the object has by our name is looked up at each call, so that subclasses override it. Where a subclass has
    overridden it by Java's name, the call is one of ``super().hasNext()`` in there, and the subclass is passed over.
    """

    __slots__ = ("java", "ours")

    def __init__(self, java: str, ours: str) -> None:
        self.java, self.ours = java, ours

    def __get__(self, instance: object, owner: type) -> Any:
        asked = owner if instance is None else instance
        below = takewhile(lambda base: vars(base).get(self.java) is not self, owner.__mro__)
        for base in [base for base in below if {self.java, self.ours} <= vars(base).keys()][-1:]:
            asked = super(base, asked)
        value = getattr(asked, self.ours)
        return value if isroutine(value) or isinstance(value, type) else partial(_itself, value)


class Assigning(Renamed):
    """A method that sets a field: ``net.setEpochCount(3)``."""

    __slots__ = ()

    def __get__(self, instance: object, owner: type) -> partial[None]:
        return partial(_assign, owner if instance is None else instance, self.ours)


class Field(Renamed):
    """A field by another name: ``net.initDone``."""

    __slots__ = ()

    def __get__(self, instance: object, owner: type) -> Any:
        return getattr(owner if instance is None else instance, self.ours)

    def __set__(self, instance: object, value: object) -> None:
        setattr(instance, self.ours, value)  # which raises where our field is read only


class Default(Renamed):
    """A constant: the default of an argument of the constructor, ``Adam.DEFAULT_ADAM_EPSILON``."""

    __slots__ = ()

    def __get__(self, instance: object, owner: type) -> Any:
        constructor = next(vars(base)["__init__"] for base in owner.__mro__ if "__init__" in vars(base))
        default = signature(constructor).parameters[self.ours].default
        if default is Parameter.empty:
            raise AttributeError(f"{owner.__name__!r} has no default of {self.ours!r}")
        return default


def _itself(value: object) -> object:
    return value


def _assign(owner: object, field: str, value: object) -> None:
    try:
        setattr(owner, field, value)
    except FrozenInstanceError:
        raise ConfigurationError(
            f"{type(owner).__name__}: a configuration must stay as it is, got a new {field}. Give it to the "
            f"constructor or the Builder, or copy: dataclasses.replace(configuration, {field}=...)."
        ) from None


def to_string(self: Any) -> str:
    """Return the text of an object."""
    return str(self)


def equals(self: Any, other: object) -> bool:
    """Tell whether an object equals another."""
    return bool(self == other)


def hash_code(self: Any) -> int:
    """Return the hash of an object, in Java's 32 bits."""
    return (hash(self) + 2**31) % 2**32 - 2**31


OF_OBJECTS = {"toString": to_string, "equals": equals, "hashCode": hash_code}
"""Java's methods of every object."""


def named(word: str) -> tuple[str, Any]:
    """Return a name of the table, and what a class gets by it: `names` says how words are read."""
    java, _, ours = word.partition("=")
    ours = ours or snake_case(java)
    if ":" in ours:
        return java, _written_for_java(ours)
    if java.startswith("DEFAULT_"):
        return java, Default(java, ours)
    if ours[0] == "=":
        return java, Field(java, ours[1:])
    sets = java.startswith("set") and not ours.lstrip("_").startswith("set_")
    return java, (Assigning if sets else Renamed)(java, ours)


def _written_for_java(path: str) -> object:
    """Return a function that stands in a module of this package: ``module:function``."""
    module, _, name = path.partition(":")

    def call(self: Any, *arguments: Any, **named_ones: object) -> Any:
        function = getattr(importlib.import_module(f".{module}", __package__), name)
        return function(self, *arguments, **named_ones)

    call.__name__ = call.__qualname__ = name
    return call


def give_names(module: ModuleType) -> None:
    """Give the classes of a module their names; a name that a class has already stays as it is."""
    for path, words in NAMES[module.__name__].items():
        kind = attrgetter(path)(module)
        names = dict(map(named, words.split()))
        for java, value in {**OF_OBJECTS, **names}.items():
            if java not in vars(kind):
                type.__setattr__(kind, java, value)


class _Naming(MetaPathFinder):
    """Finds the listed modules as Python does, and has their classes named when they are loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in NAMES else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_name(module: ModuleType) -> None:
                load(module)
                give_names(module)

            spec.loader.exec_module = load_and_name  # type: ignore[method-assign]
        return spec


def name_classes() -> None:
    """Name the classes that are loaded, and from now on each that is."""
    if not any(isinstance(finder, _Naming) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Naming())
        for name in NAMES:
            if name in sys.modules:  # another thread may still be at it, for which the import waits
                give_names(importlib.import_module(name))
