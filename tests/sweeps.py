"""How much of a long sweep runs: all of it, or the share that ``SWEEP`` says, 0.25 for a quarter."""

import os


def share(count):
    """Return how many draws of so many run, one at least."""
    return max(1, round(count * float(os.environ.get("SWEEP", "1"))))
