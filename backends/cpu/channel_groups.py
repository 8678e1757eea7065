"""NumPy's convolution of images by groups of channels: group after group, by whatever convolves images best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from backends.typing import Array, NumpyArray

from ..generic.channel_groups import of_group
from ..signatures import Buffers, Convolution, ConvolutionBack

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend


class GroupsSaved(NamedTuple):
    """Forward's cache for backward: that of every group."""

    groups: list[object]


def groups_are_of_images(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether images are convolved, and no channel for itself."""
    return given.x.ndim == 4 and given.W.shape[2] > 1


def groups_are_saved(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> bool:
    """Tell whether they were convolved one after the other."""
    return isinstance(given.saved, GroupsSaved)


def one_by_one(backend: NumpyBackend, given: Convolution[NumpyArray]) -> tuple[Array, GroupsSaved]:
    """Convolve group after group, into one array.

    That takes 0.25 to 0.9 of the time of the generic stack of products, whose columns leave the cache; of 192 channels
    over 13x13 cells 1.3 (both ways, two workers).
    """
    x, W, b, window, buffers, activate, exact = given
    groups, n_out, channels = W.shape[:3]
    parts, saved = [], []
    for number in range(groups):
        bias = None if b is None else b.reshape(1, -1)[:, of_group(number, n_out)]
        image, memory = x[:, of_group(number, channels)], _memory_of_group(buffers, number)
        part, kept = backend.conv2d(image, W[number], bias, window, memory, activate, exact)
        parts.append(part)
        saved.append(kept)
    return _side_by_side(backend, parts, buffers, "z"), GroupsSaved(saved)


def back_one_by_one(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> Array | None:
    """Go back from group after group."""
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    parts = []
    for number, kept in enumerate(saved.groups):
        outputs, memory = of_group(number, W.shape[1]), _memory_of_group(buffers, number)
        gradients = W_gradient[number], None if b_gradient is None else b_gradient.reshape(1, -1)[:, outputs]
        part = backend.conv2d_backward(delta[:, outputs], kept, W[number], window, gradients, memory, need_epsilon)
        if part is not None:
            parts.append(part)
    return _side_by_side(backend, parts, buffers, "epsilon") if need_epsilon else None


def _side_by_side(backend: NumpyBackend, parts: list[Array], buffers: Buffers, name: str) -> Array:
    """Copy the channels of all groups into one array, in the memory order of the first."""
    n, channels, *places = parts[0].shape
    whole = backend.like(parts[0], buffers, name, (n, len(parts) * channels, *places))
    for number, part in enumerate(parts):
        backend.assign(whole[:, of_group(number, channels)], part)
    return whole


def _memory_of_group(buffers: Buffers, number: int) -> Buffers:
    """Return the same memory under names of a group's own."""
    return lambda name, *shape: buffers(f"group{number}_{name}", *shape)
