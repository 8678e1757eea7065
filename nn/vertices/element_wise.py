"""ElementWiseVertex: sum, difference, product, average or maximum of several inputs, number by number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar

import nd
from nd.checks import check_choice
from nd.java_enums import JavaEnum
from nd.typing import Array

from ..layers.runtime import Params
from ..terms.input_type import ConvolutionalFlatType, InputType
from ..terms.java_form import JavaForm
from .base import VertexConf
from .broadcasting import any_counts, broadcast_shape, summed_to
from .merging import of_shape
from .runtime import VertexContext, VertexRuntime

Epsilons = Iterator[Array]


class ElementWiseOp:
    """One of the functions, and its derivatives."""

    combine: ClassVar[Callable[..., Array]]
    """(x, y, out) -> out, of two inputs."""

    def forward(self, xs: Sequence[Array], out: Array) -> Array:
        """Return the function of the inputs, taken from the first to the last, in `out`."""
        combine = type(self).combine
        first = xs[0] if tuple(xs[0].shape) == tuple(out.shape) else nd.assign(out, xs[0])
        combine(first, xs[1], out)
        for x in xs[2:]:
            combine(out, x, out)
        return out

    def backward(self, epsilon: Array, xs: Sequence[Array], out: Array, ctx: VertexContext) -> Epsilons:
        """Yield dL/dx of every input in the output's shape: epsilon itself, or memory of its own."""
        raise NotImplementedError


class Add(ElementWiseOp):
    """The sum."""

    combine = nd.add

    def backward(self, epsilon: Array, xs: Sequence[Array], out: Array, ctx: VertexContext) -> Epsilons:
        return repeat(epsilon, len(xs))


class Average(ElementWiseOp):
    """The mean."""

    combine = nd.add

    def forward(self, xs: Sequence[Array], out: Array) -> Array:
        return nd.divi(super().forward(xs, out), float(len(xs)))

    def backward(self, epsilon: Array, xs: Sequence[Array], out: Array, ctx: VertexContext) -> Epsilons:
        return repeat(nd.divi(epsilon, float(len(xs))), len(xs))


class Max(ElementWiseOp):
    """The maximum; the first of equals gets the gradient."""

    combine = nd.maximum

    def backward(self, epsilon: Array, xs: Sequence[Array], out: Array, ctx: VertexContext) -> Epsilons:
        free = nd.fill(nd.buffer_like(out, ctx.buffer, "free"), 1.0)
        for at, x in enumerate(xs):
            hit = nd.muli(nd.equal(x, out, nd.buffer_like(out, ctx.buffer, f"epsilon{at}")), free)
            nd.subi(free, hit)
            yield nd.muli(hit, epsilon)


class Product(ElementWiseOp):
    """The product."""

    combine = nd.multiply

    def backward(self, epsilon: Array, xs: Sequence[Array], out: Array, ctx: VertexContext) -> Epsilons:
        for at in range(len(xs)):
            below = nd.assign(nd.buffer_like(epsilon, ctx.buffer, f"epsilon{at}"), epsilon)
            for other in (*xs[:at], *xs[at + 1 :]):
                nd.muli(below, other)
            yield below


class Subtract(ElementWiseOp):
    """The first without the second."""

    combine = nd.subtract

    def backward(self, epsilon: Array, xs: Sequence[Array], out: Array, ctx: VertexContext) -> Epsilons:
        yield epsilon
        yield nd.multiply(epsilon, -1.0, nd.buffer_like(epsilon, ctx.buffer, "epsilon1"))


ELEMENT_WISE_OPS: dict[str, type[ElementWiseOp]] = {
    "add": Add,
    "average": Average,
    "max": Max,
    "product": Product,
    "subtract": Subtract,
}
"""Name -> class, sorted."""


class ElementWiseRuntime(VertexRuntime):
    """Forward and backward of one of the functions, with inputs that broadcast."""

    pure = splits = True

    def setup(self) -> None:
        self.op = ELEMENT_WISE_OPS[self.conf.op]()

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, object]:
        if len(xs) == 1:
            return xs[0], None
        shape = broadcast_shape(self.label, [tuple(x.shape) for x in xs])
        like = next((x for x in xs if tuple(x.shape) == shape), None)
        memory = ctx.buffer("a", shape) if like is None else nd.buffer_like(like, ctx.buffer, "a")
        out = self.op.forward(xs, memory)
        return out, (tuple(xs), out)

    def backward(
        self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if cache is None:
            return [epsilon if ctx.needs_epsilons[0] else None]
        xs, out = cache
        below: list[Array | None] = []
        parts = zip(ctx.needs_epsilons, xs, self.op.backward(epsilon, xs, out, ctx), strict=True)
        for needed, x, full in parts:
            part = summed_to(full, tuple(x.shape)) if needed else None
            if part is epsilon and any(other is epsilon for other in below):
                part = nd.assign(nd.buffer_like(epsilon, ctx.buffer, f"epsilon{len(below)}"), epsilon)
            below.append(part)
        return below

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return any_counts(self.label, masks, ctx)

    def examples(self, counts: Sequence[int]) -> int:
        return max(counts)


@dataclass(frozen=True)
class ElementWiseVertex(VertexConf):
    """A function of inputs of one shape, number by number.

    Parameters
    ----------
    op : {"add", "average", "max", "product", "subtract"}
        Also in Java's spelling, ``ElementWiseVertex.Op.Add``.

    Raises
    ------
    ChoiceError
        There is no such function.

    Notes
    -----
    Inputs ``[N, ...]``, output ``[N, ...]``; an axis of length 1 is repeated as often as another input is long there.
    "subtract" takes two inputs, the others any number. Of equal maxima the first input's gets the gradient. Of masks,
    where every input has one, what any of them counts does. Source: DL4J ``ElementWiseVertex``. Differs: images of
    other sizes are taken where they broadcast, which Java refuses where it infers types though it computes them; where
    both inputs of a difference are repeated, both epsilons are sums over it.
    """

    class Op(JavaEnum):
        """Names of the functions."""

        ADD = "add"
        AVERAGE = "average"
        MAX = "max"
        PRODUCT = "product"
        SUBTRACT = "subtract"

    op: str
    runtime: ClassVar = ElementWiseRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({"op": ("op", "mode")})

    def __post_init__(self) -> None:
        super().__post_init__()
        name = check_choice("ElementWiseVertex", "op", self.op.lower(), ELEMENT_WISE_OPS)
        object.__setattr__(self, "op", self.Op(name))

    @property
    def most_inputs(self) -> int | None:  # type: ignore[override]
        """Two for a difference, else any number."""
        return 2 if self.op == "subtract" else None

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        first = input_types[0]
        if any(type(given) is not type(first) for given in input_types):
            raise nd.ConfigurationError(
                f"{label}: inputs must be of one kind, got {list(input_types)}. Put a preprocessor or a layer between."
            )
        if len(set(input_types)) == 1:
            return first
        known = [tuple(1 if length is None else length for length in given.shape) for given in input_types]
        shape = broadcast_shape(f"{label}: examples", known)
        if isinstance(first, ConvolutionalFlatType):
            return next(given for given in input_types if given.shape == shape)
        lengths = zip(shape, *(given.shape for given in input_types), strict=True)
        return of_shape([None if length == 1 and None in of_axis else length for length, *of_axis in lengths])
