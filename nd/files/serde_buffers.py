"""Buffers of the ND4J binary format: a header that names mode, length and element type, then big-endian elements.

`nd.serde` joins two of them, shape information and data, into an array.
"""

from __future__ import annotations

import io
import math
import struct
import sys
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from backends.errors import DTypeError, FormatError

READER = "read_array"
WRITER = "write_array"
TRUNCATED = "The file is truncated or corrupt; copy or download it again."
CORRUPT = "The file is corrupt, or not an ND4J array; copy or download it again."

NEWEST_MODE = "MIXED_DATA_TYPES"
LENGTH_FORMATS: Mapping[str, str] = {
    "DIRECT": ">i",
    "HEAP": ">i",
    "JAVACPP": ">i",
    "LONG_SHAPE": ">q",
    "MIXED_DATA_TYPES": ">q",
}

# Element types in the file. BFLOAT16 is widened to float32 and BOOL becomes bool after the bytes are read.
ELEMENTS: Mapping[str, np.dtype[Any]] = {
    "BFLOAT16": np.dtype(">u2"),
    "BOOL": np.dtype("u1"),
    "BYTE": np.dtype("i1"),
    "DOUBLE": np.dtype(">f8"),
    "FLOAT": np.dtype(">f4"),
    "HALF": np.dtype(">f2"),
    "INT": np.dtype(">i4"),
    "LONG": np.dtype(">i8"),
    "SHORT": np.dtype(">i2"),
    "UBYTE": np.dtype("u1"),
    "UINT16": np.dtype(">u2"),
    "UINT32": np.dtype(">u4"),
    "UINT64": np.dtype(">u8"),
}

COMPRESSED = "COMPRESSED"
COMPRESSED_ORDINALS = (
    *("DOUBLE", "FLOAT", "HALF", "LONG", "INT", "SHORT", "UBYTE", "BYTE", "BOOL", "UTF8", "COMPRESSED"),
    *("BFLOAT16", "UINT16", "UINT32", "UINT64", "UNKNOWN"),
)

_STEP = 1 << 20
_LONGEST_HEADER = 64


