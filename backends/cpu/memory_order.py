"""Activations of NumPy in memory: the batch innermost, or channels where oneDNN takes images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.typing import Array, NumpyArray

from ..signatures import Ordering, Template

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend


def lies_in_order(backend: NumpyBackend, given: Ordering[NumpyArray]) -> bool:
    """Tell whether the batch lies innermost already."""
    x = given.x
    return bool((x.T if x.ndim == 2 else x.transpose(*range(1, x.ndim), 0)).flags.c_contiguous)


def as_it_lies(backend: NumpyBackend, given: Ordering[NumpyArray]) -> Array:
    """Return the array itself."""
    return given.x


def in_order(backend: NumpyBackend, given: Ordering[NumpyArray]) -> Array:
    """Return a copy."""
    view = given.buffers("input", given.x.shape)
    view[...] = given.x
    return view


def input_like(backend: NumpyBackend, given: Template[NumpyArray]) -> Array:
    """Return memory for images, channels innermost."""
    running = backend.onednn.running
    return running.channels_innermost(backend.fresh_buffers("float32"), "", tuple(given.x.shape))
