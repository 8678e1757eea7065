"""ReshapeVertex, PreprocessorVertex and PoolHelperVertex: numbers of one input in another shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import nd
from nd.checks import check_choice, describe_shape
from nd.typing import Array

from ..layers.places import interior, within
from ..layers.runtime import Params
from ..terms.data_formats import axes_inward, axes_outward, computed, format_of_axes, rows_of
from ..terms.input_type import ConvolutionalType, InputType
from ..terms.java_form import JavaForm
from ..terms.preprocessors import InputPreProcessor
from .base import VertexConf
from .merging import of_shape
from .runtime import VertexContext, VertexRuntime

Shape = tuple[int, ...]


class ReshapeRuntime(VertexRuntime):
    """A view or a copy each way, in the order in which the numbers are read."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        x, conf = xs[0], self.conf
        x = nd.permute(x, axes_outward(conf.data_format, x.ndim))
        a = self._reshaped(x, self._shape_for(tuple(x.shape)), ctx, "a")
        return nd.permute(a, axes_inward(conf.output_format, a.ndim)), tuple(x.shape)

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        epsilon = nd.permute(epsilon, axes_outward(self.conf.output_format, epsilon.ndim))
        below = self._reshaped(epsilon, cache, ctx, "epsilon")
        return [nd.permute(below, axes_inward(self.conf.data_format, below.ndim))]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        (mask,) = masks
        conf = self.conf
        if mask is None:
            return None
        if conf.mask_shape is not None:
            return self._reshaped(mask, self._filled("mask", conf.mask_shape, tuple(mask.shape)), ctx, "mask")
        wanted = (conf.new_shape[0], *computed(conf.new_shape[1:], conf.output_format))
        series, of_examples = len(wanted) == 3, math.prod(mask.shape[1:]) == 1
        if mask.ndim == 2 and (not of_examples) is series:
            return mask
        if conf.new_shape[0] > 0 and mask.ndim == 2:  # rows that are time steps become series, or the reverse
            shape = (wanted[0], wanted[2] if series else 1)
            return self._reshaped(mask, self._filled("mask", shape, tuple(mask.shape)), ctx, "mask")
        if mask.ndim == 2 and series and wanted[2] > 0:
            return nd.assign(ctx.buffer("mask", (mask.shape[0], wanted[2])), mask)
        raise nd.ShapeError(
            f"{self.label}: mask_shape must say what becomes of a mask {describe_shape(mask.shape)} where activations "
            f"become {list(conf.new_shape)}. Give it, or mask whole examples."
        )

    def examples(self, counts: Sequence[int]) -> int:
        return counts[0] if self.conf.new_shape[0] == -1 else self.conf.new_shape[0]

    def may_split(self, training: bool) -> bool:
        return bool(self.conf.new_shape[0] == -1)

    def _shape_for(self, shape: Shape) -> Shape:
        filled = self._filled("input", self.conf.new_shape, shape)
        if self.conf.new_shape[0] == -1 and filled[0] != shape[0]:
            raise nd.ShapeError(
                f"{self.label}: new_shape {list(self.conf.new_shape)} must keep the {shape[0]} examples of the input "
                f"{describe_shape(shape)}, got {filled[0]}. Mend the sizes, or give the number of examples."
            )
        return filled

    def _filled(self, what: str, wanted: Sequence[int], shape: Shape) -> Shape:
        """Return a shape with the number in the place of -1."""
        count, known = math.prod(shape), math.prod(size for size in wanted if size != -1)
        if count % known or (-1 not in wanted and count != known):
            raise nd.ShapeError(
                f"{self.label}: {what} must fit into the shape {list(wanted)}, got {describe_shape(shape)}. Mend the "
                "sizes."
            )
        return tuple(count // known if size == -1 else size for size in wanted)

    def _reshaped(self, x: Array, shape: Shape, ctx: VertexContext, name: str) -> Array:
        """Return x in another shape: as it lies where examples stay what they are, else one memory, seen in both."""
        order = self.conf.reshape_order
        if order == "c" and shape[0] == x.shape[0]:
            return nd.reshape(nd.to_activation_order(x, lambda _, wanted: ctx.buffer(name, wanted)), shape)
        memory = ctx.buffer(name, (math.prod(x.shape),))
        nd.assign(nd.reshape_view(memory, tuple(x.shape), order), x)
        return nd.reshape_view(memory, shape, order)


@dataclass(frozen=True, init=False)
class ReshapeVertex(VertexConf):
    """The numbers of its input in another shape.

    Parameters
    ----------
    new_shape : sequence of int, or several int
        Of the activations, examples first; -1 in one place stands for what fits.
    reshape_order : {"c", "f"}
        Whether the numbers are read with the last or with the first axis fastest.
    mask_shape : sequence of int, optional
        Of the mask. Without it masks of rows and images say which examples count, those of series which steps do.
    data_format, output_format : str, optional
        Of the input and of the activations; the network says them.

    Raises
    ------
    ConfigurationError
        A size is neither -1 nor at least 1, -1 stands there twice, or there are not 2 to 5 of them.

    Notes
    -----
    ``ReshapeVertex(-1, 12)``, ``ReshapeVertex([-1, 12])``, and as in Java ``ReshapeVertex("c", [-1, 12], None)``. With
    -1 as first size the examples stay what they are; with a number there the minibatch is not computed in parts.
    Numbers are read, and sizes meant, in the order of arrays as they look from outside; activations have the format
    that a layer behind the vertex says, else that of the input where they have as many axes. Source: DL4J
    ``ReshapeVertex``. Differs: with -1 as first size, sizes that would change the number of examples are refused, and
    a mask of examples holds for all steps of series; the length of series is in the output type; volumes have one too;
    a type says the format, in Java always channels first.

    Examples
    --------
    >>> from nn import InputType
    >>> ReshapeVertex(-1, 2, 6).output_type("vertex", [InputType.feed_forward(12)])
    recurrent(2x6)
    """

    new_shape: Sequence[int]
    reshape_order: str = "c"
    mask_shape: Sequence[int] | None = None
    data_format: str | None = field(default=None, compare=False)
    output_format: str | None = field(default=None, compare=False)
    makes_axes: ClassVar[bool] = True
    runtime: ClassVar = ReshapeRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({
        "maskShape": ("mask_shape", "sizes"),
        "newShape": ("new_shape", "sizes"),
        "reshapeOrder": ("reshape_order", "plain"),
    })  # fmt: skip

    def __init__(
        self,
        *shape: Any,
        new_shape: Any = (),
        reshape_order: str = "c",
        mask_shape: Sequence[int] | None = None,
        data_format: str | None = None,
        output_format: str | None = None,
    ) -> None:
        if shape and isinstance(shape[0], str):
            reshape_order, new_shape, *rest = (*shape, ())[: max(2, len(shape))]
            mask_shape = rest[0] if rest else mask_shape
        elif shape:
            new_shape = shape if isinstance(shape[0], int) else shape[0]
        for name, value in (("new_shape", new_shape), ("reshape_order", reshape_order), ("mask_shape", mask_shape)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "data_format", data_format)
        object.__setattr__(self, "output_format", output_format)
        self.__post_init__()

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        axes = len(self.new_shape)
        behind = rows_of(incoming) if axes == 2 else format_of_axes(axes, wanted, incoming)
        return replace(self, data_format=incoming, output_format=behind), behind

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("ReshapeVertex", "reshape_order", self.reshape_order, ("c", "f"))
        fewest = {"new_shape": 2, "mask_shape": 1}
        for name in ("new_shape", "mask_shape"):
            sizes = getattr(self, name)
            if sizes is None:
                continue
            object.__setattr__(self, name, tuple(sizes))
            sizes = tuple(sizes)
            if any(size < 1 and size != -1 for size in sizes) or sizes.count(-1) > 1:
                raise nd.ConfigurationError(
                    f"ReshapeVertex: {name} must be sizes >= 1, and -1 at most once, got {list(sizes)}. Mend them."
                )
            if not fewest[name] <= len(sizes) <= 5:
                raise nd.ConfigurationError(
                    f"ReshapeVertex: {name} must have {fewest[name]} to 5 sizes, got {list(sizes)}. Examples come "
                    "first."
                )

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        (given,) = input_types
        sizes: list[int | None] = list(computed(tuple(self.new_shape[1:]), self.output_format))
        if -1 in sizes or self.new_shape[0] == -1:
            sizes = self._inferred(label, sizes, given)
        return of_shape(sizes)

    def _inferred(self, label: str, sizes: Sequence[int | None], given: InputType) -> list[int | None]:
        """Return the sizes of an example, where examples stay what they are."""
        missing, known = -1 in sizes, math.prod(size for size in sizes if size not in (None, -1))
        unknown = None in given.shape
        count = math.prod(given.sizes)
        if self.new_shape[0] == -1 and not unknown and count != known:
            raise nd.ShapeError(
                f"{label}: new_shape must have as many numbers in an example as {given!r}, {count}, got {known} in "
                f"{list(self.new_shape)}. Mend the sizes."
            )
        if not missing:
            return list(sizes)
        if sizes[0] == -1 or len(sizes) != 2:
            raise nd.ConfigurationError(
                f"{label}: new_shape must give every size of an example, got {list(self.new_shape)}. Only the number "
                "of examples and the length of series may be -1."
            )
        return [sizes[0], None]


class PreprocessorRuntime(VertexRuntime):
    """The preprocessor's passes."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        (x,) = xs
        examples = ctx.examples or x.shape[0]
        return self.conf.preprocessor.pre_process(x, examples, ctx.buffer), tuple(x.shape)

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        if tuple(epsilon.shape) == cache:  # it has let the input pass
            return [epsilon]
        return [self.conf.preprocessor.backprop(epsilon, ctx.examples or cache[0], ctx.buffer)]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        (mask,) = masks
        return mask if mask is None else self.conf.preprocessor.feed_forward_mask(mask, ctx.examples or mask.shape[0])

    def may_split(self, training: bool) -> bool:
        return bool(self.conf.preprocessor.splits)


@dataclass(frozen=True)
class PreprocessorVertex(VertexConf):
    """A preprocessor that is a node of its own.

    Parameters
    ----------
    preprocessor : InputPreProcessor

    Notes
    -----
    Source: DL4J ``PreprocessorVertex``.

    Examples
    --------
    >>> from nn import InputType, CnnToFeedForwardPreProcessor
    >>> vertex = PreprocessorVertex(CnnToFeedForwardPreProcessor(4, 3, 2))
    >>> vertex.output_type("vertex", [InputType.convolutional(4, 3, 2)])
    feed_forward(24)
    """

    preprocessor: InputPreProcessor
    runtime: ClassVar = PreprocessorRuntime
    builder_names: ClassVar[dict[str, str]] = {"pre_processor": "preprocessor"}
    form: ClassVar[JavaForm] = VertexConf.form.more({"preProcessor": ("preprocessor", "preprocessor")})

    @property
    def said_format(self) -> str | None:
        """The format of the input that the preprocessor says, None where it says none."""
        return self.preprocessor.said_format

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        preprocessor, behind = self.preprocessor.in_format(label, incoming, wanted)
        return replace(self, preprocessor=preprocessor), behind

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        return self.preprocessor.output_type(input_types[0])


_FIRST = (1, 0, 1, 0)


class PoolHelperRuntime(VertexRuntime):
    """A view forward, a copy within zeros backward."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        (x,) = xs
        if x.ndim != 4 or min(x.shape[2:]) < 2:
            raise nd.ShapeError(
                f"{self.label}: expected images [N, C, H, W] of at least 2 x 2, got {describe_shape(x.shape)}. Put it "
                "behind a layer of images."
            )
        return interior(x, _FIRST), tuple(x.shape)

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        return [within(ctx.buffer("epsilon", cache), epsilon, _FIRST) if ctx.needs_epsilons[0] else None]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        (mask,) = masks
        if mask is None or mask.ndim != 4:
            return mask
        return interior(
            mask, tuple(border if mask.shape[2 + side // 2] > 1 else 0 for side, border in enumerate(_FIRST))
        )


@dataclass(frozen=True)
class PoolHelperVertex(VertexConf):
    """Images without their first row and first column.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, C, H - 1, W - 1]``: for networks of Caffe's whose pooling pads at the other
    side, such as GoogLeNet. Source: DL4J ``PoolHelperVertex``. Differs: the output type has a row and a column less,
    in Java it is the input's; images need not be square, and masks of places lose their first ones too; of NHWC too it
    takes a row and a column, Java's a column and a channel.
    """

    runtime: ClassVar = PoolHelperRuntime

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        (given,) = input_types
        if not isinstance(given, ConvolutionalType) or min(given.height, given.width) < 2:
            raise nd.ConfigurationError(
                f"{label}: expected images of at least 2 x 2, got {given!r}. Put it behind a layer of images."
            )
        return ConvolutionalType(given.height - 1, given.width - 1, given.channels)
