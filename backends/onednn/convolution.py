"""Convolutions by oneDNN: over one to three axes, grouped, dilated and transposed, forward and both ways back."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..cpu.recording import plain
from ..generic.window import Window
from ..signatures import Convolution, ConvolutionBack, DeconvolutionBack
from .primitive import (
    BIAS,
    DIFF_BIAS,
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    SRC,
    TRAINING,
    WEIGHTS,
    Layout,
    Primitive,
    primitive,
)
from .running import channels_innermost, in_a_row, in_float32, packed, run, unpacked, with_channels_innermost

DIRECT, TRANSPOSED = 0x1, 0xA
KINDS = {DIRECT: "convolution", TRANSPOSED: "deconvolution"}


class Geometry(NamedTuple):
    """Sizes of one convolution.

    Parameters
    ----------
    algorithm : int
        DIRECT or TRANSPOSED.
    x, W, z : tuple of int
        Shapes; W as ``[n_out, C, *kernel]``, or by groups ``[groups, n_out / groups, C / groups, *kernel]``.
    window : Window
    bias : bool
        Whether a bias is added.
    """

    algorithm: int
    x: tuple[int, ...]
    W: tuple[int, ...]
    z: tuple[int, ...]
    window: Window
    bias: bool


class Saved(NamedTuple):
    """Forward's cache for the way back."""

    x: NumpyArray
    kernels: Kernels
    W: NumpyArray | None = None
    """The turned weights of a transposed convolution."""


