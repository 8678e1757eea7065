"""The stubs of Builders, which have a method for each setting of what they build."""

from __future__ import annotations

import dataclasses
from keyword import iskeyword
from typing import Any

from .annotations import origin

RETURNED = {"graphBuilder": "_BuilderOfGraph", "list": "_BuilderOfList"}
"""Java's name of a setting -> the Builder that goes on from there."""


def camel_case(name: str) -> str:
    """Turn ``n_in`` into ``nIn``.

    Examples
    --------
    >>> camel_case("optimization_algo"), camel_case("l1")
    ('optimizationAlgo', 'l1')
    """
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def fields_of(target: type) -> set[str]:
    """Return the fields that a Builder of a class sets."""
    named = getattr(target, "builder_fields", None)
    return set(named or (field.name for field in dataclasses.fields(target) if field.init))


def settings_of(target: type) -> list[str]:
    """Return Java's names of the settings that a Builder of a class takes."""
    fields, names = fields_of(target), getattr(target, "builder_names", {})
    known = fields | {java for java, ours in names.items() if ours in fields}
    known |= {f"set_{name}" for name in known}
    known |= {*getattr(target, "builder_verbs", ()), *getattr(target, "builder_unused", ())}
    known |= set(getattr(target, "builder_ignored", ()))
    return sorted(name for name in set(map(camel_case, known - {"build", "clone"})) if not iskeyword(name))


def builder_stub(name: str, target: type, built: str, base: type | None, base_name: str) -> list[str]:
    """Return the stub of a Builder of a class; `built` is what `build` returns, `base` has settings already."""
    lines = [f"class {name}({base_name}):"] if base else [f"class {name}:", *OF_ALL]
    known = set(settings_of(base)) if base else set()
    for setting in settings_of(target):
        returned = RETURNED.get(setting, "typing.Self")
        if setting not in known:
            lines.append(f"    def {setting}(self, *value: typing.Any) -> {returned}: ...")
    return [*lines, f"    def build(self) -> {built}: ..."]


OF_ALL = "    def __init__(self, *arguments: typing.Any) -> None: ...", "    def clone(self) -> typing.Self: ..."


def built_by(target: type, stub_name: Any) -> str:
    """Return the stub's name of what a Builder of a class makes."""
    finish = getattr(target, "finish", None)
    if finish is None:
        return str(stub_name(target))
    found = origin(finish.__module__, str(finish.__annotations__["return"]))
    assert found is not None
    return str(stub_name(found.value))


def has_builder(kind: type) -> bool:
    """Tell whether a class is what its `Builder` sets the fields of."""
    made = getattr(kind, "Builder", None)
    annotation = getattr(made, "__annotations__", {}).get("return") if not isinstance(made, type) else None
    return annotation in ("Builder", "Any") and (dataclasses.is_dataclass(kind) or hasattr(kind, "builder_fields"))
