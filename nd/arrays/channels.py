"""Sums channel by channel."""

from __future__ import annotations

from backends.errors import ShapeError
from nd.typing import Array

from ..explained import explained
from ..state import state


@explained
def channel_sums(x: Array, y: Array | None = None) -> Array:
    """Sum over every channel, of x or of x * y.

    Parameters
    ----------
    x : array ``[N, C, ...]``
    y : array of the same shape, optional

    Returns
    -------
    array ``[1, C]``

    Raises
    ------
    ShapeError
        There is no axis of channels, or the shapes differ.
    BackendError
        An array belongs to another backend.

    Examples
    --------
    >>> import nd
    >>> channel_sums(nd.create([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[4.0, 6.0]]
    """
    backend = state.backend
    backend.guard_same_backend("channel_sums", x, y)
    if x.ndim < 2 or (y is not None and tuple(y.shape) != tuple(x.shape)):
        and_y = "" if y is None else f" and {list(y.shape)}"
        raise ShapeError(f"channel_sums: expected arrays [N, C, ...] of one shape, got {list(x.shape)}{and_y}.")
    return backend.channel_sums(x, y)
