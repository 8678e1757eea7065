"""The command line: ``python -m nn summary|picture|convert|evaluate|predict|trace MODEL ...``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nd.command_line import run_command

from . import convert, evaluate, picture, predict, summary, trace
from .data import in_words_of_the_command_line
from .models import add_model

COMMANDS = {
    "convert": convert,
    "evaluate": evaluate,
    "picture": picture,
    "predict": predict,
    "summary": summary,
    "trace": trace,
}
"""Name -> module with HELP, EXAMPLES, add_arguments(parser) and run(arguments)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    return run_command(_parser(), arguments, in_words_of_the_command_line)


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
        add_model(command)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser
