"""Sliding windows on a CUDA device: the kernels over images, and convolution without columns in memory.

Outputs lie with the batch innermost, inputs in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from backends.typing import Array, CupyArray

from ..generic import channel_groups, spatial
from ..generic.normalizing import over_channels
from ..generic.window import Window
from ..signatures import (
    AveragePooling,
    Buffers,
    Convolution,
    ConvolutionBack,
    NormPooling,
    NormPoolingBack,
    PooledConvolution,
    PooledConvolutionBack,
    PoolingBack,
    Sliding,
)
from . import REALS, geometry

if TYPE_CHECKING:
    from .cupy_backend import CupyBackend

MOST_GROUPS = 16  # of channels, for which a launch each is made


class Image(NamedTuple):
    """A convolution's cache for its gradients: the image itself, which nobody may change until then."""

    x: Array


# ---- where


def is_real_image(backend: CupyBackend, given: Sliding[CupyArray]) -> bool:
    """Tell whether the kernels take these columns, or what they are gathered from."""
    return given.x.dtype.char in REALS and len(given.window.size) == 2


def convolves(backend: CupyBackend, given: Convolution[CupyArray]) -> bool:
    """Tell whether our kernels convolve such arrays."""
    return backend.convolutions.serves(given.window, given.x, given.W, given.b)


