"""docs/backends.md lists every primitive: its tier, who overrides it, and why."""

import pathlib
import re

from backends.argument_checks import ArgumentChecks
from backends.array_api import NEEDED
from backends.base import Backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.table import TABLE
from backends.cuda.cupy_backend import DEVICE_UFUNCS, CupyBackend
from backends.needed import Needed
from backends.powers import Powers

PAGE = (pathlib.Path(__file__).parent.parent.parent / "docs" / "backends.md").read_text()
TIERS = {"Needed": "needed", "Operators": "operator", "Powers": "power"}


def public(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def tier(name):
    return "needed" if name in public(Needed) else "power" if name in public(Powers) else "operator"


def overridden(kind):
    own = [base for base in kind.__mro__ if base not in Backend.__mro__]
    return set().union(*map(public, own))


def told():
    """Return name -> (tier, who overrides it, why) as the page has it."""
    rows = {}
    for heading, text in re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        for names, who, why in re.findall(r"^\| (`.*?) \| (.*?) \| (.*?) \|$", text, re.MULTILINE):
            for name in re.findall(r"`(\w+)`", names):
                assert name not in rows
                rows[name] = TIERS[heading], who, why
    return rows


def test_every_primitive_is_there_with_its_tier_and_who_overrides_it():
    by = {
        "NumPy": overridden(NumpyBackend),
        "oneDNN": {
            name for name, choices in TABLE.items() if any("onednn" in choice.run.__name__ for choice in choices)
        },
        "CuPy": overridden(CupyBackend) | set(DEVICE_UFUNCS),
    }
    names = {name for name in dir(Backend) if not name.startswith("_")} - public(ArgumentChecks)
    here = {
        name: (tier(name), ", ".join(who for who, own in by.items() if name in own) or "none") for name in sorted(names)
    }
    rows = told()
    assert {name: row[:2] for name, row in sorted(rows.items())} == here
    assert all(why.strip() for _, _, why in rows.values())


def test_what_a_namespace_needs_is_listed():
    listed = re.search(r"names the one that is missing: (.*?)\.\n", PAGE, re.DOTALL)[1]
    assert set(re.findall(r"`(\w+)`", listed)) == set(NEEDED)
