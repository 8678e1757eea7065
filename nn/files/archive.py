"""Model zips as archives: entries are read within bounds, written whole, and harmful archives are refused.

No entry is ever unpacked to disk.
"""

from __future__ import annotations

import io
import itertools
import lzma
import operator
import os
import pathlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from nd import FormatError, NdError, serde
from nd.arguments import shown
from nd.files.reading import (
    KNOWN_ENDINGS,
    MOST_RATIO,
    Source,
    ending_of,
    most_unpacked,
    name_of,
    opening_to_seek,
    raised_by_others,
    regular_file,
)
from nd.files.writing import FileKind, Target, replacing
from nd.files.zips import ZipFile

if TYPE_CHECKING:
    pass


_DAMAGE: tuple[type[Exception], ...] = (
    EOFError, OSError, OverflowError, RuntimeError, ValueError, lzma.LZMAError, struct.error, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip
"""The errors of reading a damaged archive."""

MODEL_ZIP = FileKind(
    "a model zip of Deeplearning4j",
    (".zip", ".bin"),
    {
        ".json": "The configuration alone is net.conf.to_json(). ",
        ".npz": "A file of named arrays is written by net.save. ",
        ".safetensors": "A file of named arrays is written by net.save. ",
        **dict.fromkeys((".h5", ".hdf5"), "A model of Keras 3 is written by net.save under .keras. "),
        **dict.fromkeys((".joblib", ".pickle", ".pkl"), "A pickle is written by pickle.dump(net, file). "),
        **dict.fromkeys(
            (".pt", ".pt2", ".pth"), "What PyTorch's programs read of it is written by net.save under .safetensors. "
        ),
    },
)

_MOST_JSON = 64 << 20  # bytes; tens of thousands of layers
_LIKELY = 64 << 20  # bytes of an array of unknown length
_ARRAY_HEADER = 4096  # bytes around the elements of a vector, generously
_HEAD = 64  # bytes that tell other kinds of files apart
_PIECE = 1 << 20  # bytes
_PLAIN_ZIP = 1 << 30  # bytes that an entry may have without the 64 bit form
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same network gives the same bytes
_Read = TypeVar("_Read")


def reading(who: str, source: Source, read: Callable[[str, zipfile.ZipFile], _Read]) -> _Read:
    """Return `read` of the archive and of its name in messages; raise FormatError where it is damaged.

    `source` is a path or a binary file object, whose position does not matter where it has one.
    """
    path = name_of(source)
    with opening_to_seek(who, source, b"PK") as file:  # its own errors (no such file, a folder) come out as they are
        try:
            with ZipFile(file) as archive:
                _check_entries(path, archive)
                return read(path, archive)
        except _DAMAGE as error:
            if isinstance(error, NdError) or raised_by_others(error):
                raise
            raise _as_format_error(path, file, error) from error


def _as_format_error(path: object, file: BinaryIO, error: Exception) -> FormatError:
    from .other_kinds import kind_of_bytes  # which programs without wrong files do not need

    file.seek(0)
    ending, kind = ending_of(path), kind_of_bytes(str(path), file.read(_HEAD))
    foreign = ending in KNOWN_ENDINGS and ending not in MODEL_ZIP.endings
    remedy = f"By its name it is {KNOWN_ENDINGS[ending]}." if foreign else "Is it truncated, or another kind?"
    return FormatError(f"{path}: expected a model zip, got {kind or f'{error}. {remedy}'}")


def _check_entries(path: object, archive: zipfile.ZipFile) -> None:
    """Refuse harmful archives, whichever of their entries do the harm."""
    seen: set[str] = set()
    for info in archive.infolist():
        parts = pathlib.PurePosixPath(info.filename.replace("\\", "/")).parts
        if info.filename.startswith(("/", "\\")) or ".." in parts or ":" in info.filename.split("/")[0]:
            raise FormatError(f"{path}: unsafe entry name {info.filename!r}, expected names relative to the archive.")
        if info.filename in seen:
            raise FormatError(f"{path}: expected every entry once, got {info.filename!r} twice. Which one is meant?")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise FormatError(f"{path}: entry {info.filename!r} must hold data, got a symbolic link.")
        seen.add(info.filename)


def open_entry(path: object, archive: zipfile.ZipFile, name: str, most: int) -> BinaryIO:
    """Return an entry that claims at most `most` bytes as a stream; small reads unpack no more than they ask for.

    Raises
    ------
    FormatError
        There is none, it claims more, more than an honest file of this size can hold, or it is encrypted or packed
        another way than Java packs.
    """
    try:
        info = archive.getinfo(name)
    except KeyError:
        from .other_kinds import kind_of_entries

        names = archive.namelist()
        raise FormatError(f"{path}: expected an entry {name!r}, got {shown(names)}. {kind_of_entries(names)}") from None
    if info.flag_bits & 1:
        raise FormatError(f"{path}: entry {name!r} must not be encrypted. Unpack the model with its password first.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(f"{path}: entry {name!r} must be stored or deflated, got method {info.compress_type}.")
    if info.file_size > most:
        raise FormatError(f"{path}: entry {name!r} must hold at most {most:,} bytes, got {info.file_size:,}.")
    honest = most_unpacked(_length(archive))
    if info.file_size > honest:
        raise FormatError(
            f"{path}: entry {name!r} must hold at most {honest:,} bytes in a file of this size, "
            f"got {info.file_size:,}. Was it made to fill the memory?"
        )
    return cast(BinaryIO, archive.open(info))  # not in a BufferedReader, which swallows a Ctrl-C as it begins


def _length(archive: zipfile.ZipFile) -> int:
    archive.fp.seek(0, io.SEEK_END)  # type: ignore[union-attr]
    return archive.fp.tell()  # type: ignore[union-attr]


def read_text(path: object, archive: zipfile.ZipFile, name: str) -> str:
    """Return an entry of JSON."""
    with open_entry(path, archive, name, _MOST_JSON) as stream:
        return stream.read(archive.getinfo(name).file_size).decode()


def read_vector(path: object, archive: zipfile.ZipFile, name: str, n: int | None, at_most: int | None = None) -> Any:
    """Return ``[1, n]`` on the host, of float32 or float64; numbers stored in 16 bits become float32.

    Parameters
    ----------
    n : int, optional
        Length that the configuration calls for.
    at_most : int, optional
        Without n, the longest that will do; without both, the length that the file's own makes likely.

    Raises
    ------
    FormatError
        The entry is no array, of another length, or not of floating point numbers.
    """
    longest = at_most if n is None else n
    most = _LIKELY + MOST_RATIO * _length(archive) if longest is None else 8 * longest + _ARRAY_HEADER
    with open_entry(path, archive, name, most) as stream:
        vector = serde.read_array(stream)
        if stream.read(1):
            raise FormatError(f"{path}: {name} must hold one array and nothing else, got more bytes.")
    if n is not None and vector.size != n:
        raise FormatError(f"{path}: {name} must hold {n:,} numbers for this configuration, got {vector.size:,}.")
    if longest is not None and vector.size > longest:
        raise FormatError(f"{path}: {name} must hold at most {longest:,} numbers, got {vector.size:,}.")
    if vector.dtype.kind != "f":
        raise FormatError(f"{path}: {name} must hold floating point numbers, got {vector.dtype}.")
    wide = "float64" if vector.dtype.itemsize == 8 else "float32"
    return vector.reshape(1, -1).astype(wide, copy=False)


def has_entry(archive: zipfile.ZipFile, name: str) -> bool:
    """Tell whether there is an entry of that name."""
    return name in archive.namelist()


def write_archive(who: str, path: Target, entries: Mapping[str, bytes], compressed: bool = True) -> None:
    """Write entries in their order; a file is replaced when all of it is on the disk."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with replacing(who, path, MODEL_ZIP) as file, ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, method)


def with_entry(who: str, path: str | os.PathLike[str], name: str, content: bytes) -> None:
    """Write an archive anew with one entry put in or replaced; the rest are copied as they are, a piece at a time."""
    regular_file(who, path)  # not a pipe: opened to be written to, it would wait
    with replacing(who, path, MODEL_ZIP) as file, ZipFile(file, "w") as target:
        for entry, pieces in itertools.groupby(_pieces(path), key=operator.itemgetter(0)):
            if entry != name:
                _write_pieces(target, pieces)
        target.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)


def _pieces(path: str | os.PathLike[str]) -> Iterator[tuple[str, zipfile.ZipInfo, bytes]]:
    """Yield the entries of an archive piece by piece; an error is the archive's fault, not the writer's."""
    with open(path, "rb") as file:
        try:
            archive = ZipFile(file)
            _check_entries(path, archive)
            for info in archive.infolist():
                yield from _pieces_of(path, archive, info)
        except _DAMAGE as error:
            if isinstance(error, NdError) or raised_by_others(error):
                raise
            raise _as_format_error(path, file, error) from error


def _pieces_of(
    path: object, archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> Iterator[tuple[str, zipfile.ZipInfo, bytes]]:
    with open_entry(path, archive, info.filename, info.file_size) as stream:
        piece = stream.read(_PIECE)
        yield info.filename, info, piece
        while piece := stream.read(_PIECE):
            yield info.filename, info, piece


def _write_pieces(target: zipfile.ZipFile, pieces: Iterable[tuple[str, zipfile.ZipInfo, bytes]]) -> None:
    iterator = iter(pieces)
    name, before, first = next(iterator)
    info = zipfile.ZipInfo(name, before.date_time)
    info.compress_type, info.external_attr = before.compress_type, before.external_attr
    with target.open(info, "w", force_zip64=before.file_size > _PLAIN_ZIP) as stream:
        stream.write(first)
        for _, _, piece in iterator:
            stream.write(piece)


def read_bytes(path: object, archive: zipfile.ZipFile, name: str, most: int, begins: bytes = b"") -> bytes:
    """Return an entry; one that does not begin as it must is unpacked no further than that."""
    with open_entry(path, archive, name, most) as stream:
        start = stream.read(len(begins))
        if start != begins:
            raise FormatError(f"{path}: {name} must begin with {begins!r}, got {start!r}.")
        return start + stream.read()
