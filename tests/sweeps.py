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
    """Return the rows that are left to the slow run, of tests with the mark ``quick_rows``: all but the quick ones.

    Those are the ids that it names; or so many of the first values of every `parametrize`; or with ``every=3`` each
    third row of the test. `whole`: all rows of the tests are among the items, so an id that none has is refused.
    """
    rows = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("quick_rows") is not None:
            rows[item.nodeid.partition("[")[0]].append(item)
    if whole:
        _refuse_unknown(rows)
    return [item for of_test in rows.values() for place, item in enumerate(of_test) if not _is_quick(item, place)]


def _is_quick(item, place):
    mark, row = item.get_closest_marker("quick_rows"), item.callspec
    first = max((number for number in mark.args if isinstance(number, int)), default=0)
    each = "every" in mark.kwargs and place % mark.kwargs["every"] == 0
    return each or row.id in mark.args or max(row.indices.values()) < first


def _refuse_unknown(rows):
    for test, items in rows.items():
        names = {name for name in items[0].get_closest_marker("quick_rows").args if isinstance(name, str)}
        unknown = names - {item.callspec.id for item in items}
        if unknown:
            raise pytest.UsageError(f"quick_rows: {test} has no such rows: {sorted(unknown)}")
