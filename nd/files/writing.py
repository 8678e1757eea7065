"""Writing files: a file is complete, or not there at all."""

from __future__ import annotations

import errno
import fnmatch
import functools
import glob
import io
import os
import pathlib
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from backends.errors import ConfigurationError

from .reading import KNOWN_ENDINGS, Source, checked_path, checked_stream, ending_of

PARTIAL, CLOCK = ".partial", ".clock"
"""Endings of the files that are written beside others: with what will be one, and to learn the time of a folder."""
Target = Source
_MOST_OF_A_NAME = 50  # characters of at most 4 bytes: with the additions, names keep below 255 bytes
_ABANDONED = 86_400  # seconds without a write, where no lock tells
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) if hasattr(errno, "EDQUOT") else (errno.ENOSPC, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


class FileKind(NamedTuple):
    """What is written into a file, and the names that say so."""

    what: str
    """As messages call it: "a model zip of Deeplearning4j"."""
    endings: tuple[str, ...]
    """Endings of its names, the usual one first. Endings that nothing is known of, and none, are allowed as well."""
    remedies: Mapping[str, str] = MappingProxyType({})
    """Ending -> how a file of that kind is written instead, if there is a way."""


TEXT = FileKind("text", (".txt", ".csv", ".tsv"))


def check_ending(who: str, target: Any, kind: FileKind) -> None:
    """Raise ConfigurationError where a path has the ending of another kind of file; file objects have no name."""
    ending = ending_of(target)
    if ending not in KNOWN_ENDINGS or ending in kind.endings:
        return
    path = os.fsdecode(target)
    remedy = kind.remedies.get(ending, "")
    raise ConfigurationError(
        f"{who}: expected a name for {kind.what}, which is what is written, got {path!r}, a name for "
        f"{KNOWN_ENDINGS[ending]}. {remedy}Name it {os.path.splitext(path)[0] + kind.endings[0]!r}."
    )


def check_folder(who: str, path: str | os.PathLike[str]) -> None:
    """Raise ConfigurationError where a folder that is to be made has the name of a file."""
    ending = ending_of(path)
    if ending in KNOWN_ENDINGS and not os.path.isdir(path):
        raise ConfigurationError(
            f"{who}: expected a name for a folder, got {os.fsdecode(path)!r}, a name for {KNOWN_ENDINGS[ending]}. "
            "Leave the ending out: the files in the folder get names of their own."
        )


@contextmanager
def replacing(who: str, target: Target, kind: FileKind | None = None) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of `target` when the block ends without an error.

    Whatever happens, also the end of the process or of the machine's power, `target` is the old file or the new one,
    never a part of it; of several writers at once, in threads, processes or on other machines, one has written the
    file that is there in the end.

    Parameters
    ----------
    who : str
        For messages.
    target : path or binary file object
        A file object is written to when the block ends, where it stands, and stays open.
    kind : FileKind, optional
        What is written; without it any name will do.

    Raises
    ------
    DTypeError, ConfigurationError
        It is neither, an empty path, or one with the ending of another kind of file.
    OSError
        The file cannot be written (no folder, no rights, no space); the one before is untouched, and no temporary file
        is left.

    Notes
    -----
    Written under a random name in the same folder, synchronised with the disk, renamed, and the folder synchronised.
    The file has the rights of the one that it replaces, and its owner, where the system allows that. Where `target` is
    a link, this happens to the file that it leads to; a pipe or a device is written into as it is. Temporary files of
    killed processes beside `target` are removed.
    """
    if not isinstance(target, (str, bytes, os.PathLike)):
        yield from _into(checked_stream(who, target, "write"))
        return
    final = pathlib.Path(os.path.realpath(checked_path(who, target)))
    if kind is not None:
        check_ending(who, target, kind)
    if _is_device(who, final):
        try:
            with open(final, "wb") as file:
                yield file
        except OSError as error:
            raise _explained(who, final, error, "") from error
        return
    remove_leftovers(final.parent, glob.escape(final.name[:_MOST_OF_A_NAME]))
    with _partial(who, final) as (file, partial):
        yield file
        _complete(file)
        os.replace(partial, final)


def _is_device(who: str, final: pathlib.Path) -> bool:
    """Tell whether something is there that is no file, a pipe, say; raise errors for a folder and a name too long."""
    try:
        if final.is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{who}: expected the name of a file, got a folder", str(final))
        return final.exists() and not final.is_file()
    except IsADirectoryError:
        raise
    except OSError as error:
        raise _explained(who, final, error, "") from error


def create_first_free(
    who: str, candidates: Callable[[], Iterable[pathlib.Path]], write: Callable[[BinaryIO], None]
) -> pathlib.Path:
    """Write a file and give it the first of these names that nothing has; return that name.

    No other file is replaced, also where others create files there at the same time.

    Parameters
    ----------
    who : str
        For messages.
    candidates : callable
        Returns the names, in one folder. It is asked again when the file is written: which names are free, and which
        are to stay so, may be others by then.
    write : callable
        Gets the file, once.

    Raises
    ------
    OSError
        The file cannot be written, or all names are taken. No temporary file is left.
    """
    with _partial(who, next(iter(candidates()))) as (file, partial):
        write(file)
        _complete(file)
        names = iter(candidates())
        final = next(names)
        while not _named(partial, final):
            taken = final
            final = next(names, taken)
            if final is taken:
                raise FileExistsError(errno.EEXIST, "all names are taken", str(taken))
    return final


def remove_leftovers(folder: str | os.PathLike[str], pattern: str) -> None:
    """Remove temporary files in a folder, of files with names like the pattern, whose processes ended while they wrote.

    A file that another process may still be writing stays: one that it has locked, and one that another machine began,
    where locks may not be seen, for a day after the last write.
    """
    try:
        names = os.listdir(folder)
    except OSError:  # the write into that folder will say so
        return
    for name in names:
        if fnmatch.fnmatchcase(name, f".{pattern}.*{PARTIAL}"):
            _remove_if_abandoned(os.path.join(folder, name))
        elif _is_clock(os.path.join(folder, name)):  # whoever made it needs its name no more
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def remove_leftover_folders(parent: pathlib.Path, pattern: str) -> None:
    """Remove folders with names like the pattern, with what is in them, where nothing was written for a day."""
    import shutil  # which few programs need

    for folder in parent.glob(pattern):
        with suppress(OSError):  # it is gone meanwhile, or another user's
            written = max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))
            if not folder.is_symlink() and _now_in(parent) - written > _ABANDONED:
                shutil.rmtree(folder)


def _remove_if_abandoned(path: str) -> None:
    with suppress(OSError):  # it is gone meanwhile, a link, or another user's
        handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(handle)
            locked = _lock(handle)
            certain = locked is True and f".{_machine()}-" in os.path.basename(path)
            if stat.S_ISREG(status.st_mode) and (certain or (locked is not False and _is_old(path, status))):
                os.unlink(path)
        finally:
            os.close(handle)


def _is_old(path: str, status: os.stat_result) -> bool:
    return _now_in(os.path.dirname(path)) - status.st_mtime > _ABANDONED


def _now_in(folder: str | os.PathLike[str]) -> float:
    """Return the time by the clock that writes the times of a folder's files: on a shared volume another machine's."""
    probe = os.path.join(folder, f".{_random(8)}{CLOCK}")
    handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        return os.fstat(handle).st_mtime
    finally:
        os.close(handle)
        with suppress(FileNotFoundError):  # another process has taken it for a leftover
            os.unlink(probe)


def _is_clock(path: str) -> bool:
    """Tell whether a file is one that `_now_in` makes, by its name and because there is nothing in it."""
    named = re.fullmatch(rf"\.[0-9a-f]{{16}}{re.escape(CLOCK)}", os.path.basename(path))
    with suppress(OSError):
        status = os.lstat(path) if named else None
        return status is not None and stat.S_ISREG(status.st_mode) and not status.st_size
    return False


# ---- the temporary file


@contextmanager
def _partial(who: str, final: pathlib.Path) -> Iterator[tuple[BinaryIO, pathlib.Path]]:
    """Yield an open file beside `final`, locked as long as it is open, and its name; it is gone after the block."""
    partial = None
    try:
        handle, partial = _create(final)
        with os.fdopen(handle, "wb") as file:
            _take_rights(handle, final)
            yield file, partial
    except OSError as error:
        raise _explained(who, final, error) from error
    finally:
        if partial is not None:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
    _synchronise(final.parent)


def _create(final: pathlib.Path) -> tuple[int, pathlib.Path]:
    """Create a file that nobody else has created, and lock it before somebody takes it for a leftover."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    mode = 0o600 if final.exists() else 0o666  # less the umask; a private file is never open to others
    while True:
        name = f".{final.name[:_MOST_OF_A_NAME]}.{_machine()}-{_random(8)}{PARTIAL}"
        partial = final.with_name(name)
        try:
            handle = os.open(partial, flags, mode)
        except FileExistsError:
            continue
        if _lock(handle) is not False and _is_at(partial, handle):
            return handle, partial
        os.close(handle)


def _is_at(path: pathlib.Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _take_rights(handle: int, final: pathlib.Path) -> None:
    """Give an open file the owner, where that is allowed, and the rights of the file that it will replace."""
    if not final.exists() or not hasattr(os, "fchmod"):
        return
    old, new = os.stat(final), os.fstat(handle)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) and hasattr(os, "fchown"):
        with suppress(OSError):  # only root gives files away
            os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _complete(file: BinaryIO) -> None:
    """Have the disk keep the content, before the file gets its name."""
    file.flush()
    os.fsync(file.fileno())
    if os.name == "nt":  # where open files cannot be renamed; elsewhere the lock is held until they have their name
        file.close()


def _named(partial: pathlib.Path, final: pathlib.Path) -> bool:
    """Give a file a name if nothing has it; tell whether that was so."""
    try:
        os.link(partial, final)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links: the name is taken first, then filled
        try:
            os.close(os.open(final, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        os.replace(partial, final)
    return True


def _lock(handle: int) -> bool | None:
    """Lock an open file as long as it is open; False where another one has, None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _random(count: int) -> str:
    return os.urandom(count).hex()


@functools.cache
def _machine() -> str:
    """Return an identifier of the running system, the same in all its containers; a random one where it has none."""
    try:
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return _random(4)


def _synchronise(folder: pathlib.Path) -> None:
    """Have the disk keep the new name too; some systems cannot be asked to, and the file is in its place anyway."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _explained(who: str, final: pathlib.Path, error: OSError, kept: str = "; the one before is untouched") -> OSError:
    if error.errno == errno.ENOENT and not final.parent.exists():
        return OSError(error.errno, f"{who}: the folder must exist, got none. Make it first", str(final.parent))
    remedy = "Choose another folder"
    if error.errno in _FULL:
        remedy = "Free some space, or choose another folder"
    elif error.errno in _FORBIDDEN:
        remedy = "Choose a folder that you may write to"
    elif error.errno == errno.ENAMETOOLONG:
        remedy = "Choose a shorter name"
    got = error.strerror or error
    return OSError(
        error.errno,
        f"{who}: the file must be written whole, got {got}{kept}. {remedy}",
        str(final),
    )


# ---- file objects


def _into(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a buffer that is copied into a file object in the end; an ordinary file itself, which needs no copy."""
    if isinstance(stream, io.BufferedWriter) and stream.mode == "wb" and stream.seekable():
        yield stream
        return
    content = io.BytesIO()
    yield content
    left = content.getbuffer()
    while left:
        count = stream.write(left)
        if count == 0 or (count is None and isinstance(stream, io.RawIOBase)):
            raise BlockingIOError(errno.EAGAIN, "the file object takes no more; give one that waits")
        left = left[len(left) if count is None else count :]
