"""Minibatches on the host: rows of arrays, and pictures cut out, mirrored, shifted and scaled in few passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nd.dataset.image_iterator import ArrayPool
from nd.dataset.order import Selection
from nd.typing import HostArray

Shape = tuple[int, ...]
_CACHED = 1 << 17  # numbers
Chunk = bytes | Sequence[float]
"""The pixels of a picture in c order: bytes of 0 to 255, or numbers."""


class Cut(NamedTuple):
    """Which part of a picture is taken: from a row and a column on, and whether it is mirrored from left to right."""

    top: int = 0
    left: int = 0
    mirrored: bool = False


def host_numbers(values: Sequence[float], dtype: str) -> HostArray:
    """Return numbers as an array ``[n]`` of the host."""
    return np.array(values, dtype)


def rows_of(array: HostArray, selection: Selection) -> HostArray:
    """Return some rows of an array of the host: a view where they lie side by side."""
    return array[selection] if isinstance(selection, slice) else np.take(array, selection, axis=0)


def joined(arrays: Sequence[HostArray]) -> HostArray:
    """Return the rows of all arrays, one after the other; a single array as it is."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def pixels_of(chunks: Sequence[Chunk], shapes: Sequence[Shape]) -> HostArray | list[HostArray]:
    """Return pictures ``[N, C, H, W]`` of bytes as one array, in one copy; those of several shapes apart.

    Parameters
    ----------
    chunks : sequence of bytes, or of sequences of float
        As long as their shapes say.
    shapes : sequence of tuples
        ``(C, H, W)`` of each.
    """
    if shapes.count(shapes[0]) == len(shapes) and all(type(chunk) is bytes for chunk in chunks):
        return np.frombuffer(b"".join(chunks), np.uint8).reshape(len(chunks), *shapes[0])  # type: ignore[arg-type]
    return [
        (np.frombuffer(chunk, np.uint8) if isinstance(chunk, bytes) else np.array(chunk, np.float32)).reshape(shape)
        for chunk, shape in zip(chunks, shapes, strict=True)
    ]


class PictureBatches:
    """Turns pictures into minibatches: (x - mean) scale, of a part of each, mirrored or not.

    Parameters
    ----------
    mean : numpy.ndarray, optional
        ``[C, H, W]`` as the pictures are before they are cut, or ``[C, 1, 1]``.
    scale : float
    dtype : str
        Of the minibatches, in which all is computed.

    Notes
    -----
    Pictures that are cut alike are computed some at a time, as many as stay in a processor's cache. The memory of a
    minibatch is used anew once it is let go.
    """

    def __init__(self, mean: HostArray | None, scale: float, dtype: str) -> None:
        self._means: tuple[HostArray, ...] = ()  # as it is, and mirrored
        if mean is not None:
            self._means = (np.asarray(mean, dtype), np.ascontiguousarray(mean[..., ::-1], dtype))
        self._scale = np.dtype(dtype).type(scale)
        self._pool = ArrayPool(dtype)

    def __call__(self, pictures: Any, cuts: Sequence[Cut], size: tuple[int, int]) -> HostArray:
        """Return a minibatch ``[N, C, height, width]``.

        Parameters
        ----------
        pictures : numpy.ndarray, or list of them
            ``[N, C, H, W]``, or N pictures ``[C, H, W]`` that may have several heights and widths.
        cuts : sequence of Cut
            One for each picture.
        size : tuple of int
            Height and width of the parts.
        """
        out = self._pool.take((len(pictures), len(pictures[0]), *size))
        alike = isinstance(pictures, np.ndarray) and cuts.count(cuts[0]) == len(cuts)
        step = max(1, _CACHED // out[0].size) if alike else 1
        for start in range(0, len(out), step):
            some = slice(start, start + step) if alike else start
            self._put(pictures[some], cuts[start], out[some])
        return out

    def _put(self, x: HostArray, cut: Cut, out: HostArray) -> None:
        """Write (x - mean) scale of a picture's part, or of those of several pictures ``[n, C, H, W]``."""
        rows, columns = slice(cut.top, cut.top + out.shape[-2]), slice(cut.left, cut.left + out.shape[-1])
        part = x[..., rows, columns]
        out[...] = part[..., ::-1] if cut.mirrored else part  # as numbers first: mixed operations are slower
        if self._means:
            np.subtract(out, self._mean_of(x.shape[-1], cut, rows, columns), out=out)
        if self._scale != 1:
            np.multiply(out, self._scale, out=out)

    def _mean_of(self, width: int, cut: Cut, rows: slice, columns: slice) -> HostArray:
        mean = self._means[cut.mirrored]
        if mean.shape[-2:] == (1, 1):
            return mean
        return mean[:, rows, width - columns.stop : width - columns.start] if cut.mirrored else mean[:, rows, columns]
