"""L2Vertex and L2NormalizeVertex: the distance of two inputs, and an input divided by its length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import nd
from nd.arguments import Count, NonNegative
from nd.checks import describe_shape
from nd.typing import Array

from ..layers.runtime import Params
from ..terms.data_formats import axes_outward, rows_of
from ..terms.input_type import FeedForwardType, InputType
from ..terms.java_form import JavaForm
from .base import OuterAxes, VertexConf
from .runtime import VertexContext, VertexRuntime


class L2Runtime(VertexRuntime):
    """The distance of every example of one input from that of the other."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, object]:
        a, b = xs
        shape = tuple(a.shape)
        if shape != tuple(b.shape) or len(shape) < 2:
            raise nd.ShapeError(
                f"{self.label}: inputs must have one shape [N, ...], got {describe_shape(shape)} and "
                f"{describe_shape(b.shape)}. Choose other inputs."
            )
        difference = nd.subtract(a, b, ctx.buffer("difference", shape))
        squares = nd.square(difference, ctx.buffer("squares", shape))
        distance = nd.sqrt(nd.sum(squares, tuple(range(1, len(shape))), keepdims=True))
        return nd.reshape(distance, (shape[0], 1)), (difference, distance)

    def backward(
        self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        difference, distance = cache
        share = nd.divide(nd.reshape(epsilon, tuple(distance.shape)), nd.maximum(distance, self.conf.eps))
        of_a = nd.muli(difference, share)
        of_b = nd.multiply(of_a, -1.0, ctx.buffer("squares", tuple(of_a.shape))) if ctx.needs_epsilons[1] else None
        return [of_a if ctx.needs_epsilons[0] else None, of_b]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        """Return the mask of the first input where it is of examples, ``[N, 1]``: an output has no time steps."""
        mask = masks[0]
        return mask if mask is not None and tuple(mask.shape[1:]) == (1,) else None


@dataclass(frozen=True)
class L2Vertex(VertexConf):
    """The Euclidean distance of two inputs.

    Parameters
    ----------
    eps : float
        The least distance that a gradient is divided by.

    Notes
    -----
    Inputs ``[N, ...]``, output ``[N, 1]``: sqrt(sum((a - b) ** 2)) over all numbers of an example. Java's files do not
    keep eps; those of this library do, where it is not the default. Source: DL4J ``L2Vertex``. Differs: a mask of time
    steps or places ends here, where Java hands it on to layers of rows, which it does not fit.
    """

    eps: NonNegative = 1e-8
    runtime: ClassVar = L2Runtime
    fewest_inputs: ClassVar[int] = 2
    most_inputs: ClassVar[int | None] = 2
    form: ClassVar[JavaForm] = VertexConf.form.more({"eps": ("eps", "number")})

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        return self, rows_of(incoming)

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        return FeedForwardType(1)


class L2NormalizeRuntime(VertexRuntime):
    """x over its length."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, object]:
        (x,) = xs
        axes = self.conf.axes_of(self.label, x.ndim)
        squares = nd.square(x, ctx.buffer("squares", tuple(x.shape)))
        norm = nd.sqrt(nd.sum(squares, axes, keepdims=True))
        out = nd.divide(x, nd.maximum(norm, self.conf.eps), ctx.buffer("a", tuple(x.shape)))
        return out, (x, norm, axes)

    def backward(
        self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        x, norm, axes = cache
        along = nd.multiply(epsilon, x, ctx.buffer("squares", tuple(x.shape)))
        share = nd.sum(along, axes, keepdims=True)
        # Where x is divided by eps, a constant, its length has no derivative: x / inf is 0.
        cubes = nd.where(nd.greater(norm, self.conf.eps), nd.power(norm, 3), math.inf)
        nd.muli(nd.divide(x, cubes, along), share)
        return [nd.subi(nd.divi(epsilon, nd.maximum(norm, self.conf.eps)), along)]


@dataclass(frozen=True)
class L2NormalizeVertex(OuterAxes):
    """Its input over its length, so that every example has length 1.

    Parameters
    ----------
    dimension : sequence of int, optional
        The axes over which the squares are summed; by default, or with none, all but that of the examples. They are
        those of the input as it looks from outside: 3 is that of the channels of NHWC.
    eps : float
        The least length that is divided by.
    data_format : str, optional
        Of the input; the network says it.

    Raises
    ------
    ConfigurationError
        An axis is there twice, or there is none.

    Notes
    -----
    Input and output ``[N, ...]``: x / max(sqrt(sum(x ** 2)), eps). Source: DL4J ``L2NormalizeVertex``. Differs: axes
    may be any behind the first, in Java only all of them work for series and images; where the length is above eps,
    but its third power is not, the gradient is right.
    """

    dimension: Sequence[Count] | None = None
    eps: NonNegative = 1e-8
    data_format: str | None = field(default=None, compare=False)
    runtime: ClassVar = L2NormalizeRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({"dimension": ("dimension", "sizes"), "eps": ("eps", "number")})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension is None:
            return
        axes = tuple(self.dimension)
        if len(set(axes)) < len(axes):
            raise nd.ConfigurationError(
                f"L2NormalizeVertex: dimension must name every axis once, got {list(axes)}. Leave it out for all."
            )
        object.__setattr__(self, "dimension", axes)

    def __eq__(self, other: object) -> bool:
        """No axes, which files say in two ways, are all of them."""
        if not isinstance(other, L2NormalizeVertex):
            return NotImplemented
        return (self.dimension or (), self.eps) == (other.dimension or (), other.eps)

    def __hash__(self) -> int:
        return hash((self.dimension or (), self.eps))

    def axes_of(self, label: str, ndim: int) -> tuple[int, ...]:
        """Return the axes that are summed over, of an input with so many and the channels first."""
        axes = tuple(self.dimension or range(1, ndim))
        if max(axes) >= ndim:
            raise nd.ShapeError(
                f"{label}: dimension must be axes of the input, 1 to {ndim - 1}, got {list(axes)}. Leave it out for "
                "all."
            )
        return tuple(sorted(axes_outward(self.data_format, ndim)[axis] for axis in axes))

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        self.axes_of(label, 1 + len(input_types[0].shape))
        return input_types[0]
