"""Convolution, Deconvolution, their depthwise kin of forks, and Im2col."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.arrays import convolution
from nd.arrays import convolution_kinds as kinds
from nd.arrays.convolution import Window
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import BlobSpec, CaffeLayer, Shape, count
from .windows import Geometry, geometry_of, places_of

Buffers = Callable[..., Array]


class _Sliding(CaffeLayer):
    """Shared by layers with a ConvolutionParameter: bottoms as ``[N, C, H, W]``, and windows over them."""

    def setup(self) -> None:
        self.settings = self.message.convolution_param
        self._windows: dict[Shape, Window] = {}

    def may_split(self, training: bool) -> bool:
        return self.splits and self.channel_axis(self.conf.bottoms[0]) > 0  # without axes before it all is one example

    def channel_axis(self, shape: Shape) -> int:
        """Return the axis of the channels of a bottom of that shape."""
        return self.axis(self.settings.axis, shape)

    def window(self, shape: Shape) -> Window:
        """Return the windows over a bottom of that shape; raise ShapeError if they do not fit."""
        axis = self.channel_axis(shape)
        size = places_of(self.label, shape, axis)
        if size not in self._windows:
            geometry = geometry_of(self.label, self.settings, len(shape) - axis - 1)
            self._windows[size] = self.make_window(size, geometry)
        return self._windows[size]

    def make_window(self, size: Shape, geometry: Geometry) -> Window:
        """Return the windows over a bottom with such places."""
        return convolution.make_window(self.label, size, *geometry)

    def images(self, x: Array) -> Array:
        """View a bottom as ``[N, C, H, W]``, or ``[N, C, D, H, W]``."""
        shape = tuple(x.shape)
        axis = self.channel_axis(shape)
        return nd.reshape(x, (count(shape, 0, axis), shape[axis], *places_of(self.label, shape, axis)))


class Kept(NamedTuple):
    """Of the way forward of one bottom."""

    saved: Any
    window: Window
    shape: Shape


class Convolution(_Sliding):
    """Cross-correlation with kernels that all bottoms share, by groups of channels, plus b.

    Notes
    -----
    Blobs: W ``[num_output, C / group, *kernel]`` and b ``[num_output]``. Each axis of the top has
    ``floor((in + 2 pad - dilation (kernel - 1) - 1) / stride) + 1`` cells. `engine` and `force_nd_im2col` do nothing.
    Source: BVLC Caffe, base_conv_layer.cpp and conv_layer.cpp. Differs: windows slide along three axes at most.
    """

    pure = splits = True
    bottoms = tops = (1, None)
    as_many_tops = True

    def setup(self) -> None:
        super().setup()
        if self.settings.num_output < 1 or self.settings.group < 1:
            raise ConfigurationError(
                f"{self.label}: num_output and group must be >= 1, got {self.settings.num_output} and "
                f"{self.settings.group}."
            )

    def groups(self, channels: int) -> int:
        """Return into how many groups the channels are divided.

        Raises
        ------
        ConfigurationError
            Those of the bottom or of the top cannot be divided so.
        """
        groups, outputs = self.settings.group, self.settings.num_output
        if channels % groups or outputs % groups:
            raise ConfigurationError(
                f"{self.label}: the {channels} channels of the bottom and num_output {outputs} must be multiples of "
                f"group, got {groups}."
            )
        return groups

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        shape = self.same_shapes(bottoms)
        axis = self.channel_axis(shape)
        self.groups(shape[axis])
        places = self.places_above(self.window(shape))[: len(shape) - axis - 1]
        return [(*shape[:axis], self.settings.num_output, *places)] * len(bottoms)

    def places_above(self, window: Window) -> Shape:
        """Return the sizes of the top behind the channels."""
        return window.out

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        settings, shape = self.settings, bottoms[0]
        axis = self.channel_axis(shape)
        kernel = self.window(shape).kernel[: len(shape) - axis - 1]
        W = BlobSpec("W", (*self.channels_of_W(shape[axis]), *kernel), settings.weight_filler)
        b = BlobSpec("b", (settings.num_output,), settings.bias_filler)
        return (W, b) if settings.bias_term else (W,)

    def channels_of_W(self, channels: int) -> Shape:
        """Return the first two axes of the weights for a bottom with so many channels."""
        return self.settings.num_output, channels // self.groups(channels)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Any]:
        tops, kept = [], []
        for number, x in enumerate(xs):
            shape = tuple(x.shape)
            axis, window = self.channel_axis(shape), self.window(shape)
            W, b = self._weights(params["W"], shape, window), _as_row(params.get("b"))
            z, saved = self.convolved(self.images(x), W, b, window, _own(ctx.buffer, number), ctx.training)
            top = (*shape[:axis], z.shape[1], *self.places_above(window)[: len(shape) - axis - 1])
            tops.append(nd.reshape(z, top))
            kept.append(Kept(saved, window, shape))
        return (tops[0] if self.outputs == 1 else tuple(tops)), kept

    def backward(
        self, epsilon: Any, cache: list[Kept], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        epsilons = (epsilon,) if self.outputs == 1 else epsilon
        below: list[Array | None] = []
        first = True
        for number, (delta, kept) in enumerate(zip(epsilons, cache, strict=True)):
            if delta is None:
                below.append(self._nothing(kept.shape, number, ctx))
                continue
            written = grads if first else self._more(grads, ctx)
            below.append(self._back(delta, kept, params, written, number, ctx))
            if not first:
                for name, more in written.items():
                    nd.addi(grads[name], more)
            first = False
        return below

    def _back(
        self, delta: Array, kept: Kept, params: Params, grads: Params, number: int, ctx: VertexContext
    ) -> Array | None:
        saved, window, shape = kept
        axis = self.channel_axis(shape)
        size = (count(shape, 0, axis), self.settings.num_output, *self.places_above(window))
        W, gradient = (self._weights(array, shape, window) for array in (params["W"], grads["W"]))
        epsilon = self.convolved_back(
            nd.reshape(delta, size), saved, W, window, (gradient, _as_row(grads.get("b"))), _own(ctx.buffer, number),
            ctx.needs_epsilons[number],
        )  # fmt: skip
        return None if epsilon is None else nd.reshape(epsilon, shape)

    def _nothing(self, shape: Shape, number: int, ctx: VertexContext) -> Array | None:
        """Return zeros for a bottom whose top has no gradient, where somebody needs them."""
        return nd.fill(ctx.buffer(f"nothing{number}", shape), 0.0) if ctx.needs_epsilons[number] else None

    def _more(self, grads: Params, ctx: VertexContext) -> Params:
        """Return memory for the gradients of a further bottom, which are added to those of the first."""
        flat = {name: ctx.buffer(f"more_{name}", (count(grad.shape),)) for name, grad in grads.items()}
        return {name: nd.reshape_view(flat[name], tuple(grad.shape)) for name, grad in grads.items()}

    def _weights(self, W: Array, shape: Shape, window: Window) -> Array:
        """View weights as the primitives take them, of several groups ``[group, n, C, *kernel]``."""
        channels = shape[self.channel_axis(shape)]
        groups = self.groups(channels)
        expected = self.channels_of_W(channels)
        if tuple(W.shape[:2]) != expected:
            raise ShapeError(
                f"expected a bottom whose channels fit the weights {describe_shape(W.shape)}, got "
                f"{describe_shape(shape)}, for which they would begin with {describe_shape(expected)}."
            )
        first, second = expected
        leading = (first, second) if groups == 1 else (groups, first // groups, second)
        return nd.reshape_view(W, (*leading, *window.kernel))

    def convolved(
        self, x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers, training: bool
    ) -> tuple[Array, object]:
        """Return the top of ``x [N, C, H, W]``, and what the way back needs."""
        if W.ndim > x.ndim:
            return kinds.grouped(x, W, b, window, buffers)
        if x.ndim > 4:
            return kinds.conv3d(x, W, b, window, buffers)
        return convolution.conv2d(x, W, b, window, buffers, exact=training)

    def convolved_back(
        self,
        delta: Array,
        saved: Any,
        W: Array,
        window: Window,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        needs_epsilon: bool,
    ) -> Array | None:
        """Write the gradients of W and b; return that of x."""
        given = (delta, saved, W, window, gradients, buffers, needs_epsilon)
        if W.ndim > delta.ndim:
            return kinds.grouped_backward(*given)
        return kinds.conv3d_backward(*given) if delta.ndim > 4 else convolution.conv2d_backward(*given)


def _as_row(b: Array | None) -> Array | None:
    """View a bias as ``[1, n_out]``."""
    return None if b is None else nd.reshape_view(b, (1, b.shape[0]))


def _own(buffers: Buffers, number: int) -> Buffers:
    """Return the layer's memory, for a further bottom under names of its own."""
    return buffers if number == 0 else lambda name, *shape: buffers(f"bottom{number}_{name}", *shape)


