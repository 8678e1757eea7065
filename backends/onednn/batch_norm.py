"""Batch normalisation by oneDNN, of parts of a minibatch: moments, affine maps of channels, sums of errors.

With the variance 1 and the epsilon 0, oneDNN's normalisation is ``(x - mean) * scale + shift``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.typing import NumpyArray

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
    WORKSPACE,
    Primitive,
    layout_of,
    primitive,
)
from .running import Buffers, channels_innermost, run

GIVEN_STATISTICS, USE_SCALE, USE_SHIFT, WITH_RELU = 1, 2, 4, 8
AFFINE = GIVEN_STATISTICS | USE_SCALE | USE_SHIFT


def _forward(x: NumpyArray, kind: int, flags: int) -> Primitive:
    layout = layout_of(x)
    return primitive("batch_normalization_forward", (kind, layout, layout, 0.0, flags))


def moments(x: NumpyArray, out: NumpyArray, buffers: Buffers) -> None:
    """Write the mean of every channel, and the sum of squares of what it leaves, to ``out [2, C]``."""
    scratch = channels_innermost(buffers, "a", tuple(x.shape))  # where the activations will lie
    run(_forward(x, TRAINING, 0), {SRC: x}, {DST: scratch, MEAN: out[0], VARIANCE: out[1]}, buffers)
    np.multiply(out[1], x.size // x.shape[1], out=out[1])


def affine(
    x: NumpyArray, vectors: tuple[NumpyArray, NumpyArray, Any], out: NumpyArray, buffers: Buffers, rectify: bool = False
) -> NumpyArray:
    """Write ``(x - mean) * factor + shift`` into `out`, which may be x; 0 where that is negative if it is to `rectify`.

    Then `error_sums` finds in the memory of the name "positive" where it is not.
    """
    mean, factor, shift = vectors
    if isinstance(shift, float):
        constant, shift = shift, buffers("constant", (x.shape[1],))
        shift.fill(constant)
    kernel = _forward(x, TRAINING if rectify else INFERENCE, AFFINE | WITH_RELU * rectify)
    reads = {SRC: x, MEAN: mean.reshape(-1), VARIANCE: _ones(x, buffers)}
    reads |= {SCALE: factor.reshape(-1), SHIFT: shift.reshape(-1)}
    writes = {DST: out}
    if rectify:
        writes[WORKSPACE] = buffers("positive", (kernel.floats_of(WORKSPACE),))
    run(kernel, reads, writes, buffers)
    return out


def error_sums(
    epsilon: NumpyArray, x: NumpyArray, mean: NumpyArray, out: NumpyArray, buffers: Buffers, rectified: bool
) -> None:
    """Write the sums of epsilon, and of ``epsilon * (x - mean)``, to ``out [2, C]``; undo ReLU in epsilon's memory."""
    forward, layout = _forward(x, TRAINING, AFFINE | WITH_RELU * rectified), layout_of(x)
    flags = AFFINE | WITH_RELU * rectified
    kernel = primitive("batch_normalization_backward", (BACKWARD, layout, layout, layout, 0.0, flags, forward))
    ones = _ones(x, buffers)
    reads = {SRC: x, DIFF_DST: epsilon, MEAN: mean.reshape(-1), VARIANCE: ones, SCALE: ones}
    if rectified:
        reads[WORKSPACE] = buffers("positive", (kernel.floats_of(WORKSPACE),))
    run(kernel, reads, {DIFF_SRC: epsilon, DIFF_SHIFT: out[0], DIFF_SCALE: out[1]}, buffers)


def back(
    epsilon: NumpyArray,
    x: NumpyArray,
    vectors: tuple[NumpyArray, NumpyArray, NumpyArray, NumpyArray],
    buffers: Buffers,
) -> NumpyArray:
    """Return ``epsilon * factor - (x - mean) * slope - shift`` in epsilon's memory."""
    mean, factor, slope, shift = vectors
    away = channels_innermost(buffers, "away", tuple(x.shape))
    affine(x, (mean, slope, shift), away, buffers)
    nothing = buffers("nothing", (x.shape[1],))
    nothing.fill(0.0)
    affine(epsilon, (nothing, factor, nothing), epsilon, buffers)
    return np.subtract(epsilon, away, out=epsilon)


def _ones(x: NumpyArray, buffers: Buffers) -> NumpyArray:
    ones = buffers("ones", (x.shape[1],))
    ones.fill(1.0)
    return ones  # type: ignore[no-any-return]


__all__ = ["affine", "back", "error_sums", "moments"]
