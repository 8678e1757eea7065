"""Arrays in ``.npz`` files: their headers alone, and their numbers, read within the headers' bounds."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from backends.errors import DataError, DTypeError, FormatError, NdError, ShapeError
from nd.files.reading import Source, most_unpacked, name_of, opening, raised_by_others
from nd.files.zips import ZipFile

_NUMERIC_KINDS = "biuf"
_DAMAGED = "The file is damaged or no .npz file; write it again with numpy.savez."
_BROKEN = (EOFError, NotImplementedError, OSError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)


class Member(NamedTuple):
    """Shape and dtype that the header of an array in a file says."""

    shape: tuple[int, ...]
    dtype: np.dtype


def read_headers(who: str, path: Source, keys: Mapping[str, str]) -> dict[str, Member]:
    """Return field -> shape and dtype of the arrays that `keys` (field -> key in the file) names.

    Raises
    ------
    DataError
        The file has no such key.
    FormatError
        The file is damaged, an array holds Python objects, or unpacks to more than an honest file of that size holds.
    ShapeError, DTypeError, OSError
        An array is a scalar, or does not hold numbers; the file cannot be read.
    """
    headers = {}
    with _open(who, path) as archive:
        names = {name.removesuffix(".npy"): name for name in archive.namelist()}
        for field, key in keys.items():
            if key not in names:
                raise DataError(
                    f"{who}: '{name_of(path)}': expected an array {key!r} for the {field}, got {sorted(names)}."
                )
            headers[field] = _header(_Place(who, name_of(path), key), archive, names[key])
    return headers


def read_arrays(who: str, path: Source, keys: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return field -> array. Same arguments and errors as `read_headers`; at most the file's size is allocated."""
    read_headers(who, path, keys)  # which also compares the sizes in the headers with those of the file
    arrays: dict[str, np.ndarray] = {}
    try:
        with opening(who, path) as file, np.load(file, allow_pickle=False) as stored:
            for field, key in keys.items():
                same = next((other for other in arrays if keys[other] == key), None)
                arrays[field] = stored[key] if same is None else arrays[same]
    except _BROKEN as error:
        if isinstance(error, NdError) or raised_by_others(error):
            raise
        raise FormatError(f"{who}: '{name_of(path)}': expected arrays, got: {error}. {_DAMAGED}") from error
    return arrays


class _Place(NamedTuple):
    who: str
    path: str
    key: str

    def __str__(self) -> str:
        return f"{self.who}: '{self.path}': array {self.key!r}"


@contextmanager
def _open(who: str, path: Source) -> Iterator[zipfile.ZipFile]:
    with opening(who, path) as file:
        try:
            archive = ZipFile(file)
        except (NotImplementedError, zipfile.BadZipFile) as error:
            raise FormatError(f"{who}: '{name_of(path)}': expected a .npz file, got: {error}. {_DAMAGED}") from error
        with archive:
            yield archive


def _header(place: _Place, archive: zipfile.ZipFile, name: str) -> Member:
    size = archive.getinfo(name).file_size
    most = most_unpacked(archive.fp.seek(0, 2))  # type: ignore[union-attr]
    if size > most:
        raise FormatError(
            f"{place}: must unpack to at most {most:,} bytes in a file of this size, got {size:,}. Was it made to fill "
            "the memory? If it is your own, write it with numpy.savez, which does not compress."
        )
    try:
        with archive.open(name) as stream:
            shape, dtype = _read_header(stream)
            left = size - stream.tell()
    except _BROKEN as error:
        if raised_by_others(error):
            raise
        raise FormatError(f"{place}: expected a .npy header, got: {error}. {_DAMAGED}") from error
    if dtype.hasobject:
        raise FormatError(f"{place}: must not hold Python objects, which are code; got dtype {dtype}.")
    if dtype.kind not in _NUMERIC_KINDS:
        raise DTypeError(f"{place}: expected numbers, got elements of dtype {dtype}. Convert them first.")
    if not shape:
        raise ShapeError(f"{place}: expected examples along the first axis, got a scalar.")
    if math.prod(shape) * dtype.itemsize != left:
        raise FormatError(f"{place}: shape {list(shape)} of {dtype} does not fit its {left} bytes. {_DAMAGED}")
    return Member(shape, dtype)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version}, known are 1.0 and 2.0")
    return shape, dtype
