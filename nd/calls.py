"""Errors of calls that do not fit: an argument that is not there, one too many, one too few."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from backends.errors import CallError
from backends.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable


_OF_LAYERS = ("n_out", "kernel_size", "stride", "size", "padding", "loss", "activation", "layer")
"""Settings that other libraries take by position, in their order."""


def call_error(
    error: TypeError, function: Callable[..., object], arguments: tuple[object, ...], named: Mapping[str, object]
) -> CallError | None:
    """Return the error for a call of a function or class that does not fit it; None where a TypeError is another."""
    if error.__traceback__ is not None and error.__traceback__.tb_next is not None:  # from within the function
        return None
    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **named)
    except TypeError:
        return CallError(_text(function, signature, arguments, named, error))
    return None


def not_indexed(owner: object, expected: str, key: object, remedy: str) -> CallError:
    """Return the error for ``owner[key]``, where brackets mean nothing; `expected` is what must hold."""
    from .arguments import shown

    return CallError(f"{type(owner).__name__}: {expected}, got [{shown(key)}]. {remedy}")


def besides(who: str, taken: Sequence[str], extra: Sequence[object], setting: str) -> CallError:
    """Return the error for values behind those that a call takes by position; the first may be meant as a setting."""
    from .arguments import shown

    remedy = f"Write {who}(..., {setting}={shown(extra[0])})." if len(extra) == 1 else "Leave out what is too many."
    got = ", ".join(map(shown, extra))
    return CallError(
        f"{who}: it takes at most {len(taken)} by position ({', '.join(taken)}), got {got} besides. {remedy}"
    )


def _text(
    function: Callable[..., object],
    signature: inspect.Signature,
    arguments: tuple[object, ...],
    named: Mapping[str, object],
    error: TypeError,
) -> str:
    who, known = function.__name__, dict(signature.parameters)
    if next(iter(known), "") in ("self", "cls"):
        del known[next(iter(known))]
        if who == "__init__":
            who = type(arguments[0]).__name__
        arguments = arguments[1:]
    unknown = [name for name in named if name not in known]
    if unknown:
        return f"{who}: {_unknown(who, unknown, _own_first(function, known))}"
    by_position = [name for name, one in known.items() if one.kind <= one.POSITIONAL_OR_KEYWORD]
    if len(arguments) > len(by_position):
        return f"{who}: {_too_many(who, known, by_position, arguments, named)}"
    twice = [name for name in by_position[: len(arguments)] if name in named]
    if twice:
        return f"{who}: {twice[0]} must be given once, got it by position and by name. Leave one of them out."
    missing = [
        name
        for name, one in known.items()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    missing = [name for name in missing if name not in named and name not in by_position[: len(arguments)]]
    if not missing:
        return f"{who}: {error}"
    return f"{who}: {', '.join(missing)} must be given, got none. Write {who}(..., {missing[0]}=...)."


def _own_first(function: object, known: Mapping[str, object]) -> list[str]:
    """Return the names that a function takes; those of a class with its own fields before the inherited ones."""
    own = [name for base in getattr(function, "__mro__", ()) for name in vars(base).get("__annotations__", ())]
    return [name for name in dict.fromkeys([*own, *known]) if name in known and name != "unused"]


def _unknown(who: str, unknown: list[str], known: list[str]) -> str:
    allowed = f"expected {', '.join(known)}" if known else "it takes none"
    place = f"argument of {who}"
    if len(unknown) == 1:
        return f"unknown argument {unknown[0]!r}, {allowed}.{suggestion(place, unknown[0], known)}"
    hints = "".join(
        hint.replace(" Did", f" For {name!r} did", 1) for name in unknown if (hint := suggestion(place, name, known))
    )
    return f"unknown arguments {', '.join(map(repr, unknown))}, {allowed}.{hints}"


def _too_many(
    who: str,
    known: Mapping[str, inspect.Parameter],
    by_position: list[str],
    arguments: tuple[object, ...],
    named: Mapping[str, object],
) -> str:
    from .arguments import shown

    extra = arguments[len(by_position) :]
    free = [name for name, one in known.items() if one.kind is one.KEYWORD_ONLY and name not in named]
    if {"name", "unused"} <= known.keys():  # a layer, whose settings stand in the order of its classes
        free = [name for name in _OF_LAYERS if name in free]
        if len(extra) == 2 and "kernel_size" not in known and "n_in" in known and not isinstance(extra[1], str):
            free = ["n_in", "n_out"]  # as PyTorch's Linear(784, 10)
    written = []
    for value in extra:
        name = "activation" if isinstance(value, str) and "activation" in free else next(iter(free), "")
        if name:
            free.remove(name)
            written.append(f"{name}={shown(value)}")
    got, taken, others = ", ".join(map(shown, extra)), "nothing by position", ""
    if by_position:
        taken, others = f"at most {len(by_position)} by position ({', '.join(by_position)})", "..., "
    remedy = f"Write {who}({others}{', '.join(written)})." if written else "Leave out what is too many."
    return f"it takes {taken}, got {got}{' besides' if by_position else ''}. {remedy}"
