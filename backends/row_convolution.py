"""Convolution for NumPy: image rows outermost in memory, one GEMM per output row or per Toom-Cook point.

An array ``[N, C, H, W]`` lies in memory as ``H, C, W, N``. A whole image row is then one block, so that the cells
under the kernel's rows need no gathering: only the kernel's columns are copied side by side, ``kernel_h`` times less
than im2col copies. Where it pays, the gradients are computed by Toom-Cook, which takes fewer multiplications.

Everything here runs in one thread on arrays that fit its cache; the network splits a minibatch over the cores.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import toom_cook
from .spatial import Buffers
from .window import Window

Array = Any

ROWS_FIRST = (2, 1, 3, 0)  # [N, C, H, W] -> [H, C, W, N]
ROWS_FIRST_BACK = (3, 1, 0, 2)  # and back
LEAST_COLUMNS = 64  # with fewer columns per output row, BLAS does better on im2col's one large product
BIAS_BYTES = 1 << 18  # of output that one product writes before the bias is added to it
LEAST_DEPTH = 16  # channels times kernel_w below which Toom-Cook's transforms cost more than they save


def rows_first(x: Array) -> bool:
    """Tell whether an image lies in memory as ``H, C, W, N``."""
    return x.ndim == 4 and x.transpose(ROWS_FIRST).flags.c_contiguous and not x.transpose(1, 2, 3, 0).flags.c_contiguous


def block(buffers: Buffers, name: str, shape: tuple[int, ...]) -> Array:
    """Return scratch memory of that shape in c order."""
    return buffers(name, (shape[-1], *shape[:-1])).transpose(*range(1, len(shape)), 0)


class Saved(NamedTuple):
    """What forward leaves for backward: the columns under the kernel, or the image, and who reads them."""

    kept: Array
    algorithm: RowConvolution


class Geometry(NamedTuple):
    """Sizes of one convolution."""

    window: Window
    channels: int
    n_out: int
    n: int

    @property
    def columns(self) -> int:
        """Of one output row: out_w * N."""
        return self.window.out[1] * self.n

    @property
    def depth(self) -> int:
        """Products behind one output and kernel row: C * kernel_w."""
        return self.channels * self.window.kernel[1]


def algorithm_for(window: Window, W: Array, n: int) -> RowConvolution | None:
    """Return what convolves these windows, None where im2col is to do it."""
    if window.stride[0] != 1 or window.dilation[0] != 1 or window.out[1] * n < LEAST_COLUMNS:
        return None
    return _algorithm(Geometry(window, W.shape[1], W.shape[0], n), np.dtype(W.dtype))


@lru_cache(maxsize=256)
def _algorithm(geometry: Geometry, dtype: Any) -> RowConvolution:
    taps, outputs = geometry.window.kernel[0], geometry.window.out[0]
    tile = toom_cook.best_tile(taps, outputs)
    if tile > 1 and taps > 2 and geometry.depth >= LEAST_DEPTH:
        return ToomCookRows(geometry, dtype, tile)
    return RowConvolution(geometry)


class RowConvolution:
    """One GEMM per output row, over the block of input rows under it."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        window = geometry.window
        self.sides = [columns for row, _, _, columns in window.cells if row == 0]
        self.slides = window.stride[1] == window.dilation[1] == 1

    # ---- forward

    def forward(self, x: Array, W: Array, b: Array | None, buffers: Buffers) -> tuple[Array, Saved]:
        """Return ``z [N, n_out, out_h, out_w]`` and what `backward` needs."""
        window, channels, n_out, n = self.geometry
        (height, _), (taps, kernel_w), (out_h, out_w) = window.padded, window.kernel, window.out
        columns = block(buffers, "columns", (height, channels, kernel_w, out_w, n))
        self.gather(self.padded(x, buffers), columns)
        z = block(buffers, "z", (out_h, n_out, out_w, n))
        rows = z.reshape(out_h, n_out, -1)
        kernel = block(buffers, "kernel", (n_out, taps, channels, kernel_w))
        np.copyto(kernel, W.transpose(0, 2, 1, 3))
        under = self.under_each_row(columns)
        kernel = kernel.reshape(n_out, -1)
        bias = None if b is None else b.reshape(n_out, 1)
        at_once = max(1, BIAS_BYTES // rows[0].nbytes)
        for start in range(0, out_h, at_once):  # the bias while the rows are in the cache
            part = rows[start : start + at_once]
            np.matmul(kernel, under[start : start + at_once], out=part)
            if bias is not None:
                np.add(part, bias, out=part)
        return z.transpose(ROWS_FIRST_BACK), Saved(columns, self)

    def padded(self, x: Array, buffers: Buffers) -> Array:
        """Return ``[H, C, W, N]`` with its padding."""
        window, channels, _, n = self.geometry
        rows = x.transpose(ROWS_FIRST)
        if not window.has_padding:
            return rows
        padded = block(buffers, "padded", (window.padded[0], channels, window.padded[1], n))
        padded.fill(0.0)
        high, wide = window.interior
        padded[high, :, wide] = rows
        return padded

    def gather(self, image: Array, columns: Array) -> None:
        """Copy the cells under the kernel's columns side by side: ``[..., W, N]`` to ``[..., kernel_w, out_w, N]``."""
        if self.slides and image.flags.c_contiguous:
            np.copyto(columns, _sliding(image, columns.shape))
            return
        for cell, side in enumerate(self.sides):
            np.copyto(columns[..., cell, :, :], image[..., side, :])

    def under_each_row(self, columns: Array) -> Array:
        """View ``[H, C, kernel_w, out_w, N]`` as the blocks under each output row, which overlap."""
        geometry = self.geometry
        taps, out_h = geometry.window.kernel[0], geometry.window.out[0]
        shape = (out_h, taps * geometry.depth, geometry.columns)
        row = geometry.columns * columns.itemsize
        return _view(columns, shape, (geometry.depth * row, row, columns.itemsize))

    # ---- backward

    def backward(
        self,
        delta: Array,
        kept: Array,
        W: Array,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        need_epsilon: bool,
    ) -> Array | None:
        """Write the gradients, return that of x ``[N, C, H, W]`` unless nobody needs it; uses `kept` up."""
        window, channels, _, n = self.geometry
        rows = self.rows_of(delta, buffers)
        self.bias_gradient(rows, gradients[1], buffers)
        self.kernel_gradient(rows, kept, gradients[0], buffers)
        if not need_epsilon:
            return None
        image = block(buffers, "epsilon", (window.padded[0], channels, window.padded[1], n))
        self.image_gradient(rows, kept, W, image, buffers)
        high, wide = window.interior
        return image[high, :, wide].transpose(ROWS_FIRST_BACK)

    def rows_of(self, delta: Array, buffers: Buffers) -> Array:
        """Return delta as ``[out_h, n_out, out_w * N]``."""
        window, _, n_out, n = self.geometry
        rows = delta.transpose(ROWS_FIRST)
        if not rows.flags.c_contiguous:
            rows = block(buffers, "delta_rows", (window.out[0], n_out, window.out[1], n))
            np.copyto(rows, delta.transpose(ROWS_FIRST))
        return rows.reshape(window.out[0], n_out, -1)

    def bias_gradient(self, rows: Array, gradient: Array | None, buffers: Buffers) -> None:
        """Sum delta over examples and positions; BLAS sums rows faster than anything else."""
        if gradient is None:
            return
        out_h, n_out, columns = rows.shape
        ones = block(buffers, "ones", (columns,))
        ones.fill(1.0)
        sums = block(buffers, "row_sums", (out_h, n_out))
        np.matmul(rows.reshape(-1, columns), ones, out=sums.reshape(-1))
        np.add.reduce(sums, axis=0, out=gradient.reshape(n_out))

    def kernel_gradient(self, rows: Array, columns: Array, gradient: Array, buffers: Buffers) -> None:
        """Add up the products of every output row with the block under it."""
        window, channels, n_out, _ = self.geometry
        under = self.under_each_row(columns)
        products = block(buffers, "products", (rows.shape[0], under.shape[1], n_out))
        np.matmul(under, rows.transpose(0, 2, 1), out=products)
        total = np.add.reduce(products, axis=0, out=block(buffers, "total", products.shape[1:]))
        np.copyto(gradient, total.reshape(window.kernel[0], channels, window.kernel[1], n_out).transpose(3, 1, 0, 2))

    def image_gradient(self, rows: Array, columns: Array, W: Array, image: Array, buffers: Buffers) -> None:
        """Fill ``image [H, C, W, N]``: one GEMM per input row over the block of output rows that saw it."""
        window, channels, n_out, _ = self.geometry
        (taps, kernel_w), (out_h, _), height = window.kernel, window.out, window.padded[0]
        framed = block(buffers, "framed", (out_h + 2 * (taps - 1), n_out, rows.shape[2]))
        framed[: taps - 1] = framed[taps - 1 + out_h :] = 0.0
        framed[taps - 1 : taps - 1 + out_h] = rows
        flipped = block(buffers, "flipped", (channels, kernel_w, taps, n_out))
        np.copyto(flipped, W[:, :, ::-1].transpose(1, 3, 2, 0))
        step, row = framed.strides[:2]
        seen = _view(framed, (height, taps * n_out, rows.shape[2]), (step, row, rows.itemsize))
        flat = columns.reshape(height, self.geometry.depth, -1)
        np.matmul(flipped.reshape(self.geometry.depth, -1), seen, out=flat)
        self.scatter(columns, image)

    def scatter(self, columns: Array, image: Array) -> None:
        """Add the cells back where `gather` took them: ``[..., kernel_w, out_w, N]`` to ``[..., W, N]``."""
        first, out_w = self.sides[0], self.geometry.window.out[1]
        if self.slides:
            np.copyto(image[..., first, :], columns[..., 0, :, :])
            image[..., out_w:, :] = 0.0
        else:
            image.fill(0.0)
            np.add(image[..., first, :], columns[..., 0, :, :], out=image[..., first, :])
        for cell, side in enumerate(self.sides[1:], 1):
            target = image[..., side, :]
            np.add(target, columns[..., cell, :, :], out=target)


class _Tile(NamedTuple):
    """Output rows ``start + first .. start + m`` come from this tile, the ones before from an earlier one."""

    start: int
    first: int


class ToomCookRows(RowConvolution):
    """Backward by Toom-Cook: one GEMM per tile of output rows and point, ``m + taps - 1`` of them for ``m * taps``.

    Notes
    -----
    Forward stays with the plain sums: over equal inputs, such as the blank margin of an image, neighbouring outputs are
    then equal to the bit, and max pooling hands the gradient to the first of them, as Java does. In float32 the largest
    error of these gradients is 3 to 4 times that of plain sums, both near 1e-6 of the largest element
    (tests/backends/test_row_convolution.py).
    """

    def __init__(self, geometry: Geometry, dtype: Any, tile: int) -> None:
        super().__init__(geometry)
        taps, out_h = geometry.window.kernel[0], geometry.window.out[0]
        self.m, self.p = tile, tile + taps - 1
        AT, G, BT = (np.array(matrix, dtype) for matrix in toom_cook.transforms(tile, taps))
        self.AT, self.G, self.BT = AT, G, BT
        self.A, self.GT, self.B = (np.ascontiguousarray(matrix.T) for matrix in (AT, G, BT))
        starts = [min(start, out_h - tile) for start in range(0, out_h, tile)]
        self.tiles = [_Tile(start, number * tile - start) for number, start in enumerate(starts)]

    def forward(self, x: Array, W: Array, b: Array | None, buffers: Buffers) -> tuple[Array, Saved]:
        z, _ = super().forward(x, W, b, buffers)
        return z, Saved(x, self)

    def contiguous(self, image: Array, buffers: Buffers) -> Array:
        """Return the image in c order, itself or its copy."""
        if image.flags.c_contiguous:
            return image
        copy = block(buffers, "image", image.shape)
        np.copyto(copy, image)
        return copy

    def matrices(self, columns: Array) -> Array:
        """View the gathered columns as ``[tile, point, C * kernel_w, out_w * N]``."""
        return columns.reshape(len(self.tiles), self.p, self.geometry.depth, -1)

    def turned_kernel(self, W: Array, buffers: Buffers) -> Array:
        """Return G W, ``[point, n_out, C * kernel_w]``."""
        taps, n_out = W.shape[2], W.shape[0]
        kernel = block(buffers, "kernel", (taps, n_out, W.shape[1], W.shape[3]))
        np.copyto(kernel, W.transpose(2, 0, 1, 3))
        turned = block(buffers, "turned_kernel", (self.p, n_out, self.geometry.depth))
        np.matmul(self.G, _flat(kernel), out=_flat(turned))
        return turned

    def backward(
        self,
        delta: Array,
        kept: Array,
        W: Array,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        need_epsilon: bool,
    ) -> Array | None:
        rows = self.rows_of(delta, buffers)
        self.bias_gradient(rows, gradients[1], buffers)
        turned = block(buffers, "turned_rows", (len(self.tiles), self.p, *rows.shape[1:]))
        for (start, first), target in zip(self.tiles, turned, strict=True):
            np.matmul(self.A[:, first:], _flat(rows[start + first : start + self.m]), out=_flat(target))
        columns = self.turned_columns(kept, buffers)
        self.turned_kernel_gradient(turned, columns, gradients[0], buffers)
        return self.turned_image_gradient(turned, columns, W, buffers) if need_epsilon else None

    def turned_columns(self, x: Array, buffers: Buffers) -> Array:
        """Return B^T x with the kernel's columns gathered, ``[tile, point, C, kernel_w, out_w, N]``."""
        window, channels, _, n = self.geometry
        (_, width), kernel_w, out_w = window.padded, window.kernel[1], window.out[1]
        image = self.contiguous(self.padded(x, buffers), buffers)
        turned = block(buffers, "turned", (len(self.tiles), self.p, channels, width, n))
        for tile, target in zip(self.tiles, turned, strict=True):
            np.matmul(self.BT, _flat(image[tile.start : tile.start + self.p]), out=_flat(target))
        columns = block(buffers, "turned_columns", (len(self.tiles), self.p, channels, kernel_w, out_w, n))
        self.gather(turned, columns)
        return columns

    def turned_kernel_gradient(self, turned: Array, columns: Array, gradient: Array, buffers: Buffers) -> None:
        """One product per tile and point, then back through G."""
        window, channels, n_out, _ = self.geometry
        products = block(buffers, "kernel_products", (len(self.tiles), self.p, self.geometry.depth, n_out))
        np.matmul(self.matrices(columns), turned.transpose(0, 1, 3, 2), out=products)
        total = np.add.reduce(products, axis=0, out=block(buffers, "total", products.shape[1:]))
        kernel = block(buffers, "kernel", (window.kernel[0], channels, window.kernel[1], n_out))
        np.matmul(self.GT, _flat(total), out=_flat(kernel))
        np.copyto(gradient, kernel.transpose(3, 1, 0, 2))

    def turned_image_gradient(self, turned: Array, columns: Array, W: Array, buffers: Buffers) -> Array:
        """One product per tile and point into the memory of the columns, then back through B."""
        window, channels, _, n = self.geometry
        height, width = window.padded
        np.matmul(self.turned_kernel(W, buffers).transpose(0, 2, 1), turned, out=self.matrices(columns))
        sides = block(buffers, "turned", (len(self.tiles), self.p, channels, width, n))
        self.scatter(columns, sides)
        image = block(buffers, "epsilon", (height, channels, width, n))
        part = block(buffers, "part", (self.p, channels, width, n))
        np.matmul(self.B, _flat(sides[0]), out=_flat(image[: self.p]))
        filled = self.p
        for (start, _), side in zip(self.tiles[1:], sides[1:], strict=True):
            np.matmul(self.B, _flat(side), out=_flat(part))
            np.add(image[start:filled], part[: filled - start], out=image[start:filled])
            np.copyto(image[filled : start + self.p], part[filled - start :])
            filled = start + self.p
        high, wide = window.interior
        return image[high, :, wide].transpose(ROWS_FIRST_BACK)


def _sliding(image: Array, shape: tuple[int, ...]) -> Array:
    """View ``[..., W, N]`` in c order as ``[..., kernel_w, out_w, N]``: the kernel's columns, which overlap."""
    return _view(image, shape, (*image.strides[:-2], image.strides[-2], *image.strides[-2:]))


def _view(x: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """View memory in c order with other strides, as an array of the same class."""
    return type(x)(shape, x.dtype, x, 0, strides)


def _flat(x: Array) -> Array:
    """View an array as a matrix: the first axis, and all others."""
    return x.reshape(x.shape[0], -1)
