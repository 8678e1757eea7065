"""Processes that answer what they are asked through a pipe, and sleep in between."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

FOLDER = pathlib.Path(__file__).parent
ANSWERING = "--answering"


class Failed(SystemExit):
    """A process could not do what it was asked to do, or has ended."""


class Process:
    """A process of a script in this folder.

    Parameters
    ----------
    script : str
        Calls `answer_all` where `answers_questions`.
    *arguments : str
        Of its command line.
    environment : mapping
        What it has beside ours.
    """

    def __init__(self, script: str, *arguments: str, environment: Mapping[str, str]) -> None:
        self._said = " ".join((script, *arguments))
        self._pipe, theirs = Pipe()
        descriptor = theirs.fileno()
        command = [sys.executable, str(FOLDER / script), ANSWERING, str(descriptor), *arguments]
        self._process = subprocess.Popen(command, env={**os.environ, **environment}, pass_fds=[descriptor])
        theirs.close()

    def ask(self, *question: Any) -> Any:
        """Return the answer to a question, which is a name and arguments; raise Failed if there is none."""
        self.begin(*question)
        return self.answer()

    def begin(self, *question: Any) -> None:
        """Ask, and do not wait for the answer."""
        try:
            self._pipe.send(question)
        except OSError as error:
            raise self._ended() from error

    def answer(self) -> Any:
        """Return the answer to the question before; raise Failed if there is none."""
        try:
            found, failure = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        if failure:
            raise Failed(f"{self._said}: {failure}")
        return found

    def _ended(self) -> Failed:
        return Failed(f"{self._said}: its process has ended with {self._process.wait()}")

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.wait()


def answers_questions() -> bool:
    """Tell whether this script was started by a `Process`."""
    return sys.argv[1:2] == [ANSWERING]


def arguments_given() -> list[str]:
    """Return the arguments of the `Process` that has started this script."""
    return sys.argv[3:]


def answer_all(answers: Mapping[str, Callable[..., Any]]) -> None:
    """Answer the questions of the `Process` that has started this script until it is closed."""
    pipe = Connection(int(sys.argv[2]))
    while True:
        try:
            name, *arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = answers[name](*arguments), None
        except (Exception, SystemExit):
            answer = None, traceback.format_exc()
        pipe.send(answer)
