"""Convolutions and pooling that oneDNN computes for the NumPy backend, where it is there and faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.typing import Array, NumpyArray

from ..base import Backend
from ..generic.window import Window
from .accelerated import Accelerated, Gradients
from .convolution import algorithm_for
from .row_convolution import Buffers

LEAST_FILL = 0.7
"""Share of oneDNN's vectors, of 16 channels, that is used: with 0.49 (20 to 50 channels) rows take 0.6 of its time,
with 0.62 (1 to 20) 0.5 to 0.8, with 1 (16 to 16, 3 to 32) as long or twice as long."""
LARGE_KERNEL = 5
"""Rows of a kernel from which on rows take 0.7 to 1 of oneDNN's time, where that has vectors of 8."""


class AcceleratedWindows(Accelerated):
    """Mixin of `NumpyBackend`."""

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

    def _convolved(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None,
    ) -> tuple[Array, Any]:
        z, saved = self.onednn.convolution.forward(x, W, b, window, window.out, buffers)  # type: ignore[union-attr]
        if activate is not None:
            activate(z)
        return z, saved

    def _owner_of(self, saved: Any, kind: str) -> Any:
        """Return oneDNN's module of that kind if it saved that on its way forward, else None."""
        module = getattr(self.onednn, kind, None)
        return module if module is not None and isinstance(saved, module.Saved) else None

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
        if not self.accelerates(x, W, b) or self.rows_are_faster(x, W, window):
            return super().conv2d(x, W, b, window, buffers, activate, exact)
        return self._convolved(x, W, b, window, buffers, activate)

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
        convolution = self._owner_of(saved, "convolution")
        if convolution is None:
            return super().conv2d_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
        return convolution.backward(delta, saved, W, gradients, buffers, need_epsilon)

    def conv3d(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x, W, b) or not self.onednn.convolution.is_sound(window):  # type: ignore[union-attr]
            return super().conv3d(x, W, b, window, buffers, activate)
        return self._convolved(x, W, b, window, buffers, activate)

    conv3d_backward = conv2d_backward  # as NumPy's own: the algorithm is in what was saved

    def deconv(
        self, x: NumpyArray, W: NumpyArray, b: NumpyArray | None, window: Window, buffers: Buffers, *rest: Any
    ) -> tuple[Array, Any]:
        if not self.accelerates(x, W, b) or not self.onednn.convolution.is_sound(window):  # type: ignore[union-attr]
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
        convolution = self._owner_of(saved[0], "convolution")
        if convolution is None:
            return super().deconv_backward(delta, saved, window, gradients, buffers, need_epsilon)
        of_sums, W = saved
        turned = _transposed(gradients[0]), gradients[1]
        return convolution.backward(delta, of_sums, W, turned, buffers, need_epsilon)

    def depthwise(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[NumpyArray], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x, W, b):
            return super().depthwise(x, W, b, window, buffers, activate)
        return self._convolved(x, _grouped(W), b, window, buffers, activate)

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
        convolution = self._owner_of(saved, "convolution")
        if convolution is None:
            return super().depthwise_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
        by_group = _grouped(gradients[0]), gradients[1]
        return convolution.backward(delta, saved, _grouped(W), by_group, buffers, need_epsilon)

    def conv2d_max_pool(
        self,
        x: NumpyArray,
        W: NumpyArray,
        b: NumpyArray | None,
        activate: Callable[[NumpyArray], object] | None,
        windows: tuple[Window, Window],
        buffers: tuple[Buffers, Buffers],
        keep: bool = True,
        inner: NumpyArray | None = None,
    ) -> tuple[Array, Any]:
        if not self.accelerates(x, W, b) or self.rows_are_faster(x, W, windows[0]):
            return super().conv2d_max_pool(x, W, b, activate, windows, buffers, keep, inner)
        one_after_the_other = Backend.conv2d_max_pool
        return one_after_the_other(self, x, W, b, activate, windows, buffers, keep, inner)

    # ---- pooling

    def max_pool(self, x: NumpyArray, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        if not self.accelerates(x):
            return super().max_pool(x, window, buffers)
        return self.onednn.pooling.forward(x, window, self.onednn.pooling.MAXIMUM, buffers)  # type: ignore[union-attr]

    def max_pool_backward(self, epsilon: NumpyArray, saved: Any, window: Window, buffers: Buffers) -> Array:
        pooling = self._owner_of(saved, "pooling")
        if pooling is None:
            return super().max_pool_backward(epsilon, saved, window, buffers)
        return pooling.backward(epsilon, saved, buffers)

    def avg_pool(self, x: NumpyArray, window: Window, count_padding: bool, buffers: Buffers) -> tuple[Array, Any]:
        if not self.accelerates(x) or not (count_padding or self.onednn.pooling.averages(window)):  # type: ignore[union-attr]
            return super().avg_pool(x, window, count_padding, buffers)
        pooling = self.onednn.pooling  # type: ignore[union-attr]
        return pooling.forward(x, window, pooling.MEAN_OF_ALL if count_padding else pooling.MEAN_OF_REAL, buffers)

    def avg_pool_backward(self, epsilon: NumpyArray, saved: Any, window: Window, buffers: Buffers) -> Array:
        pooling = self._owner_of(saved, "pooling")
        if pooling is None:
            return super().avg_pool_backward(epsilon, saved, window, buffers)
        return pooling.backward(epsilon, saved, buffers)

    def max_pool3d(self, x: NumpyArray, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        if not self.accelerates(x):
            return super().max_pool3d(x, window, buffers)
        return self.max_pool(x, window, buffers)

    def max_pool3d_backward(self, epsilon: NumpyArray, saved: Any, window: Window, buffers: Buffers) -> Array:
        if self._owner_of(saved, "pooling") is None:
            return super().max_pool3d_backward(epsilon, saved, window, buffers)
        return self.max_pool_backward(epsilon, saved, window, buffers)

    def avg_pool3d(self, x: NumpyArray, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        if not self.accelerates(x) or not self.onednn.pooling.averages(window):  # type: ignore[union-attr]
            return super().avg_pool3d(x, window, buffers)
        return self.avg_pool(x, window, False, buffers)

    def avg_pool3d_backward(self, epsilon: NumpyArray, saved: Any, window: Window, buffers: Buffers) -> Array:
        if self._owner_of(saved, "pooling") is None:
            return super().avg_pool3d_backward(epsilon, saved, window, buffers)
        return self.avg_pool_backward(epsilon, saved, window, buffers)

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
