"""Kinds of convolution beside `conv2d`, once, for every backend: over volumes, transposed, depthwise, unshared.

As in `spatial`, on batch-innermost views; the axes ``h, w`` may be any number of axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .spatial import Array, Buffers, SpatialPrimitives, renamed
from .window import Window

Gradients = tuple[Array, Array | None]


class ConvolutionKinds(SpatialPrimitives):
    """Mixin of `Backend`."""

    # Needed from Backend.
    batched_matmul: Any
    cached_elements = 1 << 62
    """Of an array that is worked on in one piece: all of them, where launches cost."""

    # ---- volumes

    def conv3d(
        self,
        x: Array,
        W: Array,
        b: Array | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[Array], object] | None = None,
    ) -> tuple[Array, Any]:
        """Cross-correlate ``x [N, C, D, H, W]`` with ``W [n_out, C, *kernel]``, add ``b [1, n_out]``; see `conv2d`.

        Returns
        -------
        z : array ``[N, n_out, out_d, out_h, out_w]``
        saved : cache for `conv3d_backward`
        """
        # The one that takes any number of axes.
        return SpatialPrimitives.conv2d(self, x, W, b, window, buffers, activate)

    def conv3d_backward(
        self,
        delta: Array,
        saved: Any,
        W: Array,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it. `saved` is used up."""
        return SpatialPrimitives.conv2d_backward(self, delta, saved, W, window, gradients, buffers, need_epsilon)

    def _add_bias(self, z: Array, b: Array | None) -> None:
        if b is not None:
            rows = self.rows_of_channels(z, z.shape[1])
            self.add(rows, self.reshape(b, (z.shape[1], 1)), rows)

    def _sum_bias(self, delta: Array, b_gradient: Array | None, buffers: Buffers) -> None:
        if b_gradient is not None:
            n_out = delta.shape[1]
            self.sum_channels(self.rows_of_channels(delta, n_out), self.reshape_view(b_gradient, (n_out,)), buffers)

    # ---- transposed

    def deconv(self, x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers) -> tuple[Array, Any]:
        """Spread every cell of ``x [N, C, H, W]``, times ``W [C, n_out, kernel_h, kernel_w]``, over a window; add b.

        Parameters
        ----------
        window : Window
            Of the convolution whose transpose this is: over the output, with as many positions as `x` has cells.

        Returns
        -------
        z : array ``[N, n_out, *window.size]``
        saved : cache for `deconv_backward`
        """
        x = self.to_activation_order(x, buffers)
        kernel = self._as_kernel(self.assign(buffers("kernel", tuple(W.shape)), W))  # W may be in any memory order
        col = buffers("col", (x.shape[0], W.shape[1], *window.kernel, *window.out))
        self.matmul(kernel, self.rows_of_channels(x, W.shape[0]), self.col_matrix(col))
        z = self.col2im(col, window, renamed(buffers, epsilon="z", padded_epsilon="padded"))
        self._add_bias(z, b)
        return z, (x, kernel)

    def deconv_backward(
        self,
        delta: Array,
        saved: Any,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        """Write dL/dW ``[C, n_out, kernel_h, kernel_w]`` and dL/db into `gradients`; return dL/dx unless not needed."""
        x, kernel = saved
        W_gradient, b_gradient = gradients
        delta = self.settled(delta, buffers)
        columns = self.col_matrix(self.im2col(delta, window, buffers))
        gradient = buffers("W_gradient", tuple(W_gradient.shape))
        rows = self.rows_of_channels(x, W_gradient.shape[0])
        self.matmul(columns, self.transpose(rows), self._as_kernel(gradient))
        self.assign(W_gradient, gradient)
        self._sum_bias(delta, b_gradient, buffers)
        if not need_epsilon:
            return None
        epsilon = buffers("epsilon", tuple(x.shape))
        self.matmul(self.transpose(kernel), columns, self.rows_of_channels(epsilon, x.shape[1]))
        return epsilon

    def _as_kernel(self, kernel: Array) -> Array:
        """View ``[C, n_out, *kernel]`` as a matrix ``[n_out * cells of the kernel, C]``."""
        return self.reshape_view(self.batch_last(kernel), (-1, kernel.shape[0]))

    # ---- depthwise

    def depthwise(
        self,
        x: Array,
        W: Array,
        b: Array | None,
        window: Window,
        buffers: Buffers,
        activate: Callable[[Array], object] | None = None,
    ) -> tuple[Array, Any]:
        """Convolve every channel of ``x [N, C, H, W]`` for itself, with ``W [kernel_h, kernel_w, C, multiplier]``.

        Returns
        -------
        z : array ``[N, C * multiplier, out_h, out_w]``
            Channel ``c * multiplier + m`` is channel c with kernel m; ``b [1, C * multiplier]`` is added, and
            `activate` applied as by `conv2d`.
        saved : cache for `depthwise_backward`
        """
        cells = self.padded(x, window, 0.0, buffers)
        z = buffers("z", (x.shape[0], W.shape[-2] * W.shape[-1], *window.out))
        outputs = self._by_kernel(z, W)
        for channels in self._cached_channels(z, W):
            target = outputs[channels, ...]
            product = self._by_kernel(self._product(z, W, channels, buffers), W)
            for number, (cell, under) in enumerate(window.places):
                out = target if number == 0 else product
                self.multiply(cells[channels, None, *under, :], self._broadcast(W[*cell, channels, :], out), out)
                if number:
                    self.add(target, product, target)
        self._add_bias(z, b)
        if activate is not None:
            activate(z)
        return z, cells

    def depthwise_backward(
        self,
        delta: Array,
        saved: Any,
        W: Array,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it."""
        W_gradient, b_gradient = gradients
        delta = self.settled(delta, buffers)
        share, stretches = self._by_kernel(delta, W), self._cached_channels(delta, W)
        for channels in stretches:
            product = self._product(delta, W, channels, buffers)
            self._kernel_gradient(
                share[channels, ...], saved[channels, ...], product, W_gradient[..., channels, :], window, buffers
            )
        self._sum_bias(delta, b_gradient, buffers)
        if not need_epsilon:
            return None
        image, target = self.gradient_image((delta.shape[0], W.shape[-2]), window, buffers)
        self.fill(target, 0.0)
        for channels in stretches:
            product = self._by_kernel(self._product(delta, W, channels, buffers), W)
            self._spread(share[channels, ...], W[..., channels, :], product, target[channels, ...], window)
        return self.cropped(image, target, window)

    def _kernel_gradient(
        self, share: Array, cells: Array, product: Array, W_gradient: Array, window: Window, buffers: Buffers
    ) -> None:
        """Sum delta times the cells under the kernel; delta and product as ``[C, multiplier, ..., N]``."""
        rows = self.rows_of_channels(product, product.shape[1])
        products, sums = self._by_kernel(product, W_gradient), buffers("sums", (product.shape[1],))
        for cell, under in window.places:
            self.multiply(cells[:, None, *under, :], share, products)
            self.sum_channels(rows, sums, buffers)
            self.assign(W_gradient[*cell, ...], self.reshape(sums, tuple(W_gradient.shape[-2:])))

    def _spread(self, share: Array, W: Array, product: Array, target: Array, window: Window) -> None:
        """Add delta times the kernel to the places under it."""
        for cell, under in window.places:
            self.multiply(share, self._broadcast(W[*cell, ...], product), product)
            place = target[:, *under, :]
            for number in range(W.shape[-1]):
                self.add(place, product[:, number, ...], place)

    def _cached_channels(self, z: Array, W: Array) -> list[slice]:
        """Cut the channels of the input into stretches whose outputs stay in the cache while more is done with them."""
        channels = W.shape[-2]
        at_once = max(1, self.cached_elements * channels // max(math.prod(z.shape), 1))
        return [slice(start, min(start + at_once, channels)) for start in range(0, channels, at_once)]

    def _product(self, z: Array, W: Array, channels: slice, buffers: Buffers) -> Array:
        """Return scratch memory for the outputs of some channels."""
        return buffers("product", (z.shape[0], (channels.stop - channels.start) * W.shape[-1], *z.shape[2:]))

    def _by_kernel(self, z: Array, W: Array) -> Array:
        """View ``[N, C * multiplier, ...]`` as ``[C, multiplier, ..., N]``."""
        return self.reshape_view(self.batch_last(z), (-1, W.shape[-1], *z.shape[2:], z.shape[0]))

    def _broadcast(self, weights: Array, over: Array) -> Array:
        return weights[:, :, *(None for _ in range(over.ndim - 2))]

    # ---- unshared

    def locally_connected(
        self, x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers
    ) -> tuple[Array, Any]:
        """Convolve ``x [N, C, H, W]`` with weights of its own at every position; add ``b [1, n_out]``.

        Position p is row p // out_w and column p % out_w of the output, and its window is at row p % out_h and column
        p // out_h of the input, as Deeplearning4j has it, which turns a square output round.

        Parameters
        ----------
        W : array ``[out_h * out_w, C * kernel_h * kernel_w, n_out]``

        Returns
        -------
        z : array ``[N, n_out, out_h, out_w]``
        saved : cache for `locally_connected_backward`
        """
        col = self.im2col(x, window, buffers)
        turned = self._turned(col, window)
        columns = self.batch_last(buffers("columns", (turned.shape[-1], *turned.shape[:-1])))
        self.assign(columns, turned)
        z = buffers("z", (x.shape[0], W.shape[2], *window.out))
        self.batched_matmul(self.permute(W, (0, 2, 1)), self._stacked(columns), self._by_position(z, window))
        self._add_bias(z, b)
        return z, (col, columns)

    def locally_connected_backward(
        self,
        delta: Array,
        saved: Any,
        W: Array,
        window: Window,
        gradients: Gradients,
        buffers: Buffers,
        need_epsilon: bool = True,
    ) -> Array | None:
        """Write dL/dW and dL/db into `gradients`; return dL/dx unless nobody needs it. `saved` is used up."""
        W_gradient, b_gradient = gradients
        delta = self.settled(delta, buffers)
        col, columns = saved
        stack, share = self._stacked(columns), self._by_position(delta, window)
        self.batched_matmul(stack, self.permute(share, (0, 2, 1)), W_gradient)
        self._sum_bias(delta, b_gradient, buffers)
        if not need_epsilon:
            return None
        self.batched_matmul(W, share, stack)
        self.assign(self._turned(col, window), columns)
        return self.col2im(col, window, buffers)

    def _turned(self, col: Array, window: Window) -> Array:
        """View the columns that `im2col` gathered as ``[out_w, out_h, C, kernel_h, kernel_w, N]``."""
        first = col.ndim - len(window.out)
        return self.permute(col, (*reversed(range(first, col.ndim)), *range(1, first), 0))

    def _stacked(self, columns: Array) -> Array:
        """View ``[out_w, out_h, C, kernel_h, kernel_w, N]`` as a stack of matrices ``[positions, C * cells, N]``."""
        return self.reshape_view(columns, (columns.shape[0] * columns.shape[1], -1, columns.shape[-1]))

    def _by_position(self, x: Array, window: Window) -> Array:
        """View ``[N, ..., *out]`` as a stack of matrices ``[positions, ..., N]``."""
        first = x.ndim - len(window.out)
        stack = self.permute(x, (*range(first, x.ndim), *range(1, first), 0))
        return self.reshape_view(stack, (window.positions, -1, x.shape[0]))
