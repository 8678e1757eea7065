"""ConvolutionLayer: z = conv(x, W) + b over images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Count, Natural
from nd.arrays import convolution
from nd.arrays.convolution import Sizes, Window
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import ConvolutionalType, InputType
from ...terms.java_form import BIAS, CONVOLUTIONS, WINDOW, JavaForm
from ...terms.params import ParamSpec
from ...terms.preprocessors import InputPreProcessor, to_images
from ..base import FeedForwardConf
from ..pooling.window_masks import reduced_mask
from ..runtime import Context, LayerRuntime, Params

if TYPE_CHECKING:
    from ..base import LayerConf


AXES = {1: ("T",), 2: ("H", "W"), 3: ("D", "H", "W")}
"""Number of axes that a window slides along -> their names in shapes."""
_REMEDIES = {
    1: "Set the input type to InputType.recurrent(n, t).",
    2: "For rows, set the input type to InputType.convolutional_flat(h, w, c).",
    3: "Set the input type to InputType.convolutional3d(d, h, w, c).",
}


def check_places(label: str, x: Array, axes: int, channels: int | None = None) -> None:
    """Raise ShapeError unless x is ``[N, C, ...]`` with so many axes of places, and channels where they are given."""
    if not nd.is_array(x):
        raise nd.DTypeError(f"{label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
    if x.ndim != 2 + axes or channels not in (None, x.shape[1]):
        expected = describe_shape(("N", channels or "C", *AXES[axes]))
        from ...terms.axis_order import remedy  # which data that fit do not need

        cure = remedy("x", x.shape, (channels, *[None] * axes)) or _REMEDIES[axes]
        raise nd.ShapeError(f"{label}: expected input {expected}, got {describe_shape(x.shape)}. {cure}")


def window_of(label: str, conf: Any, size: Sizes) -> Window:
    """Return the windows of a convolution or pooling layer over an image, or a volume, of that size."""
    return convolution.make_window(
        label, size, conf.kernel_size, conf.stride, conf.padding, conf.dilation, conf.convolution_mode
    )


class Windows:
    """The windows of a layer over inputs of every size that it has met.

    Parameters
    ----------
    label : str
    conf : LayerConf
    make : callable (label, conf, size) -> Window
    axes : int
        That they slide along.
    """

    def __init__(self, label: str, conf: LayerConf, make: Callable[..., Window] = window_of, axes: int = 2) -> None:
        self.label, self.conf, self.axes = label, conf, axes
        self._make = make
        self._known: dict[Sizes, Window] = {}

    def over(self, x: Array, channels: int | None) -> Window:
        """Return the windows over ``x [N, C, H, W]``; raise ShapeError if it is not such an array."""
        check_places(self.label, x, self.axes, channels)
        return self.over_size(tuple(x.shape[2:]))

    def over_size(self, size: Sizes) -> Window:
        """Return the windows over an image of that size; raise ShapeError if they do not fit."""
        window = self._known.get(size)
        if window is None:
            window = self._known[size] = self._make(self.label, self.conf, size)
        return window


def normalise_window(conf: Any, axes: int = 2, causal: bool = False) -> None:
    """Turn kernel, stride, padding and dilation of a frozen configuration into checked tuples, a number for each axis.

    Mode "causal" is refused unless it is allowed, as it is along time.
    """
    who = type(conf).__name__
    for name, least in (("kernel_size", 1), ("stride", 1), ("padding", 0), ("dilation", 1)):
        object.__setattr__(conf, name, convolution.per_axis(who, name, getattr(conf, name), least, axes))
    if conf.convolution_mode is None:
        return
    mode = str(conf.convolution_mode).lower()
    nd.checks.check_choice(who, "convolution mode", mode, convolution.CONVOLUTION_MODES)
    if mode == "causal" and not causal:
        raise nd.ConfigurationError(
            f"{who}: convolution_mode must be 'same', 'strict' or 'truncate', got 'causal', which is for "
            "layers along time. Give this layer a mode of its own."
        )
    object.__setattr__(conf, "convolution_mode", mode)


def image_of(label: str, input_type: InputType) -> ConvolutionalType:
    """Return the image that a layer over images receives; raise ConfigurationError if it is none."""
    if not isinstance(input_type, ConvolutionalType):
        raise nd.ConfigurationError(
            f"{label}: expected images, got {input_type!r}. Use InputType.convolutional or convolutional_flat."
        )
    return input_type


Activate = Callable[[Array], object]


class ConvolutionCache(NamedTuple):
    """Results of forward that backward needs."""

    saved: Any
    z: Array
    a: Array
    window: Window


class WindowsRuntime(LayerRuntime):
    """Shared by layers whose outputs are windows over their input."""

    def setup(self) -> None:
        self.windows = self.make_windows()

    def make_windows(self) -> Windows:
        """Return the windows of this kind of layer."""
        return Windows(self.label, self.conf, axes=self.conf.axes)

    def feed_forward_mask(self, mask: Array) -> Array | None:
        return reduced_mask(self.label, self.conf, mask, nd.fresh_buffers(self.dtype))


class ConvolutionRuntime(WindowsRuntime):
    """Forward and backward of a 2D convolution; other kinds override `convolve` and `convolve_back`."""

    pure = splits = True
    masks_activations = False  # as in Java: its mask is of places

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        """Return z, and a cache for `convolve_back`; apply `activate`, if there is one, to z in place."""
        return convolution.conv2d(x, params["W"], params.get("b"), window, ctx.buffer, activate, exact=ctx.training)

    def convolve_back(
        self, delta: Array, saved: object, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        """Write the gradients; return dL/dx, or None where `ctx.needs_epsilon` is False."""
        gradients = grads["W"], grads.get("b")
        return convolution.conv2d_backward(delta, saved, params["W"], window, gradients, ctx.buffer, ctx.needs_epsilon)

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, ConvolutionCache]:
        window = self.windows.over(x, self.conf.n_in)
        if self.activates_parts and ctx.activates:  # while they are still in the cache
            z, saved = self.convolve(x, window, params, ctx, lambda z: self.activating.value(z, z, ctx.training))
            a = self.masked(z, ctx)
        else:
            z, saved = self.convolve(x, window, params, ctx, None)
            a = self.activate_sum(z, ctx)
        return a, ConvolutionCache(saved, z, a, window)

    def backward(
        self, epsilon: Array, cache: ConvolutionCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        delta = self.activation_gradient(epsilon, cache.z, cache.a, ctx)
        return self.convolve_back(delta, cache.saved, cache.window, params, grads, ctx)


@dataclass(frozen=True, kw_only=True)
class ConvolutionConf(FeedForwardConf):
    """Shared by convolutions over one, two and three axes.

    Parameters
    ----------
    kernel_size, stride, padding, dilation : int or sequence of int
        One number for every axis, or one for all.
    convolution_mode : str, optional
        See `nd.arrays.convolution.make_window`.
    has_bias : bool
    """

    kernel_size: Count | Sequence[Count] = 1
    stride: Count | Sequence[Count] = 1
    padding: Natural | Sequence[Natural] = 0
    dilation: Count | Sequence[Count] = 1
    convolution_mode: str | None = None
    has_bias: bool = True
    axes: ClassVar[int] = 2
    causal: ClassVar[bool] = False
    inherited: ClassVar[tuple[str, ...]] = (*FeedForwardConf.inherited, "convolution_mode")

    @classmethod
    def Builder(cls, *arguments: Any) -> Any:
        """Start DL4J's fluent style: ``ConvolutionLayer.Builder(5, 5)`` is a kernel, along time ``Builder(5, 2)`` has a
        stride."""
        if cls.positional or not arguments:
            return super().Builder(*arguments)
        builder = super().Builder()
        if isinstance(arguments[0], int):
            return builder.kernelSize(*arguments)
        for name, value in zip(("kernelSize", "stride", "padding"), arguments, strict=False):
            getattr(builder, name)(value)
        return builder

    def __post_init__(self) -> None:
        super().__post_init__()
        normalise_window(self, self.axes, self.causal)

    def kernel_spec(self, name: str, shape: Sizes, n_out: int) -> ParamSpec:
        """Return the spec of a weight of that shape, which gives so many channels from one position's cells."""
        cells = math.prod(self.kernel_size)  # type: ignore[arg-type]
        fan_out = n_out * cells / math.prod(self.stride)  # type: ignore[arg-type]
        return ParamSpec(name, shape, "c", fan_in=(self.n_in or 0) * cells, fan_out=fan_out)

    def weight_specs(self) -> tuple[ParamSpec, ...]:
        """Return the weights in the order of the flat vector: ``W [n_out, n_in, *kernel]``."""
        n_out = self.n_out or 0
        shape = (n_out, self.n_in or 0, *self.kernel_size)  # type: ignore[misc]
        return (self.kernel_spec("W", shape, n_out),)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        bias = (ParamSpec("b", (1, self.outputs), "c", bias=True),) if self.has_bias else ()
        return (*bias, *self.weight_specs())

    @property
    def outputs(self) -> int:
        """Channels of the output, 0 where they are not known."""
        return self.n_out or 0


