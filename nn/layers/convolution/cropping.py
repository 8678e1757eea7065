"""Cropping1D, Cropping2D and Cropping3D: their input without its borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd.arguments import Natural
from nd.typing import Array

from ...terms import data_formats
from ...terms.java_form import PARAMETERLESS, JavaForm
from ..places import SIDES, BordersConf, PlacesRuntime, Sizes, interior
from ..runtime import Context


class CroppingRuntime(PlacesRuntime):
    """A view forward; one copy backward."""

    pure = splits = True
    takes_dropout = False

    def moved(self, x: Array, ctx: Context) -> Array:
        self.conf.out_sizes(self.label, tuple(x.shape[2:]))  # raises where nothing is left
        return interior(x, self.conf.cropping)

    def moved_back(self, epsilon: Array, shape: Sizes, ctx: Context) -> Array:
        below = nd.fill(nd.buffer_like(epsilon, ctx.buffer, "epsilon", shape), 0.0)
        nd.assign(interior(below, self.conf.cropping), epsilon)
        return below

    def feed_forward_mask(self, mask: Array) -> Array:
        if mask.ndim == 2:
            return interior(mask, self.conf.cropping)
        cropping = [
            border if self.known(mask.shape, 2 + side // 2) else 0 for side, border in enumerate(self.conf.cropping)
        ]
        return interior(mask, cropping)


@dataclass(frozen=True, kw_only=True)
class _Cropping(BordersConf):
    cropping: Natural | Sequence[Natural] = field(default=0, kw_only=False)
    borders: ClassVar[str] = "cropping"
    runtime: ClassVar = CroppingRuntime
    form: ClassVar[JavaForm] = BordersConf.form.more(
        {"cropping": ("cropping", "sizes")}, PARAMETERLESS, package="convolutional."
    )

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        borders: Any = self.cropping
        inside = tuple(length - sum(borders[2 * axis : 2 * axis + 2]) for axis, length in enumerate(sizes))
        if min(inside) < 1:
            raise nd.ShapeError(
                f"{label}: cropping must leave something, got {', '.join(SIDES[self.axes])} = {borders} of places "
                f"{list(sizes)}. Crop less."
            )
        return inside


@dataclass(frozen=True, kw_only=True)
class Cropping1D(_Cropping):
    """Time series without their first and last steps.

    Parameters
    ----------
    cropping : int or pair of int
        ``left, right``; one number for both.

    Notes
    -----
    Input ``[N, C, T]``, output ``[N, C, T - left - right]``, a view. Dropout is not applied, even if configured; a mask
    is cropped like the input. Source: DL4J ``Cropping1D``. Differs: Java hands the mask on as it is.

    Examples
    --------
    >>> from nn import InputType
    >>> Cropping1D((1, 2)).output_type("layer 0", InputType.recurrent(3, 8))
    recurrent(3x5)
    """

    axes: ClassVar[int] = 1
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES[:1]


@dataclass(frozen=True, kw_only=True)
class Cropping2D(_Cropping):
    """Images without their borders.

    Parameters
    ----------
    cropping : int, pair of int or four int
        ``top, bottom, left, right``; two numbers are height and width, on both sides; one is for all sides.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, C, H - top - bottom, W - left - right]``, a view. Dropout is not applied, even
    if configured; a mask is cropped like the input. Source: DL4J ``Cropping2D``. Differs: Java hands the mask on as it
    is.

    Examples
    --------
    >>> from nn import InputType
    >>> Cropping2D((1, 2, 3, 0)).output_type("layer 0", InputType.convolutional(8, 8, 3))
    convolutional(5x5x3)
    """

    data_format: str | None = None
    axes: ClassVar[int] = 2
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = _Cropping.form.formatted("dataFormat")


@dataclass(frozen=True, kw_only=True)
class Cropping3D(_Cropping):
    """Volumes without their borders.

    Parameters
    ----------
    cropping : int, three int or six int
        ``front, back, top, bottom, left, right``; three numbers are depth, height and width, on both sides; one is for
        all sides.

    Notes
    -----
    Input ``[N, C, D, H, W]``, output ``[N, C, D - front - back, H - top - bottom, W - left - right]``, a view. Else as
    `Cropping2D`. Source: DL4J ``Cropping3D``.
    """

    axes: ClassVar[int] = 3
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES[:1]
