"""What computes what: a primitive is a generic implementation, and choices before it, each with its condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, get_origin

P = ParamSpec("P")
Given = TypeVar("Given")
Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=type)


class Choice(NamedTuple):
    """One implementation, and where it is the one.

    Parameters
    ----------
    holds : callable
        Tells of a backend and what the primitive is given whether this implementation computes it: one tuple, or the
        arguments of an ordinary method.
    run : callable
        Computes it, from the same.
    """

    holds: Callable[..., Any]
    run: Callable[..., Any]


Table = Mapping[str, Sequence[Choice]]
"""Name of a primitive -> its choices, in the order in which they are asked."""


def always(backend: object, *given: object, **named: object) -> bool:
    """Hold: of the last choice, where the generic implementation is never the one."""
    return True


def primitive(
    arguments: Callable[P, Given], generic: Callable[[Any, Given], Result], *choices: Choice
) -> Callable[Concatenate[Any, P], Result]:
    """Return a method of backends: the first choice whose condition holds computes, else the generic implementation.

    Parameters
    ----------
    arguments : type of NamedTuple
        The method's parameters; implementations and conditions are given one such tuple.
    generic : callable
        Takes the backend and that tuple, and gives the method its documentation.
    choices : Choice
        Asked in this order.
    """
    given_as: Any = get_origin(arguments) or arguments  # Convolution of Convolution[Array]
    count, made = len(given_as._fields), tuple.__new__

    def call(self: Any, *values: P.args, **named: P.kwargs) -> Result:
        complete = len(values) == count and not named  # as callers most often give them: half the time for the tuple
        given = made(given_as, values) if complete else given_as(*values, **named)
        for holds, run in choices:
            if holds(self, given):
                return run(self, given)
        return generic(self, given)

    call.__name__, call.__qualname__, call.__doc__ = generic.__name__, generic.__qualname__, generic.__doc__
    call.__dict__.update(arguments=given_as, generic=generic, choices=choices, __signature__=_signature(given_as))
    return call


def _signature(arguments: Any) -> Signature:
    names, defaults = ("self", *arguments._fields), arguments._field_defaults
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature([Parameter(name, kind, default=defaults.get(name, Parameter.empty)) for name in names])


def _ordinary(generic: Callable[..., object], *choices: Choice) -> Callable[..., object]:
    """Return a method with few parameters, which conditions and implementations take as they are."""

    @wraps(generic)
    def call(self: Any, *values: Any, **named: object) -> Any:
        for holds, run in choices:
            if holds(self, *values, **named):
                return run(self, *values, **named)
        return generic(self, *values, **named)

    call.__dict__.update(generic=generic, choices=choices)
    return call


def implementation(
    method: Any, backend: object, arguments: tuple[Any, ...], named: Mapping[str, object]
) -> Callable[..., Any]:
    """Return what a call of a primitive runs: the first choice whose condition holds, else its generic implementation.

    Of a method without choices, itself.
    """
    choices, given_as = getattr(method, "choices", ()), getattr(method, "arguments", None)
    if given_as is not None:
        arguments, named = (given_as(*arguments, **named),), {}
    run = next((run for holds, run in choices if holds(backend, *arguments, **named)), None)
    return run or getattr(method, "generic", method)


def dispatching(table: Table) -> Callable[[Kind], Kind]:
    """Return a decorator that gives a class of backends the choices of a table, for methods that it inherits.

    They come before those of the class that has the method.
    """

    def with_choices(kind: Kind) -> Kind:
        for name, choices in table.items():
            inherited = getattr(kind, name)
            if hasattr(inherited, "arguments"):
                setattr(kind, name, primitive(inherited.arguments, inherited.generic, *choices, *inherited.choices))
            else:
                setattr(kind, name, _ordinary(inherited, *choices))
        return kind

    return with_choices
