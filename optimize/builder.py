"""DL4J's fluent style, once, for every configuration dataclass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from copy import copy
from dataclasses import fields
from functools import partial
from typing import Any

from nd import ConfigurationError
from nd.checks import check_choice
from nd.java_names import snake_case


class Builder:
    """Sets the fields of a dataclass, one call each, so that a Java snippet ports line by line.

    ``Builder(DenseLayer).nIn(3).nOut(4).build()`` is ``DenseLayer(n_in=3, n_out=4)``; ``setNIn(3)`` is ``nIn(3)``, and
    ``getNIn()`` what was set, or None. A target may name further calls in `builder_verbs`: functions that take the
    builder and the arguments; Java's names of fields that are called another way in `builder_names`; settings that
    change nothing here in `builder_unused` (to be kept in the field `unused`, under that key of Java's JSON) and
    `builder_ignored`.

    Parameters
    ----------
    target : type
        The dataclass, or a class that names what can be set in `builder_fields`. If it has a method `finish`, `build`
        returns what that returns.
    values : dict
        Fields that are set already.
    """

    def __init__(self, target: type, **values: Any) -> None:
        self._target = target
        self.given = values
        self._said: dict[str, object] = {}  # to verbs
        named: Iterable[str] | None = getattr(target, "builder_fields", None)
        self._fields = set(named or (field.name for field in fields(target) if field.init))
        self._verbs = getattr(target, "builder_verbs", {})
        self._names: dict[str, str] = getattr(target, "builder_names", {})
        self._unused: dict[str, str] = getattr(target, "builder_unused", {})
        self._ignored: Collection[str] = getattr(target, "builder_ignored", ())

    def __repr__(self) -> str:
        return f"{self._target.__name__}.Builder"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        field = snake_case(name)
        for candidate in (field, field.removeprefix("set_")):
            method = self._method(self._names.get(candidate, candidate))
            if method is not None:
                return method
        verb, _, rest = field.partition("_")
        setting = self._names.get(rest, rest)
        if verb in ("get", "is") and self._method(setting) is not None:
            return partial(self._value, setting)
        check_choice(f"{self}", "setting", field, self._fields | set(self._verbs) | {"build"})
        raise AttributeError(name)

    def _method(self, setting: str) -> Callable[..., object] | None:
        """Return what sets a field, a verb of the target, or what keeps or passes by a setting that is not used."""
        if setting in self._verbs:
            return partial(self._say, setting)
        if setting in self._fields:
            return partial(self._put, setting)
        if setting in self._unused:
            return partial(self._keep, self._unused[setting])
        return (lambda *arguments: self) if setting in self._ignored else None

    def _put(self, field: str, *value: Any) -> Builder:
        self.given[field] = value[0] if len(value) == 1 else value
        return self

    def _keep(self, key: str, value: Any) -> Builder:
        name = getattr(value, "name", value)
        kept = name.upper() if isinstance(name, str) else name
        self.given["unused"] = {**self.given.get("unused", {}), key: kept}
        return self

    def _say(self, verb: str, *arguments: Any, **named: object) -> object:
        self._said[verb] = arguments[0] if len(arguments) == 1 else arguments
        return self._verbs[verb](self, *arguments, **named)

    def _value(self, setting: str) -> object:
        """Return what a setting was given, None where it was not, or has no use here."""
        known = {**self._said, **self.given}
        return known.get(setting, self.given.get("unused", {}).get(self._unused.get(setting)))

    def clone(self) -> Builder:
        """Return a copy, which goes its own way."""
        twin = type(self)(self._target)
        twin._said = dict(self._said)
        twin.given = {
            key: copy(value) if isinstance(value, (dict, list)) else value for key, value in self.given.items()
        }
        return twin

    def build(self) -> Any:
        """Make the configuration; its own checks apply."""
        configuration = self._target(**self.given)
        return configuration.finish() if hasattr(configuration, "finish") else configuration


def builder_of(target: type, *arguments: Any) -> Builder:
    """Return a builder with arguments by position, which set the target's fields in their order.

    Raises
    ------
    ConfigurationError
        There are more arguments than fields.
    """
    names = [field.name for field in fields(target) if field.init]
    if len(arguments) > len(names):
        raise ConfigurationError(
            f"{target.__name__}.Builder: takes at most {names}, got {list(arguments)}. Leave out what is too many."
        )
    return Builder(target, **dict(zip(names, arguments, strict=False)))


def knows(builder: Builder, field: str) -> bool:
    """Tell whether a builder's target has a field."""
    return field in builder._fields


def item_verb(field: str) -> Callable[..., Builder]:
    """Return a verb for `builder_verbs`, which puts a value under its key into a dict that is given so far."""

    def put(builder: Builder, key: Any, value: object) -> Builder:
        builder.given[field][key] = value
        return builder

    return put
