"""Convolution3D: z = conv(x, W) + b over volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import nd
from nd.arguments import Count
from nd.arrays import convolution_kinds
from nd.arrays.convolution import Sizes, Window
from nd.typing import Array

from ...terms import data_formats
from ...terms.enums import DataFormat
from ...terms.input_type import Convolutional3DType, InputType
from ...terms.java_form import BIAS, CONVOLUTIONS, VOLUMES, VOLUMES_ABSENT, JavaForm
from ..base import FeedForwardConf
from ..runtime import Context, LayerRuntime, Params
from .convolution import Activate, ConvolutionConf, ConvolutionRuntime, window_of


def volume_of(label: str, input_type: InputType) -> Convolutional3DType:
    """Return the volume that a layer over volumes receives; raise ConfigurationError if it is none."""
    if not isinstance(input_type, Convolutional3DType):
        raise nd.ConfigurationError(
            f"{label}: expected volumes, got {input_type!r}. Use InputType.convolutional3d(d, h, w, c)."
        )
    return input_type


class Convolution3DRuntime(ConvolutionRuntime):
    """Forward and backward of a 3D convolution."""

    pure = splits = True
    noised = ("W", "b")

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        return convolution_kinds.conv3d(x, params["W"], params.get("b"), window, ctx.buffer, activate)

    def convolve_back(
        self, delta: Array, saved: object, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        W, gradients = params["W"], (grads["W"], grads.get("b"))
        return convolution_kinds.conv3d_backward(delta, saved, W, window, gradients, ctx.buffer, ctx.needs_epsilon)


VOLUME_FORM = FeedForwardConf.form.more(
    {**BIAS, **VOLUMES}, {**CONVOLUTIONS, "cnn2dDataFormat": "NCHW"}, absent=VOLUMES_ABSENT
).formatted("dataFormat")


@dataclass(frozen=True, kw_only=True)
class Convolution3D(ConvolutionConf):
    """3D convolution (cross-correlation) over volumes: activation(conv(x, W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    kernel_size, stride, padding, dilation : int or three int
        ``depth, height, width``.
    convolution_mode : {"truncate", "same", "strict"}, optional
        See `nd.arrays.convolution.make_window`.
    has_bias : bool
    data_format : {"NCDHW", "NDHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, D, H, W]``, output ``[N, n_out, out_d, out_h, out_w]``. A mask ``[N, 1, D, H, W]`` is handed on as
    the largest under every window. Vector: b ``[1, n_out]`` first, then W ``[n_out, n_in, kernel_d, kernel_h,
    kernel_w]`` in c order. Source: DL4J ``Convolution3D``. Differs: Java cannot hand masks of volumes on, and its way
    back leaves out the dropout of the input.

    Examples
    --------
    >>> Convolution3D(n_in=1, n_out=4, kernel_size=3).param_shapes()
    {'b': (1, 4), 'W': (4, 1, 3, 3, 3)}
    """

    kernel_size: Count | Sequence[Count] = (2, 2, 2)
    stride: Count | Sequence[Count] = (1, 1, 1)
    data_format: str | None = None
    axes: ClassVar[int] = 3
    runtime: ClassVar[type[LayerRuntime]] = Convolution3DRuntime
    takes: ClassVar[str] = "volumes"
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES
    DataFormat: ClassVar = DataFormat
    form: ClassVar[JavaForm] = VOLUME_FORM.more(constants={"mode": "Same"})
    shape_fields: ClassVar[Mapping[str, object]] = {
        **FeedForwardConf.shape_fields,
        "kernel_size": (2, 2, 2),
        "has_bias": True,
    }

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, volume_of(label, input_type).channels)

    def preprocessor_for(self, input_type: InputType) -> None:
        return None

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        volume = volume_of(label, input_type)
        depth, height, width = self.out_size(label, (volume.depth, volume.height, volume.width))
        return Convolutional3DType(depth, height, width, self.n_out or 0)

    def out_size(self, label: str, size: Sizes) -> Sizes:
        """Return ``D, H, W`` of the output; raise ShapeError if the windows do not fit."""
        return window_of(label, self, size).out
