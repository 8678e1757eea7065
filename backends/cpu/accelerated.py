"""Primitives that oneDNN computes for the NumPy backend, where it is there and faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from backends.typing import Array, NumpyArray

from ..base import Backend
from ..generic.window import Window
from .convolution import algorithm_for
from .recording import plain
from .rectifying import rectify
from .row_convolution import Buffers

LEAST_STEPS = 4  # of series that are worth preparing the weights for
LEAST_PRODUCT = 1 << 20
"""Multiplications of a product: fewer take OpenBLAS 0.4 to 1 of the time, more 1 to 2 (AVX-512; one thread)."""
LEAST_FILL = 0.7
"""Share of oneDNN's vectors, of 16 channels, that is used: with 0.49 (20 to 50 channels) rows take 0.6 of its time, with
0.62 (1 to 20) 0.5 to 0.8, with 1 (16 to 16, 3 to 32) as long or twice as long."""
LARGE_KERNEL = 5
"""Rows of a kernel from which on rows take 0.7 to 1 of oneDNN's time, where that has vectors of 8."""
LEAST = 1024  # elements below which calling NumPy twice costs less
Gradients = tuple[NumpyArray, NumpyArray | None]


class OneDnn:
    """oneDNN's primitives, imported when they are first needed."""

    def __init__(self) -> None:
        from ..onednn import batch_norm, convolution, lstm, pooling, products, running
        from ..onednn.library import library

        self.batch_norm, self.convolution, self.lstm, self.pooling = batch_norm, convolution, lstm, pooling
        self.products, self.running = products, running
        self.vector = library().vector  # type: ignore[union-attr]


