"""Sliding windows: output sizes and padding as Deeplearning4j computes them, im2col, convolution, pooling."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from backends.errors import ShapeError, check_choice, check_rank
from backends.generic.window import Sizes, Window
from nd.typing import Array

from ..arguments import settled
from ..state import explained, state

Buffers = Callable[..., Array]
Pair = tuple[int, int]
CONVOLUTION_MODES = ("causal", "same", "strict", "truncate")
_AXES = ("depth", "height", "width")


def make_window(
    who: str,
    size: Sizes,
    kernel: Sizes,
    stride: Sizes = (),
    padding: Sizes = (),
    dilation: Sizes = (),
    mode: str = "truncate",
    axes: Sequence[str] = (),
) -> Window:
    """Compute where the windows of a convolution or pooling lie.

    Parameters
    ----------
    who : str
        Named in errors.
    size : tuple of int
        ``H, W`` of the input, or ``D, H, W``.
    kernel, stride, padding, dilation : tuple of int
        One number for every axis; without them strides and dilations are 1 and paddings 0. Padding is on either side,
        and ignored by ``"same"`` and ``"causal"``.
    mode : {"strict", "truncate", "same", "causal"}
        Strict: floor((in - k + 2p) / s) + 1 must be exact. Truncate: the rest is left out. Same: ceil(in / s), with
        the odd row or column of padding below and to the right. Causal: ceil(in / s), with all padding before, so
        that no window reaches beyond its own place.
    axes : sequence of str
        Names of the axes in errors.

    Raises
    ------
    ShapeError
        The kernel does not fit, or the mode is strict and the windows do not fit exactly.

    Notes
    -----
    Source: DL4J ``ConvolutionUtils.getOutputSize`` and ``getSameModeTopLeftPadding``.
    """
    check_choice(who, "convolution mode", mode, CONVOLUTION_MODES)
    count, names = len(size), axes or _AXES[-len(size) :]
    stride, padding, dilation = stride or (1,) * count, padding or (0,) * count, dilation or (1,) * count
    before, after = list(padding), list(padding)
    for axis in range(count):
        effective = dilation[axis] * (kernel[axis] - 1) + 1
        if mode in ("same", "causal"):
            out = -(-size[axis] // stride[axis])
            total = max((out - 1) * stride[axis] + effective - size[axis], 0)
            before[axis], after[axis] = (total // 2, total - total // 2) if mode == "same" else (effective - 1, 0)
            continue
        given = (size[axis], kernel[axis], stride[axis], padding[axis], dilation[axis])
        _check_fit(who, names[axis], *given, strict=mode == "strict")
    return Window(tuple(size), tuple(kernel), tuple(stride), tuple(dilation), tuple(before), tuple(after))


def _check_fit(
    who: str, axis: str, size: int, kernel: int, stride: int, padding: int, dilation: int, strict: bool
) -> None:
    """Raise ShapeError unless windows along one axis fit; with `strict`, exactly."""
    effective = dilation * (kernel - 1) + 1
    span = size + 2 * padding - effective
    if span < 0:
        raise ShapeError(
            f"{who}: the kernel must fit into the padded input, got kernel {kernel} (dilation {dilation}, so "
            f"{effective}) over {axis} {size} + 2 * {padding}. Use a smaller kernel, more padding, or "
            "convolution_mode='same'."
        )
    if strict and span % stride:
        raise ShapeError(
            f"{who}: convolution_mode 'strict' needs windows that fit exactly, got {axis} ({size} - {effective} + 2 * "
            f"{padding}) / {stride} + 1 = {span / stride + 1:.2f}. Change size, kernel, padding or stride, or use "
            "'truncate' or 'same'."
        )


def make_deconv_window(
    who: str,
    size: Sizes,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    mode: str,
    axes: Sequence[str] = (),
) -> Window:
    """Compute where a transposed convolution puts its windows: those of the convolution that leads back.

    Parameters
    ----------
    size : tuple of int
        ``H, W`` of the transposed convolution's input: the windows' number. The rest as for `make_window`; strict and
        truncate are the same. The window's own size is that of the output: ``s * in`` in mode same, else
        ``s * (in - 1) + k - 2 p``, where k is the dilated kernel.

    Raises
    ------
    ShapeError
        The padding leaves nothing of the output.

    Notes
    -----
    Source: DL4J ``ConvolutionUtils.getDeconvolutionOutputSize``.
    """
    if mode == "same":
        out = tuple(step * length for step, length in zip(stride, size, strict=True))
        return make_window(who, out, kernel, stride, padding, dilation, mode)
    names = axes or _AXES[-len(size) :]
    sizes = []
    for axis, length in enumerate(size):
        effective = dilation[axis] * (kernel[axis] - 1) + 1
        sizes.append(stride[axis] * (length - 1) + effective - 2 * padding[axis])
        if sizes[axis] < 1:
            raise ShapeError(
                f"{who}: the output must be at least 1, got {names[axis]} {stride[axis]} * ({length} - 1) + "
                f"{effective} - 2 * {padding[axis]} = {sizes[axis]}. Use less padding or a larger kernel."
            )
    return make_window(who, tuple(sizes), kernel, stride, padding, dilation, "truncate")


def make_rounded_up_window(who: str, size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes) -> Window:
    """Compute where the windows of a pooling lie whose number is rounded up: ceil((in - k + 2p) / s) + 1.

    The last window may hang over the padding. It is left out where it would begin behind the last cell. The rest is as
    for `make_window`, without dilation.

    Raises
    ------
    ShapeError
        There would be no window.

    Notes
    -----
    Source: BVLC Caffe, pooling_layer.cpp. Differs: Caffe leaves out windows of no cell only where there is padding.
    """
    after, overhang = list(padding), [0] * len(size)
    for axis, (length, cells, step, pad) in enumerate(zip(size, kernel, stride, padding, strict=True)):
        span = length + 2 * pad - cells
        if span <= -step:
            _check_fit(who, _AXES[axis - len(size)], length, cells, step, pad, 1, strict=False)
        last = -(-span // step) * step  # where the last window begins in the padded input
        if last < length + pad:
            overhang[axis] = last - span
            after[axis] += overhang[axis]
    return Window(tuple(size), tuple(kernel), tuple(stride), (), tuple(padding), tuple(after), tuple(overhang))


def per_axis(who: str, name: str, value: int | Sequence[int], least: int, count: int) -> Sizes:
    """Return `value` as so many integers of at least `least`; one integer stands for all.

    Raises
    ------
    ShapeError
        It is anything else.
    """
    sizes: tuple[Any, ...] = tuple(value) if isinstance(value, (tuple, list)) else (value,) * count
    if len(sizes) != count or not all(
        hasattr(v, "__index__") and not isinstance(v, bool) and getattr(v, "ndim", 0) == 0 and v >= least for v in sizes
    ):
        many = {1: "one integer", 2: "one or two integers", 3: "one or three integers"}[count]
        raise ShapeError(f"{who}: {name} must be {many} >= {least}, got {value!r}.")
    return tuple(map(operator.index, sizes))


def pair(who: str, name: str, value: int | Sequence[int], least: int) -> Pair:
    """Return `value` as two integers of at least `least`; see `per_axis`."""
    first, second = per_axis(who, name, value, least, 2)
    return first, second


def window_of(who: str, size: Pair, arguments: Sequence[Any], same_mode: bool) -> Window:
    """Return the windows of kernel, stride, padding and dilation, each one integer or two, over an image.

    Raises
    ------
    ShapeError
        They are no such integers, or the kernel does not fit.
    """
    names = (("kernel", 1), ("stride", 1), ("padding", 0), ("dilation", 1))
    kernel, stride, padding, dilation = (
        pair(who, name, value, least) for (name, least), value in zip(names, arguments, strict=True)
    )
    return make_window(who, size, kernel, stride, padding, dilation, "same" if same_mode else "truncate")


@explained
def im2col(
    x: Array,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    same_mode: bool = False,
) -> Array:
    """Gather the cells under every window.

    Parameters
    ----------
    x : array ``[N, C, H, W]``

    Returns
    -------
    array ``[N, C, kernel_h, kernel_w, out_h, out_w]``, as DL4J's ``Convolution.im2col``

    Raises
    ------
    ShapeError
        `x` is not of rank 4, or the kernel does not fit.
    """
    settled(im2col, same_mode=same_mode)
    check_rank("im2col", x.shape, 4)
    backend = state.backend
    window = window_of("im2col", (x.shape[2], x.shape[3]), (kernel, stride, padding, dilation), same_mode)
    return backend.im2col(x, window, backend.fresh_buffers(backend.dtype_name(x)))


@explained
def col2im(
    col: Array,
    size: Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    same_mode: bool = False,
) -> Array:
    """Add the cells of every window back where `im2col` took them.

    Parameters
    ----------
    col : array ``[N, C, kernel_h, kernel_w, out_h, out_w]``
    size : pair of int
        ``H, W`` of the result.

    Returns
    -------
    array ``[N, C, H, W]``

    Raises
    ------
    ShapeError
        `col` is not of rank 6, or does not belong to windows over an image of that size.
    """
    settled(col2im, same_mode=same_mode)
    check_rank("col2im", col.shape, 6)
    backend = state.backend
    kernel, out = (col.shape[2], col.shape[3]), (col.shape[4], col.shape[5])
    window = window_of("col2im", pair("col2im", "size", size, 1), (kernel, stride, padding, dilation), same_mode)
    if window.out != out:
        raise ShapeError(f"col2im: an image {list(window.size)} has {list(window.out)} windows, got {list(out)}.")
    return backend.col2im(col, window, backend.fresh_buffers(backend.dtype_name(col)))


def columns_of(x: Array, window: Window, buffers: Buffers) -> Array:
    """Gather the cells under every window, as `im2col`; see `backends.generic.spatial`."""
    return state.backend.im2col(x, window, buffers)


def add_columns(columns: Array, window: Window, buffers: Buffers) -> Array:
    """Add the cells of every window back, as `col2im`; see `backends.generic.spatial`."""
    return state.backend.col2im(columns, window, buffers)


def conv2d(
    x: Array,
    W: Array,
    b: Array | None,
    window: Window,
    buffers: Buffers,
    activate: Callable[[Array], object] | None = None,
    exact: bool = True,
) -> tuple[Array, object]:
    """Cross-correlate ``x [N, C, H, W]`` with ``W [n_out, C, kernel_h, kernel_w]``; see `backends.generic.spatial`."""
    return state.backend.conv2d(x, W, b, window, buffers, activate, exact)


def conv2d_backward(
    delta: Array,
    saved: object,
    W: Array,
    window: Window,
    gradients: tuple[Array, Array | None],
    buffers: Buffers,
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic.spatial`."""
    return state.backend.conv2d_backward(delta, saved, W, window, gradients, buffers, need_epsilon)


