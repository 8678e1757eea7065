"""Memory layout of a formula's arguments: the part of it that a kernel is compiled for, and the part it is passed."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from backends.typing import CupyArray

from . import REALS

NARROW = 1 << 31
"""Elements from which on an index takes 64 bits."""


def is_vector(argument: object) -> bool:
    """Tell whether an argument has elements, one for every element of the formula."""
    return getattr(argument, "ndim", 0) > 0


def is_number(argument: Any) -> bool:
    """Tell whether an argument is a number of the host; what is neither that nor a vector holds one on the device."""
    return isinstance(argument, (int, float, np.generic)) or (type(argument) is np.ndarray and argument.ndim == 0)


def element_strides(x: CupyArray) -> list[int]:
    """Return an array's strides in elements."""
    return [stride // x.itemsize for stride in x.strides]


def same_memory(x: CupyArray, y: CupyArray) -> bool:
    """Tell whether two arrays are the same elements in the same order."""
    return x is y or (x.data.ptr == y.data.ptr and x.shape == y.shape and x.strides == y.strides)


class Plan(NamedTuple):
    """A call's arguments, seen as vectors along as few axes as describe them.

    Attributes
    ----------
    key : tuple
        Everything that a kernel depends on.
    shape : tuple of int
        Of the largest vectors; others broadcast to it.
    sizes : tuple of int
        Of the axes, the innermost in memory last.
    strides : tuple of tuples of int
        Of every vector along the axes, in elements.
    """

    key: tuple[object, ...]
    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def total(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def layout(self) -> Any:
        """Return the kernel's argument of type Layout."""
        numbers = [self.total, *self.sizes, *(stride for strides in self.strides for stride in strides)]
        packed = struct.pack(f"={len(numbers)}q", *numbers)
        return np.frombuffer(packed, np.dtype((np.void, len(packed))))


def plan_of(arguments: Sequence[Any], scratch: Sequence[int]) -> Plan | None:
    """Return the plan of a call; None where the vectors do not fit, or not all are of one real dtype.

    `scratch` does not count.
    """
    vectors = [x for place, x in enumerate(arguments) if place not in scratch and is_vector(x)]
    if not vectors or vectors[0].dtype.char not in REALS or any(x.dtype != vectors[0].dtype for x in vectors):
        return None
    try:
        shape = np.broadcast_shapes(*(x.shape for x in vectors))
    except ValueError:  # the formula's own checks say it better
        return None
    sizes, strides = _collapsed(shape, vectors)
    aliases = tuple(next(i for i, y in enumerate(vectors) if same_memory(x, y)) for x in vectors)
    kinds = tuple("v" if is_vector(x) else "n" if is_number(x) else "c" for x in arguments)
    full = tuple(x.shape == shape for x in vectors)
    key = (vectors[0].dtype.char, kinds, aliases, full, len(sizes), math.prod(shape) >= NARROW)
    return Plan(key, shape, sizes, strides)


def _collapsed(
    shape: Sequence[int], vectors: Sequence[CupyArray]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    strides = []  # of the vectors, broadcast
    for x in vectors:
        own = [0 if size == 1 else stride // x.itemsize for size, stride in zip(x.shape, x.strides, strict=True)]
        strides.append([0] * (len(shape) - x.ndim) + own)
    axes = [axis for axis in range(len(shape)) if shape[axis] != 1]
    axes.sort(key=lambda axis: [-abs(of_vector[axis]) for of_vector in strides])
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in vectors]
    for axis in axes:
        along = [of_vector[axis] for of_vector in strides]
        if sizes and all(step[-1] == stride * shape[axis] for step, stride in zip(steps, along, strict=True)):
            sizes[-1] *= shape[axis]
            for step, stride in zip(steps, along, strict=True):
                step[-1] = stride
            continue
        sizes.append(shape[axis])
        for step, stride in zip(steps, along, strict=True):
            step.append(stride)
    return tuple(sizes), tuple(map(tuple, steps))
