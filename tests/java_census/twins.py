"""Which class of ours is which of Deeplearning4j's: by its name, or by a table of those with other names."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

import nn
import nn.dl4j
from nd.java_enums import JavaEnumType, NameHolder
from nn.dl4j.graph_vertices import GraphVertex
from nn.dl4j.naming import Assigning
from optimize.builder import Builder

from .interfaces import kept
from .other_names import OTHER_NAMES

CALLED_FIELDS = {("LayerRuntime", "conf"), ("LayerRuntime", "params"), ("NetworkCore", "conf")}
"""Fields of an object that are called: ``net.conf()``."""
LAYERS_AT_WORK, VERTICES_AT_WORK = "org.deeplearning4j.nn.layers.", "org.deeplearning4j.nn.graph.vertex.impl."


@cache
def twin(java: str) -> Any:
    """Return our class, or what a Java class's Builder is here; None for one that we have not."""
    short = java.removeprefix("org.")
    if short in OTHER_NAMES:
        return _named(OTHER_NAMES[short]) if OTHER_NAMES[short] else None
    outer, _, inner = java.rpartition("$")
    if inner == "Builder" and outer in kept():
        return builder(outer)
    if java.startswith(VERTICES_AT_WORK) and "$" not in java:
        return GraphVertex
    if java.startswith(LAYERS_AT_WORK):
        return at_work(java.rpartition(".")[2])
    return _by_name(java.rpartition(".")[2].replace("$", "."))


def _by_name(path: str) -> Any:
    if not path.rpartition(".")[2][0].isupper():
        return None
    for module in (nn.dl4j, *map(import_module, ("nn.layers", "nn.vertices", "nn.networks.gradient", "nn.terms"))):
        with suppress(AttributeError, ValueError):
            return attrgetter(path)(module)
    return None


def at_work(name: str) -> Any:
    """Return the runtime of a layer whose configuration has that name."""
    conf = _by_name(name)
    return getattr(conf, "runtime", None) if isinstance(conf, type) else None


def builder(outer: str) -> Any:
    """Return a Builder of ours for a Java class that has one, a class where it is one; None for none."""
    owner = twin(outer)
    made = getattr(owner, "Builder", None)
    if made is None or isinstance(made, type):
        return made
    try:
        return made()
    except (TypeError, ValueError):
        return Builder(owner)


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    found = attrgetter(name.removesuffix("()"))(import_module(module))
    return found() if name.endswith("()") else found


def has(ours: Any, name: str) -> bool:
    """Tell whether a class, or a Builder, has a name of Java's."""
    if isinstance(ours, type):
        if _is_refused(ours, name):
            return False
        if any(name in vars(base) or (base.__name__, name) in CALLED_FIELDS for base in ours.__mro__):
            return True
        members = (
            list(getattr(ours, "__members__", {}).values()) if isinstance(ours, (JavaEnumType, NameHolder)) else []
        )
        return bool(members) and (_answers(ours, name) or _answers(members[0], name))
    return _answers(ours, name)


def _is_refused(ours: type, name: str) -> bool:
    """Tell whether a class has a setter of a configuration, which never changes: the setter says what to do instead."""
    frozen = getattr(getattr(ours, "__dataclass_params__", None), "frozen", False)
    return frozen and type(inspect.getattr_static(ours, name, None)) is Assigning


def _answers(ours: Any, name: str) -> bool:
    """Tell whether an object has a name, or looks for it and finds it."""
    try:
        getattr(ours, name)
    except (AttributeError, ValueError):
        return False
    return True
