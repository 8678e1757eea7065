"""Upsampling1D, Upsampling2D and Upsampling3D: every place several times, side by side."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import nd
from nd.arguments import Count
from nd.typing import Array

from ...terms import data_formats
from ...terms.java_form import PARAMETERLESS, Codec, JavaForm
from ..places import PlacesConf, PlacesRuntime, Sizes, set_per_axis
from ..runtime import Buffers, Context


def _blocks(sizes: Sequence[int], factors: Sequence[int]) -> Sizes:
    """Return ``(H, factor, W, factor)`` for ``H, W``."""
    return tuple(length for pair in zip(sizes, factors, strict=True) for length in pair)


class UpsamplingRuntime(PlacesRuntime):
    """One copy forward; sums over blocks backward."""

    pure = splits = True

    def moved(self, x: Array, ctx: Context) -> Array:
        return self._repeated(x, self.conf.size, ctx.buffer, "a")

    def moved_back(self, epsilon: Array, shape: Sizes, ctx: Context) -> Array:
        below = nd.buffer_like(epsilon, ctx.buffer, "epsilon", shape)
        for number, cell in enumerate(itertools.product(*map(range, self.conf.size))):
            starts = zip(cell, self.conf.size, strict=True)
            part = epsilon[:, :, *(slice(first, None, factor) for first, factor in starts)]
            if number == 0:
                nd.assign(below, part)
            else:
                nd.addi(below, part)
        return below

    def feed_forward_mask(self, mask: Array) -> Array:
        series = mask.ndim == 2
        mask = nd.reshape(mask, (mask.shape[0], 1, mask.shape[1])) if series else mask
        factors = [size if self.known(mask.shape, 2 + axis) else 1 for axis, size in enumerate(self.conf.size)]
        repeated = self._repeated(mask, factors, nd.fresh_buffers(self.dtype), "mask")
        return nd.reshape(repeated, (mask.shape[0], repeated.shape[2])) if series else repeated

    def _repeated(self, x: Array, factors: Sequence[int], buffer: Buffers, name: str) -> Array:
        outer, sizes = tuple(x.shape[:2]), tuple(x.shape[2:])
        repeated = (length * factor for length, factor in zip(sizes, factors, strict=True))
        out = nd.buffer_like(x, buffer, name, (*outer, *repeated))
        places = nd.reshape_view(out, (*outer, *_blocks(sizes, factors)))
        nd.assign(places, nd.reshape(x, (*outer, *_blocks(sizes, [1] * len(sizes)))))
        return out


_TWICE = Codec(lambda value: [*value, *value], lambda value: value[0] if isinstance(value, list) else value)


@dataclass(frozen=True, kw_only=True)
class _Upsampling(PlacesConf):
    size: Count | Sequence[Count] = field(default=1, kw_only=False)
    runtime: ClassVar = UpsamplingRuntime
    positional: ClassVar[tuple[str, ...]] = ("size",)

    def __post_init__(self) -> None:
        super().__post_init__()
        set_per_axis(self, "size", self.axes)

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        return tuple(length * factor for length, factor in zip(sizes, self.size, strict=True))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Upsampling1D(_Upsampling):
    """Repeats every time step.

    Parameters
    ----------
    size : int
        Number of times.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C, T]``, output ``[N, C, size * T]``: step t comes ``size`` times, one after the other. The dropout of
    the input is applied; a mask is repeated like the input. Source: DL4J ``Upsampling1D``. Differs: Java's
    configuration takes the output for as long as the input, hands the mask on as it is, and leaves the dropout out on
    the way back.

    Examples
    --------
    >>> from nn import InputType
    >>> Upsampling1D(3).output_type("layer 0", InputType.recurrent(2, 5))
    recurrent(2x15)
    """

    axes: ClassVar[int] = 1
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES[:1]
    form: ClassVar[JavaForm] = PlacesConf.form.more({"size": ("size", _TWICE)}, PARAMETERLESS)


@dataclass(frozen=True, kw_only=True)
class Upsampling2D(_Upsampling):
    """Repeats every place of images, which becomes a block.

    Parameters
    ----------
    size : int or pair of int
        ``height, width`` of a block.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, C, size_h * H, size_w * W]``. The dropout of the input is applied; a mask is
    repeated like the input, an axis of length 1 stays. Source: DL4J ``Upsampling2D``. Differs: Java hands the mask on
    as it is, and leaves the dropout out on the way back.

    Examples
    --------
    >>> from nn import InputType
    >>> Upsampling2D((2, 3)).output_type("layer 0", InputType.convolutional(4, 5, 6))
    convolutional(8x15x6)
    """

    data_format: str | None = None
    axes: ClassVar[int] = 2
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = PlacesConf.form.more({"size": ("size", "sizes")}, PARAMETERLESS).formatted("format")


@dataclass(frozen=True, kw_only=True)
class Upsampling3D(_Upsampling):
    """Repeats every place of volumes, which becomes a block.

    Parameters
    ----------
    size : int or three int
        ``depth, height, width`` of a block.
    data_format : {"NCDHW", "NDHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C, D, H, W]``, output ``[N, C, size_d * D, size_h * H, size_w * W]``. Else as `Upsampling2D`. Source:
    DL4J ``Upsampling3D``.
    """

    data_format: str | None = None
    axes: ClassVar[int] = 3
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES
    form: ClassVar[JavaForm] = PlacesConf.form.more({"size": ("size", "sizes")}, PARAMETERLESS).formatted("dataFormat")
