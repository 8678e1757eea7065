"""Reading files: paths and file objects are checked before anything is opened."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from backends.errors import ConfigurationError, DTypeError, FormatError
from nd.arguments import shown
from nd.rules import can_be_a_path

Source = str | os.PathLike[str] | BinaryIO
"""A path, or a file object that is open in binary mode."""

_PIECE = 1 << 20  # bytes
_ALWAYS_UNPACKED = 256 << 20  # bytes
MOST_RATIO = 64  # an untrained Adam's zeros pack well, beside parameters that hardly do
_READERS = ("backends", "google", "nd", "nn", "numpy", "onnx", "optimize", "safetensors", "ndwright")
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}

KNOWN_ENDINGS = {
    ".7z": "an archive",
    ".binaryproto": "arrays of Caffe",
    ".bz2": "a compressed file",
    ".caffemodel": "a model of Caffe",
    ".ckpt": "a checkpoint of TensorFlow or PyTorch",
    ".csv": "a table as text",
    ".dot": "a picture for Graphviz",
    ".feather": "a table of Arrow",
    ".gguf": "a model of llama.cpp",
    ".gif": "a picture",
    ".gv": "a picture for Graphviz",
    ".gz": "a compressed file",
    ".h5": "a file of HDF5, Keras's",
    ".hdf5": "a file of HDF5, Keras's",
    ".htm": "a web page",
    ".html": "a web page",
    ".joblib": "a pickle of Python's",
    ".jpeg": "a picture",
    ".jpg": "a picture",
    ".json": "a text of JSON",
    ".keras": "a model of Keras",
    ".mar": "a model of TorchServe",
    ".mat": "a file of Matlab",
    ".mlmodel": "a model of Core ML",
    ".npy": "an array of NumPy",
    ".npz": "arrays of NumPy",
    ".onnx": "a model of ONNX",
    ".parquet": "a table of Arrow",
    ".pb": "a model of TensorFlow",
    ".pdf": "a document",
    ".pickle": "a pickle of Python's",
    ".pkl": "a pickle of Python's",
    ".pmml": "a model of PMML",
    ".png": "a picture",
    ".prototxt": "a network of Caffe",
    ".pt": "a model of PyTorch",
    ".pt2": "a model of PyTorch",
    ".pth": "a model of PyTorch",
    ".rar": "an archive",
    ".safetensors": "a file of safetensors",
    ".solverstate": "a solver's state of Caffe",
    ".svg": "a picture",
    ".tar": "an archive",
    ".tflite": "a model of TensorFlow",
    ".tgz": "an archive",
    ".tsv": "a table as text",
    ".txt": "a text",
    ".xls": "a table of Excel",
    ".xlsx": "a table of Excel",
    ".xml": "a text of XML",
    ".xz": "a compressed file",
    ".yaml": "a text of YAML",
    ".yml": "a text of YAML",
    ".zip": "an archive",
    ".zst": "a compressed file",
}
"""Ending of a file's name -> what everybody takes such a file for."""


def ending_of(source: Any) -> str:
    """Return the ending of a path, in lower case and with its point; none of a file object."""
    return os.path.splitext(os.fsdecode(source))[1].lower() if _is_path(source) else ""


@contextmanager
def opening(who: str, source: Source) -> Iterator[BinaryIO]:
    """Open a file for reading; a file object is handed on, and stays open.

    Parameters
    ----------
    who : str
        For messages.
    source : path or binary file object

    Raises
    ------
    DTypeError
        It is neither: an integer, say, which ``open`` would take for a descriptor, and close.
    ConfigurationError
        The path is empty, or has a character that paths cannot have.
    FileNotFoundError, IsADirectoryError, PermissionError
        There is no such file, it is a folder, or it may not be read.
    FormatError
        The path is of a device or a pipe, which may have no end.
    """
    if not _is_path(source):
        yield checked_stream(who, source, "read")
        return
    path = regular_file(who, source)
    with open(path, "rb") as file:
        yield file


