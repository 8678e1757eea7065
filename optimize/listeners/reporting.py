"""Where listeners print."""

from __future__ import annotations

import sys


def report(message: str) -> None:
    """Print a line, above the progress bar if there is one."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is None:
        print(message, flush=True)
    else:
        tqdm.tqdm.write(message)
