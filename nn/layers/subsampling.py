"""SubsamplingLayer: pooling over images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd import convolution
from nd.checks import check_choice

from ..conf.enums import PoolingType
from ..conf.input_type import ConvolutionalType, InputType
from ..preprocessors import InputPreProcessor, to_images
from .base import LayerConf, LayerRuntime
from .convolution import Windows, image_of, normalise_window, reduced_mask, window_of

Array = Any


class SubsamplingRuntime(LayerRuntime):
    """Forward and backward of pooling."""

    splits = True

    def setup(self) -> None:
        self.windows = Windows(self.label, self.conf)

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Any]:
        conf, window = self.conf, self.windows.over(x, None)
        if conf.pooling_type == PoolingType.MAX:
            out, saved = convolution.max_pool(x, window, self.buffers)
        elif conf.pooling_type == PoolingType.AVG:
            out, saved = convolution.avg_pool(x, window, conf.avg_pool_include_pad_in_divisor, self.buffers)
        else:
            out, saved = convolution.pnorm_pool(x, window, conf.pnorm, self.buffers)
        return out, (saved, window)

    def backprop_gradient(self, epsilon: Array, cache: Any, need_epsilon: bool = True) -> Array | None:
        if not need_epsilon:
            return None
        saved, window = cache
        if self.conf.pooling_type == PoolingType.MAX:
            return convolution.max_pool_backward(epsilon, saved, window, self.buffers)
        if self.conf.pooling_type == PoolingType.AVG:
            return convolution.avg_pool_backward(epsilon, saved, window, self.buffers)
        return convolution.pnorm_pool_backward(epsilon, saved, window, self.conf.pnorm, self.buffers)

    def feed_forward_mask(self, mask: Array) -> Array | None:
        return reduced_mask(self.label, self.conf, mask, self.buffers)


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

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, C, out_h, out_w]``. MAX hands the gradient to the first maximum in row-major
    order; dropout is not applied, even if configured. A mask is handed on as by `ConvolutionLayer`. Source: DL4J
    ``SubsamplingLayer``. Differs: where the p-norm of a window is 0 its gradient is 0, not NaN.
    """

    pooling_type: str = field(default="max", kw_only=False)
    kernel_size: int | Sequence[int] = (1, 1)
    stride: int | Sequence[int] = (2, 2)
    padding: int | Sequence[int] = (0, 0)
    dilation: int | Sequence[int] = (1, 1)
    convolution_mode: str | None = None
    pnorm: int = 0
    avg_pool_include_pad_in_divisor: bool = False
    runtime: ClassVar = SubsamplingRuntime
    inherited: ClassVar[tuple[str, ...]] = ("drop_out", "convolution_mode")
    positional: ClassVar[tuple[str, ...]] = ("pooling_type", "kernel_size", "stride", "padding")

    def __post_init__(self) -> None:
        super().__post_init__()
        normalise_window(self)
        name = check_choice("SubsamplingLayer", "pooling type", str(self.pooling_type).lower(), list(PoolingType))
        object.__setattr__(self, "pooling_type", PoolingType(name))
        for axis in (0, 1):
            if self.padding[axis] >= self.dilation[axis] * (self.kernel_size[axis] - 1) + 1:  # type: ignore[index]
                raise nd.ConfigurationError(
                    f"SubsamplingLayer: padding must be less than the kernel, got {self.padding} and kernel_size "
                    f"{self.kernel_size}: some windows would hold nothing."
                )
        if name == "pnorm" and self.pnorm < 1:
            raise nd.ConfigurationError(f"SubsamplingLayer: pooling 'pnorm' needs pnorm >= 1, got {self.pnorm}.")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        image = image_of(label, input_type)
        height, width = window_of(label, self, (image.height, image.width)).out
        return ConvolutionalType(height, width, image.channels)
