"""How much of a long sweep runs: all of it, or the share that ``SWEEP`` says, 0.25 for a quarter."""

import math
import os

FEW = 8
"""So many rows run in any case."""


def _share():
    return float(os.environ.get("SWEEP", "1"))


def share(count):
    """Return how many draws of so many run, one at least."""
    return max(1, round(count * _share()))


def rows_of(rows):
    """Return those rows that run, from all over the sequence; of a short one all."""
    if len(rows) <= FEW:
        return list(rows)
    part = min(1.0, max(_share(), FEW / len(rows)))
    return [row for place, row in enumerate(rows) if math.floor((place + 1) * part) > math.floor(place * part)]
