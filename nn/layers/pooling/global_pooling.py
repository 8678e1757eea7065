"""GlobalPoolingLayer: one number for every channel, over all places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Count, Natural
from nd.checks import check_choice, check_shape, describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.enums import PoolingType
from ...terms.input_type import Convolutional3DType, ConvolutionalType, FeedForwardType, InputType, RecurrentType
from ...terms.java_form import PARAMETERLESS, JavaForm
from ...terms.preprocessors import InputPreProcessor, to_images
from ..base import LayerConf
from ..places import type_of_places
from ..runtime import Buffers, Context, LayerRuntime, Params

Axes = tuple[int, ...]


class Pooled(NamedTuple):
    """Results of forward that backward needs; a mask's axis has size 1 where it says the same for all of the axis."""

    x: Array
    """``[N, C, ...]``, with a mask only the places that count."""
    mask: Array | None
    """``[N, 1, ...]``."""
    value: Array
    """``[N, C, 1, ...]``: the maximum, or the norm."""
    count: Any
    """``[N, 1, 1, ...]``: places that count, for an average; whether there are any, for a masked maximum."""


class Pooling:
    """Forward and backward of one pooling type over all places of ``x [N, C, ...]``."""

    def __init__(self, pnorm: int) -> None:
        self.pnorm = pnorm

    def forward(self, x: Array, mask: Array | None, axes: Axes, buffer: Buffers) -> tuple[Array, Pooled]:
        """Return ``[N, C, 1, ...]`` and the results that `backward` needs."""
        raise NotImplementedError

    def backward(self, epsilon: Array, saved: Pooled, axes: Axes, buffer: Buffers) -> Array:
        """Return dL/dx for ``epsilon [N, C, 1, ...]``."""
        raise NotImplementedError

    def spread(self, epsilon: Array, saved: Pooled, buffer: Buffers) -> Array:
        """Return epsilon at every place that counts."""
        below = nd.assign(nd.buffer_like(saved.x, buffer, "epsilon"), epsilon)
        return below if saved.mask is None else nd.muli(below, saved.mask)

    def masked(self, x: Array, mask: Array | None, buffer: Buffers) -> Array:
        """Return x, 0 where a place does not count."""
        return x if mask is None else nd.multiply(x, mask, nd.buffer_like(x, buffer, "masked"))


class SumPooling(Pooling):
    """The sum."""

    def forward(self, x: Array, mask: Array | None, axes: Axes, buffer: Buffers) -> tuple[Array, Pooled]:
        total = nd.sum(self.masked(x, mask, buffer), axes, keepdims=True)
        return total, Pooled(x, mask, total, None)

    def backward(self, epsilon: Array, saved: Pooled, axes: Axes, buffer: Buffers) -> Array:
        return self.spread(epsilon, saved, buffer)


class AvgPooling(Pooling):
    """The mean over the places that count; 0 where none does."""

    def forward(self, x: Array, mask: Array | None, axes: Axes, buffer: Buffers) -> tuple[Array, Pooled]:
        total = nd.sum(self.masked(x, mask, buffer), axes, keepdims=True)
        places = math.prod(x.shape[axis] for axis in axes)
        count: Array | float = float(places)
        if mask is not None:  # an axis of length 1 of the mask counts for all of the input's
            times = places / math.prod(mask.shape[axis] for axis in axes)
            counted = nd.multiply(nd.sum(mask, axes, keepdims=True), times)
            count = nd.where(nd.greater(counted, 0.0), counted, 1.0)
        return nd.divide(total, count), Pooled(x, mask, total, count)

    def backward(self, epsilon: Array, saved: Pooled, axes: Axes, buffer: Buffers) -> Array:
        return self.spread(nd.divide(epsilon, saved.count), saved, buffer)


class MaxPooling(Pooling):
    """The maximum of the places that count; 0 where none does. The first of equals gets the gradient."""

    def forward(self, x: Array, mask: Array | None, axes: Axes, buffer: Buffers) -> tuple[Array, Pooled]:
        if mask is None:
            best = nd.max(x, axes, keepdims=True)
            return best, Pooled(x, None, best, None)
        away = nd.where(nd.greater(mask, 0.0), nd.multiply(mask, 0.0), -math.inf)  # zeros of the mask's dtype
        seen = nd.add(x, away, nd.buffer_like(x, buffer, "masked"))
        best, counts = nd.max(seen, axes, keepdims=True), nd.greater(nd.max(mask, axes, keepdims=True), 0.0)
        return nd.where(counts, best, 0.0), Pooled(seen, mask, best, counts)

    def backward(self, epsilon: Array, saved: Pooled, axes: Axes, buffer: Buffers) -> Array:
        x = saved.x
        if saved.mask is not None:
            epsilon = nd.where(saved.count, epsilon, 0.0)
        below = nd.equal(x, saved.value, nd.buffer_like(x, buffer, "epsilon"))
        sizes = tuple(x.shape[axis] for axis in axes)
        places = math.prod(sizes)
        countdown = nd.subtract(places, nd.arange(places, dtype=nd.dtype_name(x)))
        nd.muli(below, nd.reshape(countdown, (1, 1, *sizes)))  # largest at the first maximum
        nd.equal(below, nd.max(below, axes, keepdims=True), below)
        return nd.muli(below, epsilon)


