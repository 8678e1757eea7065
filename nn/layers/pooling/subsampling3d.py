"""Subsampling3DLayer: pooling over volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nd.arguments import Count, Natural
from nd.arrays import volumes
from nd.arrays.convolution import Sizes
from nd.typing import Array

from ...terms import data_formats
from ...terms.enums import PoolingType
from ...terms.java_form import PARAMETERLESS, VOLUMES, VOLUMES_ABSENT, JavaForm
from ..convolution.convolution import WindowsRuntime, window_of
from ..places import PlacesConf
from ..runtime import Context, Params
from .subsampling import normalise_pooling


class Subsampling3DRuntime(WindowsRuntime):
    """Forward and backward of pooling over volumes."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        if not ctx.activates:
            return x, None
        window = self.windows.over(x, None)
        pool = volumes.max_pool3d if self.conf.pooling_type == PoolingType.MAX else volumes.avg_pool3d
        out, saved = pool(x, window, ctx.buffer)
        return out, (saved, window)

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        saved, window = cache
        is_max = self.conf.pooling_type == PoolingType.MAX
        back = volumes.max_pool3d_backward if is_max else volumes.avg_pool3d_backward
        return back(epsilon, saved, window, ctx.buffer)


@dataclass(frozen=True, kw_only=True)
class Subsampling3DLayer(PlacesConf):
    """3D pooling.

    Parameters
    ----------
    pooling_type : {"max", "avg"}
    kernel_size, stride, padding, dilation : int or three int
        ``depth, height, width``.
    convolution_mode : {"same", "truncate", "strict"}
        Same unless the layer is given another: as in Java, that of the network is not for it.
    data_format : {"NCDHW", "NDHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C, D, H, W]``, output ``[N, C, out_d, out_h, out_w]``. MAX hands the gradient to the first maximum in
    row-major order; AVG divides by the cells that are not padding; the dropout of the input is applied. A mask ``[N, 1,
    D, H, W]`` is handed on as the largest under every window. Source: DL4J ``Subsampling3DLayer``. Differs: Java
    cannot hand masks of volumes on.

    Examples
    --------
    >>> from nn import InputType
    >>> layer = Subsampling3DLayer("avg", kernel_size=2)
    >>> layer.output_type("layer 0", InputType.convolutional3d(5, 6, 7, 4))
    convolutional3d(3x3x4x4)
    """

    pooling_type: str = field(default="max", kw_only=False)
    kernel_size: Count | Sequence[Count] = (1, 1, 1)
    stride: Count | Sequence[Count] = (2, 2, 2)
    padding: Natural | Sequence[Natural] = (0, 0, 0)
    dilation: Count | Sequence[Count] = (1, 1, 1)
    convolution_mode: str | None = "same"
    data_format: str | None = None
    axes: ClassVar[int] = 3
    runtime: ClassVar = Subsampling3DRuntime
    positional: ClassVar[tuple[str, ...]] = ("pooling_type", "kernel_size", "stride", "padding")
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES
    form: ClassVar[JavaForm] = PlacesConf.form.more(
        {**VOLUMES, "poolingType": ("pooling_type", "pooling")},
        {**PARAMETERLESS, "cudnnAllowFallback": True},
        absent=VOLUMES_ABSENT,
    ).formatted("dataFormat")

    def __post_init__(self) -> None:
        super().__post_init__()
        normalise_pooling(self, 3, (PoolingType.AVG, PoolingType.MAX))

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        return window_of(label, self, sizes).out
