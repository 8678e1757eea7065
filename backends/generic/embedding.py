"""Rows of a table by their numbers, and additions to them: embeddings and their gradients.

Indices are ``[n]`` int32 or int64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array

from ..errors import DataError

if TYPE_CHECKING:
    from ..base import Backend

NO_ROW = -(2**63)
"""The index, an int64, that stands for one that is no integer."""


def pull_rows(
    backend: Backend, table: Array, indices: Array, who: str = "pull_rows", out: Array | None = None
) -> Array:
    """Return the rows ``[n, columns]`` of a table ``[rows, columns]``, in c order; in `out` if it is given."""
    _check_rows(backend, who, indices, table.shape[0])
    return backend.stored(backend.xp.take(table, indices, axis=0), out)


def scatter_add(backend: Backend, table: Array, indices: Array, updates: Array) -> Array:
    """Add updates ``[n, columns]`` to the table's rows in the order of the indices; returns the table."""
    _check_rows(backend, "scatter_add", indices, table.shape[0])
    for i, row in enumerate(backend.to_host(indices).tolist()):
        line = table[row, ...]
        backend.add(line, updates[i, ...], line)
    return table


def _check_rows(backend: Backend, who: str, indices: Array, rows: int) -> None:
    if indices.shape[0]:
        xp = backend.xp
        check_limits(who, backend.item(xp.min(indices)), backend.item(xp.max(indices)), rows)


def check_host_indices(who: str, data: object, rows: int) -> None:
    """Do as `check_limits` for numbers that are still the host's and may not be integers."""
    numbers = np.asarray(data)
    if not numbers.size or numbers.dtype.kind not in "fiub":
        return
    if numbers.dtype.kind == "f" and not (np.isfinite(numbers) & (np.trunc(numbers) == numbers)).all():
        check_limits(who, NO_ROW, NO_ROW, rows)
    check_limits(who, numbers.min(), numbers.max(), rows)


def check_limits(who: str, low: float, high: float, rows: int) -> None:
    """Raise DataError unless indices from `low` to `high` are those of rows."""
    if low == NO_ROW:
        raise DataError(
            f"{who}: an index must be a whole number, the number of a row, got one that is not. Check the data."
        )
    if low < 0 or high >= rows:
        raise DataError(
            f"{who}: an index must be the number of a row, 0 or more and less than {rows}, "
            f"got {int(low if low < 0 else high)}. Check the data, or make the table larger."
        )