class Kernels:
    """The primitives of a convolution, made when they are first needed."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        window = geometry.window
        dilation = tuple(far - 1 for far in window.dilation)
        self._places = (window.stride, dilation, window.pad_before, window.pad_after)
        self._x, self._z = _channels_innermost(geometry.x), _channels_innermost(geometry.z)
        self._W, self._b = Layout(geometry.W), Layout((geometry.z[1],), (1,)) if geometry.bias else None
        self._kind = KINDS[geometry.algorithm]

    @cached_property
    def forward(self) -> Primitive:
        """x, W, b to z."""
        arguments = (TRAINING, self.geometry.algorithm, self._x, self._W, self._b, self._z, *self._places)
        return primitive(f"{self._kind}_forward", arguments)

    @cached_property
    def backward_data(self) -> Primitive:
        """dL/dz, W to dL/dx."""
        arguments = (self.geometry.algorithm, self._x, self._W, self._z, *self._places, self.forward)
        return primitive(f"{self._kind}_backward_data", arguments)

    @cached_property
    def backward_weights(self) -> Primitive:
        """x, dL/dz to dL/dW, dL/db."""
        arguments = (self.geometry.algorithm, self._x, self._W, self._b, self._z, *self._places, self.forward)
        return primitive(f"{self._kind}_backward_weights", arguments)


@lru_cache(maxsize=256)
def kernels_of(geometry: Geometry) -> Kernels:
    """Return the primitives of a convolution."""
    return Kernels(geometry)


@lru_cache(maxsize=256)
def is_sound(window: Window) -> bool:
    """Tell whether all gradients of the weights are right.

    Over volumes, version 3.2 with AVX-512 writes wrong ones, and beside their memory, where the kernel goes over the
    end of the first axis in the same step as over its beginning, or in the one behind.
    """
    if len(window.size) < 3:
        return True
    starts = [step * window.stride[0] - window.pad_before[0] for step in range(window.out[0])]
    before = [starts[0], *starts]  # no step comes before the first one
    over = (start + window.effective[0] > window.size[0] for start in starts)
    return not any(beyond and min(start, last) < 0 for beyond, start, last in zip(over, starts, before, strict=False))


@lru_cache(maxsize=256)
def _without_last(window: Window) -> Window:
    """Return the windows over all axes but the last."""
    sizes = (window.size, window.kernel, window.stride, window.dilation, window.pad_before, window.pad_after)
    return Window(*(each[:-1] for each in sizes))


def _channels_innermost(shape: tuple[int, ...]) -> Layout:
    _, channels, *places = shape
    steps, step = [0] * len(places), channels
    for axis in reversed(range(len(places))):
        steps[axis], step = step, step * places[axis]
    return Layout(shape, (step, 1, *steps))


def convolved(given: Convolution[NumpyArray]) -> tuple[NumpyArray, Saved]:
    """Convolve over images, series or volumes."""
    return forward(given, given.window.out)


def depthwise(given: Convolution[NumpyArray]) -> tuple[NumpyArray, Saved]:
    """Convolve every channel for itself."""
    return convolved(given._replace(W=_grouped(given.W)))


def depthwise_back(given: ConvolutionBack[NumpyArray]) -> NumpyArray | None:
    """Go back from `depthwise`."""
    W_gradient, b_gradient = given.gradients
    return backward(given._replace(W=_grouped(given.W), gradients=(_grouped(W_gradient), b_gradient)))


def transposed(given: Convolution[NumpyArray]) -> tuple[NumpyArray, Saved]:
    """Spread cells over windows."""
    W = _turned(given.W)
    z, saved = forward(given._replace(W=W), given.window.size, TRANSPOSED)
    return z, saved._replace(W=W)


def transposed_back(given: DeconvolutionBack[NumpyArray]) -> NumpyArray | None:
    """Go back from `transposed`."""
    delta, saved, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    gradients = _turned(W_gradient), b_gradient
    return backward(ConvolutionBack(delta, saved, saved.W, window, gradients, buffers, need_epsilon))


def grouped_transposed(given: Convolution[NumpyArray]) -> tuple[NumpyArray, Saved]:
    """Spread cells over windows, by groups."""
    W = _turned_in_groups(given.W)
    z, saved = forward(given._replace(W=W), given.window.size, TRANSPOSED)
    return z, saved._replace(W=W)


def grouped_transposed_back(given: DeconvolutionBack[NumpyArray]) -> NumpyArray | None:
    """Go back from `grouped_transposed`."""
    delta, saved, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    gradients = _turned_in_groups(W_gradient), b_gradient
    return backward(ConvolutionBack(delta, saved, saved.W, window, gradients, buffers, need_epsilon))


def _turned_in_groups(W: NumpyArray) -> NumpyArray:
    """View the weights ``[groups, C, n_out, *kernel]`` as ``[groups, n_out, C, *kernel]``."""
    return W.transpose(0, 2, 1, *range(3, W.ndim))


def _turned(W: NumpyArray) -> NumpyArray:
    """View the weights ``[C, n_out, *kernel]`` of a transposed convolution as ``[n_out, C, *kernel]``."""
    return W.transpose(1, 0, *range(2, W.ndim))


def _grouped(W: NumpyArray) -> NumpyArray:
    """View depthwise weights ``[*kernel, C, multiplier]`` as those of C groups, ``[C, multiplier, 1, *kernel]``."""
    axes = W.ndim - 2
    return W.transpose(axes, axes + 1, *range(axes))[:, :, None]


def forward(given: Convolution[NumpyArray], out: tuple[int, ...], algorithm: int = DIRECT) -> tuple[NumpyArray, Saved]:
    """Return ``z [N, n_out, *out]``, channels innermost, and the cache for `backward`; W as in `Geometry`."""
    x, W, b, window, buffers, activate, _ = given
    if len(out) > 1 and window.kernel[-1] == window.padded[-1] == 1:  # series as images: kernels go along the last axis
        series = given._replace(x=x[..., 0], W=W[..., 0], window=_without_last(window))
        z, saved = forward(series, out[:-1], algorithm)
        return z[..., None], saved
    n_out = W.shape[0] * W.shape[1] if W.ndim == x.ndim + 1 else W.shape[0]
    shape = (x.shape[0], n_out, *out)
    kernels = kernels_of(Geometry(algorithm, tuple(x.shape), tuple(W.shape), shape, window, b is not None))
    x, kernel = with_channels_innermost(x, buffers, "onednn_x"), kernels.forward
    z = channels_innermost(buffers, "z", shape)
    reads = {SRC: x, WEIGHTS: packed(kernel, WEIGHTS, W, "onednn_W", buffers)}
    if b is not None:
        reads[BIAS] = in_a_row(b, buffers, "onednn_b")
    run(kernel, reads, {DST: z}, buffers)
    if activate is not None:
        activate(z)
    return z, Saved(x, kernels)


def backward(given: ConvolutionBack[NumpyArray]) -> NumpyArray | None:
    """Write dL/dW and dL/db; return dL/dx, channels innermost, unless nobody needs it."""
    delta, (x, kernels, _), W, _, (W_gradient, b_gradient), buffers, need_epsilon = given
    if delta.ndim > x.ndim:
        gradients = W_gradient[..., 0], b_gradient
        epsilon = backward(given._replace(delta=delta[..., 0], W=W[..., 0], gradients=gradients))
        return None if epsilon is None else epsilon[..., None]
    delta = with_channels_innermost(in_float32(delta), buffers, "onednn_delta")
    kernel = kernels.backward_weights
    vector = buffers("onednn_W", (kernel.floats_of(DIFF_WEIGHTS),), "float32")
    writes = {DIFF_WEIGHTS: vector}
    if b_gradient is not None:
        writes[DIFF_BIAS] = sums = in_a_row(b_gradient, buffers, "onednn_b", copy=False)
    run(kernel, {SRC: x, DIFF_DST: delta}, writes, buffers)
    if b_gradient is not None and not np.may_share_memory(plain(sums), plain(b_gradient)):
        np.copyto(b_gradient, sums.reshape(b_gradient.shape))
    unpacked(kernel, DIFF_WEIGHTS, vector, W_gradient, buffers)
    if not need_epsilon:
        return None
    kernel = kernels.backward_data
    epsilon = channels_innermost(buffers, "epsilon", kernels.geometry.x)
    reads = {DIFF_DST: delta, WEIGHTS: packed(kernel, WEIGHTS, W, "onednn_W", buffers)}
    run(kernel, reads, {DIFF_SRC: epsilon}, buffers)
    return epsilon