def conv2d_max_pool(
    x: Array,
    W: Array,
    b: Array | None,
    activate: Callable[[Array], object] | None,
    windows: tuple[Window, Window],
    buffers: tuple[Buffers, Buffers],
    keep: bool = True,
    inner: Array | None = None,
) -> tuple[Array, object]:
    """Convolve, activate and pool maxima in one call; see `backends.generic.spatial`."""
    return state.backend.conv2d_max_pool(x, W, b, activate, windows, buffers, keep, inner)


def conv2d_max_pool_backward(
    epsilon: Array,
    saved: object,
    W: Array,
    windows: tuple[Window, Window],
    gradients: tuple[Array, Array | None],
    buffers: tuple[Buffers, Buffers],
    need_epsilon: bool = True,
) -> Array | None:
    """Write the gradients of W and b, return that of x; see `backends.generic.spatial`."""
    return state.backend.conv2d_max_pool_backward(epsilon, saved, W, windows, gradients, buffers, need_epsilon)


def max_pool(x: Array, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Return the maximum of every window, and which cell won; see `backends.generic.pooling`."""
    return state.backend.max_pool(x, window, buffers)


def max_pool_backward(epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
    """Hand every element of epsilon to the cell that won."""
    return state.backend.max_pool_backward(epsilon, saved, window, buffers)


def max_places(x: Array, window: Window, buffers: Buffers) -> Array:
    """Return where every window has its maximum, ``row * W + column``; see `backends.generic.pooling`."""
    return state.backend.max_places(x, window, buffers)


def stochastic_pool(x: Array, draws: Array, window: Window, buffers: Buffers) -> tuple[Array, object]:
    """Return a drawn cell of every window; `max_pool_backward` leads back. See `backends.generic.pooling`."""
    return state.backend.stochastic_pool(x, draws, window, buffers)


def avg_pool(x: Array, window: Window, count_padding: bool, buffers: Buffers) -> tuple[Array, object]:
    """Return the mean of every window."""
    return state.backend.avg_pool(x, window, count_padding, buffers)


def avg_pool_backward(epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
    """Spread every element of epsilon over its window."""
    return state.backend.avg_pool_backward(epsilon, saved, window, buffers)


def pnorm_pool(x: Array, window: Window, p: int, buffers: Buffers) -> tuple[Array, object]:
    """Return the p-norm of every window."""
    return state.backend.pnorm_pool(x, window, p, buffers)


def pnorm_pool_backward(epsilon: Array, saved: Any, window: Window, p: int, buffers: Buffers) -> Array:
    """Spread every element of epsilon over its window by the slope of the p-norm."""
    return state.backend.pnorm_pool_backward(epsilon, saved, window, p, buffers)
