"""How a product is cut into blocks, and the memory in which blocks that share the inner axis leave their sums."""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any

CELLS = 4  # as in gemm.cu
LEAST_INNER = 64  # of a split: below, adding up costs more than it saves
MOST_SPLITS = 64  # which one block adds up
BLOCKS_PER_PROCESSOR = 2


class Tile(NamedTuple):
    """What one block makes of a product; every thread makes squares of cells, `quads` along rows and columns."""

    rows: int
    columns: int
    quads: int = 1

    @property
    def threads(self) -> int:
        """Of the block."""
        cells = CELLS * self.quads
        return self.rows // cells * (self.columns // cells)

    def number(self, rows: int, columns: int) -> int:
        """Return how many make up a product."""
        return -(-rows // self.rows) * -(-columns // self.columns)


SQUARE, SMALL, FLAT, LARGE = Tile(64, 64), Tile(32, 32), Tile(32, 128), Tile(128, 128, 2)


class Splits:
    """Blocks that share the inner axis of a product, so that all processors have something to do.

    Parameters
    ----------
    cupy : module
    processors : int
        Of the device.
    """

    def __init__(self, cupy: Any, processors: int) -> None:
        self._cupy = cupy
        self.blocks = BLOCKS_PER_PROCESSOR * processors
        self._partial: dict[str, Array] = {}
        self._arrived: Array = None
        self._kept: list[Array] = []

    def number(self, tiles: int, inner: int) -> int:
        """Return how many blocks make a tile."""
        return max(1, min(self.blocks // tiles, inner // LEAST_INNER, MOST_SPLITS))

    def memory(self, out: Array, tiles: int, sums: int) -> tuple[Array, Array]:
        """Return what splits need beside the result; it stays, because a graph may know its address."""
        kind = out.dtype.char
        if kind not in self._partial or self._partial[kind].size < sums:
            self._partial[kind] = self._new(sums, out.dtype)
        if self._arrived is None or self._arrived.size < tiles:
            self._arrived = self._new(tiles, "i")
            self._arrived.fill(0)
        return self._partial[kind], self._arrived

    def _new(self, least: int, dtype: Any) -> Array:
        """Return memory twice as large as what it takes the place of, at least, so that little is kept in vain."""
        memory = self._cupy.empty(1 << (least - 1).bit_length(), dtype)
        self._kept.append(memory)
        return memory
