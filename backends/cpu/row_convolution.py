"""Convolution for NumPy: image rows outermost in memory, one GEMM per output row or per Toom-Cook point.

An array ``[N, C, H, W]`` lies in memory as ``H, C, W, N``. An image row is then one block, so that the cells under the
kernel's rows need no gathering: only the kernel's columns are copied side by side, ``kernel_h`` times less than im2col
copies. Where it pays, the gradients are computed by Toom-Cook, which takes fewer multiplications.

A convolution runs in one thread on arrays that fit its cache; the network splits a minibatch over the cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..generic.window import Window
from ..signatures import Convolution, ConvolutionBack
from .caches import l2_cache_bytes

Activate = Callable[[np.ndarray], object]
Buffers = Callable[..., NumpyArray]

ROWS_FIRST = (2, 1, 3, 0)  # [N, C, H, W] -> [H, C, W, N]
ROWS_FIRST_BACK = (3, 1, 0, 2)  # and back
CACHED_BYTES = min(max(l2_cache_bytes() // 2, 1 << 18), 1 << 20)
"""Of output rows that are written before the next thing is done with them."""


def rows_first(x: np.ndarray) -> bool:
    """Tell whether an image lies in memory as ``H, C, W, N``."""
    return x.ndim == 4 and x.transpose(ROWS_FIRST).flags.c_contiguous and not x.transpose(1, 2, 3, 0).flags.c_contiguous


def block(buffers: Buffers, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return scratch memory of that shape in c order."""
    return buffers(name, (shape[-1], *shape[:-1])).transpose(*range(1, len(shape)), 0)


class Saved(NamedTuple):
    """Forward's cache for backward: the columns under the kernel, or the image, and the algorithm that reads them."""

    kept: np.ndarray
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


class Prepared(NamedTuple):
    """Operands of the output rows' products, gathered and turned."""

    columns: np.ndarray
    kernel: np.ndarray


class _Side(NamedTuple):
    """Cells of the kernel's row: one of its columns, the output positions under it, their cells in the image's rows."""

    cell: int
    out: slice
    image: slice


