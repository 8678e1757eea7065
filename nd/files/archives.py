"""Named arrays in one file: .npz, and .safetensors where that package is installed."""

from __future__ import annotations

import json
import math
import os
import pathlib
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy

from backends.errors import ConfigurationError, FormatError, NdError, check_choice
from backends.extras import install_command
from nd.typing import Array, HostArray

from ..arrays.creation import as_array, to_host
from .reading import checked_path, raised_by_others, regular_file
from .writing import FileKind, replacing
from .zips import ZipFile

if TYPE_CHECKING:
    from types import ModuleType


METADATA = "__metadata__"
_MOST_METADATA = 64 << 20  # bytes
_NPY_HEADERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): numpy.lib.format.read_array_header_1_0,
    (2, 0): numpy.lib.format.read_array_header_2_0,
}
_HEADER = 1024  # bytes around the elements of an .npy entry, at most


class ArrayFile:
    """An open file of named arrays; nothing is read before it is asked for.

    Attributes
    ----------
    metadata : dict of str -> str
    names : tuple of str
        In the order of the file.
    """

    def __init__(self, metadata: dict[str, str], names: tuple[str, ...], read: Callable[[str, int], Any]) -> None:
        self.metadata, self.names, self._read = metadata, names, read

    def read(self, name: str, shape: tuple[int, ...], dtype: str) -> Array:
        """Return an array of that shape on the current backend.

        Raises
        ------
        FormatError
            It is not there, is of another shape or no numbers.
        """
        if name not in self.names:
            raise FormatError(f"expected an array {name!r}, got {', '.join(self.names) or 'none'}.")
        array = self._read(name, 16 * math.prod(shape) + _HEADER)
        if array.shape != shape or array.dtype.kind not in "fiu":
            raise FormatError(f"{name!r} must hold numbers {list(shape)}, got {array.dtype} {list(array.shape)}.")
        return as_array(array, dtype)

    def read_any(self, name: str, most: int) -> HostArray:
        """Return an array of any shape on the host, of at most so many bytes; errors as `read`."""
        array = self._read(name, most)
        if array.dtype.kind not in "fiub":
            raise FormatError(f"{name!r} must hold numbers, got {array.dtype}.")
        return array


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays and texts, in the format that the ending of `path` names.

    Parameters
    ----------
    path : path
        ``.npz`` or ``.safetensors``; replaced only when the new file is complete.
    arrays : mapping of str -> array
    metadata : mapping of str -> str

    Raises
    ------
    ChoiceError
        Another ending.
    ConfigurationError
        ``.safetensors`` without the package of that name.
    OSError
        The file cannot be written.
    """
    kind = _kind_of(path)
    host = {name: numpy.ascontiguousarray(to_host(array)) for name, array in arrays.items()}
    content = _safetensors("write").save(host, dict(metadata)) if kind == ".safetensors" else None
    with replacing("write_arrays", path, FileKind("named arrays", (kind,))) as file:
        if content is not None:
            file.write(content)
        else:
            numpy.savez(file, **host, **{METADATA: numpy.array(json.dumps(dict(metadata)))})  # type: ignore[arg-type]


@contextmanager
def reading_arrays(path: str | os.PathLike[str], kind: str = "") -> Iterator[ArrayFile]:
    """Open a file of `write_arrays`, or any .npz or .safetensors.

    Parameters
    ----------
    path : path
    kind : {".npz", ".safetensors"}, optional
        By default what the path ends in.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, or of another kind. Nothing in it is executed, and it takes no more memory than is asked for.
    ChoiceError, ConfigurationError
        As for `write_arrays`.
    """
    kind = kind or _kind_of(path)
    with open(regular_file("arrays", path), "rb"):
        pass  # its own errors (no rights, say) come out as they are
    try:
        with _open_safetensors(path) if kind == ".safetensors" else _open_npz(path) as arrays:
            yield arrays
    except NdError as error:
        raise type(error)(f"{path}: {error}") from error
    except (EOFError, OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        if raised_by_others(error):
            raise
        raise FormatError(f"{path}: expected a {kind} file, got {error}. Is it truncated, or another kind?") from error


def _kind_of(path: str | os.PathLike[str]) -> str:
    return check_choice(
        "arrays",
        "ending of the file",
        pathlib.Path(checked_path("arrays", path)).suffix.lower(),
        (".npz", ".safetensors"),
    )


def _safetensors(verb: str) -> ModuleType:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ConfigurationError(
            f"safetensors: the package must be installed to {verb} such files, got {error}. "
            f"Run: {install_command('safetensors')}, or use .npz."
        ) from error
    return safetensors.numpy


@contextmanager
def _open_npz(path: str | os.PathLike[str]) -> Iterator[ArrayFile]:
    with ZipFile(path) as archive:
        entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}

        def read(name: str, most: int) -> Any:
            info = entries[name]
            if info.file_size > most:
                raise FormatError(f"{name!r} must hold at most {most:,} bytes, got {info.file_size:,}.")
            with archive.open(info) as stream:
                return _read_npy(name, stream, info.file_size)

        metadata = _metadata(str(read(METADATA, _MOST_METADATA)[()])) if METADATA in entries else {}
        yield ArrayFile(metadata, tuple(name for name in entries if name != METADATA), read)


def _read_npy(name: str, stream: Any, size: int) -> object:
    """Return an array whose header claims no more than the entry holds."""
    version = numpy.lib.format.read_magic(stream)
    if version not in _NPY_HEADERS:
        raise FormatError(f"{name!r} must be of version 1 or 2 of .npy, got {version}.")
    try:
        shape, fortran, dtype = _NPY_HEADERS[version](stream)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize > size:
            raise FormatError(f"{name!r} must hold plain numbers, {size:,} bytes of them, got {dtype} {list(shape)}.")
    except NdError:
        raise
    except (MemoryError, TypeError, ValueError, tokenize.TokenError) as error:  # from Python's parser too
        raise FormatError(f"{name!r} must be an array of .npy, got {type(error).__name__}: {error}.") from error
    content = stream.read(math.prod(shape) * dtype.itemsize)
    try:
        return numpy.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")
    except (TypeError, ValueError) as error:
        raise FormatError(f"{name!r} must be an array of .npy, got {type(error).__name__}: {error}.") from error


def _metadata(text: str) -> dict[str, str]:
    try:
        metadata = json.loads(text)
    except RecursionError as error:
        raise FormatError(f"metadata must be a flat object, got {error}.") from error
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FormatError(f"metadata must be texts by name, got {text[:80]!r}.")
    return metadata


@contextmanager
def _open_safetensors(path: str | os.PathLike[str]) -> Iterator[ArrayFile]:
    _safetensors("read")
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            yield ArrayFile(metadata, tuple(file.keys()), lambda name, most: _tensor(file, name))
    except SafetensorError as error:
        raise FormatError(f"expected a .safetensors file, got {error}. Is it truncated, or another kind?") from error


def _tensor(file: Any, name: str) -> numpy.ndarray:
    try:
        array = file.get_tensor(name)
    except (AttributeError, TypeError) as error:  # a type of numbers that NumPy has not
        raise FormatError(f"{name!r} must hold numbers that NumPy knows, got {error}.") from error
    if array.dtype.kind == "V":  # or has from ml_dtypes, where another package has imported that
        raise FormatError(f"{name!r} must hold numbers that NumPy knows, got {array.dtype}.")
    return array
