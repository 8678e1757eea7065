"""Primitives that oneDNN computes for the NumPy backend, where it is there and faster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from backends.typing import Array, NumpyArray

from ..base import Backend
from ..extras import install_command
from .row_convolution import Buffers

LEAST_STEPS = 4  # of series that are worth preparing the weights for
LEAST = 1024  # elements below which calling NumPy twice costs less
Gradients = tuple[NumpyArray, NumpyArray | None]


class OneDnn:
    """oneDNN's primitives, imported when they are first needed."""

    def __init__(self) -> None:
        from ..onednn import batch_norm, convolution, lrn, lstm, pooling, products, running
        from ..onednn.library import library

        self.batch_norm, self.convolution, self.lstm, self.pooling = batch_norm, convolution, lstm, pooling
        self.lrn, self.products, self.running = lrn, products, running
        self.vector = library().vector  # type: ignore[union-attr]


def describe_onednn() -> str:
    """Say what of oneDNN is used, or why nothing is."""
    from ..onednn.library import SETTING, library, library_in_use, refused

    found = library()
    if found is None and refused:
        return f"not used: {refused[0]}"
    if found is None:
        return f"not there; float32 networks are faster with it: {install_command('onednn')}"
    if library_in_use() is None:
        return f"{found.version}, not used: {SETTING}=0"
    return f"{found.version}, vectors of {found.vector} floats, {found.path} ({SETTING})"


class Accelerated(Backend):
    """Mixin of `NumpyBackend`."""

    @cached_property
    def onednn(self) -> OneDnn | None:
        """oneDNN's primitives, None without it."""
        from ..onednn.library import library_in_use

        return None if library_in_use() is None else OneDnn()

    def accelerates(self, *arrays: NumpyArray | None) -> bool:
        """Tell whether oneDNN computes with arrays: of float32, and not empty."""
        fit = all(x is None or (x.dtype == "float32" and x.size > 0) for x in arrays)
        return fit and self.onednn is not None

    def lies_for_onednn(self, x: NumpyArray) -> bool:
        """Tell whether images lie with several channels innermost."""
        return x.shape[1] > 1 and self.onednn.running.is_channels_innermost(x)  # type: ignore[union-attr]

    def turns(self, source: Any, target: NumpyArray) -> bool:
        """Tell whether oneDNN copies an array into one of another memory order, which no recording notes."""
        if type(source) is not np.ndarray or type(target) is not np.ndarray or source.shape != target.shape:
            return False
        alike = source.dtype == target.dtype and source.strides != target.strides
        return alike and dense(source) and dense(target) and self.accelerates(target)

    # ---- products

    def multiplies(self, a: NumpyArray, b: NumpyArray) -> bool:
        """Tell whether oneDNN can multiply two matrices."""
        if not self.accelerates(a) or b.dtype != a.dtype:
            return False
        return self.onednn.products.is_operand(a) and self.onednn.products.is_operand(b)  # type: ignore[union-attr]

    # ---- rectified

    def rectifies(self, a: NumpyArray, epsilon: NumpyArray) -> bool:
        """Tell whether oneDNN takes errors back through the ReLU that has made an array."""
        return dense(a) and self.accelerates(a, epsilon)

    # ---- batch normalisation

    def normalizes(self, *arrays: NumpyArray) -> bool:
        """Tell whether oneDNN normalises the channels of arrays, which lie alike."""
        x = arrays[0]
        if x.ndim < 3 or x.size < LEAST or not self.accelerates(*arrays) or not self.lies_for_onednn(x):
            return False
        return all(other.strides == x.strides for other in arrays)

    def channel_moments(self, x: NumpyArray, out: NumpyArray, buffers: Buffers) -> None:
        if not self.normalizes(x):
            super().channel_moments(x, out, buffers)
        else:
            self.onednn.batch_norm.moments(x, out, buffers)  # type: ignore[union-attr]

    def normalize_channels(
        self,
        x: NumpyArray,
        centered: Array | None,
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
        centered: Array | None,
        mean: NumpyArray,
        out: NumpyArray,
        buffers: Buffers,
        rectified: NumpyArray | None = None,
    ) -> None:
        if not self.normalizes(x, epsilon):
            super().channel_error_sums(epsilon, x, centered, mean, out, buffers, rectified)
        else:
            self.onednn.batch_norm.error_sums(epsilon, x, mean, out, buffers, rectified)  # type: ignore[union-attr]

    def normalize_channels_back(
        self,
        epsilon: NumpyArray,
        x: NumpyArray,
        centered: Array | None,
        vectors: tuple[NumpyArray, NumpyArray, NumpyArray, NumpyArray],
        buffers: Buffers,
    ) -> Array:
        if not self.normalizes(x, epsilon):
            return super().normalize_channels_back(epsilon, x, centered, vectors, buffers)
        return self.onednn.batch_norm.back(epsilon, x, vectors, buffers)  # type: ignore[union-attr]

    # ---- neighbouring channels

    def lrn(self, x: NumpyArray, n: int, k: float, alpha: float, beta: float, buffers: Buffers) -> Any:
        return self.onednn.lrn.forward(x, n, k, alpha, beta, buffers) if self.accelerates(x) else None  # type: ignore[union-attr]

    def lrn_back(self, epsilon: NumpyArray, saved: Any, buffers: Buffers) -> Array:
        return self.onednn.lrn.backward(epsilon, saved, buffers)  # type: ignore[union-attr]

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

    def input_like(self, x: NumpyArray) -> Array:
        if not self.takes_images(x):
            return super().input_like(x)
        return self.onednn.running.channels_innermost(self.fresh_buffers("float32"), "", tuple(x.shape))  # type: ignore[union-attr]

    def takes_images(self, x: NumpyArray) -> bool:
        """Tell whether an array is of images or volumes of several channels, which oneDNN takes channels innermost."""
        return x.ndim > 3 and x.shape[1] > 1 and self.accelerates(x)

    def to_image_order(self, x: NumpyArray, buffers: Buffers) -> Array:
        if not self.accelerates(x):
            return x
        return self.onednn.running.with_channels_innermost(x, buffers, "image")  # type: ignore[union-attr]


def dense(x: NumpyArray) -> bool:
    """Tell whether an array has all of its memory to itself, in some order of its axes."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    return bool(x.transpose(order).flags.c_contiguous)
