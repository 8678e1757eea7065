"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

PARTIAL = ".partial"


@contextmanager
def replacing(who: str, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of `path` when the block ends without an error.

    Whatever happens, also the end of the process or of the machine's power, `path` is what it was before or what was
    written, never a part of it.

    Parameters
    ----------
    who : str
        For messages.
    path : path

    Raises
    ------
    OSError
        The file cannot be written (no folder, no rights, no space); what was there before is untouched, and no
        temporary file is left.

    Notes
    -----
    Written under another name in the same folder, synchronised with the disk, renamed, and the folder synchronised.
    Where `path` is a link, this happens to what it leads to; a pipe or a device is written into as it is.
    """
    target = pathlib.Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        with open(target, "wb") as file:
            yield file
        return
    partial = target.with_name(f".{target.name}.{os.getpid()}{PARTIAL}")
    try:
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{who}: the file must be written whole, got {error.strerror or error}; the one before is untouched. "
            "Free some space, or choose another folder",
            str(target),
        ) from error
    finally:
        with suppress(OSError):  # the folder itself may be what is missing
            partial.unlink(missing_ok=True)
    _synchronise(target.parent)


def remove_leftovers(folder: str | os.PathLike[str], pattern: str) -> None:
    """Remove what processes left that ended while they wrote files of such a name in that folder."""
    for path in pathlib.Path(folder).glob(f".{pattern}.*{PARTIAL}"):
        writer = path.name.removesuffix(PARTIAL).rpartition(".")[2]
        if writer.isdecimal() and not _runs(int(writer)):
            path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Tell whether another process of that number runs; where it cannot be told, say that it does."""
    if process == os.getpid():
        return False
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # signal 0 does nothing
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _synchronise(folder: pathlib.Path) -> None:
    """Have the disk keep the new name too; some systems cannot be asked to, and the file is in its place anyway."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
