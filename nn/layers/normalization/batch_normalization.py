"""BatchNormalization: every channel to mean 0 and variance 1, then scaled and shifted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Fraction, NonNegative
from nd.checks import describe_shape
from nd.typing import Array
from optimize import Updater

from ...conf import data_formats
from ...conf.builder_names import of_parameter
from ...conf.input_type import ConvolutionalFlatType, InputType
from ...conf.java_form import TIMED, JavaForm
from ...conf.preprocessors import InputPreProcessor, to_images
from ...step.params import ParamSpec
from ..runtime import Context, LayerRuntime, Params
from ..same_size import SameSizeConf

LOG10_SQUARED = 2.0 * math.log(10.0)
"""log of the variance is this times log10 of the standard deviation."""
LEAST_VARIANCE = 1e-30
"""Running variances below have no logarithm that is worth keeping."""


class BatchNormalizationCache(NamedTuple):
    """Results of forward that backward needs."""

    centered: Array | None
    """x less the mean, None where inference can still compute it from x."""
    x: Array
    mean: Array
    """``[1, C]`` like variance, inverse and factor: of the minibatch in training, else the running one."""
    variance: Array
    inverse: Array
    """1 / sqrt(variance + eps)."""
    factor: Array
    """gamma * inverse."""


def _centre(x: Array, mean: Array, out: Array) -> None:
    nd.subtract(x, mean, out)


def _scale(x: Array, factor: Array, beta: Array | float, out: Array) -> None:
    nd.multiply(x, factor, out)
    nd.addi(out, beta)


def _normalise(x: Array, mean: Array, factor: Array, beta: Array | float, out: Array) -> None:
    nd.subtract(x, mean, out)
    nd.muli(out, factor)
    nd.addi(out, beta)


def _factors(variance: Array, divisor: float, eps: float, gamma: Array | float, inverse: Array, factor: Array) -> None:
    """Divide the variance; write 1 / sqrt(variance + eps), and gamma times that."""
    nd.divi(variance, divisor)
    nd.divide(1.0, nd.sqrt(variance + eps), inverse)
    nd.multiply(inverse, gamma, factor)


def _variance_of(log10_stdev: Array, out: Array) -> None:
    nd.exp(nd.multiply(log10_stdev, LOG10_SQUARED), out)


def _back(epsilon: Array, centered: Array, factor: Array, slope: Array, shift: Array) -> None:
    """epsilon * factor - centered * slope - shift, in the memory of epsilon; uses up `centered`."""
    nd.muli(epsilon, factor)
    nd.subi(epsilon, nd.multiply(centered, slope, centered))
    nd.subi(epsilon, shift)


def _slopes(total: Array, product: Array, inverse: Array, factor: Array, count: float) -> None:
    """Turn the sums of epsilon and of epsilon * centered into the slope and shift that `_back` subtracts."""
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
    """Forward and backward of a batch normalisation."""

    pure = splits = True
    takes_dropout = False
    takes_weight_noise = False

    def setup(self) -> None:
        conf = self.conf
        self.decay = conf.decay if conf.minibatch else 0.0
        self._locked = (conf.gamma, conf.beta) if conf.gamma != 1.0 and conf.beta != 0.0 else (1.0, 0.0)
        self._centre, self._scale = nd.elementwise(_centre), nd.elementwise(_scale)
        self._normalise, self._factors = nd.elementwise(_normalise), nd.elementwise(_factors)
        self._variance_of, self._back = nd.elementwise(_variance_of), nd.elementwise(_back)
        self._slopes, self._step = nd.elementwise(_slopes), nd.elementwise(_step)
        self._log_step = nd.elementwise(_log_step)

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, BatchNormalizationCache]:
        channels = self.conf.n_out
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim < 2 or x.shape[1] != channels:
            raise nd.ShapeError(
                f"{self.label}: expected input [N, {channels}] or [N, {channels}, ...], got {describe_shape(x.shape)}."
            )
        return self._of_batch(x, params, ctx) if ctx.training else self._of_running(x, params, ctx)

    def _of_batch(self, x: Array, params: Params, ctx: Context) -> tuple[Array, BatchNormalizationCache]:
        x = nd.to_activation_order(x, ctx.buffer)
        count = x.shape[0] * math.prod(x.shape[2:])
        mean = nd.divi(nd.channel_sums(x), count)
        centered, a = ctx.buffer("centered", x.shape), ctx.buffer("a", x.shape)
        self._centre(x, self._across(x, mean), centered)
        variance = nd.channel_sums(centered, centered)
        inverse, factor = self._scales(variance, count, params, ctx)
        self._scale(centered, self._across(x, factor), self._shift(x, params), a)
        return a, BatchNormalizationCache(centered, x, mean, variance, inverse, factor)

    def _of_running(self, x: Array, params: Params, ctx: Context) -> tuple[Array, BatchNormalizationCache]:
        mean, variance = params["mean"], ctx.buffer("variance", self._small)
        if self.conf.use_log_std:
            self._variance_of(params["log10stdev"], variance)
        else:
            nd.assign(variance, params["var"])
        inverse, factor = self._scales(variance, 1.0, params, ctx)
        a = ctx.buffer("a", x.shape)
        self._normalise(x, self._across(x, mean), self._across(x, factor), self._shift(x, params), a)
        return a, BatchNormalizationCache(None, x, mean, variance, inverse, factor)

    def backward(
        self, epsilon: Array, cache: BatchNormalizationCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        epsilon = nd.to_activation_order(epsilon, ctx.buffer)
        centered = cache.centered
        if centered is None:
            centered = ctx.buffer("centered", epsilon.shape)
            self._centre(cache.x, self._across(epsilon, cache.mean), centered)
        total, product = nd.channel_sums(epsilon), nd.channel_sums(epsilon, centered)
        if not self.conf.lock_gamma_beta:
            nd.multiply(product, cache.inverse, grads["gamma"])
            nd.assign(grads["beta"], total)
        self._follow(cache, params, grads, ctx)
        if not ctx.needs_epsilon:
            return None
        if not ctx.training:
            return nd.muli(epsilon, self._across(epsilon, cache.factor))
        count = epsilon.shape[0] * math.prod(epsilon.shape[2:])
        self._slopes(total, product, cache.inverse, cache.factor, float(count))
        self._back(epsilon, centered, *(self._across(epsilon, vector) for vector in (cache.factor, product, total)))
        return epsilon

    @property
    def _small(self) -> tuple[int, int]:
        return 1, self.conf.n_out

    def _scales(self, variance: Array, divisor: float, params: Params, ctx: Context) -> tuple[Array, Array]:
        """Divide the variance; return the factors of x less the mean, without gamma and with it."""
        inverse, factor = ctx.buffer("inverse", self._small), ctx.buffer("factor", self._small)
        gamma = self._locked[0] if self.conf.lock_gamma_beta else params["gamma"]
        self._factors(variance, float(divisor), self.conf.eps, gamma, inverse, factor)
        return inverse, factor

    def _shift(self, x: Array, params: Params) -> Array | float:
        return self._locked[1] if self.conf.lock_gamma_beta else self._across(x, params["beta"])

    def _across(self, x: Array, of_channels: Array) -> Array:
        """View ``[1, C]`` so that it broadcasts to ``[N, C, ...]``."""
        return nd.reshape_view(of_channels, (1, self.conf.n_out, *(1,) * (x.ndim - 2)))

    def _follow(self, cache: BatchNormalizationCache, params: Params, grads: Params, ctx: Context) -> None:
        """Write the steps of the running statistics: zeros outside of training."""
        names = ("mean", "log10stdev" if self.conf.use_log_std else "var")
        if not ctx.training:
            for name in names:
                nd.fill(grads[name], 0.0)
            return
        step_of_variance = self._log_step if self.conf.use_log_std else self._step
        self._step(params["mean"], cache.mean, self.decay, grads["mean"])
        step_of_variance(params[names[1]], cache.variance, self.decay, grads[names[1]])

    def may_split(self, training: bool) -> bool:
        return not training  # a part of a minibatch has another mean and variance


@dataclass(frozen=True, kw_only=True)
class BatchNormalization(SameSizeConf):
    """Batch normalisation: gamma * (x - mean) / sqrt(variance + eps) + beta, for every channel.

    Parameters
    ----------
    decay : float
        Share of the running statistics that a minibatch leaves.
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
    minibatches, var <- decay * var + (1 - decay) * variance: see `nn.step.params.ParamSpec` on running parameters. No
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
    builder_verbs: ClassVar[dict[str, Any]] = {
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
    shape_fields: ClassVar[Mapping[str, Any]] = {
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