class Deconvolution(Convolution):
    """Transposed convolution: every cell of a bottom, times kernels, is spread over a window of the top; plus b.

    Notes
    -----
    Blobs: W ``[C, num_output / group, *kernel]`` and b ``[num_output]``. Each axis of the top has
    ``stride (in - 1) + dilation (kernel - 1) + 1 - 2 pad`` cells. With ``group = num_output = C`` and the filler
    "bilinear" it enlarges images. Source: BVLC Caffe, deconv_layer.cpp. Differs: as Convolution.
    """

    pure = splits = True

    def make_window(self, size: Shape, geometry: Geometry) -> Window:
        return convolution.make_deconv_window(self.label, size, *geometry, "truncate")

    def places_above(self, window: Window) -> Shape:
        return window.size

    def channels_of_W(self, channels: int) -> Shape:
        return channels, self.settings.num_output // self.groups(channels)

    def convolved(
        self, x: Array, W: Array, b: Array | None, window: Window, buffers: Buffers, training: bool
    ) -> tuple[Array, object]:
        return (kinds.grouped_deconv if W.ndim > x.ndim else kinds.deconv)(x, W, b, window, buffers)

    def convolved_back(
        self,
        delta: Array,
        saved: Any,
        W: Array,
        window: Window,
        gradients: tuple[Array, Array | None],
        buffers: Buffers,
        needs_epsilon: bool,
    ) -> Array | None:
        back = kinds.grouped_deconv_backward if W.ndim > delta.ndim else kinds.deconv_backward
        return back(delta, saved, window, gradients, buffers, needs_epsilon)


