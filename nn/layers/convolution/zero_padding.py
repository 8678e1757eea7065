"""ZeroPadding1DLayer, ZeroPaddingLayer and ZeroPadding3DLayer: zeros around their input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd.arguments import Natural
from nd.typing import Array

from ...terms import data_formats
from ...terms.java_form import PARAMETERLESS, JavaForm
from ..places import BordersConf, PlacesRuntime, Sizes, interior, within
from ..runtime import Context


class ZeroPaddingRuntime(PlacesRuntime):
    """One copy forward; a view backward."""

    pure = splits = True
    takes_dropout = False

    def moved(self, x: Array, ctx: Context) -> Array:
        sizes = self.conf.out_sizes(self.label, tuple(x.shape[2:]))
        return within(nd.buffer_like(x, ctx.buffer, "a", (*x.shape[:2], *sizes)), x, self.conf.padding)

    def moved_back(self, epsilon: Array, shape: Sizes, ctx: Context) -> Array:
        return interior(epsilon, self.conf.padding)

    def feed_forward_mask(self, mask: Array) -> Array:
        buffer = nd.fresh_buffers(self.dtype)
        if mask.ndim == 2:
            left, right = self.conf.padding
            return within(buffer("mask", (mask.shape[0], left + mask.shape[1] + right)), mask, (left, right))
        padding, sizes = list(self.conf.padding), list(mask.shape[2:])
        for axis in range(len(sizes)):
            if not self.known(mask.shape, 2 + axis):
                padding[2 * axis : 2 * axis + 2] = 0, 0
            sizes[axis] += sum(padding[2 * axis : 2 * axis + 2])
        return within(buffer("mask", (*mask.shape[:2], *sizes)), mask, padding)


@dataclass(frozen=True, kw_only=True)
class _ZeroPadding(BordersConf):
    padding: Natural | Sequence[Natural] = field(default=0, kw_only=False)
    borders: ClassVar[str] = "padding"
    runtime: ClassVar = ZeroPaddingRuntime
    form: ClassVar[JavaForm] = BordersConf.form.more({"padding": ("padding", "sizes")}, PARAMETERLESS)

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        borders: Any = self.padding
        return tuple(length + sum(borders[2 * axis : 2 * axis + 2]) for axis, length in enumerate(sizes))


@dataclass(frozen=True, kw_only=True)
class ZeroPadding1DLayer(_ZeroPadding):
    """Zeros before and after time series.

    Parameters
    ----------
    padding : int or pair of int
        ``left, right``; one number for both.

    Notes
    -----
    Input ``[N, C, T]``, output ``[N, C, left + T + right]``. Dropout is not applied, even if configured. The zeros
    that are added do not count in a mask. Source: DL4J ``ZeroPadding1DLayer``. Differs: Java hands the mask on as it
    is.

    Examples
    --------
    >>> from nn import InputType
    >>> ZeroPadding1DLayer((1, 2)).output_type("layer 0", InputType.recurrent(3, 5))
    recurrent(3x8)
    """

    axes: ClassVar[int] = 1
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES[:1]


@dataclass(frozen=True, kw_only=True)
class ZeroPaddingLayer(_ZeroPadding):
    """Zeros around images.

    Parameters
    ----------
    padding : int, pair of int or four int
        ``top, bottom, left, right``; two numbers are height and width, on both sides; one is for all sides.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, C, top + H + bottom, left + W + right]``. Dropout is not applied, even if
    configured. The zeros that are added do not count in a mask. Source: DL4J ``ZeroPaddingLayer``. Differs: Java hands
    the mask on as it is.

    Examples
    --------
    >>> from nn import InputType
    >>> ZeroPaddingLayer((1, 2, 3, 0)).output_type("layer 0", InputType.convolutional(5, 5, 3))
    convolutional(8x8x3)
    """

    data_format: str | None = None
    axes: ClassVar[int] = 2
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = _ZeroPadding.form.formatted("dataFormat")


@dataclass(frozen=True, kw_only=True)
class ZeroPadding3DLayer(_ZeroPadding):
    """Zeros around volumes.

    Parameters
    ----------
    padding : int, three int or six int
        ``front, back, top, bottom, left, right``; three numbers are depth, height and width, on both sides; one is for
        all sides.

    Notes
    -----
    Input ``[N, C, D, H, W]``, output ``[N, C, front + D + back, top + H + bottom, left + W + right]``. Else as
    `ZeroPaddingLayer`. Source: DL4J ``ZeroPadding3DLayer``.
    """

    axes: ClassVar[int] = 3
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES[:1]
