"""Convolution and pooling, once, for every backend.

All of them work on the batch-innermost view ``[C, H, W, N]`` of an activation ``[N, C, H, W]``: then im2col is a
few long copies, one GEMM writes the next layer's memory order, and pooling is arithmetic on slices. The view
costs nothing when the activation already lies so, which `Backend.activation_view` sees to. Gathering and convolving
take any number of axes, ``[N, C, D, H, W]`` too; pooling takes two.

`buffers(name, shape, dtype=None)` hands out scratch activations; a network passes its workspace, so that a
training step reuses memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from backends.typing import Array

from .window import Window

Buffers = Callable[..., Array]

BATCH_LAST = (1, 2, 3, 0)  # [N, C, H, W] -> [C, H, W, N]
BATCH_FIRST = (3, 0, 1, 2)  # and back


def renamed(buffers: Buffers, **names: str) -> Buffers:
    """Return the same memory under other names: ``input="delta"`` hands out "delta" for "input"."""
    return lambda name, *shape: buffers(names.get(name, name), *shape)


class SpatialPrimitives:
    """Mixin of `Backend`: sliding windows over the axes ``h, w``."""

    # Needed from Backend.
    permute: Callable[[Array, Sequence[int]], Array]
    reshape: Callable[[Array, Sequence[int]], Array]
    reshape_view: Callable[[Array, Sequence[int]], Array]
    transpose: Callable[[Array], Array]
    fill: Callable[[Array, float], Array]
    assign: Callable[[Array, Array], Array]
    asarray: Callable[..., Array]
    dtype_name: Callable[[Array], str]
    matmul: Callable[..., Array]
    add: Callable[..., Array]
    subtract: Callable[..., Array]
    multiply: Callable[..., Array]
    divide: Callable[..., Array]
    maximum: Callable[..., Array]
    greater: Callable[..., Array]
    greater_equal: Callable[..., Array]
    equal: Callable[..., Array]
    absolute: Callable[..., Array]
    sign: Callable[..., Array]
    power: Callable[..., Array]
    where: Callable[..., Array]
    put_where: Callable[[Array, Any, Array], Array]
    empty_activation: Callable[[Sequence[int], str], Array]
    to_activation_order: Callable[..., Array]

    def fresh_buffers(self, dtype: str) -> Buffers:
        """Return a `buffers` that allocates every time."""

        def allocate(name: str, shape: Sequence[int], kind: str | None = None) -> Array:
            return self.empty_activation(shape, kind or dtype)

        return allocate

    # ---- im2col

    def im2col(self, x: Array, window: Window, buffers: Buffers) -> Array:
        """Gather the cells of every window: ``[N, C, H, W]`` to ``[N, C, kernel_h, kernel_w, out_h, out_w]``."""
        cells = self.padded(x, window, 0.0, buffers)
        col = buffers("col", (*x.shape[:2], *window.kernel, *window.out))
        target = self.batch_last(col)
        for cell, under in window.places:
            self.assign(target[:, *cell, ...], cells[:, *under, :])
        return col

    def col2im(self, col: Array, window: Window, buffers: Buffers) -> Array:
        """Add the cells of every window back where im2col took them: the transpose of `im2col`."""
        n, channels = col.shape[:2]
        source = self.batch_last(col)
        image, target = self.gradient_image((n, channels), window, buffers)
        self.fill(target, 0.0)
        for cell, under in window.places:
            cells = target[:, *under, :]
            self.add(cells, source[:, *cell, ...], cells)
        return self.cropped(image, target, window)

    # ---- convolution

    def conv2d(
        self,
        x: Array,
        W: Array,
        b: Array | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[Array], object] | None = None,
        exact: bool = True,
    ) -> tuple[Array, Any]:
        """Cross-correlate ``x [N, C, H, W]`` with ``W [n_out, C, kernel_h, kernel_w]``, add ``b [1, n_out]``.

        Parameters
        ----------
        activate : callable, optional
            Applied to z in place, to parts of any shape: a function of every element for itself.
        exact : bool
            Whether equal windows have to give equal outputs, of which max pooling takes the first. Sums that do not
            may be faster.

        Returns
        -------
        z : array ``[N, n_out, out_h, out_w]``
        saved : cache for `conv2d_backward`
        """
        n_out = W.shape[0]
        col = self.im2col(x, window, buffers)
        z = buffers("z", (x.shape[0], n_out, *window.out))
        z_rows = self.rows_of_channels(z, n_out)
        self.matmul(self.reshape(W, (n_out, -1)), self.col_matrix(col), z_rows)
        if b is not None:
            self.add(z_rows, self.reshape(b, (n_out, 1)), z_rows)
        if activate is not None:
            activate(z)
        return z, col

    def conv2d_backward(
        self,
        delta: Array,
        saved: Array,
        W: Array,
        window: Window,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        """Write dL/dW and dL/db into `gradients`; return dL/dx ``[N, C, H, W]`` unless nobody needs it.

        `saved` is used up: its memory takes the gradient of the columns.
        """
        n_out = W.shape[0]
        W_gradient, b_gradient = gradients
        delta_rows = self.rows_of_channels(self.settled(delta, buffers), n_out)
        columns = self.col_matrix(saved)
        self.product_of_channels(delta_rows, columns, self.reshape_view(W_gradient, (n_out, -1)), buffers)
        if b_gradient is not None:
            self.sum_channels(delta_rows, self.reshape_view(b_gradient, (n_out,)), buffers)
        if not need_epsilon:
            return None
        self.matmul(self.transpose(self.reshape(W, (n_out, -1))), delta_rows, columns)
        return self.col2im(saved, window, buffers)

    def product_of_channels(self, rows: Array, columns: Array, out: Array, buffers: Buffers) -> None:
        """Write ``rows @ columns.T`` into `out`; the buffer's memory order makes it the transpose, faster for BLAS."""
        self.assign(out, self.matmul(rows, self.transpose(columns), buffers("W_gradient", tuple(out.shape))))

    def sum_channels(self, rows: Array, out: Array, buffers: Buffers) -> None:
        """Sum every row of a matrix into the vector `out`: on a CPU BLAS does it faster than anything else."""
        ones = self.fill(buffers("ones", (rows.shape[1], 1)), 1.0)
        self.matmul(rows, ones, self.reshape_view(out, (rows.shape[0], 1)))

    def conv2d_max_pool(
        self,
        x: Array,
        W: Array,
        b: Array | None,
        activate: Callable[[Array], object] | None,
        windows: tuple[Window, Window],
        buffers: tuple[Buffers, Buffers],
        keep: bool = True,
        inner: Array | None = None,
    ) -> tuple[Array, Any]:
        """Run `conv2d`, `activate` in place on its output, and `max_pool`; windows and buffers are those of both.

        Without `keep` nothing is saved for the way back. `inner`, of the convolution's shape, takes what was pooled:
        the same numbers are computed with it and without.
        """
        z, convolved = self.conv2d(x, W, b, windows[0], buffers[0], activate, keep)
        if inner is not None:
            self.assign(inner, z)
        if not keep:
            return self.largest(z, windows[1], buffers[1]), None
        pooled, won = self.max_pool(z, windows[1], buffers[1])
        return pooled, (convolved, won)

    def conv2d_max_pool_backward(
        self,
        epsilon: Array,
        saved: Any,
        W: Array,
        windows: tuple[Window, Window],
        gradients: tuple[Array, Array | None],
        buffers: tuple[Buffers, Buffers],
        need_epsilon: bool = True,
    ) -> Array | None:
        """Write the gradients of W and b from the pooled epsilon before the pooling; return that of x."""
        convolved, won = saved
        delta = self.max_pool_backward(epsilon, won, windows[1], buffers[1])
        return self.conv2d_backward(delta, convolved, W, windows[0], gradients, buffers[0], need_epsilon)

    def batch_last(self, x: Array) -> Array:
        """View ``[N, C, ...]`` as ``[C, ..., N]``."""
        return self.permute(x, (*range(1, x.ndim), 0))

    def settled(self, delta: Array, buffers: Buffers) -> Array:
        """Return dL/dz in the preferred memory order, in which a matrix of it is a view."""
        return self.to_activation_order(delta, renamed(buffers, input="delta"))

    def rows_of_channels(self, x: Array, channels: int) -> Array:
        """Return ``[N, C, H, W]`` as a matrix ``[C, H * W * N]``; a view when the batch is innermost in memory."""
        return self.reshape(self.batch_last(x), (channels, -1))

    def col_matrix(self, col: Array) -> Array:
        """View columns ``[N, C, *kernel, *out]`` as a matrix ``[C * cells of the kernel, positions * N]``."""
        cells = math.prod(col.shape[1 : col.ndim // 2 + 1])
        return self.reshape(self.batch_last(col), (cells, -1))

    # ---- padding

    def padded(self, x: Array, window: Window, value: float, buffers: Buffers) -> Array:
        """Return ``[C, H, W, N]`` with its padding."""
        cells = self.batch_last(x)
        if not window.has_padding:
            return cells
        padded = self.batch_last(buffers("padded", (*x.shape[:2], *window.padded)))
        self.fill(padded, value)
        self.assign(padded[:, *window.interior, :], cells)
        return padded

    def gradient_image(
        self, batch_and_channels: tuple[int, ...], window: Window, buffers: Buffers
    ) -> tuple[Array, Array]:
        """Return the image ``[N, C, H, W]`` and the padded view ``[C, H, W, N]`` to add into."""
        image = buffers("epsilon", (*batch_and_channels, *window.size))
        if not window.has_padding:
            return image, self.batch_last(image)
        return image, self.batch_last(buffers("padded_epsilon", (*batch_and_channels, *window.padded)))

    def cropped(self, image: Array, target: Array, window: Window) -> Array:
        """Fill the image from inside of its padded view, where that is another array; return it."""
        if window.has_padding:
            self.assign(self.batch_last(image), target[:, *window.interior, :])
        return image

    def like(self, x: Array, buffers: Buffers, name: str, shape: tuple[int, ...], dtype: str | None = None) -> Array:
        """Return a scratch activation of that shape in the memory order of `x`, as far as the backend knows others."""
        return buffers(name, shape) if dtype is None else buffers(name, shape, dtype)

    # ---- maximum

    def max_pool(self, x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        """Return the maximum of every window; padding never wins.

        Returns
        -------
        out : array ``[N, C, out_h, out_w]``
        saved : which cell won, the first in row-major order among equals (as DL4J)
        """
        if window.kernel == (2, 2) and window.tiles_exactly:
            return self._max_pool_pairs(x, window, buffers)
        cells = self.padded(x, window, -float("inf"), buffers)
        shape = (*x.shape[:2], *window.out)
        out, winner = buffers("pooled", shape), buffers("winner", shape, "int32")
        best, best_cell = self.permute(out, BATCH_LAST), self.permute(winner, BATCH_LAST)
        larger = self.permute(buffers("larger", shape, "bool"), BATCH_LAST)
        for number, (_, _, rows, columns) in enumerate(window.cells):
            candidate = cells[:, rows, columns, :]
            if number == 0:
                self.assign(best, candidate)
                self.fill(best_cell, 0)
                continue
            self.put_where(best_cell, number, self.greater(candidate, best, larger))
            self.maximum(best, candidate, best)
        return out, winner

    def largest(self, x: Array, window: Window, buffers: Buffers) -> Array:
        """Return the maximum of every window, without the cell that won."""
        cells = self.padded(x, window, -float("inf"), buffers)
        out = self.like(x, buffers, "pooled", (*x.shape[:2], *window.out))
        best = self.permute(out, BATCH_LAST)
        for number, (_, _, rows, columns) in enumerate(window.cells):
            candidate = cells[:, rows, columns, :]
            if number == 0:
                self.assign(best, candidate)
            else:
                self.maximum(best, candidate, best)
        return out

    def max_pool_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        """Hand every element of ``epsilon [N, C, out_h, out_w]`` to the cell that won."""
        if isinstance(saved, tuple):
            return self._max_pool_pairs_backward(epsilon, saved, window, buffers)
        winner, share = self.permute(saved, BATCH_LAST), self.permute(epsilon, BATCH_LAST)
        image, target = self.gradient_image(epsilon.shape[:2], window, buffers)
        self.fill(target, 0.0)
        dtype = self.dtype_name(epsilon)
        won = self.permute(buffers("won", epsilon.shape, dtype), BATCH_LAST)
        for number, (_, _, rows, columns) in enumerate(window.cells):
            self.equal(winner, number, won)
            self.multiply(won, share, won)
            cells = target[:, rows, columns, :]
            self.add(cells, won, cells)
        return self.cropped(image, target, window)

    def _max_pool_pairs(self, x: Array, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        """Pool 2x2 windows side by side: the larger of left and right, then of top and bottom; >= keeps the first."""
        (n, channels), (out_h, out_w) = x.shape[:2], window.out
        cells = self.permute(x, BATCH_LAST)
        left, right = cells[:, : 2 * out_h, 0 : 2 * out_w : 2, :], cells[:, : 2 * out_h, 1 : 2 * out_w : 2, :]
        row = self.permute(self.like(x, buffers, "row", (n, channels, 2 * out_h, out_w)), BATCH_LAST)
        left_won = self.permute(self.like(x, buffers, "left_won", (n, channels, 2 * out_h, out_w)), BATCH_LAST)
        self.greater_equal(left, right, left_won)
        self.maximum(left, right, row)
        top, bottom = row[:, 0::2, ...], row[:, 1::2, ...]
        out = self.like(x, buffers, "pooled", (n, channels, out_h, out_w))
        top_won = self.permute(self.like(x, buffers, "top_won", (n, channels, out_h, out_w)), BATCH_LAST)
        self.greater_equal(top, bottom, top_won)
        self.maximum(top, bottom, self.permute(out, BATCH_LAST))
        return out, (left_won, top_won)  # as [C, H, W, N]

    def _max_pool_pairs_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        left_won, top_won = saved
        (n, channels), (out_h, out_w) = epsilon.shape[:2], window.out
        share, won = self.permute(epsilon, BATCH_LAST), self.permute(left_won, BATCH_FIRST)
        row = self.permute(self.like(won, buffers, "row", (n, channels, 2 * out_h, out_w)), BATCH_LAST)
        top, bottom = row[:, 0::2, ...], row[:, 1::2, ...]
        self.multiply(share, top_won, top)
        self.subtract(share, top, bottom)
        image = self.like(won, buffers, "epsilon", (n, channels, *window.size))
        cells = self.permute(image, BATCH_LAST)
        if window.size != (2 * out_h, 2 * out_w):
            self.fill(cells, 0.0)
        left, right = cells[:, : 2 * out_h, 0 : 2 * out_w : 2, :], cells[:, : 2 * out_h, 1 : 2 * out_w : 2, :]
        self.multiply(row, left_won, left)
        self.subtract(row, left, right)
        return image

    # ---- average

    def avg_pool(self, x: Array, window: Window, count_padding: bool, buffers: Buffers) -> tuple[Array, Any]:
        """Return the mean of every window, over its real cells or, with `count_padding`, over all of them."""
        cells = self.padded(x, window, 0.0, buffers)
        out = buffers("pooled", (*x.shape[:2], *window.out))
        total = self.permute(out, BATCH_LAST)
        self.fill(total, 0.0)
        for _, _, rows, columns in window.cells:
            self.add(total, cells[:, rows, columns, :], total)
        divisor: Any
        if count_padding or not window.has_padding:
            divisor = float(window.kernel[0] * window.kernel[1])
        else:
            counts = self.asarray(window.real_cells(), self.dtype_name(x))
            divisor = self.reshape(counts, (1, *window.out, 1))
        self.divide(total, divisor, total)
        return out, divisor

    def avg_pool_backward(self, epsilon: Array, saved: Any, window: Window, buffers: Buffers) -> Array:
        """Spread every element of ``epsilon [N, C, out_h, out_w]`` evenly over the cells of its window."""
        share = self.permute(buffers("share", epsilon.shape), BATCH_LAST)
        self.divide(self.permute(epsilon, BATCH_LAST), saved, share)
        image, target = self.gradient_image(epsilon.shape[:2], window, buffers)
        self.fill(target, 0.0)
        for _, _, rows, columns in window.cells:
            cells = target[:, rows, columns, :]
            self.add(cells, share, cells)
        return self.cropped(image, target, window)

    # ---- p-norm

    def pnorm_pool(self, x: Array, window: Window, p: int, buffers: Buffers) -> tuple[Array, Any]:
        """Return (sum |x|^p)^(1/p) of every window."""
        cells = self.padded(x, window, 0.0, buffers)
        out = buffers("pooled", (*x.shape[:2], *window.out))
        norm = self.permute(out, BATCH_LAST)
        self.fill(norm, 0.0)
        for _, _, rows, columns in window.cells:
            self.add(norm, self.power(self.absolute(cells[:, rows, columns, :]), p), norm)
        self.power(norm, 1.0 / p, norm)
        return out, (cells, norm)

    def pnorm_pool_backward(self, epsilon: Array, saved: Any, window: Window, p: int, buffers: Buffers) -> Array:
        """Return epsilon * norm^(1 - p) * |x|^(p - 1) * sign(x), 0 where the norm is 0."""
        cells, norm = saved
        blank = self.equal(norm, 0.0)
        scale = self.where(blank, 0.0, self.power(self.where(blank, 1.0, norm), 1 - p))
        share = self.multiply(scale, self.permute(epsilon, BATCH_LAST))
        image, target = self.gradient_image(epsilon.shape[:2], window, buffers)
        self.fill(target, 0.0)
        for _, _, rows, columns in window.cells:
            cell = cells[:, rows, columns, :]
            slope = self.multiply(self.power(self.absolute(cell), p - 1), self.sign(cell))
            place = target[:, rows, columns, :]
            self.add(place, self.multiply(slope, share), place)
        return self.cropped(image, target, window)
