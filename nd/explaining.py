"""Arguments of the facade's functions that are none of the usual ones, and why a call has failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.argument_checks import ARRAY_LIBRARIES, is_of_library
from backends.errors import ArgumentError, DTypeError, NdError, ShapeError, SizeError, describe_shape

from . import classes
from .arguments import argument_names, argument_rules, converted, shown
from .state import Function, backend, explained, state

_OURS = ("array_api_compat", "backends", "nd", "nn", "optimize", *ARRAY_LIBRARIES)


def explained_method(function: Function) -> Function:
    """Have a method of activations and losses raise the library's errors for wrong arguments, see `explained`."""
    return explained(function, of_part=True)


def looked_at(
    who: str, arguments: tuple[object, ...], named: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return the arguments, scalars of NumPy's as Python's numbers where they are no arrays of the backend.

    Raises
    ------
    BackendError
        One is an array of another library, or has one in it.
    """
    chosen = state.backend
    chosen.look_at(who, (*arguments, *named.values()))

    def number(value: Any) -> Any:
        return value.item() if is_of_library(value) and not chosen.is_array(value) else value

    return tuple(map(number, arguments)), {name: number(value) for name, value in named.items()}


def told_instead(
    function: Any, arguments: tuple[Any, ...], named: dict[str, Any], caught: Exception, of_part: bool
) -> tuple[Exception, Exception | None]:
    """Return what a call of an explained function raises in the place of an error, maybe that one, and its cause."""
    error = _not_yet_explained(caught) if of_part else caught
    if isinstance(error, (NdError, NotImplementedError)) or _is_anothers(error):
        return caught, None
    given = argument_names(function, arguments, named)
    if given is None:
        return _wrong_call(function, arguments, named, error), None
    told = _explanation(function, given, error)
    told.of_function = not of_part
    return told, error


def _wrong_call(function: Callable[..., object], arguments: Any, named: Any, error: Exception) -> Exception:
    """Return the error of a call that does not fit the function; the one that there is, where it does."""
    from .calls import call_error  # which calls that fit do not need

    refused = call_error(error, function, arguments, named) if isinstance(error, TypeError) else None
    return error if refused is None else refused


def _not_yet_explained(error: Exception) -> Exception:
    """Return what a function of the facade has explained that the library's own code has called; else the error."""
    cause = error.__cause__
    explains = isinstance(error, NdError) and error.of_function and isinstance(cause, Exception)
    return cause if explains and all(map(_is_ours, _modules_of(error))) else error  # type: ignore[return-value]


def _is_anothers(error: Exception) -> bool:
    """Tell whether an error comes from code of a user's own, a loss say, that this library has called."""
    modules = [name for name in _modules_of(error) if name != classes.__name__]  # which raises for any module's
    return not _is_ours(modules[-1] if modules else "")


def _modules_of(error: Exception) -> list[str]:
    """Return the names of the modules that an error has come through, that of the code that raised it last."""
    frames, names = error.__traceback__, []
    while frames is not None:
        names.append(str(frames.tb_frame.f_globals.get("__name__", "")))
        frames = frames.tb_next
    return names


def _is_ours(module: str) -> bool:
    chosen = backend()
    return module.partition(".")[0] in (*_OURS, chosen.name, chosen.xp.__name__.partition(".")[0])


def _explanation(function: Any, given: dict[str, Any], error: Exception) -> NdError:
    who, rules = function.__name__, argument_rules(function)[0]
    if "self" in given:
        who = f"{type(given.pop('self')).__name__}.{who}"
    for name, value in given.items():
        wrong_array = _wrong_array(f"{who}: {name}", str(function.__annotations__.get(name, "")), value)
        if wrong_array is not None:
            return wrong_array
        if name in rules:
            rule, default = rules[name]
            try:
                converted(who, name, rule, value, default)
            except ArgumentError as refused:
                return refused
    shapes = [describe_shape(value.shape) for value in given.values() if isinstance(_shape_of(value), tuple)]
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, MemoryError):
        return SizeError(f"{who}: the result must fit into the memory, got {text}. Ask for less at once.")
    if shapes and isinstance(error, (ValueError, LookupError, RuntimeError)):
        return ShapeError(f"{who}: arguments must fit each other, got {', '.join(shapes)} ({text}). Reshape them.")
    if isinstance(error, TypeError):
        return DTypeError(f"{who}: arguments must be arrays of numbers, got some that are not ({text}). Convert them.")
    listed = ", ".join(f"{name}={shown(value)}" for name, value in given.items())
    return ArgumentError(f"{who}: arguments must be such that it can be computed, got {listed} ({text}). Change them.")


def _wrong_array(who: str, annotation: str, value: object) -> NdError | None:
    """Return the error for an argument that must be an array, or arrays, and is none; else None."""
    expected, wrong = "an array", value
    if annotation == "Sequence[Array]" and isinstance(value, (list, tuple)):
        expected = "one or more arrays"
        wrong = next((item for item in value if not backend().is_array(item)), value)
        if value and wrong is value:
            return None
    elif annotation == "Array | None" and value is None:
        return None
    elif annotation in ("Array", "Array | None"):
        if backend().is_array(value):
            return None
    elif annotation in ("Any", "Array | float"):
        expected = "an array or a number"
        if isinstance(_shape_of(value), tuple) or isinstance(value, (int, float, tuple, type(None))):
            return None
    else:
        return None
    return DTypeError(f"{who} must be {expected}, got {shown(wrong)}. Make it with nd.create.")


def _shape_of(value: object) -> object:
    """Return the shape of an array; of a module its function of that name, which is none."""
    return getattr(value, "shape", None)
