"""Local response normalisation by oneDNN, forward and back."""

from __future__ import annotations

from typing import NamedTuple

from backends.typing import NumpyArray

from ..errors import BackendError
from ..signatures import Lrn
from .primitive import DIFF_DST, DIFF_SRC, DST, SRC, TRAINING, WORKSPACE, Primitive, layout_of, primitive
from .running import Buffers, channels_innermost, run, with_channels_innermost

ACROSS = 0xAFF
RIGHT = (3, 5)
"""Channels: version 3.2 ends the process with 1, and has wrong gradients with 7 and channels that fill no vector."""


class Saved(NamedTuple):
    """Forward's cache for the way back."""

    x: NumpyArray
    workspace: dict[int, NumpyArray]
    back: Primitive


def forward(given: Lrn[NumpyArray]) -> tuple[NumpyArray, Saved] | None:
    """Return ``x / (k + alpha * sum of x^2 over the n channels around)^beta``, and the cache for `backward`.

    None where oneDNN has no way that is fast and right: for other beta than 0.75, and older processors.
    """
    x, n, k, alpha, beta, buffers = given
    if 2 * (n // 2) + 1 not in RIGHT or x.shape[1] < max(RIGHT):
        return None
    x = with_channels_innermost(x, buffers, "onednn_x")
    kernels = _kernels(x, 2 * (n // 2) + 1, k, alpha, beta)
    if kernels is None:
        return None
    there, back = kernels
    a = channels_innermost(buffers, "a", tuple(x.shape))
    floats, writes = there.floats_of(WORKSPACE), {DST: a}
    workspace = {WORKSPACE: buffers("workspace", (floats,))} if floats else {}
    run(there, {SRC: x}, {**writes, **workspace}, buffers)
    return a, Saved(x, workspace, back)


def _kernels(x: NumpyArray, size: int, k: float, alpha: float, beta: float) -> tuple[Primitive, Primitive] | None:
    layout = layout_of(x)
    numbers = (size, alpha * size, beta, k)  # oneDNN divides alpha by the size
    try:
        there = primitive("lrn_forward", (TRAINING, ACROSS, layout, layout, *numbers))
        back = primitive("lrn_backward", (ACROSS, layout, layout, layout, *numbers, there))
    except BackendError:
        return None
    return None if there.is_reference or back.is_reference else (there, back)


def backward(epsilon: NumpyArray, saved: Saved, buffers: Buffers) -> NumpyArray:
    """Return dL/dx."""
    epsilon = with_channels_innermost(epsilon, buffers, "onednn_delta")
    below = channels_innermost(buffers, "epsilon", tuple(saved.x.shape))
    run(saved.back, {SRC: saved.x, DIFF_DST: epsilon, **saved.workspace}, {DIFF_SRC: below}, buffers)
    return below
