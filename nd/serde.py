"""ND4J arrays on disk and in JSON: every version is read, the newest is written.

This module's job is the host: it reads into NumPy arrays and copies device arrays to the host before it writes them.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from backends.errors import FormatError, ShapeError, check_choice, refuse_masked
from nd.java_names import non_finite

from .arguments import checked
from .files.reading import Source, opening
from .files.serde_buffers import (
    COMPRESSED,
    CORRUPT,
    ELEMENTS,
    LENGTH_FORMATS,
    READER,
    WRITER,
    check_size,
    decode,
    dtype_name,
    read_elements,
    read_header,
    take,
    write_buffer,
)
from .files.writing import FileKind, Target, replacing
from .state import backend

MAX_RANK = 32

_EMPTY = 8
_UNSIGNED = 1 << 23
_TYPE_BITS = {
    "BFLOAT16": 1 << 11, "BOOL": 1 << 19, "BYTE": 1 << 15, "DOUBLE": 1 << 14, "FLOAT": 1 << 13, "HALF": 1 << 12,
    "INT": 1 << 17, "LONG": 1 << 18, "SHORT": 1 << 16, "UBYTE": 1 << 15 | _UNSIGNED, "UINT16": 1 << 16 | _UNSIGNED,
    "UINT32": 1 << 17 | _UNSIGNED, "UINT64": 1 << 18 | _UNSIGNED,
}  # fmt: skip
_TYPE_MASK = sum({bits & ~_UNSIGNED for bits in _TYPE_BITS.values()}) | _UNSIGNED
_ORDERS = {"c": 99, "f": 102}
_NON_FINITE = ("NaN", "Infinity", "-Infinity")
_NUMPYS = "NumPy's files are written by numpy.save, of nd.to_host(array). "
_BINARY = FileKind("an array in ND4J's form", (".bin",), {".npy": _NUMPYS, ".npz": _NUMPYS})


class _ShapeInfo(NamedTuple):
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    options: int


# ---- binary


def read_array(stream: BinaryIO) -> np.ndarray:
    """Read one ND4J array, of any version of the format, and leave the stream behind it.

    Parameters
    ----------
    stream : binary file object
        Anything with ``read(n)``; it need not be seekable.

    Returns
    -------
    numpy.ndarray
        Native byte order, writable. It lies in memory as in the file. BFLOAT16 becomes float32; an empty scalar
        has shape [0].

    Raises
    ------
    FormatError
        The bytes are truncated, corrupt, or hold strings or an unknown compression.

    Notes
    -----
    The strides decide where an element lies; the order character of the file contradicts them in real files and is
    ignored. No more is allocated than the stream delivers. Source: Nd4j.read, BaseDataBuffer.read.
    """
    info = _read_shape_info(stream)
    header = read_header(stream, "data")
    shape = info.shape
    if info.options & _EMPTY and 0 not in shape:
        if shape:
            raise FormatError(f"{READER}: an empty array must have an axis of length 0, got {list(shape)}. {CORRUPT}")
        shape = (0,)  # ND4J's empty scalar; NumPy has none
    flat, dtype = read_elements(stream, header, math.prod(shape))
    bits = info.options & _TYPE_MASK
    if bits and bits != _TYPE_BITS[dtype] and header.dtype != COMPRESSED:
        names = [name for name, known in _TYPE_BITS.items() if known == bits] or [hex(bits)]
        raise FormatError(f"{READER}: the shape says {names[0]} elements, the data buffer has {dtype}. {CORRUPT}")
    check_size(shape, dtype)
    return _lay_out(flat, shape, info.strides)


def write_array(stream: BinaryIO, array: object, order: str | None = None) -> None:
    """Write an array in the newest ND4J form, byte for byte as Java does.

    Parameters
    ----------
    stream : binary file object
    array : numpy.ndarray or array of the current backend
    order : {"c", "f"}, optional
        Layout of the elements. Default: "f" where the array is F-contiguous and not C-contiguous, else "c".

    Raises
    ------
    ChoiceError
        `order` is neither "c" nor "f".
    DTypeError
        ND4J has no such element type.
    ShapeError
        More than 32 axes.

    Notes
    -----
    Matrices with an axis of length 1 have the strides [1, 1], as in Java. Source: Nd4j.write, ArrayUtil.calcStrides.
    """
    host = as_host(array)
    if host.ndim > MAX_RANK:
        raise ShapeError(f"{WRITER}: an array has at most {MAX_RANK} axes, got {host.ndim}. Reshape it.")
    if order is None:
        order = "f" if host.flags.f_contiguous and not host.flags.c_contiguous else "c"
    check_choice(WRITER, "order", order, _ORDERS)
    options = _TYPE_BITS[dtype_name(host.dtype)] | (0 if host.size else _EMPTY)
    info = [host.ndim, *host.shape, *_packed_strides(host.shape, order), options, 1, _ORDERS[order]]
    write_buffer(stream, np.array(info, np.int64))
    write_buffer(stream, host.ravel(order="F" if order == "f" else "C"))


def to_bytes(array: object, order: str | None = None) -> bytes:
    """Return the bytes that `write_array` writes. Same arguments and errors."""
    stream = io.BytesIO()
    write_array(stream, array, order)
    return stream.getvalue()


@checked
def from_bytes(data: bytes | bytearray | memoryview) -> np.ndarray:
    """Return the array that `data` holds, and nothing else.

    Raises
    ------
    FormatError
        As `read_array`, or bytes follow the array.
    ArgumentError
        The data are no bytes.
    """
    return _read_only_array(io.BytesIO(data))


def save(path: Target, array: object, order: str | None = None) -> None:
    """Write an array to a file of its own, which is complete or not there at all, or to an open one.

    Parameters
    ----------
    path : path or binary file object
    array, order
        As for `write_array`, which raises the same errors.

    Raises
    ------
    OSError
        The file cannot be written; one that was there before is untouched.

    Notes
    -----
    Source: Nd4j.saveBinary.
    """
    with replacing("nd.serde.save", path, _BINARY) as stream:
        write_array(stream, array, order)


def load(path: Source) -> np.ndarray:
    """Return the array that a file, or the rest of an open one, holds, and nothing else.

    Parameters
    ----------
    path : path or binary file object

    Raises
    ------
    FormatError
        As `from_bytes`; also for the path of a pipe or a device.
    OSError
        There is no such file.

    Notes
    -----
    Source: Nd4j.readBinary.
    """
    with opening("nd.serde.load", path) as stream:
        return _read_only_array(stream)


def as_host(array: Any) -> np.ndarray:
    """Return `array` (NumPy, plain Python numbers, or of the current backend) as a numpy.ndarray."""
    refuse_masked("serde", array)
    if isinstance(array, (np.ndarray, np.generic, list, tuple, bool, int, float)):
        return np.asarray(array)
    host: np.ndarray = backend().to_host(array)
    return host


def _read_only_array(stream: BinaryIO) -> np.ndarray:
    array = read_array(stream)
    if stream.read(1):
        raise FormatError(
            f"{READER}: the array of shape {list(array.shape)} must be the last thing in the input, got more bytes. "
            "Use read_array on a stream that holds several arrays."
        )
    return array


def _read_shape_info(stream: BinaryIO) -> _ShapeInfo:
    header = read_header(stream, "shape")
    if header.dtype not in ("INT", "LONG"):
        raise FormatError(f"{READER}: the shape buffer must be INT or LONG, got {header.dtype[:32]!r}. {CORRUPT}")
    if not 4 <= header.length <= 2 * MAX_RANK + 4:
        raise FormatError(
            f"{READER}: the shape buffer must have 4 to {2 * MAX_RANK + 4} numbers, got {header.length}. {CORRUPT}"
        )
    data = take(stream, header.length * ELEMENTS[header.dtype].itemsize, "the shape")
    rank, *numbers = decode(data, header.dtype).tolist()
    if 2 * rank + 4 != header.length:
        raise FormatError(f"{READER}: rank {rank} needs {2 * rank + 4} numbers, got {header.length}. {CORRUPT}")
    shape, strides, options = tuple(numbers[:rank]), tuple(numbers[rank : 2 * rank]), numbers[2 * rank]
    if min(shape, default=0) < 0:
        raise FormatError(f"{READER}: no axis may be negative, got shape {list(shape)}. {CORRUPT}")
    if LENGTH_FORMATS[header.mode] == ">i" and options:
        # In this place the oldest form has an offset into the data. Java wrote dense copies only.
        raise FormatError(f"{READER}: the offset of the data must be 0, got {options}. {CORRUPT}")
    return _ShapeInfo(shape, strides, options)


def _lay_out(flat: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Shape the elements by strides that must visit all of them once: axes of length 1 have none worth reading."""
    if flat.size == 0:
        return flat.reshape(shape)
    fast_first = sorted((axis for axis in range(len(shape)) if shape[axis] != 1), key=lambda axis: strides[axis])
    expected = 1
    for axis in fast_first:
        if strides[axis] != expected:
            raise FormatError(
                f"{READER}: the strides must visit each of the {flat.size} elements once, got shape {list(shape)} "
                f"with strides {list(strides)}. {CORRUPT}"
            )
        expected *= shape[axis]
    slow_first = [axis for axis in range(len(shape)) if shape[axis] == 1] + fast_first[::-1]
    return flat.reshape([shape[axis] for axis in slow_first]).transpose(np.argsort(slow_first).tolist())


