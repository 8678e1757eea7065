"""Geometry that layers with windows share: kernel, stride, padding and dilation of ConvolutionParameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape

from .base import Shape

MOST_AXES = 3
"""That windows slide along."""


class Geometry(NamedTuple):
    """A number for every axis that windows slide along, of which there are two at least."""

    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape


def geometry_of(label: str, settings: Any, axes: int) -> Geometry:
    """Return the geometry of a convolution along so many axes.

    Raises
    ------
    ConfigurationError
        Sizes are there twice, or not at all, or not once for every axis, or are 0.
    """
    kernel = _sizes(label, settings, "kernel", axes, None)
    stride = _sizes(label, settings, "stride", axes, 1)
    padding = _sizes(label, settings, "pad", axes, 0)
    dilation = _per_axis(label, "dilation", settings.dilation, axes, 1)
    for name, sizes in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if 0 in sizes:
            raise ConfigurationError(f"{label}: {name} must be >= 1 along every axis, got {list(sizes)}.")
    return Geometry(*(_as_image(sizes, one) for sizes, one in ((kernel, 1), (stride, 1), (padding, 0), (dilation, 1))))


def _as_image(sizes: Shape, one: int) -> Shape:
    return (*sizes, *(one,) * (2 - len(sizes)))


def _sizes(label: str, settings: Any, name: str, axes: int, usual: int | None) -> Shape:
    """Return sizes from ``name_h`` and ``name_w``, or from the repeated field."""
    high, wide = f"{name}_h", f"{name}_w"
    repeated = "kernel_size" if name == "kernel" else name
    given = list(getattr(settings, repeated))
    if not (settings.HasField(high) or settings.HasField(wide)):
        return _per_axis(label, repeated, given, axes, usual)
    if given:
        raise ConfigurationError(f"{label}: either {repeated} or {high} and {wide}, got both.")
    if axes != 2:
        raise ConfigurationError(f"{label}: {high} and {wide} are for two axes, got {axes}. Give {repeated}.")
    return getattr(settings, high), getattr(settings, wide)


def _per_axis(label: str, name: str, given: Sequence[int], axes: int, usual: int | None) -> Shape:
    """Return a repeated field that is there once, or once for every axis, or not at all."""
    if not given and usual is not None:
        return (usual,) * axes
    if len(given) not in (1, axes):
        raise ConfigurationError(
            f"{label}: {name} must be given once, or once for every one of {axes} axes, got {list(given)}."
        )
    return tuple(given) * (axes if len(given) == 1 else 1)


def places_of(label: str, shape: Shape, axis: int) -> Shape:
    """Return the sizes of the axes behind the channels, two or three: ``H, W``, of a series ``T, 1``.

    Raises
    ------
    ShapeError
        There are more.
    """
    places = shape[axis + 1 :]
    if len(places) > MOST_AXES:
        raise ShapeError(
            f"{label}: expected at most {MOST_AXES} axes behind the channels, got {len(places)}: "
            f"{describe_shape(shape)} with channels on axis {axis}. Reshape the bottom."
        )
    return _as_image(places, 1)
