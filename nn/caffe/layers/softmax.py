"""Softmax: along any axis."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd.activations import Softmax as Formula
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape


class Softmax(CaffeLayer):
    """exp(x) / sum of exp(x) along `axis`.

    Notes
    -----
    The largest number is subtracted first. Source: BVLC Caffe, softmax_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.given, self.formula = self.message.softmax_param.axis, Formula()

    def may_split(self, training: bool) -> bool:
        return self.axis(self.given, self.conf.bottoms[0]) > 0

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        self.axis(self.given, bottoms[0])
        return list(bottoms)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        (x,) = xs
        y = nd.buffer_like(x, ctx.buffer, "y")
        self.formula.value(self._last(x), self._last(y))
        return y, y

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        y, delta = self._last(cache), self._last(epsilon)
        self.formula.backprop(y, y, delta, delta)
        return [epsilon]

    def _last(self, x: Array) -> Array:
        """View an array with its axis behind the others."""
        axis = self.axis(self.given, tuple(x.shape))
        return nd.permute(x, (*(other for other in range(x.ndim) if other != axis), axis))