class DepthwiseConvolution(Convolution):
    """Convolution of every channel for itself, whatever `group` says: a layer that forks of Caffe have for speed.

    Notes
    -----
    Blobs: W ``[num_output, 1, *kernel]`` and b ``[num_output]``. Also of the type "ConvolutionDepthwise". Source: forks
    of Caffe, which take a `group` that is not there, or is that of Convolution.
    """

    pure = splits = True

    def groups(self, channels: int) -> int:
        groups, outputs = self.settings.group, self.settings.num_output
        if groups not in (1, channels) or not channels or outputs % channels:
            raise ConfigurationError(
                f"{self.label}: group must be the {channels} channels of the bottom, or not be there, and num_output a "
                f"multiple of them, got group {groups} and num_output {outputs}."
            )
        return channels


class Im2col(_Sliding):
    """The cells under every window as channels: ``[N, C, H, W]`` to ``[N, C * kernel_h * kernel_w, out_h, out_w]``.

    Notes
    -----
    Source: BVLC Caffe, im2col_layer.cpp.
    """

    pure = splits = True

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        axis, window = self.channel_axis(shape), self.window(shape)
        places = window.out[: len(shape) - axis - 1]
        return [(*shape[:axis], shape[axis] * count(window.kernel), *places)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        (x,) = xs
        shape = tuple(x.shape)
        columns = convolution.columns_of(self.images(x), self.window(shape), ctx.buffer)
        return nd.reshape(columns, self.top_shapes([shape])[0]), shape

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        axis, window = self.channel_axis(cache), self.window(cache)
        size = (count(cache, 0, axis), cache[axis], *window.kernel, *window.out)
        return [nd.reshape(convolution.add_columns(nd.reshape(epsilon, size), window, ctx.buffer), cache)]
