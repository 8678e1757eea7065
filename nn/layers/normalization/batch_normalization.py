"""BatchNormalization: every channel to mean 0 and variance 1, then scaled and shifted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import nd
from nd.activations import ReLU
from nd.arguments import Fraction, NonNegative
from nd.arrays import batch_norm
from nd.checks import describe_shape
from nd.typing import Array
from optimize import Updater
from optimize.builder import Builder

from ...terms import data_formats
from ...terms.builder_names import of_parameter
from ...terms.input_type import ConvolutionalFlatType, InputType
from ...terms.java_form import TIMED, JavaForm
from ...terms.params import ParamSpec
from ...terms.preprocessors import InputPreProcessor, to_images
from ..core.activation import ActivationRuntime
from ..runtime import Context, LayerRuntime, Params
from ..same_size import SameSizeConf

LOG10_SQUARED = 2.0 * math.log(10.0)
"""log of the variance is this times log10 of the standard deviation."""
LEAST_VARIANCE = 1e-30
"""Running variances below have no logarithm that is worth keeping."""


class BatchNormalizationCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    centered: Array | None
    """x less the mean, where the backend keeps it."""
    mean: Array
    """``[1, C]`` like variance, inverse and factor: of the minibatch in training, else the running one."""
    variance: Array
    inverse: Array
    """1 / sqrt(variance + eps)."""
    factor: Array
    """gamma * inverse."""
    elements: Array | float
    """Of a channel in the minibatch."""
    rectified: Array | None = None
    """The activations, where they are rectified."""


def _factors(
    variance: Array, divisor: Array | float, eps: float, gamma: Array | float, inverse: Array, factor: Array
) -> None:
    """Divide the variance; write 1 / sqrt(variance + eps), and gamma times that."""
    nd.divi(variance, divisor)
    nd.divide(1.0, nd.sqrt(variance + eps), inverse)
    nd.multiply(inverse, gamma, factor)


def _variance_of(log10_stdev: Array, out: Array) -> None:
    nd.exp(nd.multiply(log10_stdev, LOG10_SQUARED), out)


def _slopes(total: Array, product: Array, inverse: Array, factor: Array, count: Array | float) -> None:
    """Turn the sums of epsilon and of epsilon * (x - mean) into shift and slope of `normalize_channels_back`."""
    nd.muli(total, factor)
    nd.divi(total, count)
    nd.muli(product, inverse)
    nd.muli(product, inverse)
    nd.muli(product, factor)
    nd.divi(product, count)


def _step(running: Array, now: Array, decay: float, out: Array) -> None:
    """The step of a running value, which leaves decay * running + (1 - decay) * now when subtracted."""
    nd.multiply(nd.subtract(running, now), 1.0 - decay, out)


def _log_step(log10_stdev: Array, now: Array, decay: float, out: Array) -> None:
    """The same of a variance, for the log10 of its square root."""
    before = nd.exp(nd.multiply(log10_stdev, LOG10_SQUARED))
    after = nd.maximum(nd.add(nd.multiply(before, decay), nd.multiply(now, 1.0 - decay)), LEAST_VARIANCE)
    nd.multiply(nd.log(nd.divide(before, after)), 1.0 / LOG10_SQUARED, out)


class BatchNormalizationRuntime(LayerRuntime):
    """Forward and backward of a batch normalisation.

    Workers that compute parts of a minibatch meet once on either way: every one of them has mean and variance, and the
    sums of errors, of its own part, and computes those of all from them.
    """

    pure = splits = meets = True
    takes_dropout = False
    noised = ()
    rectifies: ClassVar[bool] = False
    """Whether activations below 0 become 0."""

    def setup(self) -> None:
        conf = self.conf
        self.decay = conf.decay if conf.minibatch else 0.0
        self._locked = (conf.gamma, conf.beta) if conf.gamma != 1.0 and conf.beta != 0.0 else (1.0, 0.0)
        self._factors, self._variance_of = nd.elementwise(_factors), nd.elementwise(_variance_of)
        self._slopes, self._step = nd.elementwise(_slopes), nd.elementwise(_step)
        self._log_step = nd.elementwise(_log_step)
        self._warned = False

    def _warn(self) -> None:
        """Say once that there is nothing to normalise by."""
        self._warned = True
        warnings.warn(
            f"{self.label}: batch normalisation must have two examples of a channel or more in training, got a "
            "minibatch of one: its variance is 0, and what comes out is beta, whatever came in. Give another "
            "batch_size (also one that leaves no single example at the end), or normalise in another way.",
            stacklevel=2,
        )

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, BatchNormalizationCache]:
        channels = self.conf.n_out
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim < 2 or x.shape[1] != channels:
            raise nd.ShapeError(
                f"{self.label}: expected input [N, {channels}] or [N, {channels}, ...], got {describe_shape(x.shape)}."
            )
        cache = self._of_batch(x, params, ctx) if ctx.training else self._of_running(x, params, ctx)
        shift = self._locked[1] if self.conf.lock_gamma_beta else params["beta"]
        vectors = cache.mean, cache.factor, shift
        if self.rectifies and ctx.shown is not None:  # its own activations: the same arithmetic without the ReLU
            buffer = ctx.inner("shown").buffer
            ctx.shown.append(batch_norm.normalize_channels(cache.x, cache.centered, vectors, buffer))
        a = batch_norm.normalize_channels(cache.x, cache.centered, vectors, ctx.buffer, self.rectifies)
        return a, cache._replace(rectified=a if self.rectifies else None)

    def _of_batch(self, x: Array, params: Params, ctx: Context) -> BatchNormalizationCache:
        x, channels = batch_norm.for_channels(x, ctx.buffer), self.conf.n_out
        own = ctx.buffer("moments", (2 * channels + 1,))
        centered = batch_norm.channel_moments(x, nd.reshape_view(own[: 2 * channels], (2, channels)), ctx.buffer)
        mean, variance = own[None, :channels], own[None, channels : 2 * channels]
        count: Array | float = float(elements_of_channel(x))
        if ctx.meeting.count > 1:
            nd.fill(own[2 * channels :], float(elements_of_channel(x)))
            everybody = ctx.meeting.gather(own)
            means, squares = everybody[:, :channels], everybody[:, channels : 2 * channels]
            mean, variance, count = batch_norm.combined_moments(means, squares, everybody[:, 2 * channels :])
            centered = None  # is x less the mean of this part alone
        elif count == 1.0 and not self._warned:
            self._warn()
        inverse, factor = self._scales(variance, count, params, ctx)
        return BatchNormalizationCache(x, centered, mean, variance, inverse, factor, count)

    def _of_running(self, x: Array, params: Params, ctx: Context) -> BatchNormalizationCache:
        mean, variance = params["mean"], ctx.buffer("variance", (1, self.conf.n_out))
        if self.conf.use_log_std:
            self._variance_of(params["log10stdev"], variance)
        else:
            nd.assign(variance, params["var"])
        inverse, factor = self._scales(variance, 1.0, params, ctx)
        return BatchNormalizationCache(x, None, mean, variance, inverse, factor, 1.0)

    def backward(
        self, epsilon: Array, cache: BatchNormalizationCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        x, channels = batch_norm.for_channels(cache.x, ctx.buffer), self.conf.n_out
        epsilon = batch_norm.for_channels(epsilon, ctx.buffer, x)
        own = ctx.buffer("sums", (2 * channels,))
        sums = nd.reshape_view(own, (2, channels))
        centered = batch_norm.channel_error_sums(
            epsilon, x, cache.centered, cache.mean, sums, ctx.buffer, cache.rectified
        )
        everybody = nd.reshape_view(own, (1, 2 * channels))
        if ctx.training and ctx.needs_epsilon and ctx.meeting.count > 1:  # first: others may wait
            everybody = nd.sum(ctx.meeting.gather(own), 0, keepdims=True)
        if not self.conf.lock_gamma_beta:
            nd.multiply(sums[1:, :], cache.inverse, grads["gamma"])
            nd.assign(grads["beta"], sums[:1, :])
        self._follow(cache, params, grads, ctx)
        if not ctx.needs_epsilon:
            return None
        shift, slope = everybody[:, :channels], everybody[:, channels:]
        if not ctx.training:
            return nd.muli(epsilon, nd.reshape_view(cache.factor, (1, channels, *(1,) * (epsilon.ndim - 2))))
        self._slopes(shift, slope, cache.inverse, cache.factor, cache.elements)
        vectors = cache.mean, cache.factor, slope, shift
        return batch_norm.normalize_channels_back(epsilon, x, centered, vectors, ctx.buffer)

    def joined_with(self, second: LayerRuntime) -> LayerRuntime | None:
        if type(self) is not BatchNormalizationRuntime or type(second) is not ActivationRuntime:
            return None
        if not (type(second.activation) is ReLU and second.activation.overwrites):
            return None  # one with another slope or limit, or with something in between
        return RectifiedBatchNormalization(self.conf, self.label, self.dtype)

    def _scales(self, variance: Array, divisor: Array | float, params: Params, ctx: Context) -> tuple[Array, Array]:
        """Divide the variance; return the factors of x less the mean, without gamma and with it."""
        small = (1, self.conf.n_out)
        inverse, factor = ctx.buffer("inverse", small), ctx.buffer("factor", small)
        gamma = self._locked[0] if self.conf.lock_gamma_beta else params["gamma"]
        self._factors(variance, divisor, self.conf.eps, gamma, inverse, factor)
        return inverse, factor

    def _follow(self, cache: BatchNormalizationCache, params: Params, grads: Params, ctx: Context) -> None:
        """Write the steps of the running statistics: zeros outside of training, and from all workers but the first."""
        names = ("mean", "log10stdev" if self.conf.use_log_std else "var")
        if not ctx.training or ctx.meeting.number > 0:
            for name in names:
                nd.fill(grads[name], 0.0)
            return
        step_of_variance = self._log_step if self.conf.use_log_std else self._step
        self._step(params["mean"], cache.mean, self.decay, grads["mean"])
        step_of_variance(params[names[1]], cache.variance, self.decay, grads[names[1]])


class RectifiedBatchNormalization(BatchNormalizationRuntime):
    """The same with the ReLU after it."""

    pure = splits = rectifies = True


def elements_of_channel(x: Array) -> int:
    """Return the number of elements of a channel."""
    return x.shape[0] * math.prod(x.shape[2:])


@dataclass(frozen=True, kw_only=True)
class BatchNormalization(SameSizeConf):
    """Batch normalisation: gamma * (x - mean) / sqrt(variance + eps) + beta, for every channel.

    Parameters
    ----------
    decay : float
        Share of the running statistics that a minibatch leaves: Keras's momentum, and 1 minus PyTorch's.
    eps : float
        Added to the variance.
    gamma, beta : float
        Start of both parameters; with lock_gamma_beta they stay so, unless gamma is 1 or beta 0: then both are
        left out, as in Java.
    lock_gamma_beta : bool
        gamma and beta are no parameters.
    use_log_std : bool
        Keep the running variance as log10 of the standard deviation, as DL4J since 1.0.0-beta4, or as itself.
    minibatch : bool
        False: the running statistics are those of the last minibatch, for data sets that are one minibatch.
    n_in, n_out : int, optional
        Channels, the same in and out; inferred from the network's input type.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Raises
    ------
    ConfigurationError
        n_in and n_out differ, or decay, eps, gamma or beta are no such numbers.

    Notes
    -----
    Input and output ``[N, C]``, ``[N, C, T]``, ``[N, C, H, W]`` or ``[N, C, D, H, W]``. In training mean and variance
    are those of the minibatch, over all axes but C, the variance divided by their number; else the running ones. Masks
    change nothing. Vector: gamma, beta, mean, then var or log10stdev, ``[1, C]`` each. Mean and var follow the
    minibatches, var <- decay * var + (1 - decay) * variance: see `nn.terms.params.ParamSpec` on running parameters. No
    parameter is penalised; gamma and beta have the layer's updater, not the bias_updater. The layer's activation,
    dropout and weight noise have no effect: put an ActivationLayer after it. Source: DL4J ``BatchNormalization``; Ioffe
    and Szegedy 2015. Differs: Java takes ``[N, C, T]`` for one image and fails unless N = C; it puts a preprocessor
    before the layer where the input type is recurrent. Constraints on all parameters leave the running statistics
    alone.

    Examples
    --------
    >>> BatchNormalization(n_out=3).param_shapes()
    {'gamma': (1, 3), 'beta': (1, 3), 'mean': (1, 3), 'log10stdev': (1, 3)}
    """

    decay: Fraction = 0.9
    eps: NonNegative = 1e-5
    gamma: float = 1.0
    beta: float = 0.0
    lock_gamma_beta: bool = False
    use_log_std: bool = True
    minibatch: bool = True
    data_format: str | None = None
    runtime: ClassVar = BatchNormalizationRuntime
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **SameSizeConf.builder_verbs, "constrain_beta": of_parameter("beta"), "constrain_gamma": of_parameter("gamma"),
        "beta_constraints": of_parameter("beta"), "gamma_constraints": of_parameter("gamma"),
    }  # fmt: skip
    takes: ClassVar[str] = "any"
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = SameSizeConf.form.more(
        {
            "decay": ("decay", "number"),
            "eps": ("eps", "number"),
            "gamma": ("gamma", "number"),
            "beta": ("beta", "number"),
            "lockGammaBeta": ("lock_gamma_beta", "plain"),
            "minibatch": ("minibatch", "plain"),
            "useLogStd": ("use_log_std", "plain"),
        },
        {**TIMED, "cudnnAllowFallback": True},
        absent={"useLogStd": False},
    ).formatted("cnn2DFormat")
    shape_fields: ClassVar[Mapping[str, object]] = {
        "n_out": None, "n_in": 0, "use_log_std": False, "lock_gamma_beta": False,
    }  # fmt: skip

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type) if isinstance(input_type, ConvolutionalFlatType) else None

    @property
    def said_format(self) -> str | None:
        return self.data_format if data_formats.channels_last(self.data_format) else None  # NCHW is said of rows too

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, input_type.shape[0])

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return (self, None) if before is None else (self.with_n_in(label, before[1]), before)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return input_type

    def updater_of(self, bias: bool) -> Updater:
        return self.updater  # type: ignore[return-value]

    def param_specs(self) -> tuple[ParamSpec, ...]:
        shape = (1, self.n_out or self.n_in or 0)
        trained = (
            ParamSpec("gamma", shape, "c", initial=self.gamma, penalised=False),
            ParamSpec("beta", shape, "c", initial=self.beta, penalised=False),
        )
        variance = ("log10stdev", 0.0) if self.use_log_std else ("var", 1.0)
        running = tuple(
            ParamSpec(name, shape, "c", initial=initial, running=True, divided=False)
            for name, initial in (("mean", 0.0), variance)
        )
        return running if self.lock_gamma_beta else (*trained, *running)
