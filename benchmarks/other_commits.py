"""Other commits of this repository, each at work in a process of its own."""

from __future__ import annotations

import io
import os
import pathlib
import subprocess
import tarfile
from typing import Any

from asking import Process, answer_all

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = ("backends", "nd", "nn", "optimize", "tests")
HERE = "here"
"""Stands for the tree as it is, changes that are not committed included."""


def unpacked(commit: str, folder: pathlib.Path) -> pathlib.Path:
    """Return a folder with the packages of a commit and its tests; `ROOT` for the tree as it is."""
    if commit == HERE:
        return ROOT
    packed = subprocess.run(["git", "archive", commit, *PACKAGES], cwd=ROOT, check=True, capture_output=True).stdout
    target = folder / commit
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")
    return target


class Worker(Process):
    """A process that imports the packages of one tree and answers what a script is asked.

    Parameters
    ----------
    script : str
        In this folder; calls `answer_with_tree`.
    tree : Path
        Holds the packages.
    """

    def __init__(self, script: str, tree: pathlib.Path) -> None:
        environment = {"ND_BACKEND": "numpy", **os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        super().__init__(script, environment=environment)
        found = pathlib.Path(self.ask("where"))
        if found != tree / "nd" / "__init__.py":
            raise SystemExit(f"the worker imports {found}, not the packages of {tree}")


def answer_with_tree(answers: dict[str, Any]) -> None:
    """Answer questions; "where" says which packages these are."""
    import nd

    answer_all({"where": lambda: nd.__file__, **answers})
