"""What kind of model a file is, told by its content; by the ending of its name where the content does not tell."""

from __future__ import annotations

import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from nd.files.reading import Source, ending_of, opening
from nd.files.varints import MOST_GROUPS, read_varint
from nd.files.zips import ZipFile

ZIP, NPZ, SAFETENSORS, ONNX = "zip", "npz", "safetensors", "onnx"
CAFFEMODEL, PROTOTXT, HDF5, JSON, KERAS = "caffemodel", "prototxt", "hdf5", "json", "keras"
ARRAYS = (NPZ, SAFETENSORS)
"""Kinds of files of named arrays."""

_ENDINGS = {
    ".bin": ZIP,
    ".caffemodel": CAFFEMODEL,
    ".h5": HDF5,
    ".hdf5": HDF5,
    ".keras": KERAS,
    ".npz": NPZ,
    ".onnx": ONNX,
    ".prototxt": PROTOTXT,
    ".safetensors": SAFETENSORS,
    ".zip": ZIP,
}
"""Ending -> kind of files with it; sorted."""
_HDF5 = b"\x89HDF\r\n\x1a\n"
_OF_KERAS = ((b"model_config",), (b"layer_names",), (b"keras_version",), (b"vars", b"layers"))
"""Names that stand in files of HDF5 of Keras', all of one of the groups."""
_KERAS_ENTRIES = {"config.json", "model.weights.h5"}
_PIECE = 1 << 20  # bytes
_SNIFFED = 1 << 16  # bytes of a text
_MOST_FIELDS = 10_000  # of a message: that many layers has no net
_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes
"""Types of protobuf's fields: numbers, what has a length, and what has the same one always."""
_VERSION = 1
_OF_ONNX = {2: _BYTES, 3: _BYTES, 4: _BYTES, 5: _VARINT, 6: _BYTES, 8: _BYTES, 14: _BYTES, 20: _BYTES}
"""The first field of a ModelProto, and those that may come before the graph, with their types."""
_OF_CAFFE = {
    1: _BYTES, 2: _BYTES, 3: _BYTES, 4: _VARINT, 5: _VARINT, 6: _BYTES, 7: _VARINT, 8: _BYTES, 100: _BYTES,
}  # fmt: skip
"""Fields of a NetParameter, with their types."""
_LAYER = re.compile(rb"(?:^|[\s{}])layers?\s*:?\s*\{")


class _Field(NamedTuple):
    """The beginning of a field of a message of protobuf."""

    number: int
    kind: int


_GRAPH = _Field(7, _BYTES)  # of a ModelProto
_NAME, _LAYERS = _Field(1, _BYTES), (_Field(2, _BYTES), _Field(100, _BYTES))  # of a NetParameter
_CUT = _Field(0, 0)


def kind_of_file(source: Source) -> str:
    """Return the kind of a file: ``"zip"``, ``"npz"``, ``"onnx"``, ...; "" where nothing tells.

    Parameters
    ----------
    source : path or binary file object
        A file object that cannot go back is not looked into.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, ConfigurationError, DTypeError, FormatError
        As `nd.files.reading.opening`.

    Notes
    -----
    The content decides. A file whose content says nothing, a damaged one say, is of the kind that its name says: its
    reader then tells what is wrong with it.
    """
    with opening("load", source) as file:
        seekable = getattr(file, "seekable", None)
        if seekable is None or not seekable():
            return ""
        try:
            file.seek(0)
            kind = _kind_of_content(file)
        finally:
            file.seek(0)
    return kind or _ENDINGS.get(ending_of(source), "")


def _kind_of_content(file: BinaryIO) -> str:
    head = file.read(16)
    if head[:2] == b"PK":
        return _kind_of_archive(file)
    if head.startswith(_HDF5):
        return KERAS if _is_keras(file) else HDF5
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < file.seek(0, os.SEEK_END):
        return SAFETENSORS
    return _kind_of_message(file) or _kind_of_text(file)


def _kind_of_archive(file: BinaryIO) -> str:
    """Tell arrays of NumPy and models of Keras from a model zip; "" for an archive that cannot be read."""
    try:
        names = ZipFile(file).namelist()
    except (EOFError, OSError, OverflowError, RuntimeError, ValueError, zipfile.BadZipFile):
        return ""
    if _KERAS_ENTRIES.issubset(names):
        return KERAS
    return NPZ if names and all(name.endswith(".npy") for name in names) else ZIP


def _is_keras(file: BinaryIO) -> bool:
    """Tell whether names of Keras' stand in a file of HDF5, whose structure is not followed: it may be damaged."""
    file.seek(0)
    seen: set[bytes] = set()
    last = b""
    while piece := file.read(_PIECE):
        text = last + piece
        seen.update(name for names in _OF_KERAS for name in names if name in text)
        if any(seen.issuperset(names) for names in _OF_KERAS):
            return True
        last = piece[-16:]
    return False


def _kind_of_text(file: BinaryIO) -> str:
    file.seek(0)
    text = file.read(_SNIFFED)
    if any(byte < 9 or 13 < byte < 32 for byte in text):
        return ""
    if text.lstrip()[:1] == b"{":
        return KERAS if b'"class_name"' in text and b'"config"' in text else JSON
    return PROTOTXT if _LAYER.search(text) else ""


def _kind_of_message(file: BinaryIO) -> str:
    """Tell a model of ONNX, and weights of Caffe, by the fields of the message."""
    if _is_onnx(_fields(file)):
        return ONNX
    return CAFFEMODEL if _is_caffe(_fields(file)) else ""


def _is_onnx(fields: Iterator[_Field]) -> bool:
    """Tell whether the first fields are a ModelProto's: its version, and others up to the graph, which may be cut."""
    if next(fields, None) != _Field(_VERSION, _VARINT):
        return False
    return next((field for field in fields if _OF_ONNX.get(field.number) != field.kind), None) == _GRAPH


def _is_caffe(fields: Iterator[_Field]) -> bool:
    """Tell whether all fields are a NetParameter's, layers among them, and the last one ends with the file."""
    counts = Counter(fields)
    whole = all(_OF_CAFFE.get(field.number) == field.kind for field in counts)
    return whole and counts[_NAME] < 2 and any(counts[layers] for layers in _LAYERS)  # graphs of TensorFlow have many


def _fields(file: BinaryIO) -> Iterator[_Field]:
    """Yield the fields of a message; one that is none, or is cut, as the last."""
    size = file.seek(0, os.SEEK_END)
    place = file.seek(0)
    for _ in range(_MOST_FIELDS):
        if place >= size:
            return
        tag = _number(file)
        number, kind = (0, 0) if tag is None else (tag >> 3, tag & 7)
        yield _Field(number, kind)
        length = _FIXED.get(kind, 0)
        if kind in (_VARINT, _BYTES):
            value = _number(file)
            length = size if value is None else value if kind == _BYTES else 0
        place = file.tell() + length
        if not number or (kind not in _FIXED and kind not in (_VARINT, _BYTES)) or place > size:
            break
        file.seek(place)
    yield _CUT


def _number(file: BinaryIO) -> int | None:
    """Return the number where a file stands, which then stands behind it; None where there is none."""
    place = file.tell()
    value, length = read_varint(file.read(MOST_GROUPS)) or (None, 0)
    file.seek(place + length)
    return value
