"""Ask Deeplearning4j for its interfaces, and keep them: ``python -m tests.java_census``. Needs a JDK and Maven."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.java_check.maven import Missing, Programs

from .interfaces import keep

RELEASE = "1.0.0-M2.1"


def main() -> int:
    """Run the program; return 1 where Java or Maven is missing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "interfaces.txt"
        try:
            Programs(RELEASE).run("Interfaces", file)
        except Missing as error:
            print(f"java_census: {error}")
            return 1
        keep(file.read_text())
    from .census import missing, table

    print(table(), *missing(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
