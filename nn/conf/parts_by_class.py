"""Functions for parts of networks, by the parts' classes: what writes them into files of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def function_for(part: object, table: Mapping[str, str], package: str) -> Callable[..., Any] | None:
    """Return the function for a part; None where there is none, as for classes of one's own.

    Parameters
    ----------
    part : object
    table : mapping of str -> str
        Name of a class -> ``"module:function"``.
    package : str
        That has the modules.
    """
    kind = type(part)
    if kind.__name__ not in table or kind.__module__.partition(".")[0] not in ("nn", "nd"):
        return None
    module, name = table[kind.__name__].split(":")
    function: Callable[..., Any] = getattr(import_module(f".{module}", package), name)
    return function


def needed_function(
    part: object,
    table: Mapping[str, str],
    package: str,
    missing: Mapping[str, str],
    refusal: Callable[[str], Exception],
    library: str,
) -> Callable[..., Any]:
    """Return the function for a part, as `function_for`; raise a refusal with the reason where there is none.

    Parameters
    ----------
    part, table, package
        As of `function_for`.
    missing : mapping of str -> str
        Name of a class -> why there is none.
    refusal : class of exceptions
    library : str
        That has nothing like the part.
    """
    function = function_for(part, table, package)
    if function is None:
        kind = type(part).__name__
        raise refusal(missing.get(kind, f"{library} has nothing like {kind}"))
    return function
