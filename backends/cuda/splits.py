"""Cutting a product into blocks, which may share the inner axis."""

from __future__ import annotations

from typing import NamedTuple

from backends.typing import Array

from .scratch import Scratches

CELLS = 4  # as in gemm.cu
LEAST_INNER = 64  # of a split: below, adding up costs more than it saves
MOST_SPLITS = 64  # which one block adds up
BLOCKS_PER_PROCESSOR = 2


class Tile(NamedTuple):
    """The cells of a product that one block computes; every thread computes squares of them, `quads` along an axis."""

    rows: int
    columns: int
    quads: int = 1

    @property
    def threads(self) -> int:
        """Threads of the block."""
        cells = CELLS * self.quads
        return self.rows // cells * (self.columns // cells)

    def number(self, rows: int, columns: int) -> int:
        """Return the number of tiles that make up a product."""
        return -(-rows // self.rows) * -(-columns // self.columns)


SQUARE, SMALL, FLAT, LARGE = Tile(64, 64), Tile(32, 32), Tile(32, 128), Tile(128, 128, 2)


class Splits:
    """Blocks that share the inner axis of a product, so that all processors have something to do.

    Parameters
    ----------
    scratches : Scratches
    processors : int
        Of the device.
    """

    def __init__(self, scratches: Scratches, processors: int) -> None:
        self._scratches = scratches
        self.blocks = BLOCKS_PER_PROCESSOR * processors

    def number(self, tiles: int, inner: int) -> int:
        """Return the number of blocks that compute a tile."""
        return max(1, min(self.blocks // tiles, inner // LEAST_INNER, MOST_SPLITS))

    def memory(self, out: Array, tiles: int, sums: int) -> tuple[Array, Array]:
        """Return the memory that splits need beside the result: sums of its dtype, and a counter for every tile."""
        scratch = self._scratches.current()
        return scratch.partial(out.dtype, sums), scratch.arrived(tiles)
