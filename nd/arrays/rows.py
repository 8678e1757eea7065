"""Rows of a table by their numbers, and additions to them: embeddings and their gradients."""

from __future__ import annotations

from backends.errors import DTypeError, check_rank, check_shape
from backends.generic.embedding import NO_ROW as NO_ROW
from backends.generic.embedding import check_host_indices
from nd.typing import Array

from ..arguments import settled
from ..state import explained, state
from .creation import check_arrays

_INDEX_DTYPES = ("int32", "int64")


@explained
def pull_rows(table: Array, indices: Array, who: str = "pull_rows", out: Array | None = None) -> Array:
    """Return the rows of a table that are named by their numbers, as a new array ``[n, columns]`` in c order.

    Parameters
    ----------
    table : array ``[rows, columns]``
    indices : array ``[n]`` of int32 or int64
        From 0 to rows - 1, in any number and order; NO_ROW stands for an index that was no integer. int64 saves a GPU
        a conversion.
    who : str
        Named in errors.
    out : array ``[n, columns]``, optional
        Receives the rows, in any memory order; of the table's dtype, shares no memory with it.

    Raises
    ------
    DataError
        The table has no such row. A GPU, which would have to wait for that, gives a row of NaN instead.
    DTypeError
        The indices are no integers, or `out` has another dtype than the table.
    ShapeError
        The table is no matrix, the indices are no vector, or `out` has another shape.
    BackendError
        An array belongs to another backend.

    Notes
    -----
    Source: ND4J ``Nd4j.pullRows``.

    Examples
    --------
    >>> import nd
    >>> table = nd.create([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> nd.pull_rows(table, nd.create([2, 0], "int32")).tolist()
    [[4.0, 5.0], [0.0, 1.0]]
    """
    if type(who) is not str:
        settled(pull_rows, who=who)
    backend = state.backend
    _check_lookup(who, table, indices, out)
    return backend.pull_rows(table, indices, who, out)


def _check_lookup(who: str, table: Array, indices: Array, out: Array | None = None) -> None:
    """Raise DTypeError or ShapeError unless `indices` can be row numbers of a table, whose rows fit into `out`."""
    backend = state.backend
    for array in (table, indices):
        if not backend.is_array(array):
            raise DTypeError(f"{who}: expected arrays, got {type(array).__name__}. Make them with nd.create.")
    if backend.dtype_name(indices) not in _INDEX_DTYPES:
        raise DTypeError(
            f"{who}: indices must be {' or '.join(_INDEX_DTYPES)}, got {backend.dtype_name(indices)}. "
            "Convert them with nd.astype."
        )
    check_rank(f"{who}: table", table.shape, 2)
    check_rank(f"{who}: indices", indices.shape, 1, "Flatten them with nd.reshape.")
    if out is not None:
        check_arrays(who, table, out)
        check_shape(f"{who}: out", out.shape, (indices.shape[0], table.shape[1]))


def check_indices(data: object, rows: int, who: str) -> None:
    """Raise DataError where data of the host are no row numbers, if nobody looks at them on the device.

    Parameters
    ----------
    data : array_like
        Of any shape. Arrays of the device are not looked at.
    rows : int
        Of the table.
    who : str
        Named in the error.
    """
    backend = state.backend
    if not backend.looks_at_indices and not backend.is_array(data):
        check_host_indices(who, data, rows)


@explained
def scatter_add(table: Array, indices: Array, updates: Array) -> Array:
    """Add rows to those rows of a table that are named by their numbers, in place; returns the table.

    Parameters
    ----------
    table : array ``[rows, columns]``
        Numbers, in any memory order.
    indices : array ``[n]`` of int32 or int64
        As in `pull_rows`; updates of equal indices are added one after the other in their order, on every backend.
    updates : array ``[n, columns]``
        Of the table's dtype; shares no memory with it.

    Raises
    ------
    DataError
        The table has no such row; nothing was added then. A GPU leaves out that update instead.
    DTypeError
        The indices are no integers, or the updates have another dtype than the table.
    ShapeError
        The shapes disagree.
    BackendError
        An array belongs to another backend.

    Notes
    -----
    ``table[indices[i], :] += updates[i, :]`` for i = 0 .. n-1. Source: ND4J ``Nd4j.scatterUpdate`` with ADD.

    Examples
    --------
    >>> import nd
    >>> gradient = nd.zeros(3, 2)
    >>> nd.scatter_add(gradient, nd.create([2, 0, 2], "int32"), nd.ones(3, 2)).tolist()
    [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
    """
    backend = state.backend
    _check_lookup("scatter_add", table, indices)
    if backend.dtype_name(table) == "bool":
        raise DTypeError("scatter_add: the table must hold numbers, got bool. Convert it with nd.astype.")
    check_arrays("scatter_add", table, updates)
    check_shape("scatter_add: updates", updates.shape, (indices.shape[0], table.shape[1]))
    return backend.scatter_add(table, indices, updates)
