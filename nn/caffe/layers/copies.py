"""Split, Silence and Parameter: a bottom for many readers, for none, and numbers that come from nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import nd
from nd import ConfigurationError
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import BlobSpec, CaffeLayer, Counts, Shape


class Split(CaffeLayer):
    """Every top is the bottom itself; back goes the sum of what comes from the tops.

    Notes
    -----
    A top from which nothing comes counts as 0, as do all of them. Source: BVLC Caffe, split_layer.cpp.
    """

    pure = splits = True
    tops = (1, None)
    in_place = False

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        return [bottoms[0]] * self.outputs

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Array]:
        (x,) = xs
        return x if self.outputs == 1 else (x,) * self.outputs, x

    def backward(
        self, epsilon: Any, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        below = self.below(cache, 0, ctx)
        if below is None:
            return [None]
        given = [epsilon] if self.outputs == 1 else epsilon
        coming = [one for one in given if one is not None]
        if not coming:
            return [nd.fill(below, 0.0)]
        if len(coming) == 1:
            return [nd.assign(below, coming[0])]
        nd.add(coming[0], coming[1], below)
        for one in coming[2:]:
            nd.addi(below, one)
        return [below]


class Silence(CaffeLayer):
    """Reads its bottoms so that they are no outputs of the net; has no tops. Source: BVLC Caffe, silence_layer.cpp."""

    pure = splits = True
    bottoms: ClassVar[Counts] = (1, None)
    tops = (0, 0)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        return []

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Sequence[Array]]:
        return (), xs

    def backward(
        self, epsilon: object, cache: Sequence[Array], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        below = [self.below(x, number, ctx) for number, x in enumerate(cache)]
        return [None if one is None else nd.fill(one, 0.0) for one in below]


class Parameter(CaffeLayer):
    """A blob of the given shape as a top: numbers to be learned that any layer may read.

    Notes
    -----
    Blob: value, 0 at first, for there is no filler. Source: BVLC Caffe, parameter_layer.hpp.
    """

    pure = True
    bottoms = (0, 0)

    def setup(self) -> None:
        self.shape = tuple(self.message.parameter_param.shape.dim)
        if any(length < 0 for length in self.shape):
            raise ConfigurationError(f"{self.label}: shape must be lengths >= 0, got {list(self.shape)}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        return [self.shape]

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        return (BlobSpec("value", self.shape),)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        return params["value"], None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        nd.assign(grads["value"], epsilon)
        return []