def _packed_strides(shape: Sequence[int], order: str) -> list[int]:
    if len(shape) == 2 and 1 in shape:
        return [1, 1]
    strides, step = [], 1
    for axis in shape if order == "f" else reversed(shape):
        strides.append(step)
        step *= axis
    return strides if order == "f" else strides[::-1]


# ---- JSON


def array_to_json(array: object) -> dict[str, Any]:
    """Return an array in ND4J's text form, ready for ``json.dumps``.

    Parameters
    ----------
    array : numpy.ndarray or array of the current backend

    Returns
    -------
    dict
        ``{"dataType": "FLOAT", "shape": [...], "data": [...]}``, the data flat in c order. Numbers that are not finite
        become "NaN", "Infinity" or "-Infinity", as Jackson writes them.

    Raises
    ------
    DTypeError
        ND4J has no such element type.

    Notes
    -----
    Source: NDArrayTextSerializer.
    """
    host = as_host(array)
    flat = host.ravel()
    data: list[Any]
    if flat.dtype.kind == "b":
        data = flat.astype(np.int8).tolist()
    elif flat.dtype.kind == "f" and flat.dtype.itemsize < 8:
        # The shortest decimal that reads back as the same float32, as Java prints it.
        data = flat.astype(np.float32).astype(np.str_).astype(np.float64).tolist()
    else:
        data = flat.tolist()
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        data = [value if math.isfinite(value) else non_finite(value) for value in data]
    return {"dataType": dtype_name(host.dtype), "shape": list(host.shape), "data": data}


