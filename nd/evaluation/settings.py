"""Settings of evaluations: checks of their values, and whether two evaluations have the same ones."""

from __future__ import annotations

import math
from typing import Any

from backends.errors import ConfigurationError, DataError, DTypeError

MOST_CELLS = 1_000_000
"""Thresholds or bins that a JSON text may ask for without counts of that many."""


def check_whole(who: str, what: str, value: Any, least: int | None = None) -> int:
    """Return a whole number.

    Raises
    ------
    DTypeError
        It is none (a bool is none).
    ConfigurationError
        It is less than `least`.
    """
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise DTypeError(f"{who}: {what} must be a whole number, got {value!r} ({type(value).__name__}).")
    if least is not None and value < least:
        raise ConfigurationError(f"{who}: {what} must be at least {least}, got {value}.")
    return int(value)


def is_probability(value: Any) -> bool:
    """Tell whether it is a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, (bool, str)) and math.isfinite(number) and 0 <= number <= 1


def check_mergeable(mine: Any, other: Any, settings: tuple[str, ...]) -> None:
    """Check that what another evaluation counted can be added.

    Parameters
    ----------
    mine, other : IEvaluation
    settings : tuple of str
        The attributes in which both must agree.

    Raises
    ------
    DTypeError
        `other` is of another class.
    DataError
        A setting differs.
    """
    who = f"{type(mine).__name__}.merge"
    if not isinstance(other, type(mine)) and not isinstance(mine, type(other)):
        raise DTypeError(
            f"{who}: expected an evaluation of class {type(mine).__name__}, got {type(other).__name__}. Merge those of "
            "one class."
        )
    for name in settings:
        ours, theirs = _plain(getattr(mine, name)), _plain(getattr(other, name))
        if ours != theirs:
            raise DataError(f"{who}: both must have the same {name}, got {ours} and {theirs}. Create both alike.")


def _plain(value: Any) -> Any:
    return value.ravel().tolist() if hasattr(value, "ravel") else value