class RowConvolution:
    """One GEMM per output row, over the block of input rows under it.

    Parameters
    ----------
    geometry : Geometry
    split : bool
        Put the even positions of an output row before the odd ones, so that pooling finds neighbours in two blocks;
        out_w is even.
    """

    def __init__(self, geometry: Geometry, split: bool = False) -> None:
        self.geometry, self.split = geometry, split
        window = geometry.window
        out_w, step = window.out[1], window.stride[1]
        self.sides: list[_Side] = []
        for cell, side in ((cell, columns) for row, cell, _, columns in window.cells if row == 0):
            if not split:
                self.sides.append(_Side(cell, slice(0, out_w), side))
                continue
            for odd, out in ((0, slice(0, out_w // 2)), (1, slice(out_w // 2, out_w))):
                self.sides.append(_Side(cell, out, slice(side.start + odd * step, side.stop, 2 * step)))
        self.steps_by_one = window.stride[1] == window.dilation[1] == 1

    # ---- forward

    def forward(self, given: Convolution[NumpyArray]) -> tuple[np.ndarray, Saved]:
        """Return ``z [N, n_out, out_h, out_w]``, activated, and the cache that `backward` needs."""
        x, W, b, window, buffers, activate, _ = given
        n_out, n = W.shape[0], x.shape[0]
        out_h, out_w = window.out
        columns, kernel = self.columns_of(x, buffers), self.kernel_of(W, buffers)
        z = block(buffers, "z", (out_h, n_out, out_w, n))
        rows = z.reshape(out_h, n_out, -1)
        for stretch in self.cached_rows(range(out_h), rows[0].nbytes):
            self.convolve(kernel, columns, b, stretch, rows[stretch])
            if activate is not None:
                activate(rows[stretch])
        return z.transpose(ROWS_FIRST_BACK), self.saved(x, columns)

    def columns_of(self, x: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return the cells under the kernel's columns, ``[H, C, kernel_w, out_w, N]``."""
        window, channels, _, n = self.geometry
        columns = block(buffers, "columns", (window.padded[0], channels, window.kernel[1], window.out[1], n))
        self.gather(self.padded(x, buffers), columns)
        return columns

    def kernel_of(self, W: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return ``[n_out, kernel_h * C * kernel_w]``."""
        n_out, channels, taps, kernel_w = W.shape
        kernel = block(buffers, "kernel", (n_out, taps, channels, kernel_w))
        np.copyto(kernel, W.transpose(0, 2, 1, 3))
        return kernel.reshape(n_out, -1)

    def cached_rows(self, rows: range, row_bytes: int) -> list[slice]:
        """Cut output rows into even numbers of them that stay in the cache while more is done with them."""
        at_once = max(2, CACHED_BYTES // row_bytes // 2 * 2)
        return [slice(start, min(start + at_once, rows.stop)) for start in rows[::at_once]]

    def convolve(
        self, kernel: np.ndarray, columns: np.ndarray, b: np.ndarray | None, stretch: slice, out: np.ndarray
    ) -> None:
        """Write some output rows ``[rows, n_out, out_w * N]``."""
        np.matmul(kernel, self.blocks_under_rows(columns)[stretch], out=out)
        if b is not None:
            np.add(out, b.reshape(-1, 1), out=out)

    def prepared(self, x: np.ndarray, W: np.ndarray, buffers: Buffers, exact: bool) -> Prepared:
        """Return the operands that `output_rows` reads.

        Without `exact` other sums may be taken than those that make equal outputs of equal inputs.
        """
        return Prepared(self.columns_of(x, buffers), self.kernel_of(W, buffers))

    def output_rows(
        self, prepared: Prepared, b: np.ndarray | None, buffers: Buffers
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield even numbers of output rows ``[rows, n_out, out_w * N]``, in memory that the next ones overwrite."""
        columns, kernel = prepared
        out_h, n_out = self.geometry.window.out[0], self.geometry.n_out
        for stretch in self.cached_rows(range(out_h), self.geometry.columns * n_out * columns.itemsize):
            z = block(buffers, "z", (stretch.stop - stretch.start, n_out, self.geometry.columns))
            self.convolve(kernel, columns, b, stretch, z)
            yield stretch, z

    def saved(self, x: np.ndarray, columns: np.ndarray) -> Saved:
        """Return the cache that `backward` needs."""
        return Saved(columns, self)

    def padded(self, x: np.ndarray, buffers: Buffers) -> np.ndarray:
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

    def gather(self, image: np.ndarray, columns: np.ndarray) -> None:
        """Copy the cells under the kernel's columns side by side: ``[..., W, N]`` to ``[..., kernel_w, out_w, N]``."""
        if self.steps_by_one and image.flags.c_contiguous:
            if self.split:
                columns = columns.reshape(*columns.shape[:-2], 2, columns.shape[-2] // 2, columns.shape[-1])
            np.copyto(columns, sliding(image, columns.shape, self.split))
            return
        for cell, out, side in self.sides:
            np.copyto(columns[..., cell, out, :], image[..., side, :])

    def blocks_under_rows(self, columns: np.ndarray) -> np.ndarray:
        """View ``[H, C, kernel_w, out_w, N]`` as the blocks under the output rows, which overlap."""
        geometry = self.geometry
        taps, out_h = geometry.window.kernel[0], geometry.window.out[0]
        shape = (out_h, taps * geometry.depth, geometry.columns)
        row = geometry.columns * columns.itemsize
        return view(columns, shape, (geometry.depth * row, row, columns.itemsize))

    # ---- backward

    def backward(self, given: ConvolutionBack[NumpyArray]) -> np.ndarray | None:
        """Write the gradients, return that of x ``[N, C, H, W]`` unless nobody needs it; uses `saved` up."""
        return self.backward_rows(self.rows_of(given.delta, given.buffers), given)

    def backward_rows(self, rows: np.ndarray, given: ConvolutionBack[NumpyArray]) -> np.ndarray | None:
        """As `backward`, from delta as ``[out_h, n_out, out_w * N]``."""
        _, (kept, _), W, window, gradients, buffers, need_epsilon = given
        self.bias_gradient(rows, gradients[1], buffers)
        self.kernel_gradient(rows, kept, gradients[0], buffers)
        if not need_epsilon:
            return None
        image = block(buffers, "epsilon", (window.padded[0], W.shape[1], window.padded[1], self.geometry.n))
        self.image_gradient(rows, kept, W, image, buffers)
        high, wide = window.interior
        return image[high, :, wide].transpose(ROWS_FIRST_BACK)

    def rows_of(self, delta: np.ndarray, buffers: Buffers) -> np.ndarray:
        """Return delta as ``[out_h, n_out, out_w * N]``."""
        window, _, n_out, n = self.geometry
        rows = delta.transpose(ROWS_FIRST)
        if not rows.flags.c_contiguous:
            rows = block(buffers, "delta_rows", (window.out[0], n_out, window.out[1], n))
            np.copyto(rows, delta.transpose(ROWS_FIRST))
        return rows.reshape(window.out[0], n_out, -1)

    def bias_gradient(self, rows: np.ndarray, gradient: np.ndarray | None, buffers: Buffers) -> None:
        """Sum delta over examples and positions."""
        if gradient is None:
            return
        sums = block(buffers, "row_sums", rows.shape[:2])
        self.sum_rows(rows, sums, buffers)
        np.add.reduce(sums, axis=0, out=gradient.reshape(-1))

    def sum_rows(self, rows: np.ndarray, sums: np.ndarray, buffers: Buffers) -> None:
        """Sum ``[rows, n_out, out_w * N]`` over its last axis; BLAS does so faster than anything else."""
        ones = block(buffers, "ones", rows.shape[2:])
        ones.fill(1.0)
        np.matmul(rows.reshape(-1, rows.shape[2]), ones, out=sums.reshape(-1))

    def kernel_gradient(self, rows: np.ndarray, columns: np.ndarray, gradient: np.ndarray, buffers: Buffers) -> None:
        """Add up the products of every output row with the block under it."""
        under = self.blocks_under_rows(columns)
        products = block(buffers, "products", (rows.shape[0], under.shape[1], rows.shape[1]))
        np.matmul(under, rows.transpose(0, 2, 1), out=products)
        self.sum_products(products, gradient, buffers)

    def sum_products(self, products: np.ndarray, gradient: np.ndarray, buffers: Buffers) -> None:
        """Add ``[out_h, kernel_h * C * kernel_w, n_out]`` over the rows into the gradient of W."""
        n_out, channels, taps, kernel_w = gradient.shape
        total = np.add.reduce(products, axis=0, out=block(buffers, "total", products.shape[1:]))
        np.copyto(gradient, total.reshape(taps, channels, kernel_w, n_out).transpose(3, 1, 0, 2))

    def gradients_by_rows(
        self,
        delta: Callable[[slice, np.ndarray], None],
        stretches: list[slice],
        columns: np.ndarray,
        gradients: tuple[np.ndarray, np.ndarray | None],
        buffers: Buffers,
    ) -> None:
        """Write the gradients of W and b while `delta` writes one stretch of output rows after the other."""
        out_h, n_out = self.geometry.window.out[0], self.geometry.n_out
        under = self.blocks_under_rows(columns)
        products = block(buffers, "products", (out_h, under.shape[1], n_out))
        sums = block(buffers, "row_sums", (out_h, n_out))
        for stretch in stretches:
            rows = block(buffers, "delta_rows", (stretch.stop - stretch.start, n_out, self.geometry.columns))
            delta(stretch, rows)
            np.matmul(under[stretch], rows.transpose(0, 2, 1), out=products[stretch])
            self.sum_rows(rows, sums[stretch], buffers)
        self.sum_products(products, gradients[0], buffers)
        if gradients[1] is not None:
            np.add.reduce(sums, axis=0, out=gradients[1].reshape(-1))

    def image_gradient(
        self, rows: np.ndarray, columns: np.ndarray, W: np.ndarray, image: np.ndarray, buffers: Buffers
    ) -> None:
        """Fill ``image [H, C, W, N]``: one GEMM per input row over the block of output rows that saw it."""
        window, channels, n_out, _ = self.geometry
        (taps, kernel_w), (out_h, _), height = window.kernel, window.out, window.padded[0]
        framed = block(buffers, "framed", (out_h + 2 * (taps - 1), n_out, rows.shape[2]))
        framed[: taps - 1] = framed[taps - 1 + out_h :] = 0.0
        framed[taps - 1 : taps - 1 + out_h] = rows
        flipped = block(buffers, "flipped", (channels, kernel_w, taps, n_out))
        np.copyto(flipped, W[:, :, ::-1].transpose(1, 3, 2, 0))
        step, row = framed.strides[:2]
        seen = view(framed, (height, taps * n_out, rows.shape[2]), (step, row, rows.itemsize))
        flat = columns.reshape(height, self.geometry.depth, -1)
        np.matmul(flipped.reshape(self.geometry.depth, -1), seen, out=flat)
        self.scatter(columns, image)

    def scatter(self, columns: np.ndarray, image: np.ndarray) -> None:
        """Add the cells back where `gather` took them: ``[..., kernel_w, out_w, N]`` to ``[..., W, N]``."""
        sides, out_w = self.sides, self.geometry.window.out[1]
        if self.steps_by_one and not self.split:  # the first cell makes zeros unnecessary
            np.copyto(image[..., :out_w, :], columns[..., 0, :, :])
            image[..., out_w:, :] = 0.0
            sides = sides[1:]
        else:
            image.fill(0.0)
        for cell, out, side in sides:
            target = image[..., side, :]
            np.add(target, columns[..., cell, out, :], out=target)


def sliding(image: np.ndarray, shape: tuple[int, ...], split: bool = False) -> np.ndarray:
    """View ``[..., W, N]`` in c order as ``[..., kernel_w, out_w, N]``: the kernel's columns, which overlap.

    With `split`, as ``[..., kernel_w, 2, out_w / 2, N]``, even positions before odd ones.
    """
    *outer, step, example = image.strides
    return view(image, shape, (*outer, step, step, *((2 * step,) if split else ()), example))


def view(x: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """View memory in c order with other strides, as an array of the same class."""
    return type(x)(shape, x.dtype, x, 0, strides)


def flat(x: np.ndarray) -> np.ndarray:
    """View an array as a matrix: the first axis, and the remaining ones as one."""
    return x.reshape(x.shape[0], -1)
