"""Zip files whose end no Ctrl-C gets lost in."""

from __future__ import annotations

import zipfile


class ZipFile(zipfile.ZipFile):
    """As `zipfile.ZipFile`, for a ``with`` block, which closes it: dropping it does nothing more.

    Python swallows what is raised within a finaliser, also KeyboardInterrupt, and `zipfile.ZipFile` has one in Python.
    This one is C: the type of tuples, which is called without arguments, as it is no function of Python's.

    What an error has ended is not completed: with an entry half written `zipfile.ZipFile` would raise a ValueError in
    the error's place, and an archive that lacks entries could pass for a whole one.
    """

    __del__ = tuple  # type: ignore[assignment]

    def __exit__(self, kind: object = None, *error: object) -> None:
        if kind is None or self.mode == "r":
            self.close()