def array_from_json(obj: object) -> np.ndarray:
    """Return the array that a parsed JSON value spells.

    Parameters
    ----------
    obj : dict, str or list
        The text form ``{"dataType", "shape", "data"}``; ``{"array": base64}`` or the bare base64 of the binary form;
        or nested lists of numbers (before 1.0.0-beta4).

    Returns
    -------
    numpy.ndarray
        Nested lists become float64, as in Java.

    Raises
    ------
    FormatError
        None of these spellings, or one that contradicts itself.

    Notes
    -----
    Source: NDArrayTextDeSerializer, NDArrayDeSerializer.
    """
    if isinstance(obj, dict) and "array" in obj:
        obj = obj["array"]
    elif isinstance(obj, dict):
        return _array_from_text(obj)
    if isinstance(obj, str):
        try:
            data = base64.b64decode("".join(obj.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            text = repr(obj[:32])
            raise FormatError(f"array_from_json: the text must be base64, got {text}: {error}. {CORRUPT}") from error
        return from_bytes(data)
    if isinstance(obj, list):
        nested = np.array(obj, dtype=object)
        return _to_numbers(nested.ravel().tolist(), "DOUBLE").reshape(nested.shape)
    raise FormatError(
        "array_from_json: an array must be spelled as an object, a base64 string or a list, "
        f"got {type(obj).__name__}. The JSON does not hold an ND4J array here."
    )


def _array_from_text(obj: dict[str, object]) -> np.ndarray:
    dtype, shape, data = obj.get("dataType"), obj.get("shape"), obj.get("data")
    if not isinstance(dtype, str) or dtype not in ELEMENTS:
        raise FormatError(f"array_from_json: dataType must be one of {', '.join(ELEMENTS)}, got {dtype!r}. {CORRUPT}")
    if not isinstance(shape, list) or any(type(axis) is not int or axis < 0 for axis in shape):
        raise FormatError(f"array_from_json: shape must be a list of lengths, got {shape!r}. {CORRUPT}")
    if not isinstance(data, list) or len(shape) > MAX_RANK or math.prod(shape) != len(data):
        got = f"{len(data)} numbers" if isinstance(data, list) else type(data).__name__
        raise FormatError(f"array_from_json: data must have the numbers of shape {shape}, got {got}. {CORRUPT}")
    check_size(tuple(shape), dtype)
    return _to_numbers(data, dtype).reshape(shape)


def _to_numbers(values: list[object], dtype: str) -> np.ndarray:
    """Convert JSON numbers; NumPy alone would take None for NaN and cut fractions off silently."""
    widened = {"BFLOAT16": np.dtype(np.float32), "BOOL": np.dtype(np.bool_)}
    native = widened.get(dtype, ELEMENTS[dtype].newbyteorder("="))
    for value in values:
        allowed = isinstance(value, int) or (native.kind == "f" and (isinstance(value, float) or value in _NON_FINITE))
        if not allowed:
            raise FormatError(f"array_from_json: every element must be a {dtype} number, got {value!r}. {CORRUPT}")
    try:
        with np.errstate(over="raise"):
            return np.array(values, native)
    except (FloatingPointError, OverflowError) as error:
        raise FormatError(f"array_from_json: every element must fit into {dtype}, got: {error}. {CORRUPT}") from error
