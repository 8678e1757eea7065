"""ConvolutionLayer: z = conv(x, W) + b over images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd import convolution
from nd.checks import describe_shape

from ..conf.input_type import ConvolutionalType, InputType
from ..params import ParamSpec
from ..preprocessors import InputPreProcessor, to_images
from .base import FeedForwardConf, LayerRuntime

Array = Any
Pair = tuple[int, int]


class Windows:
    """The windows of a layer over inputs of every size that it has met."""

    def __init__(self, label: str, conf: Any) -> None:
        self.label, self.conf = label, conf
        self._known: dict[tuple[int, int], Any] = {}

    def over(self, x: Array, channels: int | None) -> Any:
        """Return the windows over ``x [N, C, H, W]``; raise ShapeError if it is not such an array."""
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 4 or channels not in (None, x.shape[1]):
            expected = describe_shape(("N", channels or "C", "H", "W"))
            raise nd.ShapeError(
                f"{self.label}: expected input {expected}, got {describe_shape(x.shape)}. "
                "For rows, set the input type to InputType.convolutional_flat(h, w, c)."
            )
        return self.over_size((x.shape[2], x.shape[3]))

    def over_size(self, size: Pair) -> Any:
        """Return the windows over an image of that size; raise ShapeError if they do not fit."""
        window = self._known.get(size)
        if window is None:
            window = self._known[size] = window_of(self.label, self.conf, size)
        return window


def window_of(label: str, conf: Any, size: Pair) -> Any:
    """Return the windows of a convolution or pooling layer over an image of that size."""
    return convolution.make_window(
        label, size, conf.kernel_size, conf.stride, conf.padding, conf.dilation, conf.convolution_mode
    )


def normalise_window(conf: Any, axes: int = 2) -> None:
    """Turn kernel, stride, padding and dilation of a frozen configuration into checked tuples, one number per axis."""
    who = type(conf).__name__
    for name, least in (("kernel_size", 1), ("stride", 1), ("padding", 0), ("dilation", 1)):
        object.__setattr__(conf, name, convolution.per_axis(who, name, getattr(conf, name), least, axes))
    if conf.convolution_mode is not None:
        mode = str(conf.convolution_mode).lower()
        nd.checks.check_choice(who, "convolution mode", mode, convolution.CONVOLUTION_MODES)
        object.__setattr__(conf, "convolution_mode", mode)


def image_of(label: str, input_type: InputType) -> ConvolutionalType:
    """Return the image that a layer over images receives; raise ConfigurationError if it is none."""
    if not isinstance(input_type, ConvolutionalType):
        raise nd.ConfigurationError(
            f"{label}: expected images, got {input_type!r}. Use InputType.convolutional or convolutional_flat."
        )
    return input_type


class ConvolutionCache(NamedTuple):
    """What forward keeps for backprop."""

    saved: Any
    z: Array
    a: Array
    drop_mask: Array | None
    window: Any
    W: Array
    """As forward used it."""


class ConvolutionRuntime(LayerRuntime):
    """Forward and backward of a 2D convolution."""

    splits = True

    def setup(self) -> None:
        self.gradients = (self.gradient_views["W"], self.gradient_views.get("b"))
        self.activation = self.conf.activation
        self.windows = Windows(self.label, self.conf)

    def pre_output(self, x: Array, training: bool = False) -> Array:
        x, weights = self.drop_input(x, training)[0], self.weights(training)
        window = self.windows.over(x, self.conf.n_in)
        return convolution.conv2d(x, weights["W"], weights.get("b"), window, self.buffers)[0]

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, ConvolutionCache]:
        x, drop_mask = self.drop_input(x, training)
        weights = self.weights(training)
        window = self.windows.over(x, self.conf.n_in)
        z, saved = convolution.conv2d(x, weights["W"], weights.get("b"), window, self.buffers)
        a = self.activate(z, training)
        return a, ConvolutionCache(saved, z, a, drop_mask, window, weights["W"])

    def backprop_gradient(self, epsilon: Array, cache: ConvolutionCache, need_epsilon: bool = True) -> Array | None:
        saved, z, a, drop_mask, window, W = cache
        delta = self.activating.backprop(z, a, epsilon)
        below = convolution.conv2d_backward(delta, saved, W, window, self.gradients, self.buffers, need_epsilon)
        return below if drop_mask is None else self.undropped(below, drop_mask)


@dataclass(frozen=True, kw_only=True)
class ConvolutionLayer(FeedForwardConf):
    """2D convolution (cross-correlation): activation(conv(x, W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``.
    convolution_mode : {"truncate", "same", "strict"}, optional
        See `nd.convolution.make_window`.
    has_bias : bool

    Notes
    -----
    Input ``[N, n_in, H, W]``, output ``[N, n_out, out_h, out_w]``. Vector: b ``[1, n_out]`` first, then W
    ``[n_out, n_in, kernel_h, kernel_w]`` in c order. Source: DL4J ``ConvolutionLayer``.

    Examples
    --------
    >>> ConvolutionLayer(n_in=1, n_out=20, kernel_size=5).param_shapes()
    {'b': (1, 20), 'W': (20, 1, 5, 5)}
    """

    kernel_size: int | Sequence[int] = (5, 5)
    stride: int | Sequence[int] = (1, 1)
    padding: int | Sequence[int] = (0, 0)
    dilation: int | Sequence[int] = (1, 1)
    convolution_mode: str | None = None
    has_bias: bool = True
    runtime: ClassVar = ConvolutionRuntime
    takes: ClassVar[str] = "images"
    inherited: ClassVar[tuple[str, ...]] = (*FeedForwardConf.inherited, "convolution_mode")

    @classmethod
    def Builder(cls, *kernel: Any) -> Any:
        """Start DL4J's fluent style: ``ConvolutionLayer.Builder(5, 5)``."""
        builder = super().Builder()
        return builder.kernelSize(*kernel) if kernel else builder

    def __post_init__(self) -> None:
        super().__post_init__()
        normalise_window(self)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, image_of(label, input_type).channels)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        image = image_of(label, input_type)
        height, width = window_of(label, self, (image.height, image.width)).out
        return ConvolutionalType(height, width, self.n_out or 0)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out, kernel = self.n_in or 0, self.n_out or 0, tuple(self.kernel_size)  # type: ignore[arg-type]
        cells = math.prod(kernel)
        fan_out = n_out * cells / math.prod(self.stride)  # type: ignore[arg-type]
        W = ParamSpec("W", (n_out, n_in, *kernel), fan_in=n_in * cells, fan_out=fan_out)
        return (ParamSpec("b", (1, n_out), bias=True), W) if self.has_bias else (W,)
