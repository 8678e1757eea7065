"""java.io.File: a path with the methods that Java's programs call on it."""

from __future__ import annotations

import os
from pathlib import Path

from nd.classes import ExplainedType


class File(metaclass=ExplainedType):
    """A path, which goes wherever a path goes: ``File("model.zip")``, ``File(folder, "model.zip")``.

    Parameters
    ----------
    path : path
        Of a file or a folder, or with `child` the folder of that.
    child : path, optional
    """

    def __init__(self, path: str | os.PathLike[str], child: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if child is None else Path(path) / child

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"File({str(self.path)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def getAbsolutePath(self) -> str:
        """Return the path from the root on."""
        return str(self.path.absolute())

    def getName(self) -> str:
        """Return the last part of the path."""
        return self.path.name

    def getPath(self) -> str:
        """Return the path."""
        return str(self.path)

    def getParentFile(self) -> File:
        """Return the folder that it lies in."""
        return File(self.path.parent)

    def exists(self) -> bool:
        """Tell whether there is such a file or folder."""
        return self.path.exists()

    def isFile(self) -> bool:
        """Tell whether it is a file."""
        return self.path.is_file()

    def isDirectory(self) -> bool:
        """Tell whether it is a folder."""
        return self.path.is_dir()

    def length(self) -> int:
        """Return the bytes of the file, 0 where there is none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def list(self) -> list[str] | None:
        """Return the sorted names in a folder, None where it is none."""
        return sorted(one.name for one in self.path.iterdir()) if self.path.is_dir() else None

    def listFiles(self) -> list[File] | None:  # type: ignore[valid-type]
        """Return what is in a folder, sorted by name; None where it is none."""
        names = self.list()
        return None if names is None else [File(self.path, name) for name in names]

    def mkdir(self) -> bool:
        """Make the folder; tell whether there was none before."""
        there = self.path.exists()
        if not there:
            self.path.mkdir()
        return not there

    def mkdirs(self) -> bool:
        """Make the folder, and those that it lies in; tell whether there was none before."""
        there = self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        return not there

    def delete(self) -> bool:
        """Delete the file or the empty folder; tell whether there was one."""
        if not self.path.exists():
            return False
        if self.path.is_dir():
            self.path.rmdir()
        else:
            self.path.unlink()
        return True
