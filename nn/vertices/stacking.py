"""StackVertex and UnstackVertex: examples of several inputs one after the other, and one of those parts again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import nd
from nd.arguments import Count, Natural
from nd.checks import describe_shape
from nd.typing import Array

from ..layers.runtime import Params
from ..terms.input_type import InputType, RecurrentType
from ..terms.java_form import JavaForm
from .base import VertexConf
from .merging import stretch
from .runtime import VertexContext, VertexRuntime

if TYPE_CHECKING:
    from collections.abc import Callable


Shape = tuple[int, ...]


class StackRuntime(VertexRuntime):
    """A copy forward, views of epsilon backward."""

    pure = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, list[Shape]]:
        shapes = [tuple(x.shape) for x in xs]
        series = {len(shape) for shape in shapes} == {3}
        if len({shape[1:2] if series else shape[1:] for shape in shapes}) > 1:
            raise nd.ShapeError(
                f"{self.label}: examples must have one shape, but for the length of series, got "
                f"{', '.join(map(describe_shape, shapes))}. Choose other inputs."
            )
        if len(xs) == 1:
            return xs[0], shapes
        return _stacked(xs, shapes, ctx.buffer, "a"), shapes

    def backward(
        self, epsilon: Array, cache: list[Shape], params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        parts = zip(ctx.needs_epsilons, _parts(epsilon, cache), strict=True)
        return [part if needed else None for needed, part in parts]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        given = [mask for mask in masks if mask is not None]
        if not given or len(masks) == 1:
            return masks[0]
        usual = tuple(given[0].shape)
        full = [nd.fill(ctx.buffer("all", usual), 1.0) if mask is None else mask for mask in masks]
        return _stacked(full, [tuple(mask.shape) for mask in full], ctx.buffer, "mask")

    def examples(self, counts: Sequence[int]) -> int:
        return sum(counts)


def _stacked(arrays: Sequence[Array], shapes: Sequence[Shape], buffer: Callable[..., Array], name: str) -> Array:
    """Return arrays one below the other, with zeros behind those that are shorter."""
    longest = tuple(map(max, zip(*(shape[1:] for shape in shapes), strict=True)))
    out = buffer(name, (sum(shape[0] for shape in shapes), *longest))
    if len({shape[1:] for shape in shapes}) > 1:
        nd.fill(out, 0.0)
    for part, array in zip(_parts(out, shapes), arrays, strict=True):
        nd.assign(part, array)
    return out


def _parts(stacked: Array, shapes: Sequence[Shape]) -> list[Array]:
    """View what lies one below the other."""
    views, start = [], 0
    for shape in shapes:
        rows = stretch(stacked, 0, start, start + shape[0])
        cut = len(shape) > 1 and shape[-1] != stacked.shape[-1]
        views.append(stretch(rows, len(shape) - 1, 0, shape[-1]) if cut else rows)
        start += shape[0]
    return views


@dataclass(frozen=True)
class StackVertex(VertexConf):
    """The examples of all its inputs, one input's after the other's.

    Notes
    -----
    Inputs ``[N, ...]``, output ``[N * inputs, ...]``: so that one layer, with one set of parameters, sees all of them;
    `UnstackVertex` takes them apart again. Series that are shorter than others get zeros behind them, and their masks
    too; an input without a mask among others with one has ones. Minibatches with it are not computed in parts.
    Source: DL4J ``StackVertex``. Differs: inputs may be series of other lengths, which Java refuses where it infers
    types, and may have other numbers of examples, for which Java's epsilons are wrong; some masks may be missing.
    """

    runtime: ClassVar = StackRuntime
    most_inputs: ClassVar[int | None] = None

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        first = input_types[0]
        alike = [replace(kind, time_series_length=None) if isinstance(kind, RecurrentType) else kind
                 for kind in input_types]  # fmt: skip
        if any(kind != alike[0] for kind in alike):
            raise nd.ConfigurationError(
                f"{label}: inputs must be of one type, got {list(input_types)}. Put layers between that make them so."
            )
        if isinstance(first, RecurrentType):
            lengths = [kind.shape[1] for kind in input_types]
            return replace(first, time_series_length=None if None in lengths else max(lengths))
        return first

    def examples_of(self, arriving: Sequence[int]) -> int:
        return sum(arriving)


class UnstackRuntime(VertexRuntime):
    """A view forward, a copy within zeros backward."""

    pure = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        return self._part(xs[0]), tuple(xs[0].shape)

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        below = nd.fill(ctx.buffer("epsilon", cache), 0.0)
        nd.assign(self._part(below), epsilon)
        return [below]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return None if masks[0] is None else self._part(masks[0])

    def examples(self, counts: Sequence[int]) -> int:
        return counts[0] // self.conf.stack_size

    def _part(self, x: Array) -> Array:
        step, rest = divmod(x.shape[0], self.conf.stack_size)
        if rest:
            raise nd.ShapeError(
                f"{self.label}: examples must be a multiple of stack_size {self.conf.stack_size}, got {x.shape[0]}. "
                "Is its input stacked of as many?"
            )
        return stretch(x, 0, self.conf.from_ * step, (self.conf.from_ + 1) * step)


@dataclass(frozen=True)
class UnstackVertex(VertexConf):
    """One of the parts that a `StackVertex` has put together.

    Parameters
    ----------
    from_ : int
        Number of the part, from 0.
    stack_size : int
        Parts that there are.

    Raises
    ------
    ConfigurationError
        There is no part of that number.

    Notes
    -----
    Input ``[N * stack_size, ...]``, output ``[N, ...]``. Minibatches with it are not computed in parts. Source: DL4J
    ``UnstackVertex``. Differs: examples that do not make whole parts are refused; Java leaves the last ones out.
    """

    from_: Natural
    stack_size: Count
    runtime: ClassVar = UnstackRuntime
    builder_names: ClassVar[dict[str, str]] = {"from": "from_"}
    form: ClassVar[JavaForm] = VertexConf.form.more({"from": ("from_", "plain"), "stackSize": ("stack_size", "plain")})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.from_ >= self.stack_size:
            raise nd.ConfigurationError(
                f"UnstackVertex: from must be a part's number below stack_size {self.stack_size}, got {self.from_}. "
                "The first one is 0."
            )

    def examples_of(self, arriving: Sequence[int]) -> int:
        return arriving[0] // self.stack_size
