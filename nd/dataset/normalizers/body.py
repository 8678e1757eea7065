"""Body of a normalizer's file, after the header: flags, numbers, rows of numbers."""

from __future__ import annotations

import struct
from typing import BinaryIO

import numpy as np

from backends.errors import FormatError
from nd.files.serde_buffers import CORRUPT, take
from nd.serde import read_array, write_array


def write_flag(stream: BinaryIO, flag: bool) -> None:
    """Write a Java boolean."""
    stream.write(bytes([flag]))


def read_flag(stream: BinaryIO) -> bool:
    """Read a Java boolean; raise FormatError for another byte than 0 and 1."""
    byte = take(stream, 1, "a flag")[0]
    if byte > 1:
        raise FormatError(f"a flag must be 0 or 1, got {byte}. {CORRUPT}")
    return byte == 1


def write_numbers(stream: BinaryIO, *numbers: float) -> None:
    """Write Java doubles."""
    stream.write(struct.pack(f">{len(numbers)}d", *numbers))


def read_numbers(stream: BinaryIO, count: int) -> tuple[float, ...]:
    """Read Java doubles."""
    return struct.unpack(f">{count}d", take(stream, 8 * count, "numbers"))


def fit_float32(rows: list[np.ndarray]) -> bool:
    """Tell whether rows lose nothing in float32."""
    with np.errstate(over="ignore"):  # a number that does not fit is not equal afterwards
        return all(np.array_equal(row.astype(np.float32), row) for row in rows)


def write_row(stream: BinaryIO, row: np.ndarray, narrow: bool) -> None:
    """Write numbers of columns as an array [1, columns] of float32 where `narrow`, else of float64."""
    write_array(stream, row[None, :].astype(np.float32 if narrow else np.float64))


def write_rows(stream: BinaryIO, rows: list[np.ndarray]) -> None:
    """Write numbers of columns as arrays [1, columns], all in float32 if none loses by it, else in float64."""
    narrow = fit_float32(rows)
    for row in rows:
        write_row(stream, row, narrow)


def read_row(stream: BinaryIO) -> np.ndarray:
    """Read numbers of columns: an array [columns] or [1, columns] of floats."""
    array = read_array(stream)
    if array.dtype.kind != "f" or not array.size or array.size != array.shape[-1]:
        raise FormatError(f"expected a row of floats, got {list(array.shape)} of {array.dtype}. {CORRUPT}")
    return array.reshape(-1)
