"""How much of a long sweep runs: all of it, or the share that ``SWEEP`` says, 0.25 for a quarter."""

import collections
import os

FEW = 8
"""So many rows run in any case."""


def share(count):
    """Return how many draws of so many run, one at least."""
    return max(1, round(count * float(os.environ.get("SWEEP", "1"))))


def rows_of(rows):
    """Return those rows that run, from all over the sequence; of a short one all."""
    total, wanted = len(rows), max(FEW, share(len(rows)))
    if wanted >= total:
        return list(rows)
    return [row for place, row in enumerate(rows) if (place + 1) * wanted // total > place * wanted // total]


def names_that_run(items):
    """Return the ids of all tests that pytest has collected, but for the rows of slow ones that do not run."""
    tests = collections.defaultdict(list)
    for item in items:
        slow = item.get_closest_marker("slow") is not None
        tests[item.nodeid.partition("[")[0] if slow else item.nodeid].append(item.nodeid)
    return {row for rows in tests.values() for row in rows_of(rows)}
