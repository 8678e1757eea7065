"""The suite is the same one everywhere: ids and their order depend on nothing but the code."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
LEFT_BEHIND = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__")
OTHER_CLOCK = """
import time
import os
moved = time.time
shift = float(os.environ["CLOCK_SHIFT"])
time.time = lambda: moved() + shift
time.time_ns = lambda: int((moved() + shift) * 1e9)
"""
"""A plugin that is imported before the tests are."""


OPTIONS = "addopts=-q --strict-markers --import-mode=importlib --doctest-modules"  # without what deselects


def collected(root, plugins, hash_seed, clock_shift):
    """Return the ids that pytest collects in a process of its own, in order."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(plugins)])}
    environment |= {"PYTHONHASHSEED": str(hash_seed), "CLOCK_SHIFT": str(clock_shift)}
    command = [sys.executable, "-m", "pytest", "-p", "other_clock", "-p", "no:cacheprovider", "--collect-only"]
    done = subprocess.run([*command, "-o", OPTIONS], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.fixture
def plugins(tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "other_clock.py").write_text(OTHER_CLOCK)
    return tmp_path / "plugins"


def test_bytes_are_no_part_of_an_id(pytestconfig):
    """Those of gzip hold the time of day, and workers that collect a second apart would not agree."""
    names = pytestconfig.hook.pytest_make_parametrize_id(config=pytestconfig, val=b"\x1f\x8b", argname="payload")
    assert names == "payload"


def test_tests_that_the_makefile_names_are_there():
    """What is left out by a name that nothing has any more would run again, unnoticed."""
    named = re.findall(r"tests/[\w/]+(?:\.py)?", (ROOT / "Makefile").read_text())
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.slow
def test_ids_depend_on_neither_the_hash_seed_nor_the_clock_nor_the_folder(plugins, tmp_path):
    """Nor on ../shared: the copy has none beside it."""
    first = collected(ROOT, plugins, 0, 0)
    assert len(first) == len(set(first)) > 1000
    elsewhere = tmp_path / "another folder" / "copy"
    shutil.copytree(ROOT, elsewhere, ignore=LEFT_BEHIND)
    second = collected(elsewhere, plugins, 4711, 400 * 86400)
    assert second == first
    for text in (str(ROOT), str(tmp_path)):
        assert not [name for name in first + second if text in name]
    assert not [name for name in first if re.search(r"0x[0-9a-f]{8,}", name)]


@pytest.mark.slow
def test_workers_agree_on_what_there_is(plugins):
    """Each of three collects by itself; pytest-xdist refuses to begin where they differ."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(plugins)]), "CLOCK_SHIFT": "0"}
    command = [sys.executable, "-m", "pytest", "-n", "3", "-p", "no:cacheprovider"]
    environment.pop("PYTHONHASHSEED", None)
    done = subprocess.run(
        [*command, "-k", "test_the_tail_is_an_output_layer"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "1 passed" in done.stdout
