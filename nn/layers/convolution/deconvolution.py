"""Deconvolution2D and Deconvolution3D: transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.arguments import Count
from nd.arrays import convolution, convolution_kinds
from nd.arrays.convolution import Sizes, Window
from nd.typing import Array

from ...terms import data_formats
from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, Params
from .convolution import Activate, ConvolutionConf, ConvolutionLayer, ConvolutionRuntime, Windows
from .convolution3d import VOLUME_FORM, Convolution3D

Geometry = tuple[Sizes, Sizes, Sizes, Sizes]


def deconv_window_of(label: str, conf: Any, size: Sizes) -> Window:
    """Return the windows, over the output for an input of that size, of the convolution that leads back."""
    geometry: Geometry = (conf.kernel_size, conf.stride, conf.padding, conf.dilation)
    return convolution.make_deconv_window(label, size, *geometry, conf.convolution_mode)


class Deconvolution2DRuntime(ConvolutionRuntime):
    """Forward and backward of a transposed convolution over images or volumes."""

    pure = splits = True

    def make_windows(self) -> Windows:
        return Windows(self.label, self.conf, deconv_window_of, self.conf.axes)

    def kernel(self, W: Array) -> Array:
        """View a weight, or its gradient, as ``[n_in, n_out, *kernel]``."""
        return W

    def convolve(
        self, x: Array, window: Window, params: Params, ctx: Context, activate: Activate | None
    ) -> tuple[Array, object]:
        z, saved = convolution_kinds.deconv(x, self.kernel(params["W"]), params.get("b"), window, ctx.buffer)
        if activate is not None:
            activate(z)
        return z, saved

    def convolve_back(
        self, delta: Array, saved: object, window: Window, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        gradients = self.kernel(grads["W"]), grads.get("b")
        return convolution_kinds.deconv_backward(delta, saved, window, gradients, ctx.buffer, ctx.needs_epsilon)

    def feed_forward_mask(self, mask: Array) -> Array | None:
        """Return a mask in which a place counts where a cell that counts reaches."""
        sizes = tuple(mask.shape[2:])
        same = self.conf.convolution_mode == "same" and set(self.conf.stride) == {1}
        if same or set(sizes) == {1}:
            return mask
        conf, point = self.conf, (1, 1, 0, 1)
        geometry = zip(conf.kernel_size, conf.stride, conf.padding, conf.dilation, strict=True)
        # An axis of length 1 says the same for all of its places, so no window may widen it.
        per_axis = [cell if length > 1 else point for cell, length in zip(geometry, sizes, strict=True)]
        kernel, stride, padding, dilation = zip(*per_axis, strict=True)
        window = convolution.make_deconv_window(
            self.label, sizes, kernel, stride, padding, dilation, conf.convolution_mode
        )
        ones = nd.ones(1, 1, *kernel, dtype=self.dtype)
        reached, _ = convolution_kinds.deconv(mask, ones, None, window, nd.fresh_buffers(self.dtype))
        return nd.minimum(reached, 1.0, reached)


class Deconvolution3DRuntime(Deconvolution2DRuntime):
    """The same over volumes; its weight lies otherwise."""

    pure = splits = True

    def kernel(self, W: Array) -> Array:
        return nd.permute(W, (4, 3, 0, 1, 2))


@dataclass(frozen=True, kw_only=True)
class _Transposed(ConvolutionConf):
    """Shared by transposed convolutions."""

    def check(self, label: str) -> None:
        super().check(label)
        refuse_identity(label, self)

    def out_size(self, label: str, size: Sizes) -> Sizes:
        """Return the size of the output; raise ShapeError if nothing is left of it."""
        return deconv_window_of(label, self, size).size


def refuse_identity(label: str, conf: Any) -> None:
    """Raise ConfigurationError if a weight that does not begin with outputs and inputs is to be the identity."""
    if conf.weight_init == "identity":
        raise nd.ConfigurationError(
            f"{label}: weight_init must be another than 'identity', which is for weights [n_out, n_in, ...], got "
            f"{list(conf.param_shapes()['W'])}."
        )


@dataclass(frozen=True, kw_only=True)
class Deconvolution2D(_Transposed, ConvolutionLayer):
    """2D transposed convolution: activation(deconv(x, W) + b); every cell of the input is spread over a window.

    Parameters
    ----------
    n_in, n_out : int
        Channels in and out; n_in is inferred when the network has an input type.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``, of the convolution whose transpose this is.
    convolution_mode : {"truncate", "same", "strict"}, optional
        Same: the output is the input's size times the stride. Truncate and strict: ``s * (in - 1) + k - 2 p``, with the
        dilated kernel.
    has_bias : bool
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, H, W]``, output ``[N, n_out, out_h, out_w]``. In a mask a place counts where a cell that counts
    reaches. Vector: b ``[1, n_out]`` first, then W ``[n_in, n_out, kernel_h, kernel_w]`` in c order. Source: DL4J
    ``Deconvolution2D``. Differs: Java's way back leaves out the dropout of the input, and its masks get the size that
    a convolution would give them.

    Examples
    --------
    >>> layer = Deconvolution2D(n_in=8, n_out=3, kernel_size=2, stride=2)
    >>> layer.param_shapes(), layer.out_size("layer", (7, 7))
    ({'b': (1, 3), 'W': (8, 3, 2, 2)}, (14, 14))
    """

    kernel_size: int | Sequence[int] = (5, 5)  # again: that of _Transposed would come before ConvolutionLayer's
    runtime: ClassVar = Deconvolution2DRuntime

    def weight_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out = self.n_in or 0, self.n_out or 0
        return (self.kernel_spec("W", (n_in, n_out, *self.kernel_size), n_out),)  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class Deconvolution3D(_Transposed, Convolution3D):
    """3D transposed convolution: activation(deconv(x, W) + b); every cell of the input is spread over a window.

    Parameters
    ----------
    n_in, n_out, kernel_size, stride, padding, dilation, convolution_mode, has_bias
        As for `Deconvolution2D`, with three numbers: ``depth, height, width``.
    data_format : {"NCDHW", "NDHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, D, H, W]``, output ``[N, n_out, out_d, out_h, out_w]``. Vector: b ``[1, n_out]`` first, then W
    ``[kernel_d, kernel_h, kernel_w, n_out, n_in]`` in c order. Source: DL4J ``Deconvolution3D``. Differs: as for
    `Deconvolution2D`.

    Examples
    --------
    >>> Deconvolution3D(n_in=8, n_out=3, kernel_size=2, stride=2).param_shapes()
    {'b': (1, 3), 'W': (2, 2, 2, 3, 8)}
    """

    kernel_size: Count | Sequence[Count] = (2, 2, 2)
    data_format: str | None = None
    runtime: ClassVar = Deconvolution3DRuntime
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES
    form: ClassVar[JavaForm] = VOLUME_FORM

    def weight_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out = self.n_in or 0, self.n_out or 0
        return (self.kernel_spec("W", (*self.kernel_size, n_out, n_in), n_out),)  # type: ignore[misc]
