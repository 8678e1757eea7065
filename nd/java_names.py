"""Java's words: its spelling of names, its pairs, its numbers that are not finite."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

_BORDERS = re.compile(r"(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])")


def snake_case(name: str) -> str:
    """Turn ``nIn`` into ``n_in``.

    Examples
    --------
    >>> snake_case("optimizationAlgo"), snake_case("l1Bias"), snake_case("evaluateEveryNEpochs"), snake_case("NIn")
    ('optimization_algo', 'l1_bias', 'evaluate_every_n_epochs', 'n_in')
    """
    return _BORDERS.sub(lambda letter: "_" + letter.group().lower(), name).lower()


class Pair(NamedTuple):
    """Two values, as Java's methods return them: ``getFirst()`` and ``getSecond()`` with nn.dl4j.

    Examples
    --------
    >>> Pair.of(1, "a").second
    'a'
    """

    first: Any
    second: Any = None

    @classmethod
    def of(cls, first: Any, second: Any) -> Pair:
        """Return a pair of these."""
        return cls(first, second)


def non_finite(value: float) -> str:
    """Return Java's word for a number that is not finite: "NaN", "Infinity" or "-Infinity"."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
