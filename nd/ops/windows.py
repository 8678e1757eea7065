"""Ops of sliding windows over images. Source: org.nd4j.linalg.api.ops.impl.layers.convolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backends.base import Backend
from backends.errors import ShapeError, check_rank, describe_shape
from backends.generic.window import Window
from nd.arguments import checked
from nd.arrays.convolution import pair, window_of

from .base import Array, Op

Lengths = int | Sequence[int]


class _Windowed(Op):
    """An op of windows."""

    window: Window
    buffers: Callable[..., Any] | None = None
    saved: Any = None

    @property
    def extra_args(self) -> tuple[float, ...]:
        """Kernel, stride, padding before, dilation, each of two numbers."""
        window = self.window
        return (*window.kernel, *window.stride, *window.pad_before, *window.dilation)

    def _memory(self, backend: Backend) -> Callable[..., Any]:
        """Return what hands out arrays: a network's buffers, else new ones."""
        return self.buffers or backend.fresh_buffers(backend.dtype_name(self.x if self.x is not None else self.y))


class Im2col(_Windowed):
    """Cells under every window, ``[N, C, kernel_h, kernel_w, out_h, out_w]``, of images ``x [N, C, H, W]``.

    Parameters
    ----------
    x : array ``[N, C, H, W]``
    z : array, optional
        See `Op`.
    kernel, stride, padding, dilation : int or two of them
    same_mode : bool
        Whether the padding is the one with which an output has ceil(H / stride) rows.

    Raises
    ------
    ShapeError
        x is not of rank 4, or the kernel does not fit.
    """

    @checked
    def __init__(
        self,
        x: Array,
        z: Array | None = None,
        *,
        kernel: Lengths = 2,
        stride: Lengths = 1,
        padding: Lengths = 0,
        dilation: Lengths = 1,
        same_mode: bool = False,
    ) -> None:
        self.check_array("x", x)
        check_rank(self.who, x.shape, 4)
        self.window = window_of(self.who, (x.shape[2], x.shape[3]), (kernel, stride, padding, dilation), same_mode)
        super().__init__(x, None, z, (*x.shape[:2], *self.window.kernel, *self.window.out))

    def _compute(self, backend: Backend) -> Array:
        return backend.im2col(self.x, self.window, self._memory(backend))


class Col2Im(_Windowed):
    """Images ``[N, C, H, W]`` with the cells ``x [N, C, kernel_h, kernel_w, out_h, out_w]`` added where they were.

    Parameters
    ----------
    x : array ``[N, C, kernel_h, kernel_w, out_h, out_w]``
    z : array, optional
        See `Op`.
    size : int or two of them
        ``H, W`` of the result.
    stride, padding, dilation : int or two of them
    same_mode : bool
        As in `Im2col`.

    Raises
    ------
    ShapeError
        x is not of rank 6, or does not belong to windows over an image of that size.
    """

    @checked
    def __init__(
        self,
        x: Array,
        z: Array | None = None,
        *,
        size: Lengths,
        stride: Lengths = 1,
        padding: Lengths = 0,
        dilation: Lengths = 1,
        same_mode: bool = False,
    ) -> None:
        self.check_array("x", x)
        check_rank(self.who, x.shape, 6)
        lengths = pair(self.who, "size", size, 1)
        self.window = window_of(self.who, lengths, (tuple(x.shape[2:4]), stride, padding, dilation), same_mode)
        if self.window.out != tuple(x.shape[4:]):
            raise ShapeError(
                f"Col2Im: an image {list(lengths)} has {list(self.window.out)} windows, got {list(x.shape[4:])}."
            )
        super().__init__(x, None, z, (*x.shape[:2], *lengths))

    def _compute(self, backend: Backend) -> Array:
        return backend.col2im(self.x, self.window, self._memory(backend))


class Pooling2D(_Windowed):
    """One number of every window over images ``x [N, C, H, W]``.

    Parameters
    ----------
    x : array ``[N, C, H, W]``
    z : array ``[N, C, out_h, out_w]``, optional
        See `Op`.
    kernel, stride, padding, dilation : int or two of them
        Without a stride windows lie side by side.
    same_mode : bool
        As in `Im2col`.

    Raises
    ------
    ShapeError
        x is not of rank 4, or the kernel does not fit.
    """

    keeps = True
    """Whether a network goes back, and so is given what is kept for it."""

    @checked
    def __init__(
        self,
        x: Array,
        z: Array | None = None,
        *,
        kernel: Lengths = 2,
        stride: Lengths | None = None,
        padding: Lengths = 0,
        dilation: Lengths = 1,
        same_mode: bool = False,
    ) -> None:
        self.check_array("x", x)
        self.window = _pooling_window(self.who, x, kernel, stride, padding, dilation, same_mode)
        super().__init__(x, None, z, (*x.shape[:2], *self.window.out))

    @property
    def result(self) -> Any:
        return (self.z, self.saved) if self.keeps else self.z

    def _compute(self, backend: Backend) -> Array:
        out, self.saved = self._pooled(backend, self._memory(backend))
        return out

    def _pooled(self, backend: Backend, buffers: Callable[..., Any]) -> tuple[Array, Any]:
        """Return z, and what its derivative needs."""
        raise NotImplementedError


