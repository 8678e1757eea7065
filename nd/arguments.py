"""Conditions on arguments and fields: said once, by their annotations, and checked where values are given.

A configuration is a dataclass from `Checked`, a public function or constructor is decorated with `checked`. Both read
the annotations: ``n_out: Count | None``, ``has_bias: bool``, ``learning_rate: Positive | Schedule``. NumPy's scalars
are numbers and become Python's; a bool never is one. Conditions that cannot be checked (arrays, type variables, names
that only type checkers know) are left to the function.
"""

from __future__ import annotations

import functools
import inspect
import re
import reprlib
import weakref
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from typing import Any, Self, TypeVar

from backends.errors import ArgumentError
from backends.suggestions import suggestion

from .classes import ExplainedType, overridable
from .rules import (
    EVEN_INFINITE,
    EVEN_NAN,
    Count,
    Fraction,
    IntCount,
    Long,
    Natural,
    NonNegative,
    Path,
    Positive,
    Range,
    Refused,
    Retained,
    Rule,
    rule_of,
    rule_of_text,
)

Function = TypeVar("Function", bound=Callable[..., Any])

# ---- dataclasses


@overridable
class Checked(metaclass=ExplainedType):
    """A dataclass whose fields are checked against their annotations when an instance is constructed.

    A `__post_init__` of a subclass calls this one first. Fields keep the values that they are given, but numbers become
    Python's.

    Raises
    ------
    ArgumentError
        A field is of another type, or out of its range.
    """

    def __post_init__(self) -> None:
        who = type(self).__name__
        owner = type(self)
        rules = _RULES.get(weakref.ref(owner))
        if rules is None:
            rules = _RULES[weakref.ref(owner, _RULES.pop)] = _field_rules(owner)
        for name, rule, default in rules:
            given = getattr(self, name)
            value = converted(who, name, rule, given, default)
            if value is not given:
                object.__setattr__(self, name, value)

    def clone(self) -> Self:
        """Return itself, which nobody can change."""
        return self


_RULES: dict[weakref.ref[type], tuple[tuple[str, Rule, object], ...]] = {}
"""What a WeakKeyDictionary would be whose callbacks are C's: in one of Python's a Ctrl-C gets lost."""


def _field_rules(owner: type) -> tuple[tuple[str, Rule, object], ...]:
    rules = []
    for field in fields(owner):
        definer = next(base for base in owner.__mro__ if field.name in vars(base).get("__annotations__", ()))
        rule = rule_of_text(field.type, definer.__module__)
        if rule is not None and field.init:
            rules.append((field.name, rule, field.default))
    return tuple(rules)


# ---- functions


def _answer(error: TypeError, function: Function, arguments: tuple[object, ...], named: dict[str, object]) -> None:
    """Raise CallError in the place of an error that a call which does not fit the function has had."""
    from .calls import call_error  # which calls that fit do not need

    refused = call_error(error, function, arguments, named)
    if refused is not None:
        raise refused from None


def checked(function: Function) -> Function:
    """Check and convert the arguments of a public function, method or constructor; not for functions of hot loops.

    Raises
    ------
    ArgumentError
        From the decorated function, where an argument is of another type, or out of its range.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    is_method = names[:1] in (("self",), ("cls",))
    constructs = function.__name__ == "__init__"

    @functools.wraps(function)
    def call(*arguments: Any, **named: object) -> Any:
        rules, rest = argument_rules(function)
        who = type(arguments[0]).__name__ if constructs else function.__name__
        given = list(arguments)
        for at in range(is_method, len(arguments)):
            name = names[at] if at < len(names) else rest
            if name in rules:
                rule, default = rules[name]
                given[at] = converted(who, name, rule, arguments[at], default)
        for name, value in named.items():
            if name in rules:
                rule, default = rules[name]
                named[name] = converted(who, name, rule, value, default)
        try:
            return function(*given, **named)
        except TypeError as error:
            _answer(error, function, arguments, named)
            raise

    return call  # type: ignore[return-value]


def called(function: Function) -> Function:
    """Refuse calls that do not fit a function in the library's words; those that fit cost a try.

    Raises
    ------
    CallError
        From the decorated function: an argument is not there, one too many or one too few.
    """

    @functools.wraps(function)
    def call(*arguments: object, **named: object) -> object:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            _answer(error, function, arguments, named)
            raise

    return call  # type: ignore[return-value]


def answer_calls(owner: type, but: Collection[str]) -> None:
    """Have all public methods of a class, also inherited ones, refuse calls that do not fit them, but for some."""
    for name in dir(owner):
        method = inspect.getattr_static(owner, name)
        if inspect.isfunction(method) and name[:1] != "_" and name not in but and not hasattr(method, "__wrapped__"):
            setattr(owner, name, called(method))


@functools.cache
def argument_rules(function: Any) -> tuple[dict[str, tuple[Rule, object]], str]:
    """Return name -> rule and default of a function's arguments, and the name of ``*arguments``."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[: count + bool(code.co_flags & inspect.CO_VARARGS)]
    defaults = dict(zip(reversed(names[: code.co_argcount]), reversed(function.__defaults__ or ()), strict=False))
    defaults |= function.__kwdefaults__ or {}
    rules = {}
    for name in names:
        rule = rule_of_text(function.__annotations__.get(name, Any), function.__module__)
        if rule is not None:
            rules[name] = (rule, defaults.get(name, MISSING))
    return rules, names[count] if len(names) > count else ""


