"""Which skipped tests count as failures, and where."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SKIPPED = """
import pytest
from tests.absent import Absent

@pytest.fixture(scope="module")
def files():
    raise Absent("no such files")

def test_files(files): pass
def test_more_files(files): pass
def test_files_of_every_backend(backend, files): pass
@pytest.mark.skipif(True, reason="another system")
def test_system(): pass
def test_anything_else(): pytest.skip("unwilling")
"""
ABSENT = {"test_files", "test_more_files", "test_files_of_every_backend"}


@pytest.mark.parametrize(
    ("arguments", "settings", "expected"),
    [
        (["--backend=numpy"], {}, {"test_anything_else"}),
        pytest.param([], {}, set(), marks=pytest.mark.slow),
        pytest.param(
            [], {"CI": "true", "ND_DATA_DIR": "x"}, {*ABSENT, "test_system", "test_anything_else"},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["on a backend", "anywhere", "with the data"],
)  # fmt: skip
def test_a_skip_is_a_failure_where_everything_has_to_be_there(arguments, settings, expected, tmp_path):
    """For want of files that are no part of the repository it is none on a backend, else `make cupy-check` fails."""
    (tmp_path / "test_skipped.py").write_text(SKIPPED)
    environment = {name: text for name, text in os.environ.items() if name not in ("CI", "ND_DATA_DIR")}
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-rfEs", "-c"]
    done = subprocess.run(
        [*command, ROOT / "pyproject.toml", "--rootdir", tmp_path, *arguments, tmp_path / "test_skipped.py"],
        cwd=tmp_path, env=environment | settings | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    failed = {
        line.split("::")[1].split()[0] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))
    }
    assert failed == expected, done.stdout + done.stderr
