"""DepthwiseConvolution2D and SeparableConvolution2D: every channel for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.arguments import Count
from nd.arrays import convolution, convolution_kinds
from nd.arrays.convolution import Window
from nd.typing import Array
from optimize.builder import Builder

from ...terms.builder_names import of_parameter
from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..base import FeedForwardConf
from ..runtime import Context, Params
from .convolution import Activate, ConvolutionLayer, ConvolutionRuntime
from .deconvolution import refuse_identity


class DepthwiseRuntime(ConvolutionRuntime):
    """Forward and backward of a depthwise convolution."""

    pure = splits = True

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        return convolution_kinds.depthwise(x, params["W"], params.get("b"), window, ctx.buffer, activate)

    def convolve_back(
        self, delta: Array, saved: Any, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        W, gradients = params["W"], (grads["W"], grads.get("b"))
        return convolution_kinds.depthwise_backward(delta, saved, W, window, gradients, ctx.buffer, ctx.needs_epsilon)


class SeparableRuntime(ConvolutionRuntime):
    """A depthwise convolution, and one of single cells over its channels."""

    pure = splits = True

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        W, inner = self._of_channels(params["W"]), ctx.inner("inner").buffer
        between, kept = convolution_kinds.depthwise(x, W, None, window, inner)
        cells = Window(window.out, (1, 1))
        z, saved = convolution.conv2d(
            between, params["pW"], params.get("b"), cells, ctx.buffer, activate, exact=ctx.training
        )
        return z, (kept, saved, cells)

    def convolve_back(
        self, delta: Array, saved: Any, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        kept, saved, cells = saved
        gradients = grads["pW"], grads.get("b")
        between: Array | Any = convolution.conv2d_backward(delta, saved, params["pW"], cells, gradients, ctx.buffer)
        W, gradients = self._of_channels(params["W"]), (self._of_channels(grads["W"]), None)
        inner = ctx.inner("inner").buffer
        return convolution_kinds.depthwise_backward(between, kept, W, window, gradients, inner, ctx.needs_epsilon)

    @staticmethod
    def _of_channels(W: Array) -> Array:
        """View ``[multiplier, n_in, kernel_h, kernel_w]`` as ``[kernel_h, kernel_w, n_in, multiplier]``."""
        return nd.permute(W, (2, 3, 1, 0))


@dataclass(frozen=True, kw_only=True)
class _Multiplying(ConvolutionLayer):
    """Shared by convolutions with several kernels for every channel."""

    depth_multiplier: Count = 1
    form: ClassVar[JavaForm] = ConvolutionLayer.form.more({"depthMultiplier": ("depth_multiplier", "plain")})
    shape_fields: ClassVar[Mapping[str, object]] = {
        **FeedForwardConf.shape_fields, "depth_multiplier": 1, **ConvolutionLayer.shape_fields,
    }  # fmt: skip

    def check(self, label: str) -> None:
        super().check(label)
        refuse_identity(label, self)


@dataclass(frozen=True, kw_only=True)
class DepthwiseConvolution2D(_Multiplying):
    """2D convolution of every channel for itself: activation(conv(x, W) + b).

    Parameters
    ----------
    n_in : int
        Channels in; inferred when the network has an input type.
    n_out : int, optional
        Always ``n_in * depth_multiplier``.
    depth_multiplier : int
        Kernels, and channels out, for every channel in.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``.
    convolution_mode : {"truncate", "same", "strict"}, optional
        See `nd.arrays.convolution.make_window`.
    has_bias : bool
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, H, W]``, output ``[N, n_in * depth_multiplier, out_h, out_w]``: channel ``c * depth_multiplier +
    m`` is channel c with kernel m. Vector: b ``[1, n_out]`` first, then W ``[kernel_h, kernel_w, n_in,
    depth_multiplier]`` in c order. Source: DL4J ``DepthwiseConvolution2D``. Differs: Java's updater takes b and the
    beginning of W for the weight, and the end of W for the bias, in regularisation and in updaters of biases.

    Examples
    --------
    >>> layer = DepthwiseConvolution2D(n_in=3, depth_multiplier=2, kernel_size=3)
    >>> layer.n_out, layer.param_shapes()
    (6, {'b': (1, 6), 'W': (3, 3, 3, 2)})
    """

    runtime: ClassVar = DepthwiseRuntime
    shape_fields: ClassVar[Mapping[str, object]] = {
        name: absent for name, absent in _Multiplying.shape_fields.items() if name != "n_out"
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_in is None:
            return
        outputs = self.n_in * self.depth_multiplier
        if self.n_out not in (None, outputs):
            raise nd.ConfigurationError(
                f"DepthwiseConvolution2D: n_out must be n_in * depth_multiplier = {self.n_in} * "
                f"{self.depth_multiplier}, got {self.n_out}. Leave n_out out."
            )
        object.__setattr__(self, "n_out", outputs)

    @property
    def outputs(self) -> int:
        return (self.n_in or 0) * self.depth_multiplier

    def weight_specs(self) -> tuple[ParamSpec, ...]:
        shape = (*self.kernel_size, self.n_in or 0, self.depth_multiplier)  # type: ignore[misc]
        return (self.kernel_spec("W", shape, self.depth_multiplier),)


@dataclass(frozen=True, kw_only=True)
class SeparableConvolution2D(_Multiplying):
    """2D convolution in two halves: every channel for itself, with W, then across channels, with pW and b.

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    depth_multiplier : int
        Kernels of the first half for every channel in.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``, of the first half.
    convolution_mode : {"truncate", "same", "strict"}, optional
        See `nd.arrays.convolution.make_window`.
    has_bias : bool
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, H, W]``, output ``[N, n_out, out_h, out_w]``; between them are ``n_in * depth_multiplier``
    channels in the order of `DepthwiseConvolution2D`. Vector: b ``[1, n_out]`` first, then W ``[depth_multiplier, n_in,
    kernel_h, kernel_w]``, then pW ``[n_out, n_in * depth_multiplier, 1, 1]``, in c order. Source: DL4J
    ``SeparableConvolution2D``. Differs: Java's updater takes other stretches of the vector for the weights and the
    bias, see `DepthwiseConvolution2D`.

    Examples
    --------
    >>> SeparableConvolution2D(n_in=3, n_out=8, kernel_size=3).param_shapes()
    {'b': (1, 8), 'W': (1, 3, 3, 3), 'pW': (8, 3, 1, 1)}
    """

    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **_Multiplying.builder_verbs, "constrain_point_wise": of_parameter("pW"),
        "point_wise_constraints": of_parameter("pW"),
    }  # fmt: skip
    runtime: ClassVar = SeparableRuntime

    def weight_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out, multiplier = self.n_in or 0, self.n_out or 0, self.depth_multiplier
        between = n_in * multiplier
        W = self.kernel_spec("W", (multiplier, n_in, *self.kernel_size), multiplier)  # type: ignore[misc]
        return W, ParamSpec("pW", (n_out, between, 1, 1), "c", fan_in=between, fan_out=between)
