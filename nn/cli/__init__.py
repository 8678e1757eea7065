"""The command line: ``python -m nn summary|picture|convert|evaluate|predict|trace MODEL ...``."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence

from nd import NdError

from . import convert, evaluate, picture, predict, summary, trace
from .data import in_words_of_the_command_line

COMMANDS = {
    "convert": convert,
    "evaluate": evaluate,
    "picture": picture,
    "predict": predict,
    "summary": summary,
    "trace": trace,
}
"""Name -> module with HELP, EXAMPLES, add_arguments(parser) and run(arguments)."""
_USAGE, _INTERRUPTED = 2, 130  # exit codes, as argparse's and the shell's


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    try:
        parsed = _parser().parse_args(arguments)
    except SystemExit as ending:  # --help, or wrong usage, of which argparse has told
        return _USAGE if ending.code else 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: print(
                f"warning: {' '.join(str(message).split())}", file=sys.stderr
            )
            _make_printable()
            COMMANDS[parsed.command].run(parsed)
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` say, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return _INTERRUPTED
    except (NdError, OSError) as error:
        print(f"error: {_one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _make_printable() -> None:
    """Escape characters that the terminal's encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m nn",
        description="Look into Deeplearning4j model files, convert, evaluate and use them.",
        epilog="`python -m nn COMMAND --help` shows the options of a command, and examples.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog="examples:\n" + "\n".join(f"  python -m nn {name} {example}" for example in module.EXAMPLES),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("model", metavar="MODEL", help="a model zip of Deeplearning4j, .npz or .safetensors")
        module.add_arguments(command)
    return parser


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return in_words_of_the_command_line(" ".join(str(error).split()))
