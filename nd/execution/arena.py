"""Arenas: memory that parts of a computation take by name and give back for those that run after them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar

from nd.typing import Array

from ..arguments import checked
from ..state import state

ALIGNED = 64  # elements that a block's length is a multiple of
SHARE = 4  # a new chunk has at least this part of the memory of all before it
MOST_BLOCKS = 4096  # of a chunk, whose views are remembered
ELEMENT_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint8": 1, "bool": 1}
LARGEST = {"float32": math.nan, "float64": math.nan, "uint8": 255, "int32": 2**31 - 1, "int64": 2**62, "bool": True}


class Block:
    """Consecutive elements of a chunk.

    Attributes
    ----------
    dtype : str
    chunk : int
        Number of the chunk among those of the dtype.
    start, stop : int
    bytes : int
    memory : array ``[n]``
        All of it.
    """

    __slots__ = ("_views", "bytes", "chunk", "dtype", "memory", "start", "stop")

    def __init__(self, chunk: _Chunk, start: int, stop: int) -> None:
        self.dtype, self.chunk, self.start, self.stop = chunk.dtype, chunk.number, start, stop
        self.memory, self.bytes = chunk.memory[start:stop], (stop - start) * chunk.element_bytes
        self._views: dict[tuple[type, tuple[int, ...]], Array] = {}

    def view(self, shape: tuple[int, ...]) -> Array:
        """Return its first elements as an activation: to a recorder one that it can trace."""
        backend = state.backend
        key = (type(backend), shape)
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = backend.activation_view(self.memory, shape)
        return view


class _Chunk:
    """Memory of one dtype, cut into blocks and put together again."""

    def __init__(self, number: int, length: int, dtype: str) -> None:
        self.number = number
        self.memory: Array = state.backend.lasting(length, dtype)
        self.element_bytes = ELEMENT_BYTES[dtype]
        self.length, self.dtype = length, dtype
        self._free: list[tuple[int, int]] = [(0, length)]  # from, to, by address; no two of them touch
        self._blocks: dict[tuple[int, int], Block] = {}

    def clear(self) -> None:
        """Forget what is taken."""
        self._free = [(0, self.length)]

    def take(self, length: int) -> Block | None:
        """Return a block out of the smallest free range that has room for it, the first of several."""
        best = -1
        for number, (start, stop) in enumerate(self._free):
            room = stop - start
            if room >= length and (best < 0 or room < self._free[best][1] - self._free[best][0]):
                best = number
        if best < 0:
            return None
        start, stop = self._free[best]
        self._free[best : best + 1] = [(start + length, stop)] if stop - start > length else []
        return self._block(start, start + length)

    def _block(self, start: int, stop: int) -> Block:
        block = self._blocks.get((start, stop))
        if block is None:
            if len(self._blocks) >= MOST_BLOCKS:
                self._blocks.clear()
            block = self._blocks[start, stop] = Block(self, start, stop)
        return block

    def give_back(self, block: Block) -> None:
        """Join a block with the free ranges beside it."""
        start, stop, free = block.start, block.stop, self._free
        place = next((number for number, (first, _) in enumerate(free) if first > start), len(free))
        after = place
        if after < len(free) and free[after][0] == stop:
            stop, after = free[after][1], after + 1
        if place and free[place - 1][1] == start:
            start, place = free[place - 1][0], place - 1
        free[place:after] = [(start, stop)]


class Arena:
    """Memory for computations of many parts, in which a part uses what an earlier one no longer needs.

    Parameters
    ----------
    dtype : str
        Where none is named.

    Attributes
    ----------
    in_use, peak : int
        Bytes that are taken now, and the most that were since the arena was made.
    size : int
        Bytes of all its memory, taken or not.

    Notes
    -----
    A computation begins with everything free. The same requests in the same order get the same addresses every time,
    whatever came between, because memory that was added later is looked at last: recordings hold addresses. Memory is
    added when nothing free has room, a quarter of all there is at least, and never freed: series of varying sizes
    settle.
    """

    poisons: ClassVar[bool] = False
    """Whether what is given back is filled with NaN, or the largest integer, so that whoever still reads it shows."""

    @checked
    def __init__(self, dtype: str) -> None:
        self.dtype, self.in_use, self.peak, self.size = dtype, 0, 0, 0
        self._chunks: dict[str, list[_Chunk]] = {}

    def begin(self) -> None:
        """Start a computation: nothing is taken."""
        self.in_use = 0
        for chunks in self._chunks.values():
            for chunk in chunks:
                chunk.clear()
                if self.poisons:
                    _poison(Block(chunk, 0, chunk.length))

    def take(self, length: int, dtype: str) -> Block:
        """Return a block of so many elements, or a few more."""
        length = max(-(-length // ALIGNED), 1) * ALIGNED
        chunks = self._chunks.setdefault(dtype, [])
        block = None
        for chunk in chunks:
            block = chunk.take(length)
            if block is not None:
                break
        if block is None:
            least = -(-sum(chunk.length for chunk in chunks) // (SHARE * ALIGNED)) * ALIGNED
            chunks.append(_Chunk(len(chunks), max(length, least), dtype))
            self.size += chunks[-1].length * chunks[-1].element_bytes
            return self.take(length, dtype)
        self.in_use += block.bytes
        self.peak = max(self.peak, self.in_use)
        return block

    def give_back(self, blocks: Iterable[Block]) -> None:
        """Take blocks back, each of them once."""
        for block in blocks:
            self._chunks[block.dtype][block.chunk].give_back(block)
            self.in_use -= block.bytes
            if self.poisons:
                _poison(block)


class Lease:
    """Memory of one part of a computation: called as `Buffers` are, a name is the same memory until it is given back.

    Parameters
    ----------
    arena : Arena

    Attributes
    ----------
    blocks : list of Block
        What was taken.
    """

    __slots__ = ("_arena", "_named", "blocks")

    def __init__(self, arena: Arena) -> None:
        self._arena, self.blocks = arena, []  # type: ignore[var-annotated]
        self._named: dict[tuple[str, str], Block] = {}

    def __call__(self, name: str, shape: tuple[int, ...], dtype: str | None = None) -> Array:
        """Return an uninitialised activation of that shape, in the backend's preferred memory order."""
        key, length = (name, dtype or self._arena.dtype), math.prod(shape)
        block = self._named.get(key)
        if block is None or block.stop - block.start < length:
            block = self._named[key] = self._arena.take(length, key[1])
            self.blocks.append(block)
        return block.view(shape)


def _poison(block: Block) -> None:
    state.backend.fill(block.view((block.stop - block.start,)), LARGEST[block.dtype])
