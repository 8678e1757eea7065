"""Commands that messages and pages give to install something: what they name is what pyproject.toml has."""

import pathlib
import re
import tomllib

import pytest

from backends.extras import EXTRAS, install_command
from tests.cells import every_row
from tests.source_files import FLOORS

ROOT = pathlib.Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OF_DEVELOPERS = {"bench", "cupy-check", "dev", "keras-check", "opencv-check", "test"}
"""Extras for what only a checkout has."""
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
COMMAND = re.compile(r"pip3? install ((?:--[\w-]+ )*)['\"]*([^\s'\"`]+)")


def texts():
    """Return path -> text of all code and scripts."""
    folders = (*FLOORS, "benchmarks", "examples", "tests", ".ci")
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    code = [path for path in paths if path.suffix in ("", ".py", ".md") and path != pathlib.Path(__file__)]
    return {path: path.read_text().replace("{major}", "13") for path in code}


def requirements():
    """Names of all packages of all extras, without version, extra and system."""
    lines = [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    return {re.match(r"[\w-]+", line)[0] for line in lines} - {"ndwright"}


def test_the_extras_are_those_of_the_project():
    extras = PROJECT["optional-dependencies"]
    users = {name: tuple(line.partition(";")[0].strip() for line in extras[name]) for name in extras}
    assert {name: users[name] for name in users if name not in OF_DEVELOPERS} == EXTRAS


def test_the_command_names_packages_and_not_the_distribution():
    """Which is in no index."""
    assert install_command("cuda13") == 'pip install "cupy-cuda13x[ctk]>=14" "array-api-compat>=1.9"'
    assert [name for name in EXTRAS if "ndwright" in install_command(name)] == []


@every_row("path", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in PAGES])
def test_pages_install_from_the_checkout_what_there_is(path):
    commands = COMMAND.findall(path.read_text())
    for _, what in commands:
        extras = re.fullmatch(r"\.(?:\[([\w,-]+)\])?", what)
        assert extras or re.match(r"[\w-]+", what)[0] in requirements(), f"{path.name}: pip install {what}"
        assert {*(extras[1] or "").split(",")} - {""} <= set(PROJECT["optional-dependencies"]) if extras else True


def test_messages_name_packages_that_the_extras_have():
    code = texts()
    named = [(path.name, what) for path, text in code.items() for _, what in COMMAND.findall(text)]
    packages = [(path, name[0]) for path, what in named if (name := re.match(r"\w[\w-]+", what))]
    assert len(packages) >= 5
    assert [each for each in packages if each[1] not in requirements()] == []
    assert [path.name for path, text in code.items() if re.search(r"install \S*ndwright\[", text)] == []


def test_the_pattern_finds_commands():
    text = "pip install \"ndwright[x]\", pip install --force-reinstall --no-deps 'a b', ``pip install '.[x]'``."
    assert [what for _, what in COMMAND.findall(text)] == ["ndwright[x]", "a", ".[x]"]
