"""SubsamplingLayer: pooling over images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd.arguments import Count, Natural
from nd.arrays import convolution
from nd.arrays.convolution import Window
from nd.checks import check_choice
from nd.typing import Array

from ...terms import data_formats
from ...terms.enums import PoolingType
from ...terms.input_type import ConvolutionalType, InputType
from ...terms.java_form import PARAMETERLESS, WINDOW, JavaForm
from ...terms.preprocessors import InputPreProcessor, to_images
from ..base import LayerConf
from ..convolution.convolution import WindowsRuntime, image_of, normalise_window, window_of
from ..runtime import Buffers, Context, Params


class SubsamplingRuntime(WindowsRuntime):
    """Forward and backward of pooling."""

    pure = splits = True
    takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        if not ctx.activates:
            return x, None
        return self.pool(x, self.windows.over(x, None), ctx.buffer)

    def pool(self, x: Array, window: Window, buffer: Buffers) -> tuple[Array, object]:
        """Return the pooled ``x [N, C, H, W]``, and a cache for `backward`."""
        conf = self.conf
        if conf.pooling_type == PoolingType.MAX:
            out, saved = convolution.max_pool(x, window, buffer)
        elif conf.pooling_type == PoolingType.AVG:
            out, saved = convolution.avg_pool(x, window, conf.avg_pool_include_pad_in_divisor, buffer)
        else:
            out, saved = convolution.pnorm_pool(x, window, conf.pnorm, buffer)
        return out, (saved, window)

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        saved, window = cache
        if self.conf.pooling_type == PoolingType.MAX:
            return convolution.max_pool_backward(epsilon, saved, window, ctx.buffer)
        if self.conf.pooling_type == PoolingType.AVG:
            return convolution.avg_pool_backward(epsilon, saved, window, ctx.buffer)
        return convolution.pnorm_pool_backward(epsilon, saved, window, self.conf.pnorm, ctx.buffer)


def normalise_pooling(conf: Any, axes: int, kinds: Sequence[str]) -> None:
    """Turn windows and pooling type of a frozen configuration into checked values; one of these kinds is allowed."""
    who = type(conf).__name__
    normalise_window(conf, axes, causal=axes == 1)
    kind = check_choice(who, "pooling type", str(conf.pooling_type).lower(), list(PoolingType))
    if kind not in kinds:
        raise nd.ConfigurationError(
            f"{who}: pooling_type must be one of {', '.join(sorted(kinds))}, got {kind!r}. GlobalPoolingLayer has all."
        )
    object.__setattr__(conf, "pooling_type", PoolingType(kind))
    for axis in range(axes):
        if conf.padding[axis] >= conf.dilation[axis] * (conf.kernel_size[axis] - 1) + 1:
            raise nd.ConfigurationError(
                f"{who}: padding must be less than the kernel, got {conf.padding} and kernel_size "
                f"{conf.kernel_size}: some windows would hold nothing."
            )


@dataclass(frozen=True, kw_only=True)
class SubsamplingLayer(LayerConf):
    """2D pooling.

    Parameters
    ----------
    pooling_type : {"max", "avg", "pnorm"}
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``.
    pnorm : int, optional
        The p of "pnorm".
    convolution_mode : {"truncate", "same", "strict"}, optional
    avg_pool_include_pad_in_divisor : bool
        Whether padding counts in an average.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, C, out_h, out_w]``. MAX hands the gradient to the first maximum in row-major
    order; dropout is not applied, even if configured. A mask is handed on as by `ConvolutionLayer`. Source: DL4J
    ``SubsamplingLayer``, also by its name ``Pooling2D``. Differs: where the p-norm of a window is 0 its gradient is 0,
    not NaN.
    """

    pooling_type: str = field(default="max", kw_only=False)
    kernel_size: Count | Sequence[Count] = (1, 1)
    stride: Count | Sequence[Count] = (2, 2)
    padding: Natural | Sequence[Natural] = (0, 0)
    dilation: Count | Sequence[Count] = (1, 1)
    convolution_mode: str | None = None
    pnorm: Natural = 0
    avg_pool_include_pad_in_divisor: bool = False
    data_format: str | None = None
    axes: ClassVar[int] = 2
    runtime: ClassVar = SubsamplingRuntime
    inherited: ClassVar[tuple[str, ...]] = ("drop_out", "convolution_mode")
    positional: ClassVar[tuple[str, ...]] = ("pooling_type", "kernel_size", "stride", "padding")
    PoolingType: ClassVar = PoolingType
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {
            **WINDOW,
            "poolingType": ("pooling_type", "pooling"),
            "pnorm": ("pnorm", "plain"),
            "avgPoolIncludePadInDivisor": ("avg_pool_include_pad_in_divisor", "plain"),
        },
        {**PARAMETERLESS, "cudnnAllowFallback": True, "eps": 1e-8},
    ).formatted("cnn2dDataFormat")

    @classmethod
    def Builder(cls, *arguments: Any) -> Any:
        """Start DL4J's fluent style: perhaps a PoolingType, then kernel, stride, padding; two numbers are a kernel."""
        if arguments and all(isinstance(argument, int) for argument in arguments):
            return super().Builder().kernelSize(*arguments)
        leading = () if not arguments or isinstance(arguments[0], str) else ("max",)
        return super().Builder(*leading, *arguments)

    def __post_init__(self) -> None:
        super().__post_init__()
        normalise_pooling(self, self.axes, (PoolingType.AVG, PoolingType.MAX, PoolingType.PNORM))
        if self.pooling_type == PoolingType.PNORM and self.pnorm < 1:
            who = type(self).__name__
            raise nd.ConfigurationError(f"{who}: pooling 'pnorm' needs pnorm >= 1, got {self.pnorm}.")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        image = image_of(label, input_type)
        height, width = window_of(label, self, (image.height, image.width)).out
        return ConvolutionalType(height, width, image.channels)


Pooling2D = SubsamplingLayer
"""DL4J's other name of it."""
