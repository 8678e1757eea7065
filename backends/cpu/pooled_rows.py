"""Convolution and 2x2 max pooling as one: the convolution's output never leaves the cache.

Two output rows at a time are computed, activated and pooled, and backward their gradient is computed from that of the
pooled rows and two comparisons per window. Only a quarter of the output is kept, and one byte per comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..signatures import ConvolutionBack, PooledConvolution, PooledConvolutionBack
from .row_convolution import ROWS_FIRST, ROWS_FIRST_BACK, Buffers, RowConvolution, Saved, block

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend


class PooledSaved(NamedTuple):
    """Forward's cache for backward: the convolution's, and the winner of every window, as ``[H, C, W, N]``."""

    convolution: Saved
    left_won: np.ndarray
    top_won: np.ndarray


def forward(algorithm: RowConvolution, given: PooledConvolution[NumpyArray]) -> tuple[np.ndarray, PooledSaved | None]:
    """Return ``[N, n_out, out_h / 2, out_w / 2]`` and, with `keep`, the cache for `backward`; out_h, out_w are even."""
    x, W, b, activate, (window, _), (buffers, _), keep, inner = given
    n_out, n = W.shape[0], x.shape[0]
    out_h, half_w = window.out[0], window.out[1] // 2
    prepared = algorithm.prepared(x, W, buffers, exact=keep)
    pooled = block(buffers, "pooled", (out_h // 2, n_out, half_w, n))
    saved = None
    if keep:
        left_won = _flags(buffers, "left_won", (out_h, n_out, half_w, n))
        top_won = _flags(buffers, "top_won", (out_h // 2, n_out, half_w, n))
        saved = PooledSaved(algorithm.saved(x, prepared.columns), left_won, top_won)
    for stretch, z in algorithm.output_rows(prepared, None if activate is None else b, buffers):
        count, half = stretch.stop - stretch.start, slice(stretch.start // 2, stretch.stop // 2)
        if activate is not None:
            activate(z)
        left, right = _sides(z, algorithm)
        if inner is not None:
            cells = inner.transpose(ROWS_FIRST)[stretch]
            cells[:, :, 0::2], cells[:, :, 1::2] = left, right
        row = block(buffers, "row", (count, n_out, half_w, n))
        np.maximum(left, right, out=row)
        np.maximum(row[0::2], row[1::2], out=pooled[half])
        if saved is not None:
            np.greater_equal(left, right, out=saved.left_won[stretch])
            np.greater_equal(row[0::2], row[1::2], out=saved.top_won[half])
    if activate is None and b is not None:  # the largest plus b is the largest of all plus b: a quarter of the work
        for cells in (pooled,) if inner is None else (pooled, inner.transpose(ROWS_FIRST)):
            np.add(cells, b.reshape(n_out, 1, 1), out=cells)
    return pooled.transpose(ROWS_FIRST_BACK), saved


def backward(backend: NumpyBackend, given: PooledConvolutionBack[NumpyArray]) -> np.ndarray | None:
    """Write the convolution's gradients from the pooled epsilon; return dL/dx unless nobody needs it."""
    epsilon, (convolved, left_won, top_won), W, (window, _), gradients, (buffers, _), need_epsilon = given
    (kept, algorithm), n_out, n = convolved, W.shape[0], epsilon.shape[0]
    share = epsilon.transpose(ROWS_FIRST)
    columns = window.out[1] * n

    def expand(stretch: slice, rows: np.ndarray) -> None:
        """Hand the epsilon of every window to the cell that won."""
        half = slice(stretch.start // 2, stretch.stop // 2)
        row = block(buffers, "row", (stretch.stop - stretch.start, *left_won.shape[1:]))
        top, bottom = row[0::2], row[1::2]
        np.multiply(share[half], top_won[half], out=top)
        np.subtract(share[half], top, out=bottom)
        left, right = _sides(rows, algorithm)
        np.multiply(row, left_won[stretch], out=left)
        np.subtract(row, left, out=right)

    stretches = algorithm.cached_rows(range(window.out[0]), columns * n_out * epsilon.itemsize)
    if not need_epsilon and type(algorithm) is RowConvolution:
        algorithm.gradients_by_rows(expand, stretches, kept, gradients, buffers)
        return None
    rows = block(buffers, "delta_rows", (window.out[0], n_out, columns))
    for stretch in stretches:
        expand(stretch, rows[stretch])
    return algorithm.backward_rows(
        rows, ConvolutionBack(epsilon, convolved, W, window, gradients, buffers, need_epsilon)
    )


def _sides(rows: np.ndarray, algorithm: RowConvolution) -> tuple[np.ndarray, np.ndarray]:
    """View ``[rows, n_out, out_w * N]`` as left and right cells of the windows, ``[rows, n_out, out_w / 2, N]``."""
    half_w, n = algorithm.geometry.window.out[1] // 2, algorithm.geometry.n
    if algorithm.split:
        cells = rows.reshape(*rows.shape[:2], 2, half_w, n)
        return cells[:, :, 0], cells[:, :, 1]
    cells = rows.reshape(*rows.shape[:2], half_w, 2, n)
    return cells[:, :, :, 0], cells[:, :, :, 1]


def _flags(buffers: Buffers, name: str, shape: tuple[int, ...]) -> np.ndarray:
    return block(lambda *arguments: buffers(*arguments, "bool"), name, shape)
