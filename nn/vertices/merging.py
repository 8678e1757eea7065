"""MergeVertex and SubsetVertex: channels of several inputs side by side, and some of the channels of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, ClassVar, Self

import nd
from nd.arguments import Count, Natural
from nd.checks import describe_shape
from nd.typing import Array

from ..layers.places import type_of_places
from ..layers.runtime import Params
from ..terms.data_formats import arranged, axes_outward, channels_last, computed
from ..terms.input_type import ConvolutionalFlatType, FeedForwardType, InputType
from ..terms.java_form import JavaForm
from .base import OuterAxes, VertexConf
from .broadcasting import any_counts
from .runtime import VertexContext, VertexRuntime

Shape = tuple[int, ...]


def stretch(x: Array, axis: int, start: int, stop: int) -> Array:
    """View a stretch of an axis."""
    return x[*(slice(None) for _ in range(axis)), start:stop, ...]


def outer_shape(shape: Shape, data_format: str | None) -> Shape:
    """Return the shape ``(N, C, ...)`` of an array as it is in that format, if that is one of so many axes."""
    return (shape[0], *arranged(shape[1:], data_format)) if len(shape) == len(data_format or "") else shape


def of_shape(shape: Sequence[Any]) -> InputType:
    """Return the type of examples of that shape: rows, series, images or volumes."""
    return FeedForwardType(shape[0]) if len(shape) == 1 else type_of_places(shape[0], shape[1:])


class MergeRuntime(VertexRuntime):
    """A copy forward, views of epsilon backward."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, list[int]]:
        shapes, conf = [tuple(x.shape) for x in xs], self.conf
        _check_rest(self.label, conf.merge_axis, [outer_shape(shape, conf.data_format) for shape in shapes])
        axis = axes_outward(conf.data_format, len(shapes[0]))[conf.merge_axis]
        ends = [0, *accumulate(shape[axis] for shape in shapes)]
        if len(xs) == 1:
            return xs[0], ends
        out = nd.buffer_like(xs[0], ctx.buffer, "a", (*shapes[0][:axis], ends[-1], *shapes[0][axis + 1 :]))
        for x, start, stop in zip(xs, ends[:-1], ends[1:], strict=True):
            nd.assign(stretch(out, axis, start, stop), x)
        return out, ends

    def backward(
        self, epsilon: Array, cache: list[int], params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        between = zip(ctx.needs_epsilons, cache[:-1], cache[1:], strict=True)
        axis = axes_outward(self.conf.data_format, epsilon.ndim)[self.conf.merge_axis]
        return [stretch(epsilon, axis, start, stop) if needed else None for needed, start, stop in between]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return any_counts(self.label, masks, ctx)


def _check_rest(label: str, axis: int, shapes: Sequence[Shape]) -> None:
    """Raise ShapeError unless shapes differ in one axis alone."""
    rest = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
    if len(rest) > 1 or min(map(len, shapes)) <= axis:
        raise nd.ShapeError(
            f"{label}: inputs must have one shape but for axis {axis}, got "
            f"{', '.join(map(describe_shape, shapes))}. Reshape them, or choose other inputs."
        )


@dataclass(frozen=True)
class MergeVertex(OuterAxes):
    """Its inputs side by side.

    Parameters
    ----------
    merge_axis : int
        1 for channels. It counts the axes as they look from outside; in a network that is configured, not read from a
        file, 1 becomes that of the channels where they are last, as in Java: 3 for NHWC.
    data_format : str, optional
        Of the inputs; the network says it.

    Notes
    -----
    Inputs ``[N, C1, ...]``, ``[N, C2, ...]``, ...; output ``[N, C1 + C2 + ..., ...]``. Of masks, where every input has
    one, what any of them counts does. Source: DL4J ``MergeVertex``. Differs: the output type is that of the axis that
    is merged, in Java always that of channels; rows beside series are refused where the network is configured, in Java
    when it runs; volumes are merged backwards too, which Java's are not, and those of NDHWC by their channels.
    """

    merge_axis: Count = 1
    data_format: str | None = field(default=None, compare=False)
    runtime: ClassVar = MergeRuntime
    most_inputs: ClassVar[int | None] = None
    form: ClassVar[JavaForm] = VertexConf.form.more(
        {"mergeAxis": ("merge_axis", "plain")},
        absent={"mergeAxis": 1},
        derived={"modified": lambda conf: conf.merge_axis != 1 and conf.merge_axis != conf._last_axis},
    )

    @property
    def _last_axis(self) -> int | None:
        """That of the channels where they are last, else None."""
        return len(self.data_format or "") - 1 if channels_last(self.data_format) else None

    def inferred(self) -> Self:
        return replace(self, merge_axis=self._last_axis) if self._last_axis and self.merge_axis == 1 else self

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        if len(input_types) == 1:
            return input_types[0]
        flat = next((given for given in input_types if isinstance(given, ConvolutionalFlatType)), None)
        if flat is not None:
            raise nd.ConfigurationError(
                f"{label}: images as rows have no channels to merge, got {flat!r}. Use InputType.convolutional, or "
                "InputType.feed_forward."
            )
        if len({type(given) for given in input_types}) > 1:
            raise nd.ConfigurationError(
                f"{label}: inputs must be of one kind, got {list(input_types)}. Put a preprocessor or a layer between."
            )
        axis, shapes = self.merge_axis - 1, [arranged(given.shape, self.data_format) for given in input_types]
        known = [tuple(-1 if length is None else length for length in shape) for shape in shapes]
        lengths = {axis: None} | {at: max(column) for at, column in enumerate(zip(*known, strict=True))}
        filled = [tuple(lengths[at] if n == -1 and at != axis else n for at, n in enumerate(row)) for row in known]
        _check_rest(f"{label}: examples", axis, filled)
        merged = [row[axis] for row in known]
        total = None if -1 in merged else sum(merged)
        first = [None if length == -1 else length for length in filled[0]]
        return of_shape(computed((*first[:axis], total, *first[axis + 1 :]), self.data_format))


class SubsetRuntime(VertexRuntime):
    """A view forward, a copy within zeros backward."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        (x,) = xs
        axis = axes_outward(self.conf.data_format, x.ndim)[1]
        self.conf.check_range(self.label, x.shape[axis])
        return stretch(x, axis, self.conf.from_, self.conf.to + 1), tuple(x.shape)

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        below = nd.fill(nd.buffer_like(epsilon, ctx.buffer, "epsilon", cache), 0.0)
        axis = axes_outward(self.conf.data_format, below.ndim)[1]
        nd.assign(stretch(below, axis, self.conf.from_, self.conf.to + 1), epsilon)
        return [below]


@dataclass(frozen=True)
class SubsetVertex(OuterAxes):
    """Some of its input's channels, one after the other.

    Parameters
    ----------
    from_, to : int
        The first and the last one.
    data_format : str, optional
        Of the input; the network says it.

    Raises
    ------
    ConfigurationError
        The last one comes before the first.

    Notes
    -----
    Input ``[N, C, ...]``, output ``[N, to - from_ + 1, ...]``. Where the channels are last these are rows of images,
    or steps of series, as in Java: ``[N, H, W, C]`` becomes ``[N, to - from_ + 1, W, C]``. Source: DL4J
    ``SubsetVertex``. Differs: the output type of images has the channels that come out, in Java from_ - to + 1, and
    where they are last the rows; that of series keeps their length; volumes are taken too, and a range beyond the
    channels is refused for every kind of input.

    Examples
    --------
    >>> from nn import InputType
    >>> SubsetVertex(0, 3).output_type("vertex", [InputType.feed_forward(10)])
    feed_forward(4)
    """

    from_: Natural
    to: Natural
    data_format: str | None = field(default=None, compare=False)
    runtime: ClassVar = SubsetRuntime
    builder_names: ClassVar[dict[str, str]] = {"from": "from_"}
    form: ClassVar[JavaForm] = VertexConf.form.more({"from": ("from_", "plain"), "to": ("to", "plain")})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.to < self.from_:
            raise nd.ConfigurationError(
                f"SubsetVertex: to must be at least from, {self.from_}, got {self.to}. Both are included."
            )

    def check_range(self, label: str, length: int) -> None:
        """Raise ShapeError unless the first axis behind the examples is so long."""
        if self.to >= length:
            what = f"places of axis 1 of {self.data_format}" if channels_last(self.data_format) else "channels"
            raise nd.ShapeError(
                f"{label}: from {self.from_} to {self.to} must be among the {length} {what} of the input, 0 to "
                f"{length - 1}. Both are included."
            )

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        (given,) = input_types
        if isinstance(given, ConvolutionalFlatType):
            raise nd.ConfigurationError(
                f"{label}: images as rows have no channels, got {given!r}. Use InputType.convolutional, or "
                "InputType.feed_forward."
            )
        length, *others = arranged(given.shape, self.data_format)
        if length is not None:  # steps of series may not be known
            self.check_range(label, length)
        return of_shape(computed((self.to - self.from_ + 1, *others), self.data_format))
