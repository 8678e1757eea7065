"""Rules that annotations set for values: ``Count | None``, ``Literal["c", "f"]``, ``Mapping[int, float]``."""

from __future__ import annotations

import functools
import math
import operator
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from numbers import Real
from typing import Annotated, Any, NamedTuple


class Range(NamedTuple):
    """A condition on a number, in an annotation: ``Annotated[int, Range(">= 1", lambda value: value >= 1)]``."""

    text: str
    holds: Callable[[Any], bool]


EVEN_INFINITE = Range("", lambda value: True)
"""Beside float: infinity is allowed."""
EVEN_NAN = Range("", lambda value: True)
"""Beside float: everything that a float can be is allowed."""
Count = Annotated[int, Range(">= 1", lambda value: value >= 1)]
IntCount = Annotated[int, Range("in 1..2147483647", lambda value: 1 <= value < 2**31)]  # that Java's int holds
Natural = Annotated[int, Range(">= 0", lambda value: value >= 0)]
Long = Annotated[int, Range("of 64 bits", lambda value: -(2**63) <= value < 2**63)]
"""Java's long."""
Positive = Annotated[float, Range("> 0", lambda value: value > 0)]
NonNegative = Annotated[float, Range(">= 0", lambda value: value >= 0)]
Fraction = Annotated[float, Range("in 0..1", lambda value: 0 <= value <= 1)]
Retained = Annotated[float, Range("with 0 < it <= 1", lambda value: 0 < value <= 1)]
"""A probability to retain."""
_LONGEST_PATH, _LONGEST_NAME = 4095, 255  # bytes, on Linux; elsewhere hardly more


def can_be_a_path(path: str | os.PathLike[str]) -> bool:
    """Tell whether an operating system takes such a path: no NUL, nothing that has no bytes, and not too long."""
    try:
        encoded = os.fsencode(path)
    except (TypeError, UnicodeEncodeError):
        return False
    longest = max(map(len, encoded.split(os.sep.encode())))
    return b"\0" not in encoded and len(encoded) <= _LONGEST_PATH and longest <= _LONGEST_NAME


Path = Annotated[str | os.PathLike[str], Range("that a file can have", can_be_a_path)]


class Rule(NamedTuple):
    """A condition on a value, and its conversion."""

    text: str
    """The condition in messages: ``an integer >= 1``."""
    convert: Callable[[Any], Any]
    """Returns the value, a NumPy scalar as Python's; raises Refused where the condition does not hold."""
    remedy: str = ""
    """What to do instead, a sentence of its own."""


class Refused(Exception):
    """A value does not fulfil its rule."""


def rule_of_text(annotation: object, module: str) -> Rule | None:
    """Return the rule of an annotation, None where nothing can be checked."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, vars(sys.modules[module]))
        except (AttributeError, KeyError, NameError, SyntaxError, TypeError):
            # Names for type checkers alone, or of a function; "*Ts", of several arguments.
            return None
    return rule_of(annotation)


def rule_of(annotation: object) -> Rule | None:
    """Return the rule of an annotation; None where it leaves everything open.

    Not cached: ``A | B`` and ``B | A`` are equal, and messages would depend on which came first.
    """
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _ranged(arguments[0], [marker for marker in arguments[1:] if isinstance(marker, Range)])
    if origin in (typing.Union, types.UnionType):
        return _any_of([rule_of(kind) for kind in arguments])
    if origin is typing.Literal:
        return Rule(" or ".join(map(repr, arguments)), functools.partial(_literal, arguments))
    if origin is type:
        return None
    base = origin or annotation
    if not isinstance(base, type) or base in (object, typing.BinaryIO):  # files are looked at where they are opened
        return None
    if issubclass(base, Enum) and issubclass(base, str):
        return Rule("one of " + ", ".join(sorted(base)), functools.partial(_member, base))
    if issubclass(base, Mapping):
        texts = ["anything" if rule is None else rule.text for rule in map(rule_of, arguments)]
        text = f"a mapping from {texts[0]} to {texts[1]}" if texts else "a mapping"
        return Rule(text, functools.partial(_mapping, arguments))
    if base in (tuple, list, Sequence) and arguments:
        return _sequence(base, arguments)
    return _OPEN.get(base) or _instance(base)


def _any_of(rules: Sequence[Rule | None]) -> Rule | None:
    if any(rule is None for rule in rules):
        return None
    known = [rule for rule in rules if rule is not None]

    def convert(value: Any) -> Any:
        for rule in known:
            try:
                return rule.convert(value)
            except Refused:
                continue
        raise Refused

    texts = dict.fromkeys(rule.text for rule in sorted(known, key=lambda rule: rule.text == "None"))
    return Rule(" or ".join(texts), convert)


def _is_switch(value: object) -> bool:
    """Tell whether a value is a bool, Python's or NumPy's, whose class has that name too."""
    return isinstance(value, bool) or (type(value).__name__ in ("bool", "bool_") and hasattr(value, "dtype"))


def _switch(value: object) -> bool:
    if not _is_switch(value):
        raise Refused
    return bool(value)


def _integer(value: object) -> int:
    if type(value) is int:
        return value
    if _is_switch(value) or not hasattr(value, "__index__") or getattr(value, "shape", None):
        raise Refused
    try:
        return operator.index(value)
    except TypeError:
        raise Refused from None


def _number(value: object) -> float:
    if type(value) is not float:
        if _is_switch(value) or not isinstance(value, Real):
            raise Refused
        try:
            value = float(value)
        except OverflowError:
            raise Refused from None
    return value


def _not_nan(value: Any) -> float:
    value = _number(value)
    if math.isnan(value):
        raise Refused
    return value


def _finite(value: object) -> float:
    value = _number(value)
    if not math.isfinite(value):
        raise Refused
    return value


def _kept_if(holds: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """Return a conversion that hands on unchanged the values for which the condition holds."""

    def convert(value: Any) -> Any:
        if not holds(value):
            raise Refused
        return value

    return convert


SWITCH = Rule("True or False", _switch)
INTEGER = Rule("an integer", _integer)
NUMBER = Rule("a number", _finite)
_NONE = Rule("None", _kept_if(lambda value: value is None))
_SCALARS: dict[object, Rule | None] = {
    Any: None,
    None: _NONE,
    type(None): _NONE,
    bool: SWITCH,
    int: INTEGER,
    float: NUMBER,
    str: Rule("text", _kept_if(lambda value: isinstance(value, str))),
}


def _is_iterable(value: object) -> bool:
    """Tell whether a value has elements; NumPy's arrays without an axis have none, and texts are not meant."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes) and getattr(value, "shape", None) != ()


