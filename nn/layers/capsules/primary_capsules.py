"""PrimaryCapsules: a convolution whose channels are taken together to capsules."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.activations import LeakyReLU, ReLU
from nd.arguments import Count, Natural, NonNegative
from nd.arrays import convolution
from nd.typing import Array
from optimize.builder import Builder

from ...terms import data_formats
from ...terms.input_type import InputType, RecurrentType
from ...terms.java_form import WINDOW, JavaForm
from ...terms.params import ParamSpec
from ...terms.preprocessors import InputPreProcessor, to_images
from ..convolution.convolution import Windows, image_of, normalise_window, window_of
from ..runtime import Activating, Context, LayerRuntime, Params
from ..same_diff import SameDiffConf
from .capsules import squash, squash_backward


class PrimaryCache(NamedTuple):
    """Results of forward that backward needs."""

    saved: Any
    z: Array
    s: Array
    """The activations as capsules."""
    window: Any
    W: Array
    """As a convolution wants it."""


class PrimaryCapsulesRuntime(LayerRuntime):
    """A convolution, perhaps a rectifier, and squash."""

    pure = splits = True
    takes_dropout = False

    def setup(self) -> None:
        conf = self.conf
        self.windows = Windows(self.label, conf)
        self.shape = (conf.capsule_dimensions * conf.channels, conf.input_channels, *conf.kernel_size)
        self.rectifier = Activating(LeakyReLU(alpha=conf.leak) if conf.leak else ReLU()) if conf.use_relu else None

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, PrimaryCache | None]:
        window = self.windows.over(x, self.conf.input_channels)
        if not ctx.activates:
            return x, None
        W = nd.assign(self._kernel("capsule_kernel", ctx), nd.permute(params["W"], (3, 2, 0, 1)))
        z, saved = convolution.conv2d(x, W, self._bias(params), window, ctx.buffer)
        if self.rectifier is not None:
            self.rectifier.value(z, z, ctx.training)
        numbers = self.conf.capsule_dimensions
        s = nd.reshape(z, (z.shape[0], math.prod(z.shape[1:]) // numbers, numbers))
        v = squash(s, 2, ctx.buffer("v", tuple(s.shape)))
        return v, PrimaryCache(saved, z, s, window, W)

    def backward(
        self, epsilon: Array, cache: PrimaryCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        saved, z, s, window, W = cache
        ds = squash_backward(s, epsilon, 2, ctx.buffer("ds", tuple(s.shape)))
        delta = nd.reshape(ds, tuple(z.shape))
        if self.rectifier is not None:
            self.rectifier.backprop(z, z, delta)
        gradient = self._kernel("capsule_kernel_gradient", ctx)
        gradients = (gradient, self._bias(grads))
        below = convolution.conv2d_backward(delta, saved, W, window, gradients, ctx.buffer, ctx.needs_epsilon)
        nd.assign(grads["W"], nd.permute(gradient, (2, 3, 1, 0)))
        return below

    def _kernel(self, name: str, ctx: Context) -> Array:
        """Return memory for W as a convolution wants it, ``[n_out, n_in, kernel_h, kernel_w]``."""
        return nd.reshape_view(ctx.buffer(name, (math.prod(self.shape),)), self.shape)

    def _bias(self, arrays: Params) -> Array | None:
        """Return b or its gradient as a convolution wants it, ``[1, n_out]``."""
        return nd.reshape_view(arrays["b"], (1, self.shape[0])) if "b" in arrays else None

    def feed_forward_mask(self, mask: Array) -> None:
        """Return no mask: capsules are no places."""
        return


@dataclass(frozen=True, kw_only=True)
class PrimaryCapsules(SameDiffConf):
    """Convolution whose outputs are grouped to capsules and squashed.

    Parameters
    ----------
    capsule_dimensions : int
        Numbers in each capsule.
    channels : int
        Capsules at each position.
    kernel_size, stride, padding, dilation : int or pair of int
        ``height, width``.
    convolution_mode : {"truncate", "same", "strict"}
        See `nd.arrays.convolution.make_window`. Truncate unless the layer is given another: as in Java, that of the
        network is not for it.
    has_bias : bool
    use_relu : bool
        Rectify before the squash; with leak > 0 a leaky rectifier of that slope.
    leak : float
    input_channels : int, optional
        Inferred when the network has an input type.
    capsules : int, optional
        Capsules of the output; inferred likewise, and kept for files only.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, channels * out_h * out_w, capsule_dimensions]``: the convolution's output in c
    order, cut into capsules, each squashed as in `CapsuleLayer`. Masks go no further. Vector: W ``[kernel_h, kernel_w,
    C, capsule_dimensions * channels]``, then b ``[capsule_dimensions * channels]``, in c order. Source: DL4J
    ``PrimaryCapsules``; Sabour, Frosst and Hinton 2017.

    Examples
    --------
    >>> PrimaryCapsules(capsule_dimensions=8, channels=4, input_channels=1, kernel_size=5).param_shapes()
    {'W': (5, 5, 1, 32), 'b': (32,)}
    """

    capsule_dimensions: Count | None = None
    channels: Count = 32
    kernel_size: Count | Sequence[Count] = (9, 9)
    stride: Count | Sequence[Count] = (2, 2)
    padding: Natural | Sequence[Natural] = (0, 0)
    dilation: Count | Sequence[Count] = (1, 1)
    convolution_mode: str | None = "truncate"
    has_bias: bool = True
    use_relu: bool = False
    leak: NonNegative = 0.0
    input_channels: Count | None = None
    capsules: Count | None = None
    runtime: ClassVar = PrimaryCapsulesRuntime
    positional: ClassVar[tuple[str, ...]] = ("capsule_dimensions", "channels")
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **SameDiffConf.builder_verbs,
        "use_leaky_re_lu": lambda builder, leak: builder.use_relu(True).leak(leak),
        "use_re_lu": lambda builder, use=True: builder.use_relu(use),
    }
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES[:1]
    form: ClassVar[JavaForm] = SameDiffConf.form.more(
        {
            "capsules": ("capsules", "size"),
            "capsuleDimensions": ("capsule_dimensions", "size"),
            **WINDOW,
            "channels": ("channels", "plain"),
            "hasBias": ("has_bias", "plain"),
            "inputChannels": ("input_channels", "size"),
            "leak": ("leak", "number"),
            "useRelu": ("use_relu", "plain"),
        },
        {"paramWeightInit": None},
    )
    shape_fields: ClassVar[Mapping[str, object]] = {
        "capsule_dimensions": None, "channels": 32, "kernel_size": (9, 9), "input_channels": None, "has_bias": True,
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        normalise_window(self)
        if self.leak and not self.use_relu:
            raise nd.ConfigurationError(f"PrimaryCapsules: leak {self.leak} needs use_relu=True, got False.")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        channels = self.fixed(label, "input_channels", image_of(label, input_type).channels)
        layer = replace(self, input_channels=channels)
        return replace(layer, capsules=layer.fixed(label, "capsules", layer._count(label, input_type)))

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        layer, _ = super().in_format(label, incoming)
        return layer, data_formats.SERIES[0]

    def _count(self, label: str, input_type: InputType) -> int:
        image = image_of(label, input_type)
        return self.channels * math.prod(window_of(label, self, (image.height, image.width)).out)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return RecurrentType(self._count(label, input_type), self.capsule_dimensions)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        if before is None or before[0] != "images":
            return self, None
        return replace(self, input_channels=self.fixed(label, "input_channels", before[1])), None

    def check(self, label: str) -> None:
        super().check(label)
        self.check_given(label, ("capsule_dimensions",), "Give it.")
        self.check_given(label, ("input_channels",), "Give it, or pass input_type to list(...).")

    def param_specs(self) -> tuple[ParamSpec, ...]:
        kernel, n_in = tuple(self.kernel_size), self.input_channels or 0  # type: ignore[arg-type]
        out, cells = (self.capsule_dimensions or 0) * self.channels, math.prod(kernel)
        fan_out = out * cells / math.prod(self.stride)  # type: ignore[arg-type]
        W = ParamSpec("W", (*kernel, n_in, out), "c", fan_in=n_in * cells, fan_out=fan_out)
        return (W, ParamSpec("b", (out,), "c", bias=True)) if self.has_bias else (W,)
