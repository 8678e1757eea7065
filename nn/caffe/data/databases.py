"""Databases of Datums, through lmdb: what Data layers read."""

from __future__ import annotations

import os
import reprlib
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from nd import ConfigurationError, DTypeError, FormatError, SizeError
from nd.arguments import Natural, checked
from nd.extras import optional
from nd.files.reading import checked_path

from ..binary import parse_binary, to_bytes
from ..schema import Message, check_kind

_FIRST_SIZE = 64 << 20  # bytes of a database that is written; doubled as it fills up
_COMMITTED = 1000  # records at a time
_OPEN: dict[str, list[Any]] = {}  # path -> environment and how many use it: lmdb opens one only once in a process
_LOCK = threading.RLock()  # a reader that is dropped closes its database wherever Python takes it to pieces


class DatumDatabase:
    """A database of Datums in LMDB, ``mnist_train_lmdb``; records come in the order of their keys.

    Parameters
    ----------
    path : path
        Of its folder.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    FormatError
        It is no LMDB, or shorter than it says.
    ConfigurationError
        It is a LevelDB, or the package lmdb is not installed.

    Examples
    --------
    >>> from nn.caffe import DatumDatabase
    >>> for key, datum in DatumDatabase("examples/mnist/mnist_test_lmdb"):  # doctest: +SKIP
    ...     print(key, datum.label)
    """

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = checked_path("DatumDatabase", path)
        _check_kind(self.path)
        with _opened(self.path) as environment:
            self._length = environment.stat()["entries"]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[bytes, Message]]:
        """Yield the key and the Datum of each record; FormatError where a record is damaged."""
        for key, value in self.records():
            yield key, parse_binary(value, "Datum", f"{self.path}: record {key!r}")

    @checked
    def records(self, start: Natural = 0) -> Generator[tuple[bytes, bytes]]:
        """Yield the key and the bytes of each record from a number on; raise SizeError unless there is such a one."""
        library = _library()
        if start and start >= len(self):
            raise SizeError(f"{self.path}: start must be one of {len(self)} records, got {start}.")
        with _opened(self.path) as environment:
            try:
                with environment.begin() as transaction:
                    yield from _from(transaction.cursor(), start)
            except library.Error as error:
                raise FormatError(f"{self.path}: expected a database of LMDB, got {error}. Is it damaged?") from error


def _from(cursor: Any, start: int) -> Iterator[tuple[bytes, bytes]]:
    """Put a cursor on a record; the values before it are not read."""
    if start:
        cursor.set_key(next(islice(cursor.iternext(keys=True, values=False), start, None)))
    return iter(cursor)


@checked
def write_database(path: str | os.PathLike[str], records: Iterable[tuple[bytes, Message]]) -> int:
    """Write a database in LMDB; return how many records it has.

    Parameters
    ----------
    path : path
        Of a folder that is made.
    records : iterable of (bytes, Datum)
        Keys, of 1 to 511 bytes, and examples. A reader gets them in the order of the keys: ``b"00000007"``. Of several
        with one key the last stays, as in Caffe.

    Raises
    ------
    ConfigurationError
        The folder is there already, a key is too long, or the package lmdb is not installed.
    OSError
        It cannot be written.
    """
    folder = Path(checked_path("write_database", path))
    if folder.exists():
        raise ConfigurationError(
            f"write_database: expected the name of a new folder, got {str(folder)!r}. Remove it first."
        )
    library = _library()
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    partial.mkdir()
    try:
        count = _fill(library, partial, records)
        os.rename(partial, folder)
    except library.Error as error:
        raise ConfigurationError(f"write_database: {str(folder)!r} could not be written, got {error}.") from error
    finally:
        for left in partial.iterdir() if partial.exists() else ():
            left.unlink()
        if partial.exists():
            partial.rmdir()
    return count


def _fill(library: Any, folder: Path, records: Iterable[tuple[bytes, Message]]) -> int:
    pending: list[tuple[bytes, bytes]] = []
    with library.open(str(folder), map_size=_FIRST_SIZE, sync=True) as environment:
        for record in records:
            pending.append(_checked(record))
            if len(pending) == _COMMITTED:
                _commit(library, environment, pending)
                pending = []
        _commit(library, environment, pending)
        return int(environment.stat()["entries"])


def _checked(record: Any) -> tuple[bytes, bytes]:
    if not (isinstance(record, tuple) and len(record) == len(("key", "datum")) and isinstance(record[0], bytes)):
        raise DTypeError(f"write_database: a record must be a key in bytes and a Datum, got {reprlib.repr(record)}.")
    check_kind(f"write_database: record {record[0][:80]!r}", record[1], "Datum")
    return record[0], to_bytes(record[1], "write_database")


def _commit(library: Any, environment: Any, records: list[tuple[bytes, bytes]]) -> None:
    """Write records; where the database is full, double it and write them again."""
    while True:
        try:
            with environment.begin(write=True) as transaction, transaction.cursor() as cursor:
                cursor.putmulti(records)
            return
        except library.MapFullError:
            environment.set_mapsize(2 * environment.info()["map_size"])


def _check_kind(path: str) -> None:
    folder = Path(path)
    if not folder.is_dir():
        raise FileNotFoundError(2, "DatumDatabase: there must be such a folder", path)
    if (folder / "CURRENT").exists() and not (folder / "data.mdb").exists():
        raise ConfigurationError(
            f"DatumDatabase: expected a database of LMDB, got {path!r}, one of LevelDB. Write it anew with Caffe's "
            "convert_imageset --backend=lmdb."
        )
    if not (folder / "data.mdb").is_file():
        raise FormatError(f"{path}: expected a database of LMDB, got a folder without data.mdb.")


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """Open an environment, or take part in one that is open."""
    name = os.path.realpath(path)
    with _LOCK:
        if name not in _OPEN:
            _OPEN[name] = [_open(name), 0]
        _OPEN[name][1] += 1
        environment = _OPEN[name][0]
    try:
        yield environment
    finally:
        with _LOCK:
            _OPEN[name][1] -= 1
            if not _OPEN[name][1]:
                del _OPEN[name]
                environment.close()


def _open(path: str) -> Any:
    library, size = _library(), os.path.getsize(os.path.join(path, "data.mdb"))
    try:
        environment = library.open(path, readonly=True, lock=False, readahead=True, create=False)
    except library.Error as error:
        raise FormatError(f"{path}: expected a database of LMDB, got {error}. Is it damaged?") from error
    needed = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    if needed > size:  # reading behind the end of the file would end the process
        environment.close()
        raise FormatError(f"{path}: a database must be whole, {needed:,} bytes, got {size:,}. It is truncated.")
    return environment


def _library() -> Any:
    return optional("DatumDatabase", "lmdb", "lmdb", "caffe")
