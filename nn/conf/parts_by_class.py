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
