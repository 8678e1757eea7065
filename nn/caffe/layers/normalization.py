"""LRN, BatchNorm, MVN and Normalize: numbers divided by a measure of those around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.arrays import batch_norm
from nd.arrays.convolution import avg_pool, make_window
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.normalization.batch_normalization import elements_of_channel
from ...layers.normalization.local_response_normalization import LocalResponseNormalization, LocalResponseRuntime
from ...layers.runtime import Context, Params
from ...vertices.runtime import VertexContext
from ..schema import Message, new
from .base import BlobSpec, CaffeLayer, Shape


def filler_or_one(settings: Message, field: str) -> Message:
    """Return the filler of a scale, which starts as 1 where the message has none."""
    return getattr(settings, field) if settings.HasField(field) else new("FillerParameter", type="constant", value=1.0)


# ---- neighbours


class WithinChannelRuntime(LocalResponseRuntime):
    """A local response normalisation over a square of n x n places of one channel, the mean of their squares."""

    pure = splits = True

    def in_one_pass(self, x: Array, ctx: Context) -> tuple[Array, object] | None:
        return None

    def neighbours(self, x: Array, name: str, ctx: Context) -> Array:
        """Return the mean over the places around; those beyond the border count as zeros."""
        n = self.conf.n
        window = make_window(self.label, tuple(x.shape[2:]), (n, n), padding=(n // 2, n // 2))
        return avg_pool(x, window, True, ctx.inner(name).buffer)[0]


class LRN(CaffeLayer):
    """x / (k + alpha / n * sum of x^2 over n channels)^beta; within a channel x / (1 + alpha * mean of x^2)^beta.

    Notes
    -----
    Bottom ``[N, C, H, W]``. The channels are n around; within a channel it is a square of n x n places around, the
    divisor is n^2 at borders too, and k counts nothing. Source: BVLC Caffe, lrn_layer.cpp. Differs: k must be above 0,
    and alpha not below it; Caffe takes others, whose powers may be NaN.
    """

    pure = splits = True

    def setup(self) -> None:
        settings = self.message.lrn_param
        n, within = settings.local_size, settings.norm_region == settings.WITHIN_CHANNEL
        if n % 2 == 0:
            raise ConfigurationError(f"{self.label}: local_size must be odd, got {n}.")
        k, alpha = (1.0, settings.alpha) if within else (settings.k, settings.alpha / n)
        if not (k > 0.0 and alpha >= 0.0 and math.isfinite(k + alpha + settings.beta)):
            raise ConfigurationError(
                f"{self.label}: k must be > 0, alpha >= 0, and both and beta finite, got {settings.k:g}, "
                f"{settings.alpha:g} and {settings.beta:g}."
            )
        conf = LocalResponseNormalization(n=n, k=k, alpha=alpha, beta=settings.beta)
        runtime = WithinChannelRuntime if within else LocalResponseRuntime
        self.inner = runtime(conf, self.label, self.dtype)

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        if len(shape) != 4:
            raise ShapeError(f"{self.label}: expected a bottom [N, C, H, W], got {describe_shape(shape)}.")
        return [shape]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, object]:
        return self.inner.forward(xs[0], params, self._inside(ctx))

    def backward(
        self, epsilon: Array, cache: object, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        return [self.inner.backward(epsilon, cache, params, grads, self._inside(ctx))]  # type: ignore[arg-type]

    def _inside(self, ctx: VertexContext) -> Context:
        return Context(ctx.training, ctx.buffer, needs_epsilon=ctx.needs_epsilons[0])


# ---- channels


class BatchNormCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    centered: Array | None
    """x less the mean, where the backend keeps it."""
    mean: Array
    """``[1, C]``, as inverse is."""
    inverse: Array
    """1 / sqrt(variance + eps)."""
    shape: Shape
    """Of the bottom."""


def _inverse(variance: Array, divisor: Array | float, eps: float, out: Array) -> None:
    nd.divide(variance, divisor, out)
    nd.addi(out, eps)
    nd.divide(1.0, nd.sqrt(out), out)


def _follow(stored: Array, now: Array, fraction: float, divisor: float) -> None:
    """fraction * stored + now / divisor."""
    nd.muli(stored, fraction)
    nd.addi(stored, nd.divide(now, divisor))


def _slopes(total: Array, product: Array, inverse: Array, count: float) -> None:
    """Turn the sums of epsilon and of epsilon * (x - mean) into shift and slope of `normalize_channels_back`."""
    nd.muli(total, inverse)
    nd.divi(total, count)
    nd.muli(product, inverse)
    nd.muli(product, inverse)
    nd.muli(product, inverse)
    nd.divi(product, count)


class BatchNorm(CaffeLayer):
    """(x - mean) / sqrt(variance + eps) for every channel, by the minibatch or by what was kept of those before.

    Notes
    -----
    Bottom ``[N, C, ...]``, or ``[N]`` for one channel. Blobs, written by every forward pass that takes the minibatch's
    own statistics: sum of means ``[C]``, sum of variances ``[C]``, and their divisor ``[1]``. With f the
    moving_average_fraction and m elements of a channel, s <- f s + 1, b0 <- f b0 + mean, b1 <- f b1 + variance m / (m -
    1). Unless use_global_stats says otherwise, phase TRAIN takes the minibatch's statistics, and phase TEST b0 / s and
    b1 / s, zeros where s is 0. The solver leaves the blobs alone: their lr_mult must be 0. There is neither scale nor
    shift: put a Scale layer behind it. Source: BVLC Caffe, batch_norm_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.settings = self.message.batch_norm_param
        for number, spec in enumerate(self.message.param):
            if spec.lr_mult != 0.0:
                raise ConfigurationError(
                    f"{self.label}: blobs are statistics, so that lr_mult must be 0, got {spec.lr_mult:g} in param "
                    f"{number}. Write param {{ lr_mult: 0 }}, or leave it out."
                )
        self._inverse, self._follow = nd.elementwise(_inverse), nd.elementwise(_follow)
        self._slopes = nd.elementwise(_slopes)

    def may_split(self, training: bool) -> bool:
        return not self._meets(training)

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        channels = bottoms[0][1] if len(bottoms[0]) > 1 else 1
        shapes = {"mean": (channels,), "variance": (channels,), "factor": (1,)}
        return tuple(BlobSpec(name, shape, learned=False) for name, shape in shapes.items())

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, BatchNormCache]:
        x, shape, channels = xs[0], tuple(xs[0].shape), params["mean"].shape[0]
        if x.ndim < 2:
            x = nd.reshape(x, (-1, 1))
        if x.shape[1] != channels:
            raise ShapeError(f"expected a bottom [N, {channels}, ...], got {describe_shape(shape)}.")
        inverse = ctx.buffer("inverse", (1, channels))
        if self._meets(ctx.training):
            x = batch_norm.for_channels(x, ctx.buffer)
            centered, mean = self._of_batch(x, inverse, params, ctx)
        else:
            centered, mean = None, self._of_blobs(inverse, params, ctx)
        a = batch_norm.normalize_channels(x, centered, (mean, inverse, 0.0), ctx.buffer)
        return nd.reshape(a, shape), BatchNormCache(x, centered, mean, inverse, shape)

    def backward(
        self, epsilon: Array, cache: BatchNormCache, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        x, centered, mean, inverse, shape = cache
        epsilon = nd.reshape(epsilon, tuple(x.shape))
        channels = x.shape[1]
        if not self._meets(ctx.training):
            factor = nd.reshape_view(inverse, (1, channels, *(1,) * (x.ndim - 2)))
            return [nd.reshape(nd.muli(epsilon, factor), shape)]
        epsilon = batch_norm.for_channels(epsilon, ctx.buffer, x)
        sums = ctx.buffer("sums", (2 * channels,))
        sums = nd.reshape_view(sums, (2, channels))
        centered = batch_norm.channel_error_sums(epsilon, x, centered, mean, sums, ctx.buffer)
        shift, slope = sums[:1, :], sums[1:, :]
        self._slopes(shift, slope, inverse, float(elements_of_channel(x)))
        vectors = mean, inverse, slope, shift
        return [nd.reshape(batch_norm.normalize_channels_back(epsilon, x, centered, vectors, ctx.buffer), shape)]

    def _meets(self, training: bool) -> bool:
        """Tell whether statistics are those of the minibatch."""
        return not self.settings.use_global_stats if self.settings.HasField("use_global_stats") else training

    def _of_batch(self, x: Array, inverse: Array, params: Params, ctx: VertexContext) -> tuple[Array | None, Array]:
        """Write the inverse deviations, and the statistics into the blobs; return x less the mean, and the mean."""
        channels, count, fraction = x.shape[1], float(elements_of_channel(x)), self.settings.moving_average_fraction
        moments = nd.reshape_view(ctx.buffer("moments", (2 * channels,)), (2, channels))
        centered = batch_norm.channel_moments(x, moments, ctx.buffer)
        mean, squares = moments[:1, :], moments[1:, :]
        self._inverse(squares, count, self.settings.eps, inverse)
        self._follow(params["mean"], mean[0, :], fraction, 1.0)
        self._follow(params["variance"], squares[0, :], fraction, max(count - 1.0, 1.0))
        nd.addi(nd.muli(params["factor"], fraction), 1.0)
        return centered, mean

    def _of_blobs(self, inverse: Array, params: Params, ctx: VertexContext) -> Array:
        """Write the inverse deviations, and return the mean, as blobs have them."""
        divisor, shape = params["factor"], tuple(inverse.shape)
        blank = nd.equal(divisor, 0.0)
        factor = nd.where(blank, divisor, nd.divide(1.0, nd.where(blank, 1.0, divisor)))
        mean = nd.multiply(nd.reshape_view(params["mean"], shape), factor, ctx.buffer("mean", shape))
        variance = nd.multiply(nd.reshape_view(params["variance"], shape), factor, ctx.buffer("variance", shape))
        self._inverse(variance, 1.0, self.settings.eps, inverse)
        return mean


# ---- examples


class MVN(CaffeLayer):
    """(x - mean) / (deviation + eps) of every example and channel, or of every example.

    Notes
    -----
    Mean and deviation are those over the axes from 2 on, with across_channels from 1 on; without normalize_variance the
    mean is all that goes. The way back is Caffe's, which leaves eps out where deviation and eps meet: ``(dy - mean(dy)
    - y mean(dy y)) / (deviation + eps)``. Source: BVLC Caffe, mvn_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.settings = self.message.mvn_param

    def forward(
        self, xs: Sequence[Array], params: Params, ctx: VertexContext
    ) -> tuple[Array, tuple[Array, Array | None]]:
        x, first = xs[0], 1 if self.settings.across_channels else 2
        shape = tuple(x.shape)
        x = nd.reshape(x, (*shape, *(1,) * (first + 1 - len(shape))))
        axes = tuple(range(first, x.ndim))
        y = nd.subtract(x, nd.mean(x, axes, True), nd.buffer_like(x, ctx.buffer, "y"))
        deviation = None
        if self.settings.normalize_variance:
            squares = nd.square(y, nd.buffer_like(x, ctx.buffer, "scratch"))
            deviation = nd.addi(nd.sqrt(nd.mean(squares, axes, True)), self.settings.eps)
            nd.divi(y, deviation)
        return nd.reshape(y, shape), (y, deviation)

    def backward(
        self, epsilon: Array, cache: tuple[Array, Array | None], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        y, deviation = cache
        shape, axes = tuple(epsilon.shape), tuple(range(1 if self.settings.across_channels else 2, y.ndim))
        delta = nd.reshape(epsilon, tuple(y.shape))
        mean = nd.mean(delta, axes, True)
        if deviation is not None:
            scratch = nd.multiply(delta, y, nd.buffer_like(y, ctx.buffer, "scratch"))
            along = nd.mean(scratch, axes, True)
            nd.subi(delta, nd.multiply(y, along, scratch))
        nd.subi(delta, mean)
        return [nd.reshape(delta if deviation is None else nd.divi(delta, deviation), shape)]


class Normalize(CaffeLayer):
    """x / sqrt(eps + sum of x^2), times a scale: over every example, or over the channels of every place. Of SSD.

    Notes
    -----
    Bottom ``[N, C, ...]``. Blob: the scale, one number ``[]``, or ``[C]`` without channel_shared; it starts as 1 where
    there is no scale_filler. The sum is over all axes but the first, or with across_spatial off over the channels.
    Source: SSD (Liu and others 2016), normalize_layer.cpp. Differs: the gradient is the derivative; SSD's leaves the
    scales of other channels out of it where they differ.
    """

    pure = splits = True

    def setup(self) -> None:
        self.settings = self.message.norm_param

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        if len(shape) < 2:
            raise ShapeError(f"{self.label}: expected a bottom [N, C, ...], got {describe_shape(shape)}.")
        return [shape]

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        shape = () if self.settings.channel_shared else (bottoms[0][1],)
        return (BlobSpec("scale", shape, filler_or_one(self.settings, "scale_filler")),)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, tuple[Array, Array]]:
        (x,) = xs
        y = nd.square(x, nd.buffer_like(x, ctx.buffer, "y"))
        norm = nd.sqrt(nd.addi(nd.sum(y, self._axes(x), True), self.settings.eps))
        normal = nd.divide(x, norm, nd.buffer_like(x, ctx.buffer, "normal"))
        return nd.multiply(normal, self._across(params["scale"], x), y), (normal, norm)

    def backward(
        self, epsilon: Array, cache: tuple[Array, Array], params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        normal, norm = cache
        sums = nd.channel_sums(epsilon, normal)
        if self.settings.channel_shared:
            nd.assign(grads["scale"], nd.sum(sums))
        else:
            nd.assign(grads["scale"], nd.reshape(sums, (-1,)))
        if not ctx.needs_epsilons[0]:
            return [None]
        nd.muli(epsilon, self._across(params["scale"], normal))
        scratch = nd.multiply(epsilon, normal, nd.buffer_like(normal, ctx.buffer, "scratch"))
        along = nd.sum(scratch, self._axes(normal), True)
        nd.subi(epsilon, nd.multiply(normal, along, scratch))
        return [nd.divi(epsilon, norm)]

    def _axes(self, x: Array) -> tuple[int, ...]:
        return tuple(range(1, x.ndim)) if self.settings.across_spatial else (1,)

    def _across(self, scale: Array, x: Array) -> Array:
        """View the scale so that it broadcasts to x."""
        return nd.reshape_view(scale, (1, -1, *(1,) * (x.ndim - 2)) if scale.ndim else (1,) * x.ndim)
