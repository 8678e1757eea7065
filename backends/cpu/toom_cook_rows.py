"""The gradients of a convolution by Toom-Cook, and predictions, on images with their rows outermost in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..signatures import Convolution, ConvolutionBack
from . import toom_cook
from .row_convolution import ROWS_FIRST_BACK, Buffers, Geometry, Prepared, RowConvolution, Saved, block, flat

LEAST_PRODUCT = 1 << 19
"""Multiplications of one product forward: with 80,000 the many calls took half as long again as plain sums, with
700,000 three quarters of the time."""


class _Tile(NamedTuple):
    """Output rows ``start + first .. start + m`` come from this tile, the ones before from an earlier one."""

    start: int
    first: int


class ToomCookRows(RowConvolution):
    """Backward by Toom-Cook: one GEMM per tile of output rows and point, ``m + taps - 1`` of them for ``m * taps``.

    Predictions that nobody takes a gradient of are computed so too.

    Notes
    -----
    In training forward stays with the plain sums: over equal inputs, such as the blank margin of an image, neighbouring
    outputs are then equal to the bit, and max pooling hands the gradient to the first of them, as Java does. In float32
    the largest error of these gradients is as a rule 3 to 4 times that of plain sums (1 to 9 over random shapes), both
    near 1e-6 of the largest element (tests/backends/test_row_convolution.py).
    """

    def __init__(self, geometry: Geometry, dtype: np.dtype, tile: int) -> None:
        super().__init__(geometry)
        taps, out_h = geometry.window.kernel[0], geometry.window.out[0]
        self.m, self.p = tile, tile + taps - 1
        AT, G, BT = (np.array(matrix, dtype) for matrix in toom_cook.transforms(tile, taps))
        self.AT, self.G, self.BT = AT, G, BT
        self.A, self.GT, self.B = (np.ascontiguousarray(matrix.T) for matrix in (AT, G, BT))
        starts = [min(start, out_h - tile) for start in range(0, out_h, tile)]
        self.tiles = [_Tile(start, number * tile - start) for number, start in enumerate(starts)]

    def forward(self, given: Convolution[NumpyArray]) -> tuple[np.ndarray, Saved]:
        if given.exact or self.geometry.n_out * self.geometry.depth * self.geometry.columns < LEAST_PRODUCT:
            return super().forward(given)
        x, W, b, window, buffers, activate, _ = given
        _, channels, n_out, n = self.geometry
        image, kernel = self.contiguous(self.padded(x, buffers), buffers), self.turned_kernel(W, buffers)
        rows = block(buffers, "z", (window.out[0], n_out, self.geometry.columns))
        turned = block(buffers, "turned", (self.p, channels, window.padded[1], n))
        columns = block(buffers, "turned_columns", (channels, window.kernel[1], window.out[1], n))
        products = block(buffers, "turned_rows", (self.p, n_out, self.geometry.columns))
        for start, _ in self.tiles:
            np.matmul(self.BT, flat(image[start : start + self.p]), out=flat(turned))
            for point in range(self.p):  # one after the other: their columns stay in the cache
                self.gather(turned[point], columns)
                np.matmul(kernel[point], columns.reshape(self.geometry.depth, -1), out=products[point])
            z = rows[start : start + self.m]
            np.matmul(self.AT, flat(products), out=flat(z))
            if b is not None:
                np.add(z, b.reshape(n_out, 1), out=z)
            if activate is not None:
                activate(z)
        return rows.reshape(window.out[0], n_out, window.out[1], n).transpose(ROWS_FIRST_BACK), Saved(x, self)

    def saved(self, x: np.ndarray, columns: np.ndarray) -> Saved:
        return Saved(x, self)

    def prepared(self, x: np.ndarray, W: np.ndarray, buffers: Buffers, exact: bool) -> Prepared:
        if exact or self.m % 2 or self.tiles[-1].first:
            return super().prepared(x, W, buffers, exact)
        return Prepared(self.matrices(self.turned_columns(x, buffers)), self.turned_kernel(W, buffers))

    def output_rows(
        self, prepared: Prepared, b: np.ndarray | None, buffers: Buffers
    ) -> Iterator[tuple[slice, np.ndarray]]:
        columns, kernel = prepared
        if kernel.ndim == 2:
            yield from super().output_rows(prepared, b, buffers)
            return
        n_out = self.geometry.n_out
        products = block(buffers, "turned_rows", (len(self.tiles), self.p, n_out, self.geometry.columns))
        np.matmul(kernel, columns, out=products)
        for (start, _), product in zip(self.tiles, products, strict=True):
            z = block(buffers, "z", (self.m, n_out, self.geometry.columns))
            np.matmul(self.AT, flat(product), out=flat(z))
            if b is not None:
                np.add(z, b.reshape(n_out, 1), out=z)
            yield slice(start, start + self.m), z

    def contiguous(self, image: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return the image in c order, itself or its copy."""
        if image.flags.c_contiguous:
            return image
        copy = block(buffers, "image", image.shape)
        np.copyto(copy, image)
        return copy

    def matrices(self, columns: np.ndarray) -> np.ndarray:
        """View the gathered columns as ``[tile, point, C * kernel_w, out_w * N]``."""
        return columns.reshape(len(self.tiles), self.p, self.geometry.depth, -1)

    def turned_kernel(self, W: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return G W, ``[point, n_out, C * kernel_w]``."""
        taps, n_out = W.shape[2], W.shape[0]
        kernel = block(buffers, "kernel", (taps, n_out, W.shape[1], W.shape[3]))
        np.copyto(kernel, W.transpose(2, 0, 1, 3))
        turned = block(buffers, "turned_kernel", (self.p, n_out, self.geometry.depth))
        np.matmul(self.G, flat(kernel), out=flat(turned))
        return turned

    def backward_rows(self, rows: np.ndarray, given: ConvolutionBack[NumpyArray]) -> np.ndarray | None:
        _, (kept, _), W, _, gradients, buffers, need_epsilon = given
        self.bias_gradient(rows, gradients[1], buffers)
        turned = block(buffers, "turned_rows", (len(self.tiles), self.p, *rows.shape[1:]))
        for (start, first), target in zip(self.tiles, turned, strict=True):
            np.matmul(self.A[:, first:], flat(rows[start + first : start + self.m]), out=flat(target))
        columns = self.turned_columns(kept, buffers)
        self.turned_kernel_gradient(turned, columns, gradients[0], buffers)
        return self.turned_image_gradient(turned, columns, W, buffers) if need_epsilon else None

    def turned_columns(self, x: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return B^T x with the kernel's columns gathered, ``[tile, point, C, kernel_w, out_w, N]``."""
        window, channels, _, n = self.geometry
        (_, width), kernel_w, out_w = window.padded, window.kernel[1], window.out[1]
        image = self.contiguous(self.padded(x, buffers), buffers)
        turned = block(buffers, "turned", (len(self.tiles), self.p, channels, width, n))
        for tile, target in zip(self.tiles, turned, strict=True):
            np.matmul(self.BT, flat(image[tile.start : tile.start + self.p]), out=flat(target))
        columns = block(buffers, "turned_columns", (len(self.tiles), self.p, channels, kernel_w, out_w, n))
        self.gather(turned, columns)
        return columns

    def turned_kernel_gradient(
        self, turned: np.ndarray, columns: np.ndarray, gradient: np.ndarray, buffers: Buffers
    ) -> None:
        """One product per tile and point, then back through G."""
        window, channels, n_out, _ = self.geometry
        products = block(buffers, "kernel_products", (len(self.tiles), self.p, self.geometry.depth, n_out))
        np.matmul(self.matrices(columns), turned.transpose(0, 1, 3, 2), out=products)
        total = np.add.reduce(products, axis=0, out=block(buffers, "total", products.shape[1:]))
        kernel = block(buffers, "kernel", (window.kernel[0], channels, window.kernel[1], n_out))
        np.matmul(self.GT, flat(total), out=flat(kernel))
        np.copyto(gradient, kernel.transpose(3, 1, 0, 2))

    def turned_image_gradient(
        self, turned: np.ndarray, columns: np.ndarray, W: np.ndarray, buffers: Buffers
    ) -> np.ndarray:
        """One product per tile and point into the memory of the columns, then back through B."""
        window, channels, _, n = self.geometry
        height, width = window.padded
        np.matmul(self.turned_kernel(W, buffers).transpose(0, 2, 1), turned, out=self.matrices(columns))
        sides = block(buffers, "turned", (len(self.tiles), self.p, channels, width, n))
        self.scatter(columns, sides)
        image = block(buffers, "epsilon", (height, channels, width, n))
        tile_image = block(buffers, "tile_image", (self.p, channels, width, n))
        np.matmul(self.B, flat(sides[0]), out=flat(image[: self.p]))
        filled = self.p
        for (start, _), side in zip(self.tiles[1:], sides[1:], strict=True):
            np.matmul(self.B, flat(side), out=flat(tile_image))
            np.add(image[start:filled], tile_image[: filled - start], out=image[start:filled])
            np.copyto(image[filled : start + self.p], tile_image[filled - start :])
            filled = start + self.p
        high, wide = window.interior
        return image[high, :, wide].transpose(ROWS_FIRST_BACK)