class PnormPooling(Pooling):
    """The p-norm of the places that count."""

    def forward(self, x: Array, mask: Array | None, axes: Axes, buffer: Buffers) -> tuple[Array, Pooled]:
        seen = self.masked(x, mask, buffer)
        powers = nd.absolute(seen, nd.buffer_like(x, buffer, "powers"))
        nd.power(powers, self.pnorm, powers)
        norm = nd.power(nd.sum(powers, axes, keepdims=True), 1.0 / self.pnorm)
        return norm, Pooled(seen, mask, norm, None)

    def backward(self, epsilon: Array, saved: Pooled, axes: Axes, buffer: Buffers) -> Array:
        x, norm = saved.x, saved.value
        blank = nd.equal(norm, 0.0)
        share = nd.where(blank, 0.0, nd.multiply(epsilon, nd.power(nd.where(blank, 1.0, norm), 1 - self.pnorm)))
        below = nd.absolute(x, nd.buffer_like(x, buffer, "epsilon"))
        nd.power(below, self.pnorm - 1, below)
        nd.muli(below, nd.sign(x, nd.buffer_like(x, buffer, "powers")))
        nd.muli(below, share)
        return below if saved.mask is None else nd.muli(below, saved.mask)


POOLINGS: dict[str, type[Pooling]] = {
    "avg": AvgPooling,
    "max": MaxPooling,
    "pnorm": PnormPooling,
    "sum": SumPooling,
}
"""Name -> class, sorted."""


