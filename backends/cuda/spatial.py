"""Sliding windows on a CUDA device: the kernels over images, and convolution without columns in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from backends.typing import Array, CupyArray

from ..base import Backend
from ..generic.normalizing import over_channels
from ..generic.window import Window
from ..signatures import Buffers
from . import REALS, Kernels, geometry
from .convolutions import Convolutions


class Image(NamedTuple):
    """A convolution's cache for its gradients: the image itself, which nobody may change until then."""

    x: Array


class SpatialKernels(Backend):
    """Mixin of `CupyBackend` for images: outputs lie with the batch innermost, inputs in any order."""

    kernels: Kernels
    convolutions: Convolutions

    def im2col(self, x: Array, window: Window, buffers: Buffers) -> Array:
        if x.dtype.char not in REALS or len(window.size) != 2:
            return super().im2col(x, window, buffers)
        col = buffers("col", (*x.shape[:2], *window.kernel, *window.out))
        self._run("im2col", window, (like(x, col),), (col,))
        return col

    def col2im(self, col: Array, window: Window, buffers: Buffers) -> Array:
        if col.dtype.char not in REALS or len(window.size) != 2:
            return super().col2im(col, window, buffers)
        image = buffers("epsilon", (*col.shape[:2], *window.size))
        self._run("col2im", window, (self._packed(like(col, image), buffers),), (image,))
        return image

    # ---- convolution

    def conv2d(
        self,
        x: Array,
        W: Array,
        b: Array | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[Array], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        if not self.convolutions.serves(window, x, W, b):
            return super().conv2d(x, W, b, window, buffers, activate, exact)
        z = buffers("z", (x.shape[0], W.shape[0], *window.out))
        self.convolutions.forward(x, W, b, window, z)
        if activate is not None:
            activate(z)
        return z, Image(x)

    def conv2d_backward(
        self,
        delta: Array,
        saved: Any,
        W: Array,
        window: Window,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        if isinstance(saved, Image) and not self.convolutions.serves(window, saved.x, W, *gradients):
            saved = self.im2col(saved.x, window, buffers)
        if not isinstance(saved, Image):
            return super().conv2d_backward(delta, saved, W, window, gradients, buffers, need_epsilon)
        return self._convolution_backward(delta, None, saved, W, window, gradients, buffers, need_epsilon)

    def _convolution_backward(
        self,
        epsilon: Array,
        pooling: tuple[Window, Array] | None,
        saved: Image,
        W: Array,
        window: Window,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        need_epsilon: bool,
    ) -> Array | None:
        epsilon = like(epsilon, W)
        self.convolutions.gradients(saved.x, epsilon, pooling, *gradients, window)
        if not need_epsilon:
            return None
        image = buffers("epsilon", saved.x.shape)
        self.convolutions.epsilon(epsilon, pooling, W, window, image)
        return image

    def product_of_channels(self, rows: Array, columns: Array, out: Array, buffers: Buffers) -> None:
        self.matmul(rows, columns.T, out)

    def sum_channels(self, rows: Array, out: Array, buffers: Buffers) -> None:
        self.sum_into(rows, 1, out)

    def conv2d_max_pool_backward(
        self,
        epsilon: Array,
        saved: Any,
        W: Array,
        windows: tuple[Window, Window],
        gradients: tuple[Array, Array | None],
        buffers: tuple[Buffers, Buffers],
        need_epsilon: bool = True,
    ) -> Array | None:
        convolved, winner = saved
        known = isinstance(convolved, Image) and self.convolutions.serves(windows[0], convolved.x, W, *gradients)
        if not known or not windows[1].tiles_exactly:
            return super().conv2d_max_pool_backward(epsilon, saved, W, windows, gradients, buffers, need_epsilon)
        pooling = (windows[1], winner)
        return self._convolution_backward(
            epsilon, pooling, convolved, W, windows[0], gradients, buffers[0], need_epsilon
        )

    # ---- pooling

    def max_pool(self, x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        shape = (*x.shape[:2], *window.out)
        out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
        self._run("max_pool", window, (like(x, out),), (out, winner))
        return out, winner

    def conv2d_max_pool(
        self,
        x: Array,
        W: Array,
        b: CupyArray | None,
        activate: Any,
        windows: tuple[Window, Window],
        buffers: tuple[Buffers, Buffers],
        keep: bool = True,
        inner: Array | None = None,
    ) -> tuple[Array, Any]:
        if b is None or activate is not None or W.dtype.char not in REALS or not b.flags.c_contiguous:
            return super().conv2d_max_pool(x, W, b, activate, windows, buffers, keep, inner)
        z, convolved = self.conv2d(x, W, None, windows[0], buffers[0])
        if inner is not None:  # the kernel adds b to the largest alone
            self.add(z, over_channels(self, b, z), inner)
        shape = (*z.shape[:2], *windows[1].out)
        out, winner = buffers[1]("pooled", shape), buffers[1]("winner", shape, "int32")
        self._run("max_pool_biased", windows[1], (z, b), (out, winner))
        return out, (convolved, winner)

    def max_pool_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
        self._run("max_pool_backward", window, (like(epsilon, image), saved), (image,))
        return image

    def avg_pool(self, x: Array, window: Window, count_padding: bool, buffers: Buffers) -> tuple[Array, Any]:
        out = buffers("pooled", (*x.shape[:2], *window.out))
        counted = int(count_padding or not window.has_padding)
        self._run("avg_pool", window, (like(x, out),), (out,), counted)
        return out, counted

    def avg_pool_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
        self._run("avg_pool_backward", window, (like(epsilon, image),), (image,), saved)
        return image

    def pnorm_pool(self, x: Array, window: Window, p: int, buffers: Buffers) -> tuple[Array, Any]:
        out = buffers("pooled", (*x.shape[:2], *window.out))
        x = like(x, out)
        self._run("pnorm_pool", window, (x,), (out,), float(p))
        return out, (x, out)

    def pnorm_pool_backward(self, epsilon: Array, saved: Any, window: Window, p: int, buffers: Buffers) -> Array:
        x, norm = saved
        image = buffers("epsilon", x.shape)
        inputs = (like(epsilon, image), self._packed(x, buffers), norm)
        self._run("pnorm_pool_backward", window, inputs, (image,), float(p))
        return image

    def _run(
        self, name: str, window: Window, inputs: tuple[CupyArray, ...], outputs: tuple[Array, ...], *tail: float
    ) -> None:
        """Launch a kernel that reads the first input by its strides and computes every element of the first output."""
        image, out = inputs[0], outputs[0]
        shape = geometry(window, image.shape[0], out.size, image.strides)
        self.kernels.launch(name, out.dtype.char, out.size, (*inputs, *outputs, shape, *tail))

    def _packed(self, x: Array, buffers: Buffers) -> Array:
        """Return `x`, or a copy, with the batch innermost, for kernels that do not read it by strides."""
        return x if batch_innermost(x) else self.assign(buffers("packed", x.shape), x)


def batch_innermost(x: CupyArray) -> bool:
    """Tell whether `x` has no gaps in memory and its first axis innermost."""
    return x.transpose((*range(1, x.ndim), 0)).flags.c_contiguous


def like(x: CupyArray, out: Array) -> CupyArray:
    """Return `x` in the dtype of `out`: kernels know one type at a time."""
    return x if x.dtype == out.dtype else x.astype(out.dtype)