def goes_back(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> bool:
    """Tell whether they have, and take the gradients, too."""
    saved = given.saved
    return has_image(backend, given) and backend.convolutions.serves(given.window, saved.x, given.W, *given.gradients)


def convolves_groups(backend: CupyBackend, given: Convolution[CupyArray]) -> bool:
    """Tell whether our kernels convolve such groups, of images, and they are so few that each is worth a launch."""
    W = given.W
    few = given.x.ndim == 4 and W.shape[0] <= MOST_GROUPS and W.shape[2] > 1
    return few and backend.convolutions.serves(given.window, given.x, W[0], given.b) and W.flags.c_contiguous


def goes_back_in_groups(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> bool:
    """Tell whether they have, and take the gradients, too."""
    W, (W_gradient, b_gradient) = given.W, given.gradients
    if not has_image(backend, given) or not (W.flags.c_contiguous and W_gradient.flags.c_contiguous):
        return False
    return backend.convolutions.serves(given.window, given.saved.x, W[0], W_gradient[0], b_gradient)


def has_image(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> bool:
    """Tell whether they have convolved, without columns."""
    return isinstance(given.saved, Image)


def pools_what_is_biased(backend: CupyBackend, given: PooledConvolution[CupyArray]) -> bool:
    """Tell whether a kernel adds the bias to what is largest alone."""
    b = given.b
    return b is not None and given.activate is None and given.W.dtype.char in REALS and b.flags.c_contiguous


def goes_back_from_pooled(backend: CupyBackend, given: PooledConvolutionBack[CupyArray]) -> bool:
    """Tell whether the gradients' kernels find the winners themselves: of windows side by side."""
    (image, _), (window, pool) = given.saved, given.windows
    known = isinstance(image, Image) and backend.convolutions.serves(window, image.x, given.W, *given.gradients)
    return known and pool.tiles_exactly


def lies_batch_innermost(backend: CupyBackend, x: CupyArray, buffers: Buffers) -> bool:
    """Tell whether an array lies in order already."""
    return batch_innermost(x)


# ---- im2col, convolution


def im2col(backend: CupyBackend, given: Sliding[CupyArray]) -> Array:
    """Gather in one launch."""
    x, window, buffers = given
    col = buffers("col", (*x.shape[:2], *window.kernel, *window.out))
    _run(backend, "im2col", window, (like(x, col),), (col,))
    return col


def col2im(backend: CupyBackend, given: Sliding[CupyArray]) -> Array:
    """Add back in one launch."""
    col, window, buffers = given
    image = buffers("epsilon", (*col.shape[:2], *window.size))
    _run(backend, "col2im", window, (_packed(backend, like(col, image), buffers),), (image,))
    return image


def conv2d(backend: CupyBackend, given: Convolution[CupyArray]) -> tuple[Array, object]:
    """Convolve without columns in memory."""
    x, W, b, window, buffers, activate, _ = given
    z = buffers("z", (x.shape[0], W.shape[0], *window.out))
    backend.convolutions.forward(x, W, b, window, z)
    if activate is not None:
        activate(z)
    return z, Image(x)


def conv2d_backward(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> Array | None:
    """Go back without columns in memory."""
    return _back(backend, given, None)


def back_by_columns(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> Array | None:
    """Gather the columns after all."""
    columns = backend.im2col(given.saved.x, given.window, given.buffers)
    return spatial.conv2d_backward(backend, given._replace(saved=columns))


def _back(
    backend: CupyBackend, given: ConvolutionBack[CupyArray], pooling: tuple[Window, CupyArray] | None
) -> Array | None:
    """Go back from delta or, where its output was pooled, from the pooled epsilon and the winners."""
    delta, saved, W, window, gradients, buffers, need_epsilon = given
    delta = like(delta, W)
    backend.convolutions.gradients(saved.x, delta, pooling, *gradients, window)
    if not need_epsilon:
        return None
    image = buffers("epsilon", saved.x.shape)
    backend.convolutions.epsilon(delta, pooling, W, window, image)
    return image


def grouped(backend: CupyBackend, given: Convolution[CupyArray]) -> tuple[Array, object]:
    """Convolve every group without columns in memory, by a launch each."""
    x, W, b, window, buffers, activate, _ = given
    groups, n_out, channels = W.shape[:3]
    z = buffers("z", (x.shape[0], groups * n_out, *window.out))
    for number in range(groups):
        inputs, outputs = channel_groups.of_group(number, channels), channel_groups.of_group(number, n_out)
        bias = None if b is None else b.reshape(-1)[outputs]
        backend.convolutions.forward(x[:, inputs], W[number], bias, window, z[:, outputs])
    if activate is not None:
        activate(z)
    return z, Image(x)


def grouped_backward(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> Array | None:
    """Go back from every group without columns in memory, by two launches each."""
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    delta, (groups, n_out, channels) = like(delta, W), W.shape[:3]
    image = buffers("epsilon", saved.x.shape) if need_epsilon else None
    for number in range(groups):
        inputs, outputs = channel_groups.of_group(number, channels), channel_groups.of_group(number, n_out)
        bias, share = None if b_gradient is None else b_gradient.reshape(-1)[outputs], delta[:, outputs]
        backend.convolutions.gradients(saved.x[:, inputs], share, None, W_gradient[number], bias, window)
        if image is not None:
            backend.convolutions.epsilon(share, None, W[number], window, image[:, inputs])
    return image


def grouped_back_by_columns(backend: CupyBackend, given: ConvolutionBack[CupyArray]) -> Array | None:
    """Gather the columns of all groups after all."""
    columns = backend.im2col(given.saved.x, given.window, given.buffers)
    return channel_groups.grouped_backward(backend, given._replace(saved=columns))


def conv2d_max_pool(backend: CupyBackend, given: PooledConvolution[CupyArray]) -> tuple[Array, object]:
    """Convolve, then pool and add the bias in one launch."""
    x, W, b, _, (window, pool), buffers, _, inner = given
    z, convolved = backend.conv2d(x, W, None, window, buffers[0])
    if inner is not None and b is not None:  # the kernel adds b to the largest alone
        backend.add(z, over_channels(backend, b, z), inner)
    shape = (*z.shape[:2], *pool.out)
    out, winner = buffers[1]("pooled", shape), buffers[1]("winner", shape, "int32")
    _run(backend, "max_pool_biased", pool, (z, b), (out, winner))
    return out, (convolved, winner)


def conv2d_max_pool_backward(backend: CupyBackend, given: PooledConvolutionBack[CupyArray]) -> Array | None:
    """Go back to the image at once."""
    epsilon, (convolved, winner), W, (window, pool), gradients, buffers, need_epsilon = given
    of_convolution = ConvolutionBack(epsilon, convolved, W, window, gradients, buffers[0], need_epsilon)
    return _back(backend, of_convolution, (pool, winner))


# ---- pooling


def max_pool(backend: CupyBackend, given: Sliding[CupyArray]) -> tuple[Array, object]:
    """Take maxima in one launch."""
    x, window, buffers = given
    shape = (*x.shape[:2], *window.out)
    out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
    _run(backend, "max_pool", window, (like(x, out),), (out, winner))
    return out, winner


def max_pool_backward(backend: CupyBackend, given: PoolingBack[CupyArray]) -> Array:
    """Hand errors to the winners in one launch."""
    epsilon, saved, window, buffers = given
    image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
    _run(backend, "max_pool_backward", window, (like(epsilon, image), saved), (image,))
    return image


def avg_pool(backend: CupyBackend, given: AveragePooling[CupyArray]) -> tuple[Array, object]:
    """Take means in one launch."""
    x, window, count_padding, buffers = given
    out = buffers("pooled", (*x.shape[:2], *window.out))
    counted = int(count_padding or not window.has_padding)
    counts = (counted, *window.overhang)
    _run(backend, "avg_pool", window, (like(x, out),), (out,), *counts)
    return out, counts


def avg_pool_backward(backend: CupyBackend, given: PoolingBack[CupyArray]) -> Array:
    """Spread errors in one launch."""
    epsilon, saved, window, buffers = given
    image = buffers("epsilon", (*epsilon.shape[:2], *window.size))
    _run(backend, "avg_pool_backward", window, (like(epsilon, image),), (image,), *saved)
    return image


def pnorm_pool(backend: CupyBackend, given: NormPooling[CupyArray]) -> tuple[Array, object]:
    """Take norms in one launch."""
    x, window, p, buffers = given
    out = buffers("pooled", (*x.shape[:2], *window.out))
    x = like(x, out)
    _run(backend, "pnorm_pool", window, (x,), (out,), float(p))
    return out, (x, out)


def pnorm_pool_backward(backend: CupyBackend, given: NormPoolingBack[CupyArray]) -> Array:
    """Spread errors by the norm's slope in one launch."""
    epsilon, (x, norm), window, p, buffers = given
    image = buffers("epsilon", x.shape)
    inputs = (like(epsilon, image), _packed(backend, x, buffers), norm)
    _run(backend, "pnorm_pool_backward", window, inputs, (image,), float(p))
    return image


# ---- launches


def as_it_lies(backend: CupyBackend, x: CupyArray, buffers: Buffers) -> Array:
    """Return the array itself."""
    return x


def _run(
    backend: CupyBackend,
    name: str,
    window: Window,
    inputs: tuple[CupyArray, ...],
    outputs: tuple[Array, ...],
    *tail: float,
) -> None:
    """Launch a kernel that reads the first input by its strides and computes every element of the first output."""
    image, out = inputs[0], outputs[0]
    shape = geometry(window, image.shape[0], out.size, image.strides)
    backend.kernels.launch(name, out.dtype.char, out.size, (*inputs, *outputs, shape, *tail))


def _packed(backend: CupyBackend, x: CupyArray, buffers: Buffers) -> Array:
    """Return `x`, or a copy, with the batch innermost, for kernels that do not read it by strides."""
    return x if batch_innermost(x) else backend.assign(buffers("packed", x.shape), x)


def batch_innermost(x: CupyArray) -> bool:
    """Tell whether `x` has no gaps in memory and its first axis innermost."""
    return x.transpose((*range(1, x.ndim), 0)).flags.c_contiguous


def like(x: CupyArray, out: Array) -> CupyArray:
    """Return `x` in the dtype of `out`: kernels know one type at a time."""
    return x if x.dtype == out.dtype else x.astype(out.dtype)