class BufferHeader(NamedTuple):
    """The fields before the elements of a buffer."""

    mode: str
    length: int
    dtype: str


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return ND4J's name of a NumPy element type.

    Raises
    ------
    DTypeError
        ND4J has no such type.
    """
    if dtype.kind == "b":
        return "BOOL"
    for name, element in ELEMENTS.items():
        if name not in ("BFLOAT16", "BOOL") and (element.kind, element.itemsize) == (dtype.kind, dtype.itemsize):
            return name
    raise DTypeError(
        f"{WRITER}: the elements must be booleans, integers or floats of at most 64 bits, got {dtype}. "
        "Convert the array, for example with astype('float32')."
    )


def check_size(shape: tuple[int, ...], dtype: str) -> None:
    """Raise FormatError where no machine can address an array of `shape`, which NumPy refuses even when empty."""
    size = math.prod(axis for axis in shape if axis) * ELEMENTS[dtype].itemsize
    if size > sys.maxsize:
        raise FormatError(f"{READER}: the array must fit into memory, got shape {list(shape)} of {dtype}. {CORRUPT}")


# ---- reading


def take(stream: BinaryIO, count: int, name: str) -> bytearray:
    """Read exactly `count` bytes, in bounded steps: a corrupt length must not allocate more than the stream has."""
    data = bytearray()
    while len(data) < count:
        step = stream.read(min(count - len(data), _STEP))
        if not step:
            raise FormatError(f"{READER}: expected {count} bytes of {name}, got {len(data)}. {TRUNCATED}")
        data += step
    return data


def read_number(stream: BinaryIO, layout: str, name: str) -> int:
    """Read one integer that `layout` (a struct format) describes."""
    number: int = struct.unpack(layout, take(stream, struct.calcsize(layout), name))[0]
    return number


def read_utf(stream: BinaryIO, name: str) -> str:
    """Read a string as DataOutputStream.writeUTF wrote it; every name of this format is ASCII."""
    data = take(stream, read_number(stream, ">H", f"the length of {name}"), name)
    if not data.isascii():
        raise FormatError(f"{READER}: {name} must be ASCII, got {bytes(data[:32])!r}. {CORRUPT}")
    return data.decode("ascii")


def read_header(stream: BinaryIO, name: str) -> BufferHeader:
    """Read the header of a buffer; `name` ("shape" or "data") stands for it in messages."""
    mode = read_utf(stream, f"the allocation mode of the {name} buffer")
    if mode not in LENGTH_FORMATS:
        raise FormatError(
            f"{READER}: the allocation mode of the {name} buffer must be one of {', '.join(LENGTH_FORMATS)}, "
            f"got {mode[:32]!r}. {CORRUPT}"
        )
    length = read_number(stream, LENGTH_FORMATS[mode], f"the length of the {name} buffer")
    if length < 0:
        raise FormatError(f"{READER}: the length of the {name} buffer must not be negative, got {length}. {CORRUPT}")
    return BufferHeader(mode, length, read_utf(stream, f"the element type of the {name} buffer"))


def read_elements(stream: BinaryIO, header: BufferHeader, count: int) -> tuple[np.ndarray, str]:
    """Read the `count` elements that the shape asks for.

    Returns
    -------
    numpy.ndarray, shape [count]
        Native byte order, writable, owned by nobody else.
    str
        The ND4J name of their type, the original one where the buffer is compressed.
    """
    if header.dtype == COMPRESSED:
        return _read_compressed(stream, count)
    _check_dtype(header.dtype)
    _check_count(header.length, count)
    return decode(take(stream, count * ELEMENTS[header.dtype].itemsize, "the data"), header.dtype), header.dtype


def decode(data: bytearray, dtype: str) -> np.ndarray:
    """Turn big-endian bytes into a native array, in place where the width allows it."""
    element = ELEMENTS[dtype]
    flat = np.frombuffer(data, element)
    if not element.isnative:
        flat = flat.byteswap(inplace=True).view(element.newbyteorder("="))
    if dtype == "BFLOAT16":
        return (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.astype(np.bool_) if dtype == "BOOL" else flat


def _check_dtype(dtype: str) -> None:
    if dtype not in ELEMENTS:
        raise FormatError(
            f"{READER}: the element type must be one of {', '.join(ELEMENTS)} or {COMPRESSED}, got {dtype[:32]!r}. "
            "Strings cannot be read; otherwise the file is corrupt."
        )


def _check_count(count: int, expected: int) -> None:
    if count != expected:
        raise FormatError(f"{READER}: the shape asks for {expected} elements, the data buffer has {count}. {CORRUPT}")


def _read_compressed(stream: BinaryIO, count: int) -> tuple[np.ndarray, str]:
    algorithm = read_utf(stream, "the compression algorithm")
    size = read_number(stream, ">q", "the compressed size")
    take(stream, 8, "the original size")
    _check_count(read_number(stream, ">q", "the number of compressed elements"), count)
    ordinal = read_number(stream, ">i", "the original element type")
    if algorithm not in ("GZIP", "NOOP"):
        raise FormatError(
            f"{READER}: the compression algorithm must be GZIP or NOOP, got {algorithm[:32]!r}. "
            "Decompress the array in Java (Nd4j.getCompressor().decompressi) before it is written."
        )
    if not 0 <= ordinal < len(COMPRESSED_ORDINALS) or size < 0:
        raise FormatError(f"{READER}: bad compressed buffer, got element type {ordinal} and size {size}. {CORRUPT}")
    dtype = COMPRESSED_ORDINALS[ordinal]
    _check_dtype(dtype)
    payload = take(stream, size, "the compressed data")
    if algorithm == "GZIP":
        return _unzip_elements(payload, dtype, count), dtype
    _check_count(size, count * ELEMENTS[dtype].itemsize)
    # NOOP keeps a copy of ND4J's memory, which is little-endian on every platform that ND4J runs on.
    swapped = np.frombuffer(payload, ELEMENTS[dtype]).byteswap() if ELEMENTS[dtype].itemsize > 1 else payload
    return decode(bytearray(swapped), dtype), dtype


def _unzip_elements(payload: bytearray, dtype: str, count: int) -> np.ndarray:
    """Unpack a GZIP payload: Java zips a buffer with its header; bare elements are unambiguous, so they pass."""
    size = count * ELEMENTS[dtype].itemsize
    content = _unzip(payload, limit=size + _LONGEST_HEADER)
    if len(content) == size:
        return decode(content, dtype)
    inner = io.BytesIO(content)
    header = read_header(inner, "compressed data")
    if header.dtype != dtype:
        raise FormatError(f"{READER}: compressed elements must be {dtype}, got {header.dtype[:32]!r}. {CORRUPT}")
    _check_count(header.length, count)
    flat = decode(take(inner, size, "the compressed data"), dtype)
    if inner.read(1):
        raise FormatError(f"{READER}: expected {size} bytes of compressed elements, got more. {CORRUPT}")
    return flat


def _unzip(payload: bytearray, limit: int) -> bytearray:
    unpacker = zlib.decompressobj(wbits=31)
    content = bytearray()
    pending = bytes(payload)
    while not unpacker.eof and len(content) <= limit:
        try:
            step = unpacker.decompress(pending, min(_STEP, limit + 1 - len(content)))
        except zlib.error as error:
            raise FormatError(f"{READER}: the compressed data must be GZIP, got: {error}. {CORRUPT}") from error
        if not step and not unpacker.eof:
            raise FormatError(f"{READER}: the compressed data ended after {len(content)} bytes. {TRUNCATED}")
        content += step
        pending = unpacker.unconsumed_tail
    if len(content) > limit:
        raise FormatError(f"{READER}: expected at most {limit} bytes of decompressed data, got more. {CORRUPT}")
    return content


# ---- writing


def write_buffer(stream: BinaryIO, flat: np.ndarray) -> None:
    """Write a one-dimensional array as a buffer of the newest form.

    Parameters
    ----------
    stream : binary file object
    flat : numpy.ndarray, shape [n]
    """
    dtype = dtype_name(flat.dtype)
    stream.write(utf_bytes(NEWEST_MODE) + struct.pack(">q", flat.size) + utf_bytes(dtype))
    stream.write(flat.astype(ELEMENTS[dtype], copy=False).view(np.uint8).data)


def utf_bytes(text: str) -> bytes:
    """Return an ASCII text as Java's ``writeUTF`` writes it; `read_utf` reads it."""
    return struct.pack(">H", len(text)) + text.encode("ascii")