@dataclass(frozen=True, kw_only=True)
class ConvolutionLayer(ConvolutionConf):
    """2D convolution (cross-correlation): activation(conv(x, W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``.
    convolution_mode : {"truncate", "same", "strict"}, optional
        See `nd.arrays.convolution.make_window`.
    has_bias : bool
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, H, W]``, output ``[N, n_out, out_h, out_w]``. A mask ``[N, 1, H, W]`` is handed on as the largest
    under every window. Vector: b ``[1, n_out]`` first, then W ``[n_out, n_in, kernel_h, kernel_w]`` in c order.
    Source: DL4J ``ConvolutionLayer``.

    Examples
    --------
    >>> ConvolutionLayer(n_in=1, n_out=20, kernel_size=5).param_shapes()
    {'b': (1, 20), 'W': (20, 1, 5, 5)}
    """

    kernel_size: Count | Sequence[Count] = (5, 5)
    stride: Count | Sequence[Count] = (1, 1)
    padding: Natural | Sequence[Natural] = (0, 0)
    dilation: Count | Sequence[Count] = (1, 1)
    data_format: str | None = None
    runtime: ClassVar = ConvolutionRuntime
    takes: ClassVar[str] = "images"
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = FeedForwardConf.form.more({**BIAS, **WINDOW}, CONVOLUTIONS).formatted("cnn2dDataFormat")
    shape_fields: ClassVar[Mapping[str, object]] = {
        **FeedForwardConf.shape_fields,
        "kernel_size": (5, 5),
        "has_bias": True,
    }

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, image_of(label, input_type).channels)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        image = image_of(label, input_type)
        height, width = self.out_size(label, (image.height, image.width))
        return ConvolutionalType(height, width, self.n_out or 0)

    def out_size(self, label: str, size: Sizes) -> Sizes:
        """Return ``H, W`` of the output; raise ShapeError if the windows do not fit."""
        return window_of(label, self, size).out