@contextmanager
def opening_to_seek(who: str, source: Source, begins: bytes) -> Iterator[BinaryIO]:
    """Open a file as `opening` does, to go back and forth in it.

    A file object that cannot seek, a socket's say, is read to its end, if it begins with the bytes of such files.
    """
    with opening(who, source) as file:
        seekable = getattr(file, "seekable", None)
        if seekable is not None and seekable():
            yield file
            return
        content = bytearray()
        while piece := file.read(len(begins) if not content else _PIECE):
            if not isinstance(piece, bytes):
                raise DTypeError(f"{who}: the file object must be open in binary mode, got {piece[:16]!r} from it.")
            content += piece
            if not (content.startswith(begins) or begins.startswith(content)):
                raise FormatError(f"{who}: the file must begin with {begins!r}, got {bytes(content[:16])!r}.")
        yield io.BytesIO(content)


def read_at_most(file: BinaryIO, most: int) -> bytes:
    """Return the rest of a file, of a longer one its first `most` bytes, however few a single read delivers."""
    content = bytearray()
    while len(content) < most and (piece := file.read(min(_PIECE, most - len(content)))):
        content += piece
    return bytes(content)


def name_of(source: object) -> str:
    """Return the name of a source in messages: its path, the name that a file object has, or its class."""
    named: Any = source if _is_path(source) else getattr(source, "name", None)
    return os.fsdecode(named) if _is_path(named) else f"<{type(source).__name__}>"


def checked_path(who: str, value: Any) -> str:
    """Return a path as a string.

    Raises
    ------
    DTypeError, ConfigurationError
        As `opening`.
    """
    path = os.fspath(value) if _is_path(value) else value
    if isinstance(path, bytes):
        raise DTypeError(
            f"{who}: a path must be a string, got bytes {path[:16]!r}. Use os.fsdecode(path); for a file's content, "
            "io.BytesIO(content)."
        )
    if not isinstance(path, str):
        raise DTypeError(f"{who}: expected a path or a file object, got {shown(value)}. Give the file's name.")
    if not path or not can_be_a_path(path):
        raise ConfigurationError(
            f"{who}: expected the name of a file, got {shown(path)}. Give one without NUL and lone surrogates, of at "
            "most 255 bytes, 4,095 with its folders."
        )
    return path


def checked_stream(who: str, stream: object, method: str) -> Any:
    """Return a binary file object that has `method`; raise DTypeError if it is none."""
    if isinstance(stream, io.TextIOBase):
        raise DTypeError(
            f"{who}: the file object must be open in binary mode, got text. Open it with mode 'rb' or 'wb'."
        )
    if isinstance(stream, type) or not callable(getattr(stream, method, None)):
        checked_path(who, stream)
    return stream


def regular_file(who: str, source: object) -> str:
    """Return the path of a file with an end; raise as `opening` does for anything else, and open nothing."""
    path = checked_path(who, source)
    kind = stat.S_IFMT(os.stat(path).st_mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, f"{who}: expected a file, got a folder", path)
    if kind != stat.S_IFREG:
        raise FormatError(
            f"{who}: {path!r} must be a file, got {_KINDS.get(kind, 'something else')}. To read from it all the same, "
            "open it and give the file object."
        )
    return path


def once_each(fields: list[tuple[str, Any]]) -> dict[str, object]:
    """Return the fields of a JSON object, ``json.loads(text, object_pairs_hook=once_each)``.

    Raises
    ------
    FormatError
        A name stands twice, of which other readers take the first, or the last.
    """
    document = dict(fields)
    if len(document) < len(fields):
        twice = next(name for name, count in Counter(name for name, _ in fields).items() if count > 1)
        raise FormatError(f"JSON: every field of an object must stand once, got {twice!r} twice. Which one is meant?")
    return document


def raised_by_others(error: BaseException) -> bool:
    """Tell whether code that is neither ours nor Python's own raised an error while a file was read.

    Its bytes are not to blame then: a signal's handler ran meanwhile, or a file object of the user's has failed.
    """
    frames, module = error.__traceback__, ""
    while frames is not None:
        module = str(frames.tb_frame.f_globals.get("__name__", ""))
        frames = frames.tb_next
    root = module.partition(".")[0]
    return root not in _READERS and root not in sys.stdlib_module_names


def most_unpacked(length: int) -> int:
    """Return the most bytes that an entry of an honest archive of so many bytes unpacks to."""
    return max(_ALWAYS_UNPACKED, MOST_RATIO * length)


def _is_path(value: object) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))