class GlobalPoolingRuntime(LayerRuntime):
    """Forward and backward of pooling over all places."""

    pure = splits = True
    takes_dropout = False

    def setup(self) -> None:
        self.pooling = POOLINGS[self.conf.pooling_type](self.conf.pnorm)

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        if not ctx.activates:
            return x, None
        axes = self._axes_of(x)
        mask = None if ctx.mask is None else self._places_of(ctx.mask, tuple(x.shape))
        pooled, saved = self.pooling.forward(x, mask, axes, ctx.buffer)
        return nd.reshape(pooled, tuple(x.shape[:2])) if self.conf.collapse_dimensions else pooled, saved

    def backward(self, epsilon: Array, cache: Pooled, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        n, channels, *sizes = cache.x.shape
        epsilon = nd.reshape(epsilon, (n, channels, *(1 for _ in sizes)))
        return self.pooling.backward(epsilon, cache, tuple(range(2, cache.x.ndim)), ctx.buffer)

    def feed_forward_mask(self, mask: Array) -> None:
        return None

    def _axes_of(self, x: Array) -> Axes:
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        axes = tuple(range(2, x.ndim))
        given = self.conf.pooling_dimensions
        if not 3 <= x.ndim <= 5 or (given is not None and len(given) != len(axes)):
            over = "" if self.conf.pooling_dimensions is None else f" with {len(self.conf.pooling_dimensions) + 2} axes"
            raise nd.ShapeError(
                f"{self.label}: expected input [N, C, T], [N, C, H, W] or [N, C, D, H, W]{over}, got "
                f"{describe_shape(x.shape)}. Rows need no pooling; leave pooling_dimensions out."
            )
        return axes

    def _places_of(self, mask: Array, shape: Axes) -> Array:
        """Return a mask as ``[N, 1, ...]``; raise ShapeError unless it is one of such an input."""
        if len(shape) == 3:
            check_shape(f"{self.label}: mask", mask.shape, (shape[0], shape[2]))
            return nd.reshape(mask, (shape[0], 1, shape[2]))
        fits = zip(mask.shape, (shape[0], 1, *shape[2:]), strict=False)
        if mask.ndim != len(shape) or not all(size in (1, length) for size, length in fits):
            raise nd.ShapeError(
                f"{self.label}: mask: expected {describe_shape((shape[0], 1, *shape[2:]))}, or 1 in the place of a "
                f"length, got {describe_shape(mask.shape)}."
            )
        return mask


_POOLED_AXES: dict[Any, str] = {
    (1,): "NWC", (1, 2): "NHWC", (1, 2, 3): "NDHWC", (2,): "NCW", (2, 3): "NCHW", (2, 3, 4): "NCDHW",
}  # fmt: skip
"""Axes of places -> format that has them there, sorted."""


@dataclass(frozen=True, kw_only=True)
class GlobalPoolingLayer(LayerConf):
    """Pools over all time steps of series, or all places of images and volumes.

    Parameters
    ----------
    pooling_type : {"max", "avg", "sum", "pnorm"}
    pooling_dimensions : sequence of int, optional
        The axes that are pooled. Only all of them can be: ``(2,)`` of series, ``(2, 3)`` of images, ``(2, 3, 4)`` of
        volumes, with the channels last ``(1,)``, ``(1, 2)``, ``(1, 2, 3)``; by default those of the input.
    pnorm : int
        The p of "pnorm".
    collapse_dimensions : bool
        Whether the pooled axes go; else they stay with length 1.

    Notes
    -----
    Input ``[N, C, T]``, ``[N, C, H, W]`` or ``[N, C, D, H, W]``; output ``[N, C]``, or ``[N, C, 1]``, ... Places that
    a mask ``[N, T]``, ``[N, 1, H, W]`` or ``[N, 1, D, H, W]`` leaves out do not count; an axis of length 1 of images'
    and volumes' masks holds for all of the axis. There is no mask behind the layer. MAX hands the gradient to the first
    maximum in row-major order. Dropout is not applied, even if configured. Source: DL4J ``GlobalPoolingLayer``.
    Differs: an average over images whose mask has an axis of length 1 divides by the places that count, not by the
    mask's sum; where nothing counts the maximum and the average are 0, not -inf and NaN; where the p-norm is 0 its
    gradient is 0, not NaN; masks of volumes work, where Java refuses them; other pooling_dimensions are refused, where
    Java takes them and then fails.

    Examples
    --------
    >>> from nn import InputType
    >>> GlobalPoolingLayer("avg").output_type("layer 0", InputType.convolutional(7, 7, 12))
    feed_forward(12)
    """

    pooling_type: str = field(default="max", kw_only=False)
    pooling_dimensions: Natural | Sequence[Natural] | None = None
    pnorm: Count = 2
    collapse_dimensions: bool = True
    of_whole_series: ClassVar[bool] = True
    runtime: ClassVar = GlobalPoolingRuntime
    positional: ClassVar[tuple[str, ...]] = ("pooling_type",)
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {
            "collapseDimensions": ("collapse_dimensions", "plain"),
            "pnorm": ("pnorm", "plain"),
            "poolingDimensions": ("pooling_dimensions", "sizes"),
            "poolingType": ("pooling_type", "pooling"),
        },
        PARAMETERLESS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        name = check_choice("GlobalPoolingLayer", "pooling type", str(self.pooling_type).lower(), POOLINGS)
        object.__setattr__(self, "pooling_type", PoolingType(name))
        given = self.pooling_dimensions
        if given is None:
            return
        axes = given if isinstance(given, tuple) else (given,)
        if axes not in _POOLED_AXES:
            raise nd.ConfigurationError(
                f"GlobalPoolingLayer: pooling_dimensions must be (2,), (2, 3) or (2, 3, 4), all axes behind the "
                f"channels, or with the channels last (1,), (1, 2) or (1, 2, 3), got {given!r}. Leave them out."
            )
        object.__setattr__(self, "pooling_dimensions", axes)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        """Name the axes of images, as Java does."""
        if self.pooling_dimensions is None and isinstance(input_type, ConvolutionalType):
            return replace(self, pooling_dimensions=(2, 3))
        return self

    def output_type(self, label: str, input_type: InputType) -> InputType:
        if not isinstance(input_type, (RecurrentType, ConvolutionalType, Convolutional3DType)):
            raise nd.ConfigurationError(
                f"{label}: expected time series, images or volumes, got {input_type!r}. Rows need no pooling."
            )
        shape: tuple[Any, ...] = input_type.shape
        channels, *sizes = shape
        given: Any = self.pooling_dimensions
        if given is not None and len(given) != len(sizes):
            raise nd.ConfigurationError(
                f"{label}: pooling_dimensions must be all axes behind the channels of {input_type!r}, got "
                f"{self.pooling_dimensions}. Leave them out."
            )
        return FeedForwardType(channels) if self.collapse_dimensions else type_of_places(channels, [1] * len(sizes))

    @property
    def said_format(self) -> str | None:
        return None if self.pooling_dimensions is None else _POOLED_AXES[self.pooling_dimensions]

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        said = self.said_format
        if said is not None and data_formats.same_kind(said, incoming) and said != incoming:
            raise nd.ConfigurationError(
                f"{label}: pooling_dimensions must be all axes but the channels of {incoming}, got "
                f"{self.pooling_dimensions}. Leave them out."
            )
        layer = self
        if data_formats.channels_last(incoming):
            layer = replace(self, pooling_dimensions=next(a for a, name in _POOLED_AXES.items() if name == incoming))
        return layer, data_formats.rows_of(incoming) if self.collapse_dimensions else incoming or said

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, before and ("rows" if self.collapse_dimensions else before[0], before[1])
