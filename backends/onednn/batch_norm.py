"""Batch normalisation by oneDNN, of parts of a minibatch: moments, affine maps of channels, sums of errors.

With the variance 1 and the epsilon 0, oneDNN's normalisation is ``(x - mean) * scale + shift``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..cpu.rectifying import rectify
from ..signatures import ErrorSums, Moments, Normalization, NormalizationBack
from .primitive import (
    BACKWARD,
    DIFF_DST,
    DIFF_SCALE,
    DIFF_SHIFT,
    DIFF_SRC,
    DST,
    INFERENCE,
    MEAN,
    SCALE,
    SHIFT,
    SRC,
    TRAINING,
    VARIANCE,
    Layout,
    Primitive,
    primitive,
)
from .running import Buffers, channels_innermost, rectified_back, run

GIVEN_STATISTICS, USE_SCALE, USE_SHIFT = 1, 2, 4
AFFINE = GIVEN_STATISTICS | USE_SCALE | USE_SHIFT


ACCUMULATED = 512
"""Elements that one of oneDNN's sums adds up, one after the other: 25,000 of them lose 5e-6 of a mean, these 2e-7."""
WIDEST = 2048  # channels, which its sums for pieces of an array count as


class Pieces(NamedTuple):
    """An array as rows of several places side by side, whose channels are each summed up for themselves."""

    beside: int
    """Places in a row."""
    layout: Layout

    def view(self, x: NumpyArray) -> NumpyArray:
        """Return ``[N, C, ...]``, channels innermost, as rows."""
        rows, width = self.layout.shape[2], self.layout.shape[1]
        return x.transpose(0, *range(2, x.ndim), 1).reshape(1, rows, 1, width).transpose(0, 3, 1, 2)

    def spread(self, vector: NumpyArray, buffers: Buffers, name: str) -> NumpyArray:
        """Return numbers of channels, once for every place of a row."""
        if self.beside == 1:
            return vector.reshape(-1)
        spread = buffers(name, (self.layout.shape[1],))
        np.copyto(spread.reshape(self.beside, -1), vector.reshape(1, -1))
        return spread

    def memory(self, buffers: Buffers, name: str) -> NumpyArray:
        """Return memory for a number of every place and channel of a row, ``[count, C]``."""
        return buffers(name, (self.layout.shape[1],)).reshape(self.beside, -1)


