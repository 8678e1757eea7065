"""Copies of arrays that lie to one another as the arrays do: views of one memory stay views of one."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from backends.typing import NumpyArray

CACHE_LINE = 64  # bytes; where an array begins in one may decide what computes


def snapshot(arrays: Sequence[NumpyArray]) -> list[NumpyArray]:
    """Return such copies, with the strides that the arrays have."""
    bounds = [np.lib.array_utils.byte_bounds(array) if array.size else (0, 0) for array in arrays]
    blocks: list[tuple[int, int, np.ndarray]] = []  # first byte, the one behind the last, their copy
    for start, stop in _merged(sorted(bound for bound in bounds if bound[1])):
        blocks.append((start, stop, _bytes_at(start, stop)))
    copies: list[NumpyArray] = []
    for array, (start, _) in zip(arrays, bounds, strict=True):
        if not array.size:
            copies.append(np.empty(array.shape, array.dtype))
            continue
        first, memory = next((first, memory) for first, stop, memory in blocks if first <= start < stop)
        offset = array.__array_interface__["data"][0] - first
        copies.append(np.ndarray(array.shape, array.dtype, memory.data, offset, array.strides))
    return copies


def _merged(bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches of memory, in order, as few as hold those that overlap."""
    merged: list[tuple[int, int]] = []
    for start, stop in bounds:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged


def _bytes_at(start: int, stop: int) -> np.ndarray:
    length = stop - start
    memory = np.empty(length + CACHE_LINE, np.uint8)
    shift = (start - memory.ctypes.data) % CACHE_LINE
    copied = memory[shift : shift + length]
    ctypes.memmove(copied.ctypes.data, start, length)
    return copied
