"""How much of a long sweep runs: all of it, or the share that ``SWEEP`` says, 0.25 for a quarter."""

import collections
import os

import pytest

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


def rows_that_wait(items, whole):
    """Return the rows that are left to the slow run, of tests with the mark ``quick_rows``: all but those it names.

    It names ids, or says how many rows of every `parametrize` are quick: the first ones. `whole`: all rows of the
    tests are among the items, so that an id that none has is refused.
    """
    waiting, named, ids = [], {}, collections.defaultdict(set)
    for item in items:
        mark = item.get_closest_marker("quick_rows")
        if mark is None:
            continue
        test, row = item.nodeid.partition("[")[0], item.callspec
        named[test] = {name for name in mark.args if isinstance(name, str)}
        ids[test].add(row.id)
        first = max((number for number in mark.args if isinstance(number, int)), default=0)
        if row.id not in named[test] and max(row.indices.values()) >= first:
            waiting.append(item)
    unknown = {test: sorted(names - ids[test]) for test, names in named.items() if names - ids[test]}
    if whole and unknown:
        raise pytest.UsageError(f"quick_rows: no such rows: {unknown}")
    return waiting
