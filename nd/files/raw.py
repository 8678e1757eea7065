"""Elements of arrays as they lie in files, one after the other, the least significant byte first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from backends.errors import FormatError


def read_raw(file: BinaryIO, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Return an array from where a file stands; its memory is taken when the file is known to have as much.

    Parameters
    ----------
    file : binary file object
        Which can go back.
    dtype : str
        ``"float32"``, say.
    shape : sequence of int

    Raises
    ------
    FormatError
        The file ends before.
    """
    kind = np.dtype(dtype)
    length = math.prod(shape) * kind.itemsize
    place = file.tell()
    rest = file.seek(0, 2) - place
    file.seek(place)
    if length > rest:
        raise FormatError(f"expected {length:,} bytes of {dtype} {list(shape)}, got {max(rest, 0):,}.")
    array = np.empty(tuple(shape), kind.newbyteorder("<"))
    left = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # which NumPy says from 3.12 on
    while len(left):
        count = file.readinto(left)  # type: ignore[attr-defined]
        if not count:
            raise FormatError(f"expected {length:,} bytes of {dtype} {list(shape)}, got {length - len(left):,}.")
        left = left[count:]
    return array.astype(kind, copy=False)
