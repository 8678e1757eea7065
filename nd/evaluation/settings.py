"""Settings of evaluations: checks of their values, and whether two evaluations have the same ones."""

from __future__ import annotations

import math
from typing import Annotated, Any

from backends.errors import DataError, DTypeError
from nd.arguments import Range

MOST_CELLS = 1_000_000
"""Thresholds, bins or columns that are counted at most."""
MOST_DIGITS = 100

Cells = Annotated[int, Range(f"of 1 to {MOST_CELLS}", lambda value: 1 <= value <= MOST_CELLS)]
Steps = Annotated[int, Range(f"of 0 to {MOST_CELLS}", lambda value: 0 <= value <= MOST_CELLS)]
"""Of thresholds; 0 is exact."""
Digits = Annotated[int, Range(f"of 0 to {MOST_DIGITS}", lambda value: 0 <= value <= MOST_DIGITS)]
"""Behind the point."""


def is_probability(value: Any) -> bool:
    """Tell whether it is a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, (bool, str)) and math.isfinite(number) and 0 <= number <= 1


def check_mergeable(mine: object, other: object, settings: tuple[str, ...]) -> None:
    """Check that the counts of another evaluation can be added.

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
    related = isinstance(other, type(mine)) or isinstance(mine, type(other))
    if not related or not hasattr(other, "eval"):  # as object has not, of which everything is one
        raise DTypeError(
            f"{who}: expected an evaluation of class {type(mine).__name__}, got {type(other).__name__}. Merge those of "
            "one class."
        )
    for name in settings:
        ours, theirs = _plain(getattr(mine, name)), _plain(getattr(other, name))
        if ours != theirs:
            raise DataError(f"{who}: both must have the same {name}, got {ours} and {theirs}. Create both alike.")


def _plain(value: object) -> object:
    return value.ravel().tolist() if hasattr(value, "ravel") else value
