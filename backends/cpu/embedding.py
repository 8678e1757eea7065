"""Embeddings on NumPy: one call for many rows."""

from __future__ import annotations

import numpy as np

from backends.typing import Array, NumpyArray

from ..generic.embedding import EmbeddingRows, check_limits

CELLS = 1 << 15
"""Elements that are added in one go: their positions in memory, of 8 bytes, stay in the L2 cache."""


class NumpyEmbedding(EmbeddingRows):
    """Mixin of `NumpyBackend`."""

    def pull_rows(self, table: NumpyArray, indices: NumpyArray, who: str = "pull_rows") -> np.ndarray:
        self._check_rows(who, indices, table.shape[0])
        return table[indices]

    def scatter_add(self, table: NumpyArray, indices: NumpyArray, updates: NumpyArray) -> Array:
        self._check_rows("scatter_add", indices, table.shape[0])
        if table.flags.c_contiguous:
            _add_rows(table.reshape(-1), indices, updates)
        elif table.flags.f_contiguous:
            _add_columns(table, indices, updates)
        else:
            np.add.at(table, indices, updates)
        return table

    def _check_rows(self, who: str, indices: NumpyArray, rows: int) -> None:
        if indices.size:
            check_limits(who, indices.min(), indices.max(), rows)  # not by `item`, which a recorder refuses


# NumPy adds to elements of a vector several times faster than to rows of a matrix, in the order of the indices as well.


def _add_rows(cells: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    """Add to a table in c order, seen as a vector, some updates at a time."""
    columns = updates.shape[1]
    across, first = np.arange(columns), indices.astype(np.intp) * columns
    step = max(CELLS // max(columns, 1), 1)
    for start in range(0, len(indices), step):
        stretch = slice(start, start + step)
        np.add.at(cells, (first[stretch, None] + across).reshape(-1), updates[stretch].reshape(-1))


def _add_columns(table: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    """Add to a table in f order some columns at a time."""
    rows, columns = table.shape
    cells, indices = table.T.reshape(-1), indices.astype(np.intp)
    step = max(CELLS // max(len(indices), 1), 1)
    for start in range(0, columns, step):
        stretch = slice(start, min(start + step, columns))
        down = np.arange(stretch.start, stretch.stop)[:, None] * rows
        np.add.at(cells, (down + indices).reshape(-1), updates.T[stretch].reshape(-1))
