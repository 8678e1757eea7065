"""How one test runs for every backend, dtype and memory order, and what it says when one of them fails."""

import inspect
import sys
import types

import numpy as np
import pytest

import nd
from tests.cells import AXES, combinations, every_row, run_all, run_cells
from tests.generators import ModuleGenerators

SEEN = []
RNG = np.random.default_rng(3)
FIRST = np.random.default_rng(3).normal()


def test_every_combination_runs_and_finds_its_backend(backend, dtype, order):
    assert nd.backend() is backend
    SEEN.append((backend.name, dtype, order))


def test_no_combination_ran_twice(pytestconfig):
    """Of the test before, if it was this process that ran it."""
    expected = [tuple(cell.values()) for cell in combinations(AXES, pytestconfig.getoption("--backend"))]
    assert SEEN in ([], expected)


def test_the_strict_stand_in_has_one_memory_order():
    cells = combinations(AXES)
    assert len(cells) == len({tuple(cell.values()) for cell in cells}) == 2 * 3 + 2
    assert {cell["order"] for cell in cells if cell["backend"] == "strict"} == {"c"}
    assert combinations(["dtype"]) == [{"dtype": "float32"}, {"dtype": "float64"}]
    assert combinations(["backend"], "cupy") == [{"backend": "cupy"}]


def test_a_failure_says_in_which_cells(tmp_path):
    def fails_in_float64(dtype):
        assert dtype == "float32", "too wide"

    with pytest.raises(AssertionError, match="too wide") as caught:
        run_cells(fails_in_float64, {"dtype": None}, combinations(["dtype"]), lambda: None)
    assert caught.value.__notes__ == ["in 1 of 2 cells: dtype=float64"]


def test_all_run_and_the_first_failure_is_raised():
    ran = []

    def fail(name):
        ran.append(name)
        raise ValueError(name)

    calls = {"a": lambda: ran.append("a"), "b": lambda: fail("b"), "c": lambda: fail("c")}
    with pytest.raises(ValueError, match=r"^b") as caught:
        run_all("checks", calls)
    assert ran == ["a", "b", "c"]
    assert caught.value.__notes__ == ["in 2 of 3 checks: b; c"]


def test_all_rows_run_in_one_test():
    ran = []

    @every_row(("name", "number"), [("a", 1), pytest.param("b", 2), ("c", 3)])
    def fails_at_two(name, number, folder):
        ran.append((name, number, folder))
        assert number != 2, "two"

    assert list(inspect.signature(fails_at_two).parameters) == ["folder"]
    with pytest.raises(AssertionError, match="two") as caught:
        fails_at_two(folder="here")
    assert ran == [("a", 1, "here"), ("b", 2, "here"), ("c", 3, "here")]
    assert caught.value.__notes__ == ["in 1 of 3 rows: 1: b-2"]


def test_a_skip_does_not_hide_a_failure():
    def fail():
        raise ValueError("real")

    with pytest.raises(ValueError, match="real"):
        run_all("checks", {"a": lambda: pytest.skip("absent"), "b": fail})
    with pytest.raises(pytest.skip.Exception, match="absent"):
        run_all("checks", {"a": lambda: pytest.skip("absent"), "b": lambda: None})


def test_cells_share_neither_folders_nor_patches(dtype, tmp_path, monkeypatch):
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    assert not hasattr(nd, "patched")
    monkeypatch.setattr(nd, "patched", dtype, raising=False)


@pytest.mark.parametrize("again", [1, 2])
def test_generators_of_the_module_start_anew(dtype, again):
    assert RNG.normal() == FIRST


def test_generators_of_the_modules_that_a_module_takes_from_start_anew(monkeypatch):
    lender, borrower = types.ModuleType("tests.lender"), types.ModuleType("tests.borrower")
    monkeypatch.setitem(sys.modules, "tests.lender", lender)
    lender.RNG, borrower.lender = np.random.default_rng(3), lender
    generators = ModuleGenerators()
    generators.remember([borrower])
    lender.RNG.normal(size=5)
    generators.restore(borrower)
    assert lender.RNG.normal() == FIRST


def test_a_row_with_a_mark_is_refused():
    """It would run whatever the mark says."""
    with pytest.raises(AssertionError, match="rows of one test have no marks"):

        @every_row("name", [pytest.param("a", marks=pytest.mark.slow)])
        def runs(name):
            assert name