class Accelerated(Backend):
    """Mixin of `NumpyBackend`."""

    @cached_property
    def onednn(self) -> OneDnn | None:
        """oneDNN's primitives, None without it."""
        from ..onednn.library import library

        return None if library() is None else OneDnn()

    def accelerates(self, x: NumpyArray) -> bool:
        """Tell whether oneDNN computes with an array."""
        return x.dtype == "float32" and self.onednn is not None and x.size > 0

    # ---- products

    def multiplies(self, a: NumpyArray, b: NumpyArray) -> bool:
        """Tell whether oneDNN multiplies two matrices: from so many multiplications on it is faster than OpenBLAS."""
        if a.shape[0] * a.shape[1] * b.shape[1] < LEAST_PRODUCT or not self.accelerates(a) or b.dtype != a.dtype:
            return False
        return self.onednn.products.is_operand(a) and self.onednn.products.is_operand(b)  # type: ignore[union-attr]

    # ---- batch normalisation

    def normalizes(self, *arrays: NumpyArray) -> bool:
        """Tell whether oneDNN normalises the channels of arrays, which lie alike."""
        x = arrays[0]
        if x.ndim < 3 or x.size < LEAST or not self.accelerates(x) or not self.lies_for_onednn(x):
            return False
        return all(other.strides == x.strides for other in arrays)

    def channel_moments(self, x: NumpyArray, out: NumpyArray, buffers: Buffers) -> None:
        if not self.normalizes(x):
            return super().channel_moments(x, out, buffers)
        self.onednn.batch_norm.moments(x, out, buffers)  # type: ignore[union-attr]
        return None

    def normalize_channels(
        self,
        x: NumpyArray,
        centered: None,
        vectors: tuple[NumpyArray, NumpyArray, Any],
        buffers: Buffers,
        rectify: bool = False,
    ) -> Array:
        if not self.normalizes(x):
            return super().normalize_channels(x, centered, vectors, buffers, rectify)
        out = self.onednn.running.channels_innermost(buffers, "a", tuple(x.shape))  # type: ignore[union-attr]
        return self.onednn.batch_norm.affine(x, vectors, out, buffers, rectify)  # type: ignore[union-attr]

    def channel_error_sums(
        self,
        epsilon: NumpyArray,
        x: NumpyArray,
        centered: None,
        mean: NumpyArray,
        out: NumpyArray,
        buffers: Buffers,
        rectified: NumpyArray | None = None,
    ) -> None:
        if not self.normalizes(x, epsilon):
            return super().channel_error_sums(epsilon, x, centered, mean, out, buffers, rectified)
        self.onednn.batch_norm.error_sums(epsilon, x, mean, out, buffers, rectified is not None)  # type: ignore[union-attr]
        return None

    def normalize_channels_back(
        self,
        epsilon: NumpyArray,
        x: NumpyArray,
        centered: None,
        vectors: tuple[NumpyArray, NumpyArray, NumpyArray, NumpyArray],
        buffers: Buffers,
    ) -> Array:
        if not self.normalizes(x, epsilon):
            return super().normalize_channels_back(epsilon, x, centered, vectors, buffers)
        return self.onednn.batch_norm.back(epsilon, x, vectors, buffers)  # type: ignore[union-attr]

    # ---- series

    def lstm(
        self, x: NumpyArray, weights: Any, state: Sequence[NumpyArray], training: bool, reverse: bool, buffers: Buffers
    ) -> Any:
        if x.shape[0] < LEAST_STEPS or not self.accelerates(x):
            return None
        return self.onednn.lstm.SeriesPass(x, weights, state, training, reverse, buffers)  # type: ignore[union-attr]

    # ---- memory order

    def like(
        self, x: NumpyArray, buffers: Buffers, name: str, shape: tuple[int, ...], dtype: str | None = None
    ) -> Array:
        if not self.accelerates(x) or x.ndim < 3 or not self.onednn.running.is_channels_innermost(x):  # type: ignore[union-attr]
            return super().like(x, buffers, name, shape, dtype)
        return self.onednn.running.channels_innermost(buffers, name, shape, dtype)  # type: ignore[union-attr]

    def to_image_order(self, x: NumpyArray, buffers: Buffers) -> Array:
        if not self.accelerates(x):
            return x
        return self.onednn.running.with_channels_innermost(x, buffers, "image")  # type: ignore[union-attr]

    # ---- rectified

    def relu(self, x: NumpyArray, out: NumpyArray | None = None) -> Array:
        if out is x and self.accelerates(x):
            if self.onednn.running.fused_relu(x):  # type: ignore[union-attr]
                memory = plain(x)  # the replays compute it with x: only now it is yet to be done
                np.maximum(memory, 0.0, out=memory)
                return x
        return rectify(x, out)

    def relu_back(self, a: NumpyArray, epsilon: NumpyArray, out: NumpyArray | None = None) -> Array:
        below = epsilon if out is None else out
        if a.size < LEAST or a.strides != epsilon.strides or a.strides != below.strides or not self.accelerates(a):
            return super().relu_back(a, epsilon, out)
        if not dense(a):
            return super().relu_back(a, epsilon, out)
        self.onednn.running.relu_backward(a, epsilon, below)  # type: ignore[union-attr]
        return below

    # ---- convolution

    def rows_are_faster(self, x: NumpyArray, W: NumpyArray, window: Window) -> bool:
        """Tell whether NumPy's convolution by rows takes less time than oneDNN's.

        It does where oneDNN pads channels to full vectors, and with large kernels where vectors are short.
        """
        if algorithm_for(window, W, x.shape[0]) is None or self.lies_for_onednn(x):
            return False
        vector = self.onednn.vector  # type: ignore[union-attr]
        fill = 1.0
        for channels in W.shape[:2]:
            fill *= channels / (-(-channels // vector) * vector) if channels >= vector else 1.0
        return fill < LEAST_FILL or (vector < 16 and window.kernel[0] >= LARGE_KERNEL)

    def lies_for_onednn(self, x: NumpyArray) -> bool:
        """Tell whether images lie with several channels innermost."""
        return x.shape[1] > 1 and self.onednn.running.is_channels_innermost(x)  # type: ignore[union-attr]

    def conv2d(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x) or self.rows_are_faster(x, W, window):
            return super().conv2d(x, W, b, window, buffers, activate, exact)
        z, saved = self.onednn.convolution.forward(x, W, b, window, window.out, buffers)  # type: ignore[union-attr]
        if activate is not None:
            activate(z)
        return z, saved

    def conv2d_backward(
        self,
        delta: NumpyArray,
        saved: Any,
        W: NumpyArray,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        if self.onednn is None or not isinstance(saved, self.onednn.convolution.Saved):
            return super().conv2d_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
        return self.onednn.convolution.backward(delta, saved, W, gradients, buffers, need_epsilon)

    def conv3d(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x):
            return super().conv3d(x, W, b, window, buffers, activate)
        z, saved = self.onednn.convolution.forward(x, W, b, window, window.out, buffers)  # type: ignore[union-attr]
        if activate is not None:
            activate(z)
        return z, saved

    def conv3d_backward(
        self,
        delta: NumpyArray,
        saved: Any,
        W: NumpyArray,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        if self.onednn is None or not isinstance(saved, self.onednn.convolution.Saved):
            return super().conv3d_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
        return self.onednn.convolution.backward(delta, saved, W, gradients, buffers, need_epsilon)

    def deconv(
        self, x: NumpyArray, W: NumpyArray, b: NumpyArray | None, window: Window, buffers: Buffers
    ) -> tuple[Array, Any]:
        if not self.accelerates(x):
            return super().deconv(x, W, b, window, buffers)
        convolution, W = self.onednn.convolution, _transposed(W)  # type: ignore[union-attr]
        z, saved = convolution.forward(x, W, b, window, window.size, buffers, convolution.TRANSPOSED)
        return z, (saved, W)

    def deconv_backward(
        self,
        delta: NumpyArray,
        saved: Any,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        if self.onednn is None or not isinstance(saved[0], self.onednn.convolution.Saved):
            return super().deconv_backward(delta, saved, window, gradients, buffers, need_epsilon)
        of_sums, W = saved
        turned = _transposed(gradients[0]), gradients[1]
        return self.onednn.convolution.backward(delta, of_sums, W, turned, buffers, need_epsilon)

    def depthwise(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x):
            return super().depthwise(x, W, b, window, buffers, activate)
        z, saved = self.onednn.convolution.forward(x, _grouped(W), b, window, window.out, buffers)  # type: ignore[union-attr]
        if activate is not None:
            activate(z)
        return z, saved

    def depthwise_backward(
        self,
        delta: NumpyArray,
        saved: Any,
        W: NumpyArray,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        if self.onednn is None or not isinstance(saved, self.onednn.convolution.Saved):
            return super().depthwise_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
        by_group = _grouped(gradients[0]), gradients[1]
        return self.onednn.convolution.backward(delta, saved, _grouped(W), by_group, buffers, need_epsilon)

    def conv2d_max_pool(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        activate: Callable[[NumpyArray], object] | None,
        windows: tuple[Window, Window],
        buffers: tuple[Buffers, Buffers],
        keep: bool = True,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x) or self.rows_are_faster(x, W, windows[0]):
            return super().conv2d_max_pool(x, W, b, activate, windows, buffers, keep)
        z, convolved = self.conv2d(x, W, b, windows[0], buffers[0])
        if activate is not None:
            activate(z)
        if not keep:
            return self.largest(z, windows[1], buffers[1]), None
        pooled, won = self.max_pool(z, windows[1], buffers[1])
        return pooled, (convolved, won)

    def conv2d_max_pool_backward(
        self,
        epsilon: NumpyArray,
        saved: Any,
        W: NumpyArray,
        windows: tuple[Window, Window],
        gradients: Gradients,
        buffers: tuple[Buffers, Buffers],
        need_epsilon: bool = True,
    ) -> Array | None:
        if self.onednn is None or not isinstance(saved[0], self.onednn.convolution.Saved):
            return super().conv2d_max_pool_backward(epsilon, saved, W, windows, gradients, buffers, need_epsilon)
        convolved, won = saved
        delta = self.max_pool_backward(epsilon, won, windows[1], buffers[1])
        return self.conv2d_backward(delta, convolved, W, windows[0], gradients, buffers[0], need_epsilon)

    # ---- pooling

    def max_pool(self, x: NumpyArray, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        if not self.accelerates(x):
            return super().max_pool(x, window, buffers)
        return self.onednn.pooling.forward(x, window, self.onednn.pooling.MAXIMUM, buffers)  # type: ignore[union-attr]

    def max_pool_backward(self, epsilon: NumpyArray, saved: Any, window: Window, buffers: Buffers) -> Array:
        if self.onednn is None or not isinstance(saved, self.onednn.pooling.Saved):
            return super().max_pool_backward(epsilon, saved, window, buffers)
        return self.onednn.pooling.backward(epsilon, saved, buffers)

    def largest(self, x: NumpyArray, window: Window, buffers: Buffers) -> Array:
        if not self.accelerates(x):
            return super().largest(x, window, buffers)
        return self.onednn.pooling.forward(x, window, self.onednn.pooling.MAXIMUM, buffers, keep=False)[0]  # type: ignore[union-attr]


def _transposed(W: NumpyArray) -> NumpyArray:
    """View the weights ``[C, n_out, *kernel]`` of a transposed convolution as ``[n_out, C, *kernel]``."""
    return W.transpose(1, 0, *range(2, W.ndim))


def _grouped(W: NumpyArray) -> NumpyArray:
    """View depthwise weights ``[*kernel, C, multiplier]`` as those of C groups, ``[C, multiplier, 1, *kernel]``."""
    axes = W.ndim - 2
    return W.transpose(axes, axes + 1, *range(axes))[:, :, None]


def dense(x: NumpyArray) -> bool:
    """Tell whether an array has all of its memory to itself, in some order of its axes."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    return bool(x.transpose(order).flags.c_contiguous)
