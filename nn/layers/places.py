"""Layers over places: the axes behind the channels of series, images and volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.arrays.convolution import Sizes, per_axis
from nd.typing import Array

from ..terms.input_type import Convolutional3DType, ConvolutionalType, InputType, RecurrentType, series_of
from ..terms.preprocessors import InputPreProcessor, to_images, to_series
from .base import LayerConf
from .convolution.convolution import check_places, image_of
from .convolution.convolution3d import volume_of
from .runtime import Context, LayerRuntime, Params

if TYPE_CHECKING:
    from optimize.builder import Builder


_INPUT: dict[int, Callable[[str, InputType], InputType]] = {1: series_of, 2: image_of, 3: volume_of}
"""Number of axes -> check of the kind of the input."""


def places_of(label: str, input_type: InputType, axes: int) -> tuple[int, tuple[int | None, ...]]:
    """Return channels and lengths of the axes of places; None for a length that is not known.

    Raises
    ------
    ConfigurationError
        The input is of another kind.
    """
    shape = _INPUT[axes](label, input_type).shape
    return shape[0], shape[1:]


def type_of_places(channels: int, sizes: Sequence[int | None]) -> InputType:
    """Return the series, images or volumes of those channels and lengths."""
    if len(sizes) == 1:
        return RecurrentType(channels, sizes[0])
    kind: Any = ConvolutionalType if len(sizes) == 2 else Convolutional3DType
    return kind(*sizes, channels)


def set_per_axis(conf: object, name: str, axes: int) -> None:
    """Turn a size in a frozen configuration into a tuple, one number for each axis."""
    object.__setattr__(conf, name, per_axis(type(conf).__name__, name, getattr(conf, name), 1, axes))


def set_borders(conf: object, name: str, axes: int) -> None:
    """Turn a field of a frozen configuration into two numbers for each axis, before and after.

    One number stands for all sides, one for each axis for both of its sides.
    """
    value = getattr(conf, name)
    borders = value if isinstance(value, tuple) else (value,)
    if axes > 1 and len(borders) == axes:
        borders = tuple(both for both in borders for _ in (0, 1))
    borders = borders * (2 * axes) if len(borders) == 1 else borders
    counts = {1: "one or two", 2: "one, two or four", 3: "one, three or six"}[axes]
    if len(borders) != 2 * axes or not all(type(border) is int for border in borders):
        raise nd.ConfigurationError(
            f"{type(conf).__name__}: {name} must be {counts} integers >= 0, in the order {', '.join(SIDES[axes])}, "
            f"got {value!r}."
        )
    object.__setattr__(conf, name, borders)


def interior(x: Array, borders: Sequence[int]) -> Array:
    """View the last axes of x without their borders: two numbers for each of these axes, before and after."""
    first = x.ndim - len(borders) // 2
    inside = (
        slice(before, length - after)
        for before, after, length in zip(borders[::2], borders[1::2], x.shape[first:], strict=True)
    )
    return x[*(slice(None) for _ in range(first)), *inside]


def within(out: Array, x: Array, borders: Sequence[int]) -> Array:
    """Put x inside of zeros, so wide on each side as `interior` takes away, in `out`; return it."""
    nd.fill(out, 0.0)
    nd.assign(interior(out, borders), x)
    return out


SIDES = {
    1: ("left", "right"),
    2: ("top", "bottom", "left", "right"),
    3: ("front", "back", "top", "bottom", "left", "right"),
}
"""Number of axes -> names of the borders, in DL4J's order."""


class PlacesRuntime(LayerRuntime):
    """Forward and backward of a layer that moves numbers between places.

    The dropout of the input is applied; a subclass whose Java model leaves it out says ``takes_dropout = False``.
    """

    pure = splits = True

    def moved(self, x: Array, ctx: Context) -> Array:
        """Return the activations."""
        raise NotImplementedError

    def moved_back(self, epsilon: Array, shape: Sizes, ctx: Context) -> Array:
        """Return dL/dx, of that shape."""
        raise NotImplementedError

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Sizes]:
        check_places(self.label, x, self.conf.axes)
        return self.moved(x, ctx), tuple(x.shape)

    def backward(self, epsilon: Array, cache: Sizes, params: Params, grads: Params, ctx: Context) -> Array | None:
        return self.moved_back(epsilon, cache, ctx) if ctx.needs_epsilon else None

    def known(self, sizes: Sizes, axis: int) -> bool:
        """Tell whether a mask of those lengths has one number for every place of an axis, not one for all of them."""
        return self.conf.axes == 1 or sizes[axis] > 1


@dataclass(frozen=True, kw_only=True)
class PlacesConf(LayerConf):
    """A layer over places, without parameters, that keeps the channels.

    Parameters
    ----------
    name, drop_out
        As `LayerConf`.
    """

    axes: ClassVar[int]

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return {1: to_series, 2: to_images}[self.axes](input_type) if self.axes < 3 else None  # nothing makes volumes

    def output_type(self, label: str, input_type: InputType) -> InputType:
        channels, sizes = places_of(label, input_type, self.axes)
        known = all(length is not None for length in sizes)
        return type_of_places(channels, self.out_sizes(label, sizes) if known else sizes)  # type: ignore[arg-type]

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        """Return the lengths of the output's axes of places.

        Raises
        ------
        ShapeError
            The layer does not fit on the input.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class BordersConf(PlacesConf):
    """A layer over places that takes something off at the borders, or adds it there.

    Parameters
    ----------
    name, drop_out
        As `LayerConf`.
    """

    borders: ClassVar[str]
    """Name of the field that says how much."""

    @classmethod
    def Builder(cls, *borders: Any) -> Builder:
        """Start DL4J's fluent style: the borders one by one, one number for each axis, or a list."""
        builder = super().Builder()
        return getattr(builder, cls.borders)(*borders) if borders else builder

    def __post_init__(self) -> None:
        super().__post_init__()
        set_borders(self, self.borders, self.axes)
