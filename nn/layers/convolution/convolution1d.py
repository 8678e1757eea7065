"""Convolution1DLayer: z = conv(x, W) + b along time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import nd
from nd.arguments import Count
from nd.arrays import convolution
from nd.arrays.convolution import Sizes, Window
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import InputType, RecurrentType, series_of
from ...terms.java_form import BIAS, CONVOLUTIONS, WINDOW, Codec, Fields, JavaForm
from ...terms.params import ParamSpec
from ..base import FeedForwardConf
from ..pooling.window_masks import window_mode
from ..runtime import Context, Params
from ..series import SeriesConf
from .convolution import Activate, ConvolutionConf, ConvolutionRuntime, Windows


def series_window_of(label: str, conf: Any, size: Sizes) -> Window:
    """Return the windows along so many time steps, as those of images of width 1."""
    geometry = (conf.kernel_size, conf.stride, conf.padding, conf.dilation)
    kernel, stride, padding, dilation = ((*along, across) for along, across in zip(geometry, (1, 1, 0, 1), strict=True))
    return convolution.make_window(
        label, (*size, 1), kernel, stride, padding, dilation, window_mode(conf), ("length", "width")
    )


class SeriesWindows:
    """Shared by layers over series ``[N, C, T]``: to their primitives they are images ``[N, C, T, 1]``."""

    conf: Any
    label: str
    windows: Windows

    def make_windows(self) -> Windows:
        """Return the windows along time."""
        return Windows(self.label, self.conf, series_window_of, axes=1)


def as_images(x: Array) -> Array:
    """View ``[N, C, T]`` as ``[N, C, T, 1]``."""
    return nd.reshape(x, (*x.shape, 1))


def as_series(x: Array) -> Array:
    """View ``[N, C, T, 1]`` as ``[N, C, T]``."""
    return nd.reshape(x, tuple(x.shape[:3]))


def _as_kernels(W: Array) -> Array:
    """View ``[kernel, n_in, n_out]`` as ``[n_out, n_in, kernel, 1]``."""
    return nd.permute(W, (2, 1, 0))[..., None]


class Convolution1DRuntime(SeriesWindows, ConvolutionRuntime):
    """A 2D convolution of width 1."""

    pure = splits = True
    noised = ()

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        kernels = {**params, "W": _as_kernels(params["W"])}
        z, saved = super().convolve(as_images(x), window, kernels, ctx, activate)
        return as_series(z), saved

    def convolve_back(
        self, delta: Array, saved: object, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        W = _as_kernels(params["W"])
        gradient = nd.reshape_view(ctx.buffer("kernel_gradient", (math.prod(W.shape),)), tuple(W.shape), "c")
        kernels, gradients = {**params, "W": W}, {**grads, "W": gradient}
        below = super().convolve_back(as_images(delta), saved, window, kernels, gradients, ctx)
        nd.assign(_as_kernels(grads["W"]), gradient)
        return None if below is None else as_series(below)


def _along_time(across: int) -> Codec:
    """A number for time, and the usual one for width 1."""
    return Codec(lambda along: [*along, across], lambda value: value[0] if isinstance(value, list) else value)


ALONG_TIME: Fields = {
    "convolutionMode": WINDOW["convolutionMode"],
    "kernelSize": ("kernel_size", _along_time(1)),
    "stride": ("stride", _along_time(1)),
    "padding": ("padding", _along_time(0)),
    "dilation": ("dilation", _along_time(1)),
}
"""Windows along time in files."""


FORMAT_AS_IMAGES = Codec(
    lambda data_format: data_formats.IMAGES[data_formats.channels_last(data_format)],
    lambda name: dict(zip(data_formats.IMAGES, data_formats.SERIES, strict=True)).get(name, name),
)
"""Format of series in files, as that of the images that they are to Java."""


@dataclass(frozen=True, kw_only=True)
class SeriesConvolutionConf(SeriesConf, ConvolutionConf):
    """Shared by convolutions along time.

    Parameters
    ----------
    kernel_size, stride, padding, dilation, convolution_mode, has_bias
        As `ConvolutionConf`.
    """

    axes: ClassVar[int] = 1

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        steps = series_of(label, input_type).time_series_length
        windows = None if steps is None else series_window_of(label, self, (steps,)).out[0]
        return RecurrentType(self.n_out, windows)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Convolution1DLayer(SeriesConvolutionConf):
    """1D convolution (cross-correlation) along time: activation(conv(x, W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    kernel_size, stride, padding, dilation : int
        In time steps; the kernel has to be given.
    convolution_mode : {"truncate", "same", "strict", "causal"}, optional
        See `nd.arrays.convolution.make_window`.
    has_bias : bool
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, out_t]``. A mask ``[N, T]`` is handed on and changes no activations, as
    in Java: a step counts where one under its window does; in modes same and causal with stride 1 the mask stays as it
    is. Vector: b ``[1, n_out]`` first, then W ``[kernel, n_in, n_out]`` in c order, as in Java since 1.0.0-M1,
    whatever the format; older files are read too, see `nn.files.older_weights`. Weight noise has no effect, as in Java.
    Source: DL4J ``Convolution1DLayer``. Differs: Java's errors go past the dropout of a layer to those below; layers of
    the format NWC can be trained, and masked, where Java fails.

    Examples
    --------
    >>> Convolution1DLayer(n_in=4, n_out=8, kernel_size=3, convolution_mode="causal").param_shapes()
    {'b': (1, 8), 'W': (3, 4, 8)}
    """

    kernel_size: Count | Sequence[Count] | None = None  # type: ignore[assignment]
    stride: Count | Sequence[Count] = (1,)
    data_format: str | None = None
    causal: ClassVar[bool] = True
    runtime: ClassVar = Convolution1DRuntime
    positional: ClassVar[tuple[str, ...]] = ("kernel_size", "stride", "padding")
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    form: ClassVar[JavaForm] = FeedForwardConf.form.more(
        {**BIAS, **ALONG_TIME},
        CONVOLUTIONS,
        derived={"cnn2dDataFormat": lambda conf: FORMAT_AS_IMAGES.encode(conf.data_format)},
    ).formatted("rnnDataFormat")
    shape_fields: ClassVar[Mapping[str, object]] = {
        **FeedForwardConf.shape_fields,
        "kernel_size": (0,),
        "has_bias": True,
    }

    def __post_init__(self) -> None:
        if self.kernel_size is None:
            raise nd.ConfigurationError(
                "Convolution1DLayer: kernel_size must be given, got None. Say kernel_size=3, for example."
            )
        super().__post_init__()

    def weight_specs(self) -> tuple[ParamSpec, ...]:
        shape = (*self.kernel_size, self.n_in or 0, self.n_out or 0)  # type: ignore[misc]
        spec = self.kernel_spec("W", shape, self.n_out or 0)
        (kernel,), (stride,) = self.kernel_size, self.stride  # type: ignore[misc]
        return (replace(spec, fans_since_m2=(spec.fan_in * kernel, spec.fan_out * kernel / stride)),)


Convolution1D = Convolution1DLayer
"""DL4J's other name."""
