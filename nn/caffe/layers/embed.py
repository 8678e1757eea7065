"""Embed: rows of a table by their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd import ConfigurationError
from nd.typing import Array

from ...layers.core.embedding import LARGEST
from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import BlobSpec, CaffeLayer, Shape, count


class Embed(CaffeLayer):
    """Row W[i] of a table, plus b, for every number i.

    Notes
    -----
    Bottom of any shape, whose numbers are cut to integers; top of that shape and num_output. Blobs: W ``[input_dim,
    num_output]``, b ``[num_output]`` with bias_term. The numbers get no gradient. One that names no row raises
    DataError; on a GPU, which would have to wait to be asked, its row is NaN. Source: BVLC Caffe, embed_layer.cpp.
    """

    pure = splits = True
    not_forced = (0,)

    def setup(self) -> None:
        self.settings = self.message.embed_param
        if min(self.settings.num_output, self.settings.input_dim) < 1:
            raise ConfigurationError(
                f"{self.label}: num_output and input_dim must be >= 1, got {self.settings.num_output} and "
                f"{self.settings.input_dim}."
            )

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        return [(*bottoms[0], self.settings.num_output)]

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        settings = self.settings
        W = BlobSpec("W", (settings.input_dim, settings.num_output), settings.weight_filler)
        b = BlobSpec("b", (settings.num_output,), settings.bias_filler)
        return (W, b) if settings.bias_term else (W,)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        (x,) = xs
        shape = tuple(x.shape)
        # NaN, and numbers beyond all integers, become a row that no table has: as integers they might name one.
        numbers = nd.where(nd.greater(LARGEST, nd.absolute(x)), x, -1.0)
        indices = nd.astype(nd.reshape(numbers, (-1,)), "int64")
        z = ctx.buffer("z", (count(shape), self.settings.num_output))
        nd.pull_rows(params["W"], indices, self.label, z)
        if "b" in params:
            nd.addi(z, params["b"])
        return nd.reshape(z, (*shape, self.settings.num_output)), indices

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(0, ctx)
        rows = nd.reshape(epsilon, (cache.shape[0], -1))
        nd.scatter_add(nd.fill(grads["W"], 0.0), cache, rows)
        if "b" in grads:
            nd.sum_into(rows, 0, grads["b"])
        return [None]