def argument_names(function: Any, arguments: tuple[object, ...], named: dict[str, Any]) -> dict[str, object] | None:
    """Return name -> value of a call; None where the function does not take those, or hides what it takes."""
    try:
        return dict(inspect.signature(function).bind(*arguments, **named).arguments)
    except (TypeError, ValueError):  # ValueError: one of C's without a signature
        return None


def converted(who: str, name: str, rule: Rule, value: object, default: object = MISSING) -> Any:
    """Return an argument, converted by its rule.

    Raises
    ------
    ArgumentError
        The rule refuses it.
    """
    try:
        return rule.convert(value)
    except Refused:
        raise refusal(who, name, rule.text, value, default, rule.remedy) from None


def settled(function: Any, **given: object) -> tuple[Any, ...]:
    """Return arguments of a function of the facade, converted by their annotations.

    For arguments that NumPy would take whatever they are. The function looks at their types first, and calls this for
    unusual ones only, because it has no time to spend on the usual ones.

    Raises
    ------
    ArgumentError
        An annotation refuses its argument.
    """
    rules = argument_rules(inspect.unwrap(function))[0]
    return tuple(
        converted(function.__qualname__, name, rules[name][0], value, rules[name][1]) for name, value in given.items()
    )


# ---- messages


def refusal(
    who: str, name: str, expected: str, value: Any, default: object = MISSING, remedy: str = ""
) -> ArgumentError:
    """Return the error for a refused value: who, what must hold, got what, remedy."""
    remedy = remedy or "Give it such a value."
    allowed = re.findall(r"\w+", expected.partition("one of")[2])
    is_class = isinstance(value, type) and expected.startswith("text")
    word = value.__name__ if is_class else value
    if isinstance(word, str) and (meant := suggestion(name, word, allowed)):
        remedy = meant.strip()
    elif is_class:
        remedy = f"Give its name, {word!r}."
    elif isinstance(value, str) and expected.startswith(("a number", "an integer", "True")):
        remedy = "Write it without quotes."
    elif default is None:
        remedy = "Give it such a value, or leave it out."
    elif default is not MISSING and not callable(default):
        remedy = f"Leave it out for the default, {default!r}."
    return ArgumentError(f"{who}: {name} must be {expected}, got {shown(value)}. {remedy}")


def shown(value: object) -> str:
    """Return a value as messages show it: in few characters, an array by its shape."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"an array of shape [{', '.join(map(str, shape))}]"
    if isinstance(value, (list, tuple)) and any(hasattr(part, "shape") for part in value):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = _SHORT.repr(value)
    return f"an object of {type(value).__name__}" if text.startswith("<") and " at 0x" in text else text


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


__all__ = [
    "EVEN_INFINITE", "EVEN_NAN", "Checked", "Count", "Fraction", "IntCount", "Long", "Natural", "NonNegative", "Path",
    "Positive", "Range", "Retained", "Rule", "argument_names", "argument_rules", "checked", "converted", "refusal",
    "rule_of", "settled", "shown",
]  # fmt: skip
