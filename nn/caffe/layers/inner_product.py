"""InnerProduct: rows times a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd import ConfigurationError, ShapeError
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import BlobSpec, CaffeLayer, Shape, count


class InnerProduct(CaffeLayer):
    """y = x W^T + b over the axes from `axis` on, flattened in c order; with `transpose` y = x W + b.

    Notes
    -----
    Blobs: W ``[out, in]``, transposed ``[in, out]``, and b ``[out]``. Source: BVLC Caffe, inner_product_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.settings = self.message.inner_product_param
        if self.settings.num_output < 1:
            raise ConfigurationError(f"{self.label}: num_output must be >= 1, got {self.settings.num_output}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        axis = self.axis(self.settings.axis, shape)
        return [(*shape[:axis], self.settings.num_output)]

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        settings, (shape,) = self.settings, bottoms
        n_in, n_out = count(shape, self.axis(settings.axis, shape)), settings.num_output
        W = BlobSpec("W", (n_in, n_out) if settings.transpose else (n_out, n_in), settings.weight_filler)
        b = BlobSpec("b", (n_out,), settings.bias_filler)
        return (W, b) if settings.bias_term else (W,)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, tuple[Array, Shape]]:
        (x,) = xs
        axis, W = self.axis(self.settings.axis, x.shape), params["W"]
        rows = nd.reshape(x, (count(x.shape, 0, axis), count(x.shape, axis)))
        n_in, n_out = W.shape if self.settings.transpose else W.shape[::-1]
        if rows.shape[1] != n_in:
            raise ShapeError(f"expected {n_in} numbers from axis {axis} on, got {rows.shape[1]}.")
        z = nd.gemm(rows, W, ctx.buffer("z", (rows.shape[0], n_out)), transpose_b=not self.settings.transpose)
        if "b" in params:
            nd.addi(z, params["b"])
        return nd.reshape(z, (*x.shape[:axis], n_out)), (rows, x.shape)

    def backward(
        self, epsilon: Array, cache: tuple[Array, Shape], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        rows, shape = cache
        delta = nd.reshape(epsilon, (rows.shape[0], -1))
        transposed = self.settings.transpose
        first, second = (rows, delta) if transposed else (delta, rows)
        nd.gemm(first, second, grads["W"], transpose_a=True)
        if "b" in grads:
            nd.sum_into(delta, 0, grads["b"])
        if not ctx.needs_epsilons[0]:
            return [None]
        below = ctx.buffer("below", tuple(rows.shape))
        return [nd.reshape(nd.gemm(delta, params["W"], below, transpose_b=transposed), shape)]
