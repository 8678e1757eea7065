"""What is not everywhere: files that are no part of the repository, and what some systems give nobody.

A test that wants it raises `Absent`: it is skipped, also where a skip for anything else is a failure.
"""

import pytest


class Absent(pytest.skip.Exception):
    """Skips the test, with the reason."""


class NoBrowser(Absent):
    """Skips a test of a page, also where everything else has to be there: few machines that test have a browser."""
