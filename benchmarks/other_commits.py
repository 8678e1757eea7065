"""Other commits of this repository, each at work in a process of its own, asked by lines of JSON."""

from __future__ import annotations

import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = ("backends", "nd", "nn", "optimize")
HERE = "here"
"""Stands for the tree as it is, changes that are not committed included."""


def unpacked(commit: str, folder: pathlib.Path) -> pathlib.Path:
    """Return a folder with the packages of a commit; `ROOT` for the tree as it is."""
    if commit == HERE:
        return ROOT
    packed = subprocess.run(["git", "archive", commit, *PACKAGES], cwd=ROOT, check=True, capture_output=True).stdout
    target = folder / commit
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")
    return target


class Worker:
    """A process that imports the packages of one tree and answers what a script is asked.

    Parameters
    ----------
    script : str
        In this folder; calls `answer_lines`.
    tree : Path
        Holds the packages.
    """

    def __init__(self, script: str, tree: pathlib.Path) -> None:
        command = [sys.executable, str(ROOT / "benchmarks" / script), "--worker"]
        paths = {"PYTHONPATH": str(tree), "ND_BACKEND": "numpy", "PYTHONDONTWRITEBYTECODE": "1"}
        self._process: Any = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **paths}
        )
        found = pathlib.Path(self.ask("where"))
        if found != tree / "nd" / "__init__.py":
            raise SystemExit(f"the worker imports {found}, not the packages of {tree}")

    def ask(self, *question: Any) -> Any:
        """Return the answer to a question, which is a name and arguments."""
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a worker has ended when it was asked {question}")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def answer_lines(answers: dict[str, Any]) -> None:
    """Answer questions from the standard input until it ends; "where" says which packages these are."""
    import nd

    known = {"where": lambda: nd.__file__, **answers}
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(known[name](*arguments)), flush=True)
