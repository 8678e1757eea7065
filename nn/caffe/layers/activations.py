"""Layers that compute a function of every element: ReLU, Sigmoid, Power and their like; PReLU, and Dropout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.activations import Activation
from nd.activations.base import Activating
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from ..schema import message_class
from . import functions
from .base import BlobSpec, CaffeLayer, Shape


class Activated(NamedTuple):
    """What the way back through a function needs."""

    x: Array
    a: Array


class ElementLayer(CaffeLayer):
    """A layer whose top is a function of every element of its bottom: `activation`."""

    def activation(self) -> Activation:
        """Return the function, from the message's settings."""
        raise NotImplementedError

    def setup(self) -> None:
        self.activating = Activating(self.activation())

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Activated]:
        (x,) = xs
        a = self.activating.value(x, nd.buffer_like(x, ctx.buffer, "a"), ctx.training)
        return a, Activated(x, a)

    def backward(
        self, epsilon: Array, cache: Activated, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        return [self.activating.backprop(cache.x, cache.a, epsilon)]


class AbsVal(ElementLayer):
    """|x|; the derivative at 0 is 0. Source: BVLC Caffe, absval_layer.cpp."""

    pure = splits = True
    in_place = False

    def activation(self) -> Activation:
        return functions.Absolute()


class BNLL(ElementLayer):
    """ln(1 + eˣ). Source: BVLC Caffe, bnll_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        return functions.BinomialLogLikelihood()


class Clip(ElementLayer):
    """x, held in min .. max; gradients pass there, ends included. Source: BVLC Caffe, clip_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        settings = self.message.clip_param
        if not self.message.HasField("clip_param"):
            raise ConfigurationError(f"{self.label}: clip_param must give min and max, got none.")
        if not settings.min <= settings.max:
            raise ConfigurationError(f"{self.label}: min must be <= max, got {settings.min} and {settings.max}.")
        return functions.Clipped(low=settings.min, high=settings.max)


class ELU(ElementLayer):
    """x for x > 0, else alpha (eˣ - 1); the derivative at 0 is alpha. Source: BVLC Caffe, elu_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        return functions.SteepELU(self.message.elu_param.alpha)


class Exp(ElementLayer):
    """base^(shift + scale x); the base -1 is e.

    Raises
    ------
    ConfigurationError
        The base is neither -1 nor above 0.

    Notes
    -----
    Source: BVLC Caffe, exp_layer.cpp.
    """

    pure = splits = True

    def activation(self) -> Activation:
        settings = self.message.exp_param
        of_base = math.log(_base(settings.base, self.label))
        return functions.Exponential(factor=of_base * settings.scale, offset=of_base * settings.shift)


class Log(ElementLayer):
    """The logarithm of shift + scale x to a base; -1 is e.

    Raises
    ------
    ConfigurationError
        The base is neither -1 nor above 0, or 1.

    Notes
    -----
    Source: BVLC Caffe, log_layer.cpp.
    """

    pure = splits = True

    def activation(self) -> Activation:
        settings = self.message.log_param
        base = _base(settings.base, self.label)
        if base == 1.0:
            raise ConfigurationError(f"{self.label}: base must not be 1, to which there are no logarithms.")
        return functions.Logarithm(base=base, scale=settings.scale, shift=settings.shift)


def _base(base: float, label: str) -> float:
    if base == -1.0:
        return math.e
    if not base > 0.0:
        raise ConfigurationError(f"{label}: base must be > 0, or -1 for e, got {base}.")
    return base


class Power(ElementLayer):
    """(shift + scale x)^power; where power or scale is 0, a constant.

    Notes
    -----
    Source: BVLC Caffe, power_layer.cpp. Differs: the derivative is computed as power scale (shift + scale x)^(power -
    1), which is right at 0 too; Caffe divides the top by the bottom, which there is no number.
    """

    pure = splits = True

    def activation(self) -> Activation:
        settings = self.message.power_param
        return functions.Power(exponent=settings.power, scale=settings.scale, shift=settings.shift)


class ReLU(ElementLayer):
    """x for x > 0, else negative_slope x; the derivative at 0 is that slope. Source: BVLC Caffe, relu_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        slope = self.message.relu_param.negative_slope
        return functions.Leaky(below=slope) if slope else nd.activations.ReLU()


class ReLU6(ElementLayer):
    """x, held in 0 .. 6; gradients pass inside, ends excluded. A type of MobileNet's forks, without settings."""

    pure = splits = True

    def activation(self) -> Activation:
        return nd.activations.ReLU6()


class Sigmoid(ElementLayer):
    """1 / (1 + e⁻ˣ). Source: BVLC Caffe, sigmoid_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        return nd.activations.Sigmoid()


class Swish(ElementLayer):
    """x σ(beta x). Source: BVLC Caffe, swish_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        return functions.Gated(beta=self.message.swish_param.beta)


class TanH(ElementLayer):
    """The hyperbolic tangent. Source: BVLC Caffe, tanh_layer.cpp."""

    pure = splits = True

    def activation(self) -> Activation:
        return nd.activations.Tanh()


class Threshold(ElementLayer):
    """1 for x > threshold, else 0; no gradient passes.

    Raises
    ------
    ConfigurationError
        Something below is to be trained through it.

    Notes
    -----
    Source: BVLC Caffe, threshold_layer.cpp.
    """

    pure = splits = True

    def activation(self) -> Activation:
        return functions.Step(threshold=self.message.threshold_param.threshold)

    def backward(
        self, epsilon: Array, cache: Activated, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return self.without_gradients(ctx)


class PReLU(CaffeLayer):
    """x for x > 0, else slope x, with a learned slope for each channel, or one with `channel_shared`.

    Raises
    ------
    ShapeError
        The bottom has no axis of channels.

    Notes
    -----
    Blob: slope ``[C]``, with `channel_shared` ``[]``; 0.25 without a filler. Bottom ``[N, C, ...]``. Source: BVLC
    Caffe, prelu_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.shared = self.message.prelu_param.channel_shared

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        if len(shape) < 2:
            raise ShapeError(f"{self.label}: the bottom must be [N, C, ...], got {describe_shape(shape)}.")
        return [shape]

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        settings = self.message.prelu_param
        usual = message_class("FillerParameter")(type="constant", value=0.25)
        filler = settings.filler if settings.HasField("filler") else usual
        return (BlobSpec("slope", () if self.shared else bottoms[0][1:2], filler),)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        (x,) = xs
        below = nd.minimum(x, 0.0, nd.buffer_like(x, ctx.buffer, "below zero"))
        a = nd.maximum(x, 0.0, nd.buffer_like(x, ctx.buffer, "a"))
        return nd.addi(a, nd.multiply(below, self._slope(params, x), nd.buffer_like(x, ctx.buffer, "part"))), x

    def backward(
        self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        x = cache
        part = nd.minimum(x, 0.0, nd.buffer_like(x, ctx.buffer, "part"))
        if self.shared:
            nd.assign(grads["slope"], nd.sum(nd.muli(part, epsilon)))
        else:
            nd.assign(grads["slope"], nd.reshape(nd.channel_sums(part, epsilon), (-1,)))
        if not ctx.needs_epsilons[0]:
            return [None]
        positive = nd.greater(x, 0.0, part)
        factors = nd.subtract(1.0, positive, nd.buffer_like(x, ctx.buffer, "factors"))
        nd.addi(nd.muli(factors, self._slope(params, x)), positive)
        return [nd.muli(epsilon, factors)]

    def _slope(self, params: Params, x: Array) -> Array:
        slope = params["slope"]
        return slope if self.shared else nd.reshape(slope, (-1, *(1,) * (x.ndim - 2)))


class Dropout(CaffeLayer):
    """In training an element is 0 with the probability dropout_ratio, else divided by 1 - dropout_ratio.

    Raises
    ------
    ConfigurationError
        The ratio is not in 0 < ratio < 1.

    Notes
    -----
    Draws one number for each element, in c order. The phase TEST hands the bottom on. Source: BVLC Caffe,
    dropout_layer.cpp; Srivastava et al. 2014. Differs: a ratio of 0, which Caffe refuses, keeps everything.
    """

    pure = splits = True
    has_noise = True

    def setup(self) -> None:
        ratio = self.message.dropout_param.dropout_ratio
        if not 0.0 <= ratio < 1.0:
            raise ConfigurationError(f"{self.label}: dropout_ratio must be 0 <= ratio < 1, got {ratio}.")
        self.retained = 1.0 - ratio

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array | None]:
        (x,) = xs
        if not ctx.training:
            return x, None
        mask = nd.random.get_random().dropout_factors(ctx.buffer("drop_mask", tuple(x.shape)), self.retained)
        return nd.multiply(x, mask, nd.buffer_like(x, ctx.buffer, "dropped")), mask

    def backward(
        self, epsilon: Array, cache: Array | None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        return [epsilon if cache is None else nd.muli(epsilon, cache)]
