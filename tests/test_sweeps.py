"""The share of a sweep: so many rows as are asked for, from all over the table, and of what is not slow all."""

import types

import pytest

from tests.cells import every_row
from tests.sweeps import FEW, names_that_run, rows_of, rows_that_wait, share


@every_row("setting, part", [(None, 1.0), ("1", 1.0), ("0.25", 0.25), ("0.3", 0.3), ("0.001", 0.001), ("2", 2.0)])
def test_so_many_rows_run_as_the_share_says(setting, part, monkeypatch):
    if setting is not None:
        monkeypatch.setenv("SWEEP", setting)
    else:
        monkeypatch.delenv("SWEEP", raising=False)
    assert share(1000) == max(1, round(1000 * part))
    for total in range(200):
        found = rows_of(range(total))
        assert len(found) == min(total, max(FEW, round(total * part)))
        assert found == sorted(set(found))
        gaps = [after - before for before, after in zip([-1, *found], [*found, total], strict=True)]
        assert max(gaps) <= -(-total // max(1, len(found))) + (total == 0)


@pytest.mark.parametrize(("marks", "wanted"), [({"slow"}, 25), (set(), 100)], ids=["slow", "quick"])
def test_rows_of_slow_tests_alone_are_left_out(marks, wanted, monkeypatch):
    monkeypatch.setenv("SWEEP", "0.25")
    names = [f"test_a.py::test_{test}[{row}]" for test in ("a", "b") for row in range(100)] + ["test_a.py::test_alone"]
    items = [
        types.SimpleNamespace(nodeid=name, get_closest_marker=lambda mark: mark if mark in marks else None)
        for name in names
    ]
    kept = names_that_run(items)
    assert [sum(f"::test_{test}[" in name for name in kept) for test in ("a", "b")] == [wanted, wanted]
    assert "test_a.py::test_alone" in kept


def row(number, name, *named, **settings):
    """Return an item as pytest collects it, of a test with the mark, if anything is named."""
    mark = types.SimpleNamespace(args=named, kwargs=settings) if named or settings else None
    call = types.SimpleNamespace(id=name, indices={"it": number})
    return types.SimpleNamespace(nodeid=f"test_a.py::test_a[{name}]", callspec=call, get_closest_marker=lambda _: mark)


WAITING = [
    (("b",), {}, "acd"), ((2,), {}, "cd"), ((1, "d"), {}, "bc"), (("a", "c"), {}, "bd"), ((9,), {}, ""), ((), {}, ""),
    ((), {"every": 3}, "bc"), (("c",), {"every": 2}, "bd"),
]  # fmt: skip


@every_row("named, settings, waiting", WAITING)
def test_rows_that_are_not_named_wait(named, settings, waiting):
    rows = [row(number, name, *named, **settings) for number, name in enumerate("abcd")]
    assert "".join(each.callspec.id for each in rows_that_wait(rows, whole=True)) == waiting


def test_a_row_that_is_named_has_to_be_there():
    with pytest.raises(pytest.UsageError, match=r"quick_rows: test_a.py::test_a has no such rows: \['z'\]"):
        rows_that_wait([row(0, "a", "a", "z")], whole=True)
    assert rows_that_wait([row(0, "a", "a", "z")], whole=False) == []
