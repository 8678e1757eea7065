"""Embeddings on NumPy: one call for many rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array, NumpyArray

from ..generic.embedding import check_limits
from .workers import even_parts

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend

LEAST_PULLED = 400_000
"""Numbers that are looked up column by column, half a nanosecond each, from which waking a thread pays."""
CELLS = 1 << 15
"""Elements that are added in one go: their positions in memory, of 8 bytes, stay in the L2 cache."""


def pull_rows(
    backend: NumpyBackend, table: NumpyArray, indices: NumpyArray, who: str = "pull_rows", out: NumpyArray | None = None
) -> Array:
    """Return rows: column by column, and in several threads, where columns lie in memory one after the other."""
    _check_rows(who, indices, table.shape[0])
    if out is None:
        return table[indices]
    if not (table.flags.f_contiguous and out.flags.f_contiguous):
        out[...] = table[indices]
    elif out.size < LEAST_PULLED or backend.is_busy():
        _pull_columns(table.T, indices, out.T)
    else:
        parts = even_parts(table.shape[1], backend.workers)
        backend.run_tasks([partial(_pull_columns, table.T[part], indices, out.T[part]) for part in parts])
    return out


def scatter_add(backend: NumpyBackend, table: NumpyArray, indices: NumpyArray, updates: NumpyArray) -> Array:
    """Add to rows, many at a time."""
    _check_rows("scatter_add", indices, table.shape[0])
    if table.flags.c_contiguous:
        _add_rows(table.reshape(-1), indices, updates)
    elif table.flags.f_contiguous:
        _add_columns(table, indices, updates)
    else:
        np.add.at(table, indices, updates)
    return table


def _check_rows(who: str, indices: NumpyArray, rows: int) -> None:
    if indices.size:
        check_limits(who, indices.min(), indices.max(), rows)  # not by `item`, which a recorder refuses


def _pull_columns(columns: np.ndarray, indices: np.ndarray, out: np.ndarray) -> None:
    """Look rows up in a table in f order, column by column: a column of many thousand rows stays in the L1 cache."""
    columns.take(indices, 1, out, "clip")  # which nothing is: with "raise" it would write through a buffer


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
