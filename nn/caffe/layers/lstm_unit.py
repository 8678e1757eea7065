"""LSTMUnit: one step of long short-term memory, from the sums of its gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import nd
from nd import ShapeError
from nd.activations.base import sigmoid
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape


class Gated(NamedTuple):
    """What the way back needs."""

    before: Array
    """cont c_(t-1)."""
    gates: tuple[Array, Array, Array, Array]
    """i, f, o and g."""
    squashed: Array
    """tanh c."""
    cont: Array
    """``[1, N, 1]``."""


class LSTMUnit(CaffeLayer):
    """c = σ(z_f) cont c_(t-1) + σ(z_i) tanh(z_g), and h = σ(z_o) tanh(c).

    Raises
    ------
    ShapeError
        The bottoms are not ``[1, N, H]``, ``[1, N, 4 H]`` and ``[1, N]``.
    ConfigurationError
        In the way back: cont needs a gradient.

    Notes
    -----
    Bottoms c_(t-1), z in the order i, f, o, g, and cont; tops c and h. Source: BVLC Caffe, lstm_unit_layer.cpp, whose
    derivative of f is right where cont is 0 or 1, as it always is there.
    """

    pure = True
    bottoms = (3, 3)
    tops = (2, 2)
    not_forced: ClassVar[tuple[int, ...]] = (2,)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        c, z, cont = bottoms
        if len(c) != 3 or c[0] != 1 or z != (1, c[1], 4 * c[2]) or cont != (1, c[1]):
            raise ShapeError(
                f"{self.label}: bottoms must be [1, N, H], [1, N, 4 H] and [1, N], got {describe_shape(c)}, "
                f"{describe_shape(z)} and {describe_shape(cont)}."
            )
        return [c, c]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Gated]:
        c_before, z, cont = xs
        self.top_shapes([tuple(x.shape) for x in xs])
        shape = tuple(c_before.shape)
        i, f, o, g, before, c, squashed, h = (
            ctx.buffer(name, shape) for name in ("i", "f", "o", "g", "before", "c", "squashed", "h")
        )
        parts = [z[..., number * shape[2] : (number + 1) * shape[2]] for number in range(4)]
        for part, gate in zip(parts[:3], (i, f, o), strict=True):
            sigmoid(part, gate)
        nd.tanh(parts[3], g)
        cont = cont[:, :, None]
        nd.multiply(c_before, cont, before)
        nd.addi(nd.multiply(f, before, c), nd.multiply(i, g, h))
        nd.multiply(o, nd.tanh(c, squashed), h)
        return (c, h), Gated(before, (i, f, o, g), squashed, cont)

    def backward(
        self, epsilon: Any, cache: Gated, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        self.refuse_gradient(2, ctx)
        before, (i, f, o, g), squashed, cont = cache
        shape = tuple(before.shape)
        dc, dh = (
            nd.fill(ctx.buffer(name, shape), 0.0) if one is None else one
            for name, one in zip(("no dc", "no dh"), epsilon, strict=True)
        )
        of_memory = nd.multiply(squashed, squashed, ctx.buffer("of_memory", shape))
        nd.muli(nd.muli(nd.subtract(1.0, of_memory, of_memory), o), dh)
        nd.addi(of_memory, dc)  # dL/dc, of both ways
        below: list[Array | None] = [None, None, None]
        if ctx.needs_epsilons[0]:
            first = nd.multiply(of_memory, f, ctx.buffer("below0", shape))
            below[0] = nd.muli(first, cont)
        if ctx.needs_epsilons[1]:
            dz = ctx.buffer("below1", (*shape[:2], 4 * shape[2]))
            pairs = ((i, g, of_memory), (f, before, of_memory), (o, squashed, dh))
            for number, (gate, other, coming) in enumerate(pairs):
                part = dz[..., number * shape[2] : (number + 1) * shape[2]]
                nd.muli(nd.subtract(1.0, gate, part), gate)
                nd.muli(nd.muli(part, other), coming)
            part = dz[..., 3 * shape[2] :]
            nd.subtract(1.0, nd.multiply(g, g, part), part)
            nd.muli(nd.muli(part, i), of_memory)
            below[1] = dz
        return below
