"""examples/own_backend.py: short, and found by the name that it says."""

import os
import pathlib
import re
import subprocess
import sys

from tests.stand_ins import DIAGNOSIS

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "own_backend.py"


def run(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_it_trains_and_counts():
    assert len(EXAMPLE.read_text().splitlines()) < 40
    accuracy, count = re.fullmatch(
        r"counting: accuracy ([\d.]+), ([\d,]+) multiplications\n", run(str(EXAMPLE))
    ).groups()
    assert float(accuracy) > 0.9
    # Of 90 steps of 50 forward (4 * 8 + 8 * 3), and back into W of both and into the hidden layer, and 150 evaluated.
    assert int(count.replace(",", "")) == 90 * 50 * (56 + 56 + 24) + 150 * 56


def test_the_environment_selects_it():
    path = os.pathsep.join([str(EXAMPLE.parent), os.environ["PYTHONPATH"]])
    told = run(*DIAGNOSIS, ND_BACKEND="own_backend:Counting", PYTHONPATH=path)
    assert "backend own_backend:Counting: usable" in told
    assert told.endswith("ND_BACKEND=own_backend:Counting: counting is chosen, because it is asked for and usable.\n")
