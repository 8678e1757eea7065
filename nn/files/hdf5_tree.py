"""All of a file of HDF5 as it lies there: groups with their attributes, and arrays.

libhdf5 can crash on damaged files. A file that is not one's own can be read by a child process: its crash is an error.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, BinaryIO, NamedTuple

from nd import FormatError
from nd.files.reading import Source, most_unpacked, name_of, opening_to_seek
from nd.files.serde_buffers import decode
from nd.interrupts import Held
from nd.typing import HostArray

from .hdf5_content import LENGTH, Attribute, Content, Wrong, content_of

BEGINS = b"\x89HDF\r\n\x1a\n"
"""The first bytes of such files."""
_SECONDS, _BYTES_A_SECOND = 60, 1 << 20  # how long a child process may take: it may be in an endless loop
_PROGRAM = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
"""Not the path itself: Python would look for modules beside it."""
_TYPES = {"float32": "FLOAT", "float64": "DOUBLE", "int64": "LONG"}
_LIBRARIES = {"HDF5_USE_FILE_LOCKING": "FALSE", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class StoredArray(NamedTuple):
    """An array of a file.

    Attributes
    ----------
    array : array on the host
        float32, float64 or int64.
    dtype : str
        That of the file, as NumPy spells it; two bytes that HDF5 has no type for are ``"bfloat16"``.
    """

    array: HostArray
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return tuple(self.array.shape)

    def read(self) -> HostArray:
        """Return the array."""
        return self.array


class Hdf5Tree(NamedTuple):
    """What a file holds, by path; the root is ``""``.

    Attributes
    ----------
    attributes : mapping of str -> mapping of str -> Attribute
        Of every group and every array.
    arrays : mapping of str -> StoredArray
    texts : mapping of str -> str
        Arrays that are one text.
    others : mapping of str -> str
        Arrays of anything else, and what that is.
    """

    attributes: Mapping[str, Mapping[str, Attribute]]
    arrays: Mapping[str, StoredArray]
    texts: Mapping[str, str]
    others: Mapping[str, str]


def read_tree(
    library: Any, source: Source, isolated: bool = False, without: tuple[str, ...] = (), name: str = ""
) -> Hdf5Tree:
    """Return the content of a file, all of it in memory.

    Parameters
    ----------
    library : module
        h5py.
    source : path or binary file object
    isolated : bool
        Read it in a child process, for files that are not one's own. It takes a quarter of a second longer.
    without : tuple of str
        Groups of the root whose content is left out.
    name : str, optional
        Of the file in messages, by default its path.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        As `nd.files.reading.opening`.
    FormatError
        It is damaged, of another kind, keeps numbers in other files, or holds more than its length allows; or the child
        process crashed on it.
    """
    name = name or name_of(source)
    # Without a child nothing waits for long; h5py drops a Ctrl-C that comes as it lets go of its handles, the last ones
    # behind the file's end, and Python one between the opening of a file and the block that closes it.
    with nullcontext() if isolated else Held(), opening_to_seek("read_hdf5", source, BEGINS) as file:
        most = most_unpacked(file.seek(0, os.SEEK_END))
        file.seek(0)
        is_path = isinstance(source, (str, bytes, os.PathLike))
        try:
            if isolated:
                given = os.path.abspath(os.fsdecode(source)) if is_path else "-"  # type: ignore[arg-type]
                return _isolated(name, [given, str(most), *without], None if is_path else file.read())
            return _tree(content_of(library, os.fsdecode(source) if is_path else file, most, without))  # type: ignore[arg-type]
        except Wrong as error:
            raise FormatError(f"{name}: {error}") from error


def _tree(content: Content) -> Hdf5Tree:
    arrays = {name: StoredArray(array, content.dtypes[name]) for name, array in content.arrays.items()}
    return Hdf5Tree(content.attributes, arrays, content.texts, content.others)


def _isolated(name: str, arguments: list[str], content: bytes | None) -> Hdf5Tree:
    """Have a child process write the content into a file, whose reader is safe."""
    program = os.path.join(os.path.dirname(__file__), "hdf5_content.py")
    command = [sys.executable, "-c", _PROGRAM, program, *arguments]
    size = os.path.getsize(arguments[0]) if content is None else len(content)
    seconds = _SECONDS + size // _BYTES_A_SECOND
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                command, env={**os.environ, **_LIBRARIES}, input=content or b"", stdout=out, stderr=subprocess.PIPE,
                timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"{name}: libhdf5 must read the file, got no end in {seconds} seconds.") from error
        if done.returncode < 0:
            raise FormatError(
                f"{name}: libhdf5 must read the file, got a crash (signal {-done.returncode}). It is damaged."
            )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise FormatError(f"{name}: {said or 'could not be read.'}")
        return _received(name, out)


def _received(name: str, out: BinaryIO) -> Hdf5Tree:
    left = out.seek(0, os.SEEK_END) - LENGTH
    out.seek(0)
    try:
        length = int.from_bytes(out.read(LENGTH), "big")
        attributes, arrays, texts, others = json.loads(out.read(length) if length <= left else b"")
        kept = {}
        for path, (shape, dtype, written) in arrays.items():
            size = math.prod(shape) * (4 if dtype == "float32" else 8)
            numbers = bytearray(out.read(size)) if size <= left else bytearray()
            kept[path] = StoredArray(decode(numbers, _TYPES[dtype]).reshape(shape), written)
    except (LookupError, TypeError, ValueError) as error:
        raise FormatError(f"{name}: libhdf5 must read the file, got {error}. It is damaged.") from error
    return Hdf5Tree(attributes, kept, texts, others)
