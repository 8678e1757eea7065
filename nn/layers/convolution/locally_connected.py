"""LocallyConnected1D and LocallyConnected2D: convolutions whose every position has weights of its own."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import nd
from nd.activations import Activation
from nd.arguments import Count
from nd.arrays import convolution, convolution_kinds
from nd.arrays.convolution import Sizes, Window
from nd.typing import Array

from ...terms import data_formats
from ...terms.distributions import Distribution
from ...terms.input_type import ConvolutionalType, InputType, series_of
from ...terms.java_form import BIAS, SIZES, Codec, Fields, JavaForm
from ...terms.params import ParamSpec
from ...terms.preprocessors import InputPreProcessor, to_images
from ...terms.weight_noise import IWeightNoise
from ..runtime import Context, Params
from ..same_diff import ACTIVATION_NAME, SameDiffConf, check_has_name
from .convolution import Activate, ConvolutionConf, ConvolutionRuntime, image_of, window_of
from .convolution1d import SeriesConvolutionConf, SeriesWindows, as_images, as_series, series_window_of


@functools.cache
def _neighbouring(window: Window) -> Window:
    """Return windows at the same places over neighbours: in Java a dilation makes the sizes, and nothing else."""
    if set(window.dilation) == {1}:
        return window
    less = [window.effective[axis] - window.kernel[axis] for axis in window.axes]
    after = [window.pad_after[axis] - less[axis] for axis in window.axes]
    return replace(
        window,
        size=tuple(window.size[axis] + min(after[axis], 0) for axis in window.axes),
        dilation=(1,) * len(window.size),
        pad_after=tuple(max(padding, 0) for padding in after),
    )


class LocallyConnectedRuntime(ConvolutionRuntime):
    """Forward and backward with weights of every position; as Java's layers of SameDiff it drops nothing."""

    pure = splits = True
    takes_dropout = False

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        if window.positions != params["W"].shape[0]:
            raise nd.ShapeError(
                f"{self.label}: expected input of the size {list(self.conf.input_size)}, for which there are weights, "
                f"got {list(x.shape[2 : 2 + self.conf.axes])}. Every position has its own: give inputs of one size."
            )
        near = _neighbouring(window)
        if near.size != window.size:
            x = nd.copy(x[:, :, : near.size[0], : near.size[1]])
        z, saved = convolution_kinds.locally_connected(x, params["W"], params.get("b"), near, ctx.buffer)
        if activate is not None:
            activate(z)
        return z, saved

    def convolve_back(
        self, delta: Array, saved: object, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        near, gradients = _neighbouring(window), (grads["W"], grads.get("b"))
        epsilon = convolution_kinds.locally_connected_backward(
            delta, saved, params["W"], near, gradients, ctx.buffer, ctx.needs_epsilon
        )
        if epsilon is None or near.size == window.size:
            return epsilon
        below = nd.zeros(*epsilon.shape[:2], *window.size, dtype=self.dtype)  # cells that no window reaches get 0
        nd.assign(below[:, :, : near.size[0], : near.size[1]], epsilon)
        return below


class LocallyConnectedSeriesRuntime(SeriesWindows, LocallyConnectedRuntime):
    """The same over images of width 1."""

    pure = splits = True

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        z, saved = super().convolve(as_images(x), window, params, ctx, activate)
        return as_series(z), saved

    def convolve_back(
        self, delta: Array, saved: object, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        below = super().convolve_back(as_images(delta), saved, window, params, grads, ctx)
        return None if below is None else as_series(below)


_OWN = {"activation", "bias_init", "convolution_mode", "dist", "weight_init", "weight_noise"}
"""Settings that are not taken from the network's defaults."""


@dataclass(frozen=True, kw_only=True)
class LocallyConnectedConf(ConvolutionConf):
    """Shared by layers with weights of every position.

    Parameters
    ----------
    input_size : int or sequence of int, optional
        Of the axes that the windows slide along; set from the network's input type when not given.
    activation, convolution_mode, weight_init
        These have defaults of their own, "tanh", "same" and "xavier", and are not taken from the network's.

    Notes
    -----
    Differs: a leaky ReLU has its slope, which in Java is 0 in these layers.
    """

    input_size: Count | Sequence[Count] | None = None
    kernel_size: Count | Sequence[Count] = 2
    activation: str | Activation | None = "tanh"
    convolution_mode: str | None = "same"
    weight_init: str | Distribution | None = "xavier"
    bias_init: float | None = 0.0
    weight_noise: IWeightNoise | None = None
    inherited: ClassVar[tuple[str, ...]] = tuple(name for name in ConvolutionConf.inherited if name not in _OWN)

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        if self.input_size is not None:
            size = convolution.per_axis(who, "input_size", self.input_size, 1, self.axes)
            object.__setattr__(self, "input_size", size)
        check_has_name(who, self.activation)
        if self.weight_init is None or isinstance(self.weight_init, Distribution) or self.weight_init == "identity":
            raise nd.ConfigurationError(
                f"{who}: weight_init must be the name of a formula, as in DL4J, got {self.weight_init!r}. Use 'xavier'."
            )
        if self.bias_init != 0.0 or self.weight_noise is not None:
            raise nd.ConfigurationError(
                f"{who}: biases start at 0 and there is no weight noise, as in DL4J, got bias_init {self.bias_init!r}, "
                f"weight_noise {self.weight_noise!r}. Leave them out."
            )
        if self.windows is not None and self.convolution_mode == "same":  # as Java, which goes by it when it reads it
            object.__setattr__(self, "padding", self.windows.pad_before[: self.axes])

    def window(self, label: str, size: Sizes) -> Window:
        """Return the windows over an input of that size; raise ShapeError if they do not fit."""
        return window_of(label, self, size)

    def sized(self, label: str, channels: int, size: Sizes) -> Self:
        """Return a copy for inputs of that size; raise ConfigurationError if another one was given."""
        if self.input_size not in (None, size):
            raise nd.ConfigurationError(
                f"{label}: input_size must be {list(size)}, the size of what comes in, got {list(self.input_size)}. "  # type: ignore[arg-type]
                "Leave input_size out, or mend it."
            )
        return replace(self.with_n_in(label, channels), input_size=size)

    def check(self, label: str) -> None:
        super().check(label)
        if self.input_size is None:
            raise nd.ConfigurationError(f"{label}: input_size is missing. Give it, or pass input_type to list(...).")

    @property
    def windows(self) -> Window | None:
        """The windows over the input, None when its size is not known."""
        return None if self.input_size is None else self.window(type(self).__name__, self.input_size)  # type: ignore[arg-type]

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out, windows = self.n_in or 0, self.n_out or 0, self.windows
        shape = (windows.positions if windows else 0, n_in * math.prod(self.kernel_size), n_out)  # type: ignore[arg-type]
        bias = (ParamSpec("b", (1, n_out), "c", bias=True),) if self.has_bias else ()
        return (self.kernel_spec("W", shape, n_out), *bias)


def _window_fields(sizes: str | Codec) -> Fields:
    keys = {"kernel": "kernel_size", "stride": "stride", "padding": "padding", "dilation": "dilation"}
    return {key: (field, sizes) for key, field in {**keys, "inputSize": "input_size"}.items()}


def _size_of_windows(name: str, axes: int) -> Callable[[Any], Any]:
    """Return a getter of a layer's windows, of one number or of a list of them."""

    def sizes_of(conf: LocallyConnectedConf) -> Any:
        if conf.windows is None:
            return None
        sizes = getattr(conf.windows, name)[:axes]
        return sizes[0] if axes == 1 else list(sizes)

    return sizes_of


def _derived(axes: int, padding: str) -> dict[str, Callable[[object], object]]:
    return {
        "featureDim": lambda conf: (conf.n_in or 0) * math.prod(conf.kernel_size),
        "outputSize": _size_of_windows("out", axes),
        padding: _size_of_windows("pad_after", axes),
    }


_ALONG_TIME = Codec(lambda value: None if value is None else value[0], lambda value: value)
_FORM = SameDiffConf.form.more(
    {
        "activation": ("activation", ACTIVATION_NAME),
        "weightInit": ("weight_init", "upper"),
        **SIZES,
        **BIAS,
        "cm": ("convolution_mode", "mode"),
    },
    {"paramWeightInit": None},
)


@dataclass(frozen=True, kw_only=True)
class LocallyConnected1D(LocallyConnectedConf, SeriesConvolutionConf):
    """1D convolution with weights of its own at every time step: activation(conv(x, W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    input_size : int, optional
        Time steps, always so many; inferred when the network has an input type that says them.
    kernel_size, stride, padding, dilation : int
        In time steps.
    convolution_mode : {"same", "truncate", "strict"}
        "same" unless given; see `nd.arrays.convolution.make_window`.
    activation, weight_init : str
        "tanh" and "xavier" unless given: not taken from the network's defaults.
    has_bias : bool
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, out_t]``. Vector: W ``[out_t, n_in * kernel, n_out]`` in c order, b
    ``[1, n_out]``; the second axis of W runs over channels, then over the kernel. A mask ``[N, T]`` is handed on as by
    `Convolution1DLayer`, but the activations stay. As in Java `dilation` makes the output's size only. Source: DL4J
    ``LocallyConnected1D``.

    Examples
    --------
    >>> LocallyConnected1D(n_in=4, n_out=8, input_size=10, kernel_size=3).param_shapes()
    {'W': (10, 12, 8), 'b': (1, 8)}
    """

    runtime: ClassVar = LocallyConnectedSeriesRuntime
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES[:1]
    form: ClassVar[JavaForm] = _FORM.more(
        _window_fields(_ALONG_TIME), absent={"dilation": 1}, derived=_derived(1, "paddingR")
    )

    def window(self, label: str, size: Sizes) -> Window:
        return series_window_of(label, self, size)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        series = series_of(label, input_type)
        steps = series.time_series_length
        if steps is None and self.input_size is None:
            raise nd.ConfigurationError(
                f"{label}: the number of time steps must be known, got {input_type!r}. Use InputType.recurrent(n, t)."
            )
        return self.sized(label, series.n, self.input_size if steps is None else (steps,))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class LocallyConnected2D(LocallyConnectedConf):
    """2D convolution with weights of its own at every position: activation(conv(x, W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    input_size : pair of int, optional
        ``height, width``, always so; inferred when the network has an input type.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``.
    convolution_mode : {"same", "truncate", "strict"}
        "same" unless given; see `nd.arrays.convolution.make_window`.
    activation, weight_init : str
        "tanh" and "xavier" unless given: not taken from the network's defaults.
    has_bias : bool
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Input ``[N, n_in, H, W]``, output ``[N, n_out, out_h, out_w]``. Vector: W ``[out_h * out_w, n_in * kernel_h *
    kernel_w, n_out]`` in c order, b ``[1, n_out]``; the first axis of W runs over the output's rows, then over its
    columns; the second over channels, the kernel's rows and its columns. The windows are numbered column by column, the
    output row by row, as in Java: number p has the window at row p % out_h and column p // out_h, and is row p // out_w
    and column p % out_w of the output, so that a square output is turned round. A mask is handed on as by
    `ConvolutionLayer`. As in Java `dilation` makes the output's sizes only. Source: DL4J ``LocallyConnected2D``.

    Examples
    --------
    >>> LocallyConnected2D(n_in=2, n_out=3, input_size=(6, 5), stride=2).param_shapes()
    {'W': (9, 8, 3), 'b': (1, 3)}
    """

    data_format: str | None = None
    takes: ClassVar[str] = "images"
    runtime: ClassVar = LocallyConnectedRuntime
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = _FORM.more(_window_fields("sizes"), derived=_derived(2, "paddingBr")).formatted("format")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        image = image_of(label, input_type)
        return self.sized(label, image.channels, (image.height, image.width))

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        image = image_of(label, input_type)
        height, width = self.window(label, (image.height, image.width)).out
        return ConvolutionalType(height, width, self.n_out or 0)