_OPEN: dict[object, Rule] = {
    Callable: Rule("a function", _kept_if(callable)),
    # whose elements are not checked: it may be read only once
    Iterable: Rule("an iterable", _kept_if(_is_iterable)),
    os.PathLike: Rule("a path", _kept_if(lambda x: isinstance(x, os.PathLike) and isinstance(x.__fspath__(), str))),
}


def _ranged(base: Any, ranges: Sequence[Range]) -> Rule | None:
    plain = rule_of(base)
    if plain is None:
        return None
    inner = plain.convert
    for marker, wider in ((EVEN_INFINITE, _not_nan), (EVEN_NAN, _number)):
        if base is float and any(limit is marker for limit in ranges):
            inner = wider

    def convert(value: Any) -> Any:
        converted = inner(value)
        if not all(limit.holds(converted) for limit in ranges):
            raise Refused
        return converted

    return Rule(" ".join([plain.text, *(limit.text for limit in ranges if limit.text)]), convert)


def _literal(allowed: tuple[object, ...], value: object) -> object:
    if not isinstance(value, (str, int, type(None))) or value not in allowed:
        raise Refused
    return value


def _member(names: Any, value: Any) -> Any:
    if not isinstance(value, str) or value.lower() not in list(names):
        raise Refused
    return names(value.lower())


def _mapping(kinds: tuple[object, ...], value: object) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        raise Refused
    key_rule, value_rule = (rule_of(kind) for kind in kinds) if kinds else (None, None)
    if key_rule is None and value_rule is None:
        return value
    return {
        key_rule.convert(key) if key_rule else key: value_rule.convert(content) if value_rule else content
        for key, content in value.items()
    }


def _sequence(base: type, kinds: tuple[object, ...]) -> Rule:
    """Return the rule of ``tuple[int, int]``, ``tuple[int, ...]``, ``Sequence[int]``: values become tuples."""
    several = base is not tuple or kinds[1:] == (...,)
    rules = [rule_of(kind) for kind in kinds if kind is not ...]

    def convert(value: Any) -> Any:
        if hasattr(value, "tolist") and getattr(value, "ndim", 0) >= 1:
            value = value.tolist()
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise Refused
        if not several and len(value) != len(rules):
            raise Refused
        by_place = [rules[0]] * len(value) if several else rules
        items = [item if rule is None else rule.convert(item) for rule, item in zip(by_place, value, strict=True)]
        return items if base is list else tuple(items)

    text = rules[0].text if rules[0] is not None else "anything"
    return Rule(f"a sequence of {text}" if several else f"a tuple of {len(rules)}, each {text}", convert)


def _instance(kind: type) -> Rule | None:
    """Return the rule of a class of ours, or of any class that `isinstance` takes."""
    try:
        isinstance(None, kind)
    except TypeError:  # a protocol that is not for run time, such as Array
        return None
    article = "an" if kind.__name__[:1] in "AEIOU" else "a"
    remedy = getattr(kind, "made_by", "")
    return Rule(f"{article} {kind.__name__}", _kept_if(lambda value: isinstance(value, kind)), remedy)