@lru_cache(maxsize=1024)
def _pieces(places: int, channels: int) -> Pieces:
    enough = range(max(-(-places // ACCUMULATED), 1), max(WIDEST // channels, 1) + 1)
    count = next((number for number in enough if places % number == 0), 0)
    count = count or max((number for number in range(1, WIDEST // channels + 1) if places % number == 0), default=1)
    return _in_rows(places, channels, count)


@lru_cache(maxsize=1024)
def _in_rows(places: int, channels: int, count: int) -> Pieces:
    rows, width = places // count, count * channels
    return Pieces(count, Layout((1, width, rows, 1), (rows * width, 1, width, width)))


def pieces_of(x: NumpyArray) -> Pieces:
    """Return an array ``[N, C, ...]`` in rows that are added up without losing digits."""
    return _pieces(x.size // x.shape[1], x.shape[1])


@lru_cache(maxsize=256)
def _constant(length: int, value: float) -> NumpyArray:
    vector = np.full(length, value, np.float32)
    vector.flags.writeable = False
    return vector


def _forward(pieces: Pieces, kind: int, flags: int) -> Primitive:
    return primitive("batch_normalization_forward", (kind, pieces.layout, pieces.layout, 0.0, flags))


def moments(given: Moments[NumpyArray]) -> None:
    """Write the mean of every channel, and the sum of squares of what it leaves, to ``out [2, C]``."""
    x, out, buffers = given
    pieces = pieces_of(x)
    scratch = channels_innermost(buffers, "a", tuple(x.shape))  # where the activations will lie
    means, variances = pieces.memory(buffers, "means"), pieces.memory(buffers, "variances")
    writes = {DST: pieces.view(scratch), MEAN: means.reshape(-1), VARIANCE: variances.reshape(-1)}
    run(_forward(pieces, TRAINING, 0), {SRC: pieces.view(x)}, writes, buffers)
    np.matmul(_constant(pieces.beside, 1.0 / pieces.beside), means, out=out[0])
    np.subtract(means, out[:1], out=means)  # and now as of parts of a whole: Chan, Golub and LeVeque 1979
    np.multiply(means, means, out=means)
    np.add(means, variances, out=means)
    np.matmul(_constant(pieces.beside, pieces.layout.shape[2]), means, out=out[1])


def normalized(given: Normalization[NumpyArray]) -> NumpyArray:
    """Normalise channels."""
    x, _, vectors, buffers, rectify = given
    return affine(x, vectors, channels_innermost(buffers, "a", tuple(x.shape)), buffers, rectify)


def affine(
    x: NumpyArray,
    vectors: tuple[NumpyArray, NumpyArray, object],
    out: NumpyArray,
    buffers: Buffers,
    rectified: bool = False,
) -> NumpyArray:
    """Write ``(x - mean) * factor + shift``, `rectified` or not, into `out`, which may be x."""
    mean, factor, shift = vectors
    pieces = _in_rows(x.size // x.shape[1], x.shape[1], 1)
    if isinstance(shift, float):
        shift = _constant(x.shape[1], shift)
    reads = {SRC: pieces.view(x), VARIANCE: _constant(pieces.layout.shape[1], 1.0)}
    for number, name, vector in ((MEAN, "mean", mean), (SCALE, "factor", factor), (SHIFT, "shift", shift)):
        reads[number] = pieces.spread(vector, buffers, f"spread_{name}")
    run(_forward(pieces, INFERENCE, AFFINE), reads, {DST: pieces.view(out)}, buffers)
    return rectify(out, out) if rectified else out


def error_sums(given: ErrorSums[NumpyArray]) -> None:
    """Write the sums of epsilon, and of ``epsilon * (x - mean)``, to ``out [2, C]``; undo ReLU in epsilon's memory."""
    epsilon, x, _, mean, out, buffers, rectified = given
    if rectified is not None:
        rectified_back(rectified, epsilon)
    pieces = pieces_of(x)
    layouts, forward = (pieces.layout,) * 3, _forward(pieces, TRAINING, AFFINE)
    kernel = primitive("batch_normalization_backward", (BACKWARD, *layouts, 0.0, AFFINE, forward))
    ones = _constant(pieces.layout.shape[1], 1.0)
    errors = pieces.view(epsilon)
    reads = {SRC: pieces.view(x), DIFF_DST: errors, VARIANCE: ones, SCALE: ones}
    reads[MEAN] = pieces.spread(mean, buffers, "spread_mean")
    sums = {number: pieces.memory(buffers, name) for number, name in ((DIFF_SHIFT, "totals"), (DIFF_SCALE, "products"))}
    run(kernel, reads, {DIFF_SRC: errors, **{number: each.reshape(-1) for number, each in sums.items()}}, buffers)
    for row, each in zip(out, sums.values(), strict=True):
        np.add.reduce(each, axis=0, out=row)


def back(given: NormalizationBack[NumpyArray]) -> NumpyArray:
    """Return ``epsilon * factor - (x - mean) * slope - shift`` in epsilon's memory."""
    epsilon, x, _, (mean, factor, slope, shift), buffers = given
    away = channels_innermost(buffers, "away", tuple(x.shape))
    affine(x, (mean, slope, shift), away, buffers)
    affine(epsilon, (_constant(x.shape[1], 0.0), factor, 0.0), epsilon, buffers)
    return np.subtract(epsilon, away, out=epsilon)