class MaxPooling2D(Pooling2D):
    """The largest number of every window; padding never wins. Parameters as `Pooling2D`."""

    def _pooled(self, backend: Backend, buffers: Callable[..., Any]) -> tuple[Array, Any]:
        """Return z, and which cells won; that alone for a network that does not go back."""
        if not self.keeps:
            return backend.largest(self.x, self.window, buffers), None
        return backend.max_pool(self.x, self.window, buffers)


class AvgPooling2D(Pooling2D):
    """The mean of every window, over its real cells, or all with `count_padding`. Parameters as `Pooling2D`."""

    count_padding = False

    @checked
    def __init__(self, x: Array, z: Array | None = None, *, count_padding: bool = False, **window: Any) -> None:
        super().__init__(x, z, **window)
        self.count_padding = count_padding

    def _pooled(self, backend: Backend, buffers: Callable[..., Any]) -> tuple[Array, Any]:
        """Return z, and what was divided by."""
        return backend.avg_pool(self.x, self.window, self.count_padding, buffers)


class PnormPooling2D(Pooling2D):
    """(Σ |x|ᵖ)^(1/p) of every window, p = 2 by default. Parameters as `Pooling2D`, and p, an integer."""

    p = 2

    @checked
    def __init__(self, x: Array, z: Array | None = None, *, p: int = 2, **window: Any) -> None:
        super().__init__(x, z, **window)
        self.p = p

    def _pooled(self, backend: Backend, buffers: Callable[..., Any]) -> tuple[Array, Any]:
        """Return z, and the cells and their norms."""
        return backend.pnorm_pool(self.x, self.window, self.p, buffers)


class Pooling2DDerivative(_Windowed):
    """dL/dx of a pooling of ``x [N, C, H, W]`` from ``y [N, C, out_h, out_w]``, dL/d(its result).

    Parameters
    ----------
    x : array
        What was pooled. None where a network runs the op: it has kept what is needed of x.
    y : array
    z : array ``[N, C, H, W]``, optional
        See `Op`.
    **window : int, two of them, or bool
        As in the pooling.

    Raises
    ------
    ShapeError
        y has not the shape of the pooling's result.
    DTypeError
        y has not the dtype of x.
    """

    y: Array
    pooling: type[Pooling2D]

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, **window: Any) -> None:
        self.forward = self.pooling(x, **window)
        self.window = self.forward.window
        super().__init__(x, y, z)
        self.check_array("y", y)
        expected = (*x.shape[:2], *self.window.out)
        if tuple(y.shape) != expected:
            raise ShapeError(f"{self.who}: y must be {describe_shape(expected)}, got {describe_shape(y.shape)}.")
        self.check_same_dtype(x, y)

    def _compute(self, backend: Backend) -> Array:
        if self.saved is None:
            self.saved = self.forward._pooled(backend, self._memory(backend))[1]
        return self._spread(backend, self._memory(backend))

    def _spread(self, backend: Backend, buffers: Callable[..., Any]) -> Array:
        """Return z."""
        raise NotImplementedError


class MaxPooling2DDerivative(Pooling2DDerivative):
    """dL/dx of `MaxPooling2D`: every number of y in the cell that won."""

    pooling = MaxPooling2D

    def _spread(self, backend: Backend, buffers: Callable[..., Any]) -> Array:
        """Hand every number to the cell that won."""
        return backend.max_pool_backward(self.y, self.saved, self.window, buffers)


class AvgPooling2DDerivative(Pooling2DDerivative):
    """dL/dx of `AvgPooling2D`: every number of y in equal parts."""

    pooling = AvgPooling2D

    def _spread(self, backend: Backend, buffers: Callable[..., Any]) -> Array:
        """Divide every number among its window's cells."""
        return backend.avg_pool_backward(self.y, self.saved, self.window, buffers)


class PnormPooling2DDerivative(Pooling2DDerivative):
    """dL/dx of `PnormPooling2D`."""

    pooling = PnormPooling2D
    p = 2

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, *, p: int = 2, **window: Any) -> None:
        super().__init__(x, y, z, p=p, **window)
        self.p = p

    def _spread(self, backend: Backend, buffers: Callable[..., Any]) -> Array:
        """Multiply by the slopes of the norm."""
        return backend.pnorm_pool_backward(self.y, self.saved, self.window, self.p, buffers)


def _pooling_window(
    who: str, x: Array, kernel: Lengths, stride: Lengths | None, padding: Lengths, dilation: Lengths, same_mode: bool
) -> Window:
    check_rank(who, x.shape, 4)
    lengths = (kernel, kernel if stride is None else stride, padding, dilation)
    return window_of(who, (x.shape[2], x.shape[3]), lengths, same_mode)
