"""Subsampling1DLayer: pooling along time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nd.arguments import Count, Natural
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import InputType
from ...terms.java_form import JavaForm
from ...terms.preprocessors import InputPreProcessor, to_series
from ..convolution.convolution1d import (
    ALONG_TIME,
    FORMAT_AS_IMAGES,
    SeriesWindows,
    as_images,
    as_series,
    series_window_of,
)
from ..places import places_of, type_of_places
from ..runtime import Context, Params
from .subsampling import SubsamplingLayer, SubsamplingRuntime


class Subsampling1DRuntime(SeriesWindows, SubsamplingRuntime):
    """Pooling of images of width 1."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        if not ctx.activates:
            return x, None
        window = self.windows.over(x, None)
        out, saved = self.pool(as_images(x), window, ctx.buffer)
        return as_series(out), saved

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        below = super().backward(as_images(epsilon), cache, params, grads, ctx)
        return None if below is None else as_series(below)


@dataclass(frozen=True, kw_only=True)
class Subsampling1DLayer(SubsamplingLayer):
    """1D pooling, along time.

    Parameters
    ----------
    pooling_type : {"max", "avg", "pnorm"}
    kernel_size, stride, padding, dilation : int
        In time steps.
    pnorm : int, optional
        The p of "pnorm".
    convolution_mode : {"truncate", "same", "strict"}, optional
    avg_pool_include_pad_in_divisor : bool
        Whether padding counts in an average.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Notes
    -----
    Input ``[N, C, T]``, output ``[N, C, out_t]``. A mask ``[N, T]`` is handed on and changes no activations, as in
    Java: a step counts where one under its window does; in mode same with stride 1 the mask stays as it is. Equal
    maxima, dropout and norms of 0 as for `SubsamplingLayer`. Source: DL4J ``Subsampling1DLayer``, also by its name
    ``Pooling1D``.

    Examples
    --------
    >>> layer = Subsampling1DLayer("avg", kernel_size=3, stride=2, convolution_mode="truncate")
    >>> layer.output_type("layer 0", InputType.recurrent(4, 9))
    recurrent(4x4)
    """

    kernel_size: Count | Sequence[Count] = 2
    stride: Count | Sequence[Count] = 1
    padding: Natural | Sequence[Natural] = 0
    dilation: Count | Sequence[Count] = 1
    axes: ClassVar[int] = 1
    causal: ClassVar[bool] = False
    runtime: ClassVar = Subsampling1DRuntime
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    form: ClassVar[JavaForm] = SubsamplingLayer.form.more(
        {**ALONG_TIME, "cnn2dDataFormat": ("data_format", FORMAT_AS_IMAGES)}, derived={}
    )

    @classmethod
    def Builder(cls, *arguments: Any) -> Any:
        """Start DL4J's fluent style: ``Builder(PoolingType.AVG, 3, 2)``, or ``Builder(3, 2)`` for a maximum."""
        return super().Builder(*(("max", *arguments) if arguments and isinstance(arguments[0], int) else arguments))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_series(input_type)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        channels, (steps,) = places_of(label, input_type, 1)
        return type_of_places(channels, [None if steps is None else series_window_of(label, self, (steps,)).out[0]])


Pooling1D = Subsampling1DLayer
"""DL4J's other name of it."""
