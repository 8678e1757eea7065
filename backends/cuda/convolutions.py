"""Convolutions by the kernels of implicit.cu: one launch for every product, and no columns in memory."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from backends.generic.window import Window
from backends.typing import CupyArray

from . import REALS, Kernels, packed_geometry
from .arguments import element_strides
from .splits import FLAT, SMALL, SQUARE, Splits, Tile

LARGEST = 1 << 16  # sizes of images that the kernels divide by multiplying
MOST_TAPS = 1 << 31  # which kernels count with 32 bits
FEW = 32  # rows of a product that are worth a flat tile

_REST = struct.Struct("=4I2iq4I4qq4q")  # the fields after the geometry in `struct Convolution` of implicit.cu
_UNPOOLED = (1, 0, 1, 0, 0, 0, 0)


class Convolutions:
    """Forward and backward of 2D convolutions, float32 or float64, without columns in memory.

    Results lie with the batch innermost; images and epsilons are read as they lie, weights and their gradients
    ``[n_out, C, kernel_h, kernel_w]`` have no gaps.

    Parameters
    ----------
    kernels : Kernels
    splits : Splits
    """

    def __init__(self, kernels: Kernels, splits: Splits) -> None:
        self._kernels, self._splits = kernels, splits

    def serves(self, window: Window, x: CupyArray, *parameters: CupyArray | None) -> bool:
        """Tell whether these kernels can treat such arrays: the image, the weights, and perhaps other parameters."""
        weights: Any = parameters[0]
        given = [parameter for parameter in parameters if parameter is not None]
        alike = x.dtype == weights.dtype and weights.dtype.char in REALS
        alike = alike and all(p.dtype == weights.dtype and p.flags.c_contiguous for p in given)
        cells = math.prod(window.kernel) * max(weights.shape[:2])
        return alike and max(window.padded) < LARGEST and cells < MOST_TAPS

    def forward(self, x: CupyArray, W: CupyArray, b: CupyArray | None, window: Window, out: CupyArray) -> None:
        """Write the convolution ``[N, n_out, out_h, out_w]`` of ``x [N, C, H, W]`` into `out`, b ``[n_out]`` added."""
        taps, positions = W.size // W.shape[0], x.shape[0] * math.prod(window.out)
        tile, name = (FLAT, "convolve_few") if W.shape[0] <= FEW else (SQUARE, "convolve")
        geometry = packed_geometry(window, x.shape[0], positions, x.strides)
        sizes = (W.shape[0], positions, taps)
        self._launch(name, tile, (x, W, b, out), out, sizes, geometry, window, _UNPOOLED, taps, (0, 0, 0, 0))

    def gradients(
        self,
        x: CupyArray,
        epsilon: CupyArray,
        pooling: tuple[Window, CupyArray] | None,
        W: CupyArray,
        b: CupyArray | None,
        window: Window,
    ) -> None:
        """Write the gradients of the weights and the bias ``[n_out]`` into W and b.

        `epsilon` is the gradient of the output, or, with the window and the winners of max pooling side by side, that
        of the pooled output.
        """
        taps, positions = W.size // W.shape[0], x.shape[0] * math.prod(window.out)
        sizes = (W.shape[0], taps if b is None else taps + 1, positions)
        few = SQUARE.number(*sizes[:2]) * 4 <= self._splits.blocks and min(sizes[:2]) <= FEW
        tile, name = (SMALL, "convolve_weights_small") if few else (SQUARE, "convolve_weights")
        geometry = packed_geometry(window, x.shape[0], positions, x.strides)
        arrays = (x, epsilon, None if pooling is None else pooling[1], W, b)
        pooled, strides = _pooled(pooling), element_strides(epsilon)
        self._launch(name, tile, arrays, W, sizes, geometry, window, pooled, taps, strides)

    def epsilon(
        self, epsilon: CupyArray, pooling: tuple[Window, CupyArray] | None, W: CupyArray, window: Window, out: CupyArray
    ) -> None:
        """Write the gradient of the image into ``out [N, C, H, W]``; `epsilon` and `pooling` as for `gradients`."""
        (n, channels), cells = out.shape[:2], math.prod(window.kernel)
        positions = n * math.prod(window.size)
        tile, name = (FLAT, "convolve_image_few") if channels <= FEW else (SQUARE, "convolve_image")
        geometry = packed_geometry(window, n, positions, out.strides)
        arrays = (epsilon, None if pooling is None else pooling[1], W, out)
        sizes = (channels, positions, W.shape[0] * cells)
        pooled, strides = _pooled(pooling), element_strides(epsilon)
        self._launch(name, tile, arrays, out, sizes, geometry, window, pooled, 0, strides)

    def _launch(
        self,
        name: str,
        tile: Tile,
        arrays: tuple[CupyArray | None, ...],
        out: CupyArray,
        sizes: tuple[int, int, int],
        geometry: bytes,
        window: Window,
        pooled: tuple[int, ...],
        taps: int,
        strides: Sequence[int],
    ) -> None:
        rows, columns, inner = sizes
        if rows * columns == 0:
            return
        tiles = tile.number(rows, columns)
        splits = self._splits.number(tiles, inner)
        dividers = [number for stride in window.stride for number in _divider(stride)]
        packed = geometry + _REST.pack(*pooled, *dividers, *sizes, splits, taps, *strides)
        convolution = np.frombuffer(packed, np.dtype((np.void, len(packed))))
        memory = self._splits.memory(out, tiles, splits * rows * columns if splits > 1 else 1)
        # A null pointer stands for an array that is not there.
        pointers = (0 if array is None else array for array in arrays)
        self._kernels.launch(
            name, out.dtype.char, tiles * splits * tile.threads, (*pointers, *memory, convolution), tile.threads
        )


def _divider(by: int) -> tuple[int, int]:
    return by, -(-(1 << 32) // by) & 0xFFFFFFFF


def _pooled(pooling: tuple[Window, CupyArray] | None) -> tuple[int, ...]:
    if pooling is None:
        return _UNPOOLED
    window = pooling[0]
    return (*_divider(window.kernel[0]), *_divider(window.kernel[1]), *window.out, 1)
