"""Zip files whose end no Ctrl-C gets lost in."""

from __future__ import annotations

import zipfile


class ZipFile(zipfile.ZipFile):
    """As `zipfile.ZipFile`, for a ``with`` block, which closes it: dropping it does nothing more.

    Python swallows what is raised within a finaliser, also KeyboardInterrupt, and `zipfile.ZipFile` has one in Python.
    This one is C: the type of tuples, which is called without arguments, as it is no function of Python's.
    """

    __del__ = tuple  # type: ignore[assignment]
