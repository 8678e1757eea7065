"""NumPy's convolution of images by groups of channels: group after group, by whatever convolves images best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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
    z, saved = None, []
    for number in range(groups):
        inputs, outputs = of_group(number, channels), of_group(number, n_out)
        bias = None if b is None else b.reshape(1, -1)[:, outputs]
        memory = _memory_of_group(buffers, number)
        part, kept = backend.conv2d(x[:, inputs], W[number], bias, window, memory, activate, exact)
        saved.append(kept)
        if z is None:
            z = backend.like(part, buffers, "z", (x.shape[0], groups * n_out, *window.out))
        np.copyto(z[:, outputs], part)
    return z, GroupsSaved(saved)


def back_one_by_one(backend: NumpyBackend, given: ConvolutionBack[NumpyArray]) -> Array | None:
    """Go back from group after group."""
    delta, saved, W, window, (W_gradient, b_gradient), buffers, need_epsilon = given
    groups, n_out, channels = W.shape[:3]
    epsilon = None
    for number, kept in enumerate(saved.groups):
        inputs, outputs = of_group(number, channels), of_group(number, n_out)
        bias = None if b_gradient is None else b_gradient.reshape(1, -1)[:, outputs]
        part = backend.conv2d_backward(
            delta[:, outputs],
            kept,
            W[number],
            window,
            (W_gradient[number], bias),
            _memory_of_group(buffers, number),
            need_epsilon,
        )
        if part is None:
            continue
        if epsilon is None:
            shape = (delta.shape[0], groups * channels, *window.size)
            epsilon = backend.like(part, buffers, "epsilon", shape)
        np.copyto(epsilon[:, inputs], part)
    return epsilon


def _memory_of_group(buffers: Buffers, number: int) -> Buffers:
    """Return the same memory under names of a group's own."""
    return lambda name, *shape: buffers(f"group{number}_{name}", *shape)
