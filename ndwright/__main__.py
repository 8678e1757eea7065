"""``python -m ndwright``: the diagnosis of ``python -m nd``, and with arguments the commands of ``python -m nn``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_MOST_NAMED = 10


def main(arguments: Sequence[str]) -> int:
    """Run a command, or without arguments print what works here; return the exit code."""
    if arguments:
        from nn.cli import main as command

        return command(arguments)
    from nd.__main__ import diagnose

    from .remedies import changed_files

    print("\n".join(diagnose()))
    changed = changed_files()
    if changed:
        more = "" if len(changed) <= _MOST_NAMED else f" and {len(changed) - _MOST_NAMED} more"
        print(f"\nfiles that are not as they were installed: {', '.join(changed[:_MOST_NAMED])}{more}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
