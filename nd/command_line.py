"""Running one command of a shell: its errors in one line, its exit code, pipes that close, Ctrl-C."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence

from backends.errors import NdError

USAGE, INTERRUPTED = 2, 130
"""Exit codes, as argparse's and the shell's."""


def run_command(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, in_words: Callable[[str], str]
) -> int:
    """Run one command; return the exit code: 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C.

    Parameters
    ----------
    parser : ArgumentParser
        Gives what it parses a function `run`, which is called with that; a text that it returns is printed.
    arguments : sequence of str, optional
        Those of the process by default.
    in_words : callable
        Turns the message of an error, in one line, into words of the command line.
    """
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit as ending:  # --help, or wrong usage, of which argparse has told
        return USAGE if ending.code else 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: print(f"warning: {_line(message)}", file=sys.stderr)
            _make_printable()
            said = parsed.run(parsed)
            if said is not None:
                print(said)
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (NdError, OSError) as error:
        message = in_words(_line(error))
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            message = f"{error.filename}: {error.strerror}"
        print(f"error: {message}", file=sys.stderr)
        return 1
    return 0


def _make_printable() -> None:
    """Escape characters that the terminal's encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _line(said: object) -> str:
    return " ".join(str(said).split())
