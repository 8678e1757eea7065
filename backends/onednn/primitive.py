"""Primitives of oneDNN on arrays: what is computed once per shape, and calls on fixed memory."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ..errors import BackendError
from ..forks import ById
from .library import Library, array_type, library_there

FLOAT = 3  # dnnl_f32
ANY = 1  # dnnl_format_tag_any
TRAINING, INFERENCE, BACKWARD = 64, 96, 128
SRC, SRC_1, SRC_2, DST, DST_1, DST_2, WEIGHTS, WEIGHTS_1, BIAS = 1, 2, 3, 17, 18, 19, 33, 34, 41
MEAN, VARIANCE, SCALE, SHIFT, WORKSPACE, SCRATCHPAD = 49, 50, 51, 52, 64, 80
DIFF_SRC, DIFF_SRC_1, DIFF_SRC_2, DIFF_DST, DIFF_DST_1, DIFF_DST_2 = 129, 130, 131, 145, 146, 147
DIFF_WEIGHTS, DIFF_WEIGHTS_1, DIFF_BIAS, DIFF_SCALE, DIFF_SHIFT = 161, 162, 169, 255, 256
WEIGHTS_PEEPHOLE, DIFF_WEIGHTS_PEEPHOLE = 35, 163
EXEC_ARGUMENT = 255  # dnnl_query_exec_arg_md
RELU = 0x20
RELU_FROM_VALUE = 0x100
PRIMITIVES = 512  # whose kernels are kept


class Layout(NamedTuple):
    """Shape and strides of float32 memory, strides in elements; without strides whatever the primitive likes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None


def in_c_order(shape: tuple[int, ...]) -> Layout:
    """Return the layout of an array in c order."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(range(len(shape))):
        strides[axis], step = step, step * shape[axis]
    return Layout(shape, tuple(strides))


def layout_of(x: np.ndarray) -> Layout:
    """Return the layout of an array."""
    return Layout(x.shape, tuple(step // x.itemsize for step in x.strides))


class _Handle(ById):
    """A handle of the library's, and a weak reference to the object that it is destroyed after."""

    __slots__ = ("kind", "number")
    kind: str
    number: int


_there: set[_Handle] = set()
_ended: deque[_Handle] = deque()


def owned(owner: object, kind: str, number: int) -> None:
    """Have a handle destroyed after its owner, by whoever makes the next one.

    That an owner has ended is noted by C alone: a Ctrl-C that comes within a finaliser of Python's gets lost.
    """
    destroy_ended()
    handle = _Handle(owner, _ended.append)
    handle.kind, handle.number = kind, number
    _there.add(handle)


def destroy_ended() -> None:
    """Destroy the handles whose owners have ended."""
    while _ended:
        try:
            handle = _ended.popleft()
        except IndexError:  # another thread has taken the last one
            return
        _there.discard(handle)
        library_there().destroy[handle.kind](handle.number)


class MemoryDescriptor:
    """What oneDNN is told of memory: shape and strides, or that it may choose them."""

    def __init__(self, layout: Layout) -> None:
        self._found, (shape, strides) = library_there(), layout
        of_axes = array_type(ctypes.c_int64, len(shape))
        kind, last = ("tag", ANY) if strides is None else ("strides", of_axes(*strides))
        handle = self._found.made(f"dnnl_memory_desc_create_with_{kind}", len(shape), of_axes(*shape), FLOAT, last)
        owned(self, "memory_desc", handle)
        self._as_parameter_ = ctypes.c_void_p(handle)


@lru_cache(maxsize=1024)
def descriptor_of(layout: Layout) -> MemoryDescriptor:
    """Return the memory descriptor of a layout."""
    return MemoryDescriptor(layout)


class _Argument(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("memory", ctypes.c_void_p))


class Memory:
    """An array as an argument of primitives.

    Parameters
    ----------
    array : array
        Kept.
    descriptor : int
        Of its memory.
    """

    __slots__ = ("__weakref__", "array", "handle")

    def __init__(self, array: np.ndarray, descriptor: int) -> None:
        self.array, found = array, library_there()
        address = ctypes.c_void_p(array.ctypes.data)
        self.handle = found.made("dnnl_memory_create", descriptor, found.engine, address)
        owned(self, "memory", self.handle)


