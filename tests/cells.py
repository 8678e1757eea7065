"""One test runs on every backend, in every dtype and memory order: its cells.

A cell costs what it computes and nothing else: thirty thousand ids, each with its set-up and its report, took longer to
collect and to send between workers than to run. All cells run, also after one that failed; the failure that is
reported is the first one's, with a note of the cells that failed.
"""

import collections
import contextlib
import functools
import inspect
import itertools

import pytest
from _pytest.mark import ParameterSet

from tests.stand_ins import make_backend

AXES = {
    "backend": ("numpy-readonly", "strict"),  # the first is NumPy's, and sees to it that inputs are only read
    "dtype": ("float32", "float64"),
    "order": ("c", "f", "strided"),  # how inputs lie in memory
}
EVERY = object()
"""What the fixture of that name returns: the test runs for all values of it. Other fixtures cannot depend on it."""


def combinations(axes, only_backend=None):
    """Return a dict of values for each cell; memory order is no matter of the strict stand-in, which has no strides."""
    values = AXES | ({"backend": (only_backend,)} if only_backend else {})
    rows = [dict(zip(axes, row, strict=True)) for row in itertools.product(*(values[axis] for axis in axes))]
    return [row for row in rows if row.get("backend") != "strict" or row.get("order", "c") == "c"]


def run_cells(function, arguments, cells, prepare):
    """Call a test for each cell, `prepare` before it."""

    def run(number, cell):
        prepare()
        run_cell(function, {**arguments, **apart(arguments, number)}, cell)

    names = [", ".join(f"{axis}={value}" for axis, value in cell.items()) for cell in cells]
    run_all("cells", {name: functools.partial(run, *each) for name, each in zip(names, enumerate(cells), strict=True)})


def every_row(names, values, ids=None):
    """Decorate a test that costs next to nothing as `pytest.mark.parametrize` does; it stays one test."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test):
        rows, named = list(values), ids if callable(ids) or ids is None else list(ids)
        assert rows
        assert not any(isinstance(row, ParameterSet) and row.marks for row in rows), "rows of one test have no marks"

        @functools.wraps(test)
        def run(**fixtures):
            calls = {}
            for number, row in enumerate(rows):
                own = row.values if isinstance(row, ParameterSet) else (row,) if len(names) == 1 else row
                given = dict(zip(names, own, strict=True))
                name = named(row) if callable(named) else named[number] if named else "-".join(map(str, own))
                calls[f"{number}: {name:.80}"] = functools.partial(test, **fixtures, **given)
            run_all("rows", calls)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=left)
        return run

    return decorate


def wide_rows(rows, quick, unless=()):
    """Return rows, of every kind the first `quick` ones as they are, and others with the mark `wide` as well.

    The kind is what stands before the first hyphen of a row's id; `unless`: ids that stay as they are, too.
    """
    seen, found, ids = collections.Counter(), [], {row.id for row in rows}
    assert set(unless) <= ids
    for row in rows:
        kind = row.id.partition("-")[0]
        seen[kind] += 1
        wide = seen[kind] > quick and row.id not in unless
        found.append(pytest.param(*row.values, id=row.id, marks=[*row.marks, *[pytest.mark.wide] * wide]))
    return found


def wide_values(values, quick):
    """Return values of a parameter, or tuples of several, all but the first `quick` ones with the mark `wide`."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*row, marks=[pytest.mark.wide] * (at >= quick)) for at, row in enumerate(rows)]


def run_all(kind, calls):
    """Run every call, and raise what the first failing one raised, with a note of the names of all that failed."""
    failures, skipped = {}, None
    for name, call in calls.items():
        try:
            call()
        except pytest.skip.Exception as skip:
            skipped = skip
        except Exception as error:
            failures[name] = error
    if failures:
        first = next(iter(failures.values()))
        first.add_note(f"in {len(failures)} of {len(calls)} {kind}: {'; '.join(failures)}")
        raise first
    if skipped is not None:
        raise skipped


def run_cell(function, arguments, cell):
    import nd

    with contextlib.ExitStack() as stack:
        if "monkeypatch" in arguments:
            arguments = arguments | {"monkeypatch": stack.enter_context(pytest.MonkeyPatch.context())}
        if "backend" in cell:
            cell = {**cell, "backend": stack.enter_context(nd.use_backend(make_backend(cell["backend"])))}
        function(**arguments | {axis: value for axis, value in cell.items() if axis in arguments})


def apart(arguments, number):
    """Return what a cell may not share with the one before it."""
    if "capsys" in arguments:
        arguments["capsys"].readouterr()
    if "tmp_path" not in arguments:
        return {}
    folder = arguments["tmp_path"] / str(number)
    folder.mkdir()
    return {"tmp_path": folder}
