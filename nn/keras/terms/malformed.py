"""What a function that reads a part of a configuration answers where that is not as Keras writes it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from nd import NdError

Reader = TypeVar("Reader", bound=Callable[..., Any])
_ERRORS = (ArithmeticError, AttributeError, IndexError, KeyError, NdError, TypeError, ValueError)


def or_none(reader: Reader) -> Reader:
    """Let a reader return None, its word for what ours cannot say, where numbers are texts, keys are missing, ..."""

    @functools.wraps(reader)
    def read(*arguments: Any, **settings: Any) -> Any:
        try:
            return reader(*arguments, **settings)
        except _ERRORS:  # a file may hold anything
            return None

    return read  # type: ignore[return-value]