class Primitive:
    """A kernel for arrays of certain layouts, which any thread may run.

    Parameters
    ----------
    name : str
        Of `backends.onednn.library.DESCRIPTORS`.
    arguments : tuple
        As its descriptor takes them; layouts and primitives stand for their descriptors.

    Raises
    ------
    BackendError
        The library has none for these arguments.
    """

    def __init__(self, name: str, arguments: tuple[object, ...]) -> None:
        self._found = found = library_there()
        self.name, self._arguments = name, arguments
        self._reorders: dict[tuple[int, Layout, bool], Primitive] = {}
        found.single_threaded(self._make)
        self.implementation = found.text(self.descriptor)
        self.scratch_bytes = found.bytes_of(self.memory_of(SCRATCHPAD))

    def _make(self) -> None:
        found, name = self._found, self.name
        attributes = _attributes(found)
        given = tuple(_given(argument) for argument in self._arguments)
        try:
            if name == "reorder":
                descriptor: int | None = found.reordering(given[0], given[1], attributes)
            else:
                descriptor = found.described(name, given, attributes)
        finally:
            found.call("dnnl_primitive_attr_destroy", attributes)
        if descriptor is None:
            raise BackendError(f"oneDNN: {name} must be possible, got {self._arguments}.")
        self.descriptor = descriptor
        owned(self, "primitive_desc", descriptor)
        self.handle = found.made("dnnl_primitive_create", descriptor)
        owned(self, "primitive", self.handle)

    def reorder(self, argument: int, layout: Layout, back: bool = False) -> Primitive:
        """Return the copy of an array of that layout into the memory order that it takes for an argument, or `back`."""
        key = (argument, layout, back)
        if key not in self._reorders:
            ends = (layout, self.memory_of(argument))
            self._reorders[key] = Primitive("reorder", ends[::-1] if back else ends)
        return self._reorders[key]

    @property
    def is_reference(self) -> bool:
        """Whether it is plain code that is there for completeness, slower than NumPy's."""
        return self.implementation.startswith(("ref", "simple"))

    def memory_of(self, argument: int) -> int | None:
        """Return the descriptor of an argument's memory."""
        return self._found.memory_descriptor(self.descriptor, EXEC_ARGUMENT, argument)

    def floats_of(self, argument: int) -> int:
        """Return how many float32 hold an argument."""
        return -(-self._found.bytes_of(self.memory_of(argument)) // 4)

    def bound(self, arrays: Mapping[int, np.ndarray]) -> Call:
        """Return a call on fixed memory."""
        return Call(self, arrays)


class Call(partial[None]):
    """A primitive on fixed memory, called without arguments.

    Parameters
    ----------
    kernel : Primitive
    arrays : dict of argument -> array
        Kept.
    """

    kernel: Primitive
    arrays: Mapping[int, np.ndarray]
    memories: list[Memory]

    def __new__(cls, kernel: Primitive, arrays: Mapping[int, np.ndarray]) -> Call:
        memories = [Memory(array, kernel.memory_of(number) or 0) for number, array in arrays.items()]
        found, arguments = library_there(), array_type(_Argument, len(memories))()
        for place, number, memory in zip(arguments, arrays, memories, strict=True):
            place.number, place.memory = number, memory.handle
        call = super().__new__(cls, found.execute, kernel.handle, found.stream, len(memories), arguments)
        call.kernel, call.arrays, call.memories = kernel, arrays, memories
        return call


def _given(argument: object) -> object:
    if isinstance(argument, Layout):
        return descriptor_of(argument)
    return argument.descriptor if isinstance(argument, Primitive) else argument


def _attributes(found: Library) -> int:
    """Return attributes: scratch memory is the caller's."""
    attributes = found.made("dnnl_primitive_attr_create")
    found.call("dnnl_primitive_attr_set_scratchpad_mode", attributes, 1)
    return attributes


@lru_cache(maxsize=PRIMITIVES)
def primitive(name: str, arguments: tuple[object, ...]) -> Primitive:
    """Return a primitive, made when it is first needed."""
    return Primitive(name, arguments)
