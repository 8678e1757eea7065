"""VariationalAutoencoder: an encoder and a decoder around random numbers z, as one layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import nd
from nd.activations import Activation, get_activation
from nd.activations.base import Activating
from nd.arguments import Count, checked
from nd.losses import Loss
from nd.typing import Array
from optimize.builder import Builder

from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..base import FeedForwardConf
from ..core.dense import Cache
from ..runtime import Context, Params
from .base import BasePretrainNetwork, PretrainedRuntime
from .distributions import (
    GaussianReconstructionDistribution,
    LossFunctionWrapper,
    ReconstructionDistribution,
)

MEAN, LOG_VARIANCE, OUTPUT = "pZXMean", "pZXLogStd2", "pXZ"
"""Java's prefixes of the parameters that lead to means and logarithms of variances of z, and to p(x|z)."""


class Sampled(NamedTuple):
    """Results of `VariationalRuntime.reconstruct`; R stands for the examples times the samples of each."""

    x: Array
    """``[R, n_in]``, once for each sample."""
    encoded: list[Cache]
    mean: Cache
    log_variance: Cache
    noise: Array
    """``[R, n_out]``: z = mean + noise * deviation."""
    deviation: Array
    decoded: list[Cache]
    last: Array
    """``[R, n]``: what the decoder has computed for the distribution."""


class VariationalRuntime(PretrainedRuntime):
    """Encoder and mean in a network that is trained on labels; all of it in pretraining."""

    pure = splits = True
    takes_dropout = False
    samples = True

    def setup(self) -> None:
        self._encoder = [f"e{number}" for number in range(len(self.conf.encoder_layer_sizes))]
        self._decoder = [f"d{number}" for number in range(len(self.conf.decoder_layer_sizes))]
        self._names = {spec.name for spec in self.conf.param_specs() if not spec.pretrained}

    @cached_property
    def _latent(self) -> Activating:
        """The activation of means and logarithms of variances of z."""
        return Activating(self.conf.pzx_activation)

    # ---- on the way to labels

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, list[Cache]]:
        self.check_rows(x, self.conf.n_in)
        steps = self._through(x, self._encoder, params, ctx)
        if not ctx.activates:
            return self._product(steps[-1].a, MEAN, params, ctx), steps
        steps.append(self._step(steps[-1].a, MEAN, self._latent, params, ctx))
        return self.masked(steps[-1].a, ctx), steps

    def backward(self, epsilon: Array, cache: list[Cache], params: Params, grads: Params, ctx: Context) -> Array | None:
        for name, view in grads.items():
            if name not in self._names:
                nd.fill(view, 0.0)
        epsilon = self._back_step(self.masked(epsilon, ctx), cache[-1], MEAN, self._latent, params, grads, ctx)
        return self._back_through(epsilon, cache[:-1], self._encoder, params, grads, ctx)

    # ---- pretraining

    def reconstruct(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Sampled]:
        samples = self.conf.num_samples
        encoded, mean, log_variance, deviation = self._posterior(x, params, ctx)
        noise = nd.concat([self._noise(mean.a) for _ in range(samples)], 0) if samples > 1 else self._noise(mean.a)
        z = nd.add(repeated(mean.a, samples), nd.multiply(noise, repeated(deviation, samples)))
        decoded = self._through(z, self._decoder, params, ctx)
        last = self._affine(decoded[-1].a, OUTPUT, params, ctx)
        shown = last[: x.shape[0], :] if samples > 1 else last
        cache = Sampled(repeated(x, samples), encoded, mean, log_variance, noise, deviation, decoded, last)
        return self._distribution.generate_at_mean(shown), cache

    def _posterior(self, x: Array, params: Params, ctx: Context) -> tuple[list[Cache], Cache, Cache, Array]:
        """Return the results of the encoder, means and logarithms of variances of z, and its deviations."""
        encoded = self._through(x, self._encoder, params, ctx)
        mean, log_variance = (
            self._step(encoded[-1].a, name, self._latent, params, ctx) for name in (MEAN, LOG_VARIANCE)
        )
        return encoded, mean, log_variance, nd.exp(0.5 * log_variance.a)

    def reconstruction_loss(self, cache: Sampled, params: Params, ctx: Context) -> Array:
        """Return the negative lower bound of log p(x), summed."""
        mean, log_variance = cache.mean.a, cache.log_variance.a
        divergence = nd.subtract(nd.add(nd.square(mean), nd.square(cache.deviation)), nd.add(log_variance, 1.0))
        surprise = nd.sum(self._distribution.example_neg_log_probability(cache.x, cache.last))
        return 0.5 * nd.sum(divergence) + surprise * (1.0 / self.conf.num_samples)

    def reconstruction_gradients(self, cache: Sampled, params: Params, grads: Params, ctx: Context) -> None:
        samples = self.conf.num_samples
        delta = self._distribution.gradient(cache.x, cache.last)
        if samples > 1:
            delta = nd.muli(delta, 1.0 / samples)
        epsilon = self._affine_back(cache.decoded[-1].a, delta, OUTPUT, params, grads, ctx)
        of_z = self._back_through(epsilon, cache.decoded, self._decoder, params, grads, ctx, below=True)
        of_noise = nd.multiply(of_z, cache.noise)
        of_z, of_noise = (summed_samples(array, samples) for array in (of_z, of_noise))
        of_mean = nd.add(of_z, cache.mean.a)
        of_variance = nd.multiply(of_noise, cache.deviation)
        nd.muli(nd.addi(of_variance, nd.subtract(nd.square(cache.deviation), 1.0)), 0.5)
        epsilon = self._back_step(of_mean, cache.mean, MEAN, self._latent, params, grads, ctx)
        nd.addi(
            epsilon, self._back_step(of_variance, cache.log_variance, LOG_VARIANCE, self._latent, params, grads, ctx)
        )
        self._back_through(epsilon, cache.encoded, self._encoder, params, grads, ctx, below=False)

    @property
    def _distribution(self) -> ReconstructionDistribution:
        return self.conf.reconstruction_distribution

    def _noise(self, like: Array) -> Array:
        rows, columns = like.shape
        return nd.reshape(nd.random.get_random().gaussian(rows * columns, self.dtype), (rows, columns))

    # ---- dense layers inside

    def _product(self, x: Array, name: str, params: Params, ctx: Context) -> Array:
        W = params[f"{name}W"]
        return nd.gemm(x, W, ctx.buffer(f"{name}z", (x.shape[0], W.shape[1])))

    def _affine(self, x: Array, name: str, params: Params, ctx: Context) -> Array:
        return nd.addi(self._product(x, name, params, ctx), params[f"{name}b"])

    def _step(self, x: Array, name: str, activating: Activating, params: Params, ctx: Context) -> Cache:
        z = self._product(x, name, params, ctx)
        a = z if activating.activation.overwrites else ctx.buffer(f"{name}a", z.shape)
        return Cache(x, z, activating.value(z, a, ctx.training, params[f"{name}b"]))

    def _through(self, x: Array, names: Sequence[str], params: Params, ctx: Context) -> list[Cache]:
        """Return the results of dense layers, one behind the other."""
        steps: list[Cache] = []
        for name in names:
            steps.append(self._step(x, name, self.activating, params, ctx))
            x = steps[-1].a
        return steps

    def _back_step(
        self, epsilon: Array, step: Cache, name: str, activating: Activating, params: Params, grads: Params,
        ctx: Context, below: bool = True,
    ) -> Array:  # fmt: skip
        """Go back through one; return dL/dx of it, in new memory, where `below` asks for it."""
        delta = activating.backprop(step.z, step.a, epsilon)
        return self._affine_back(step.x, delta, name, params, grads, ctx, below)

    def _affine_back(
        self, x: Array, delta: Array, name: str, params: Params, grads: Params, ctx: Context, below: bool = True
    ) -> Array:
        W, b = f"{name}W", f"{name}b"
        nd.affine_gradients(x, delta, grads[W], grads[b][0, ...])
        return nd.gemm(delta, params[W], ctx.buffer(f"{name}e", x.shape), transpose_b=True) if below else delta

    def _back_through(
        self, epsilon: Array, steps: Sequence[Cache], names: Sequence[str], params: Params, grads: Params,
        ctx: Context, below: bool | None = None,
    ) -> Any:  # fmt: skip
        """Go back through dense layers; return dL/dx of the first, None where nobody needs it."""
        below = ctx.needs_epsilon if below is None else below
        for number in reversed(range(len(names))):
            wanted = below or number > 0
            epsilon = self._back_step(
                epsilon, steps[number], names[number], self.activating, params, grads, ctx, wanted
            )
        return epsilon if below else None

    # ---- for programs that look inside

    def has_loss_function(self) -> bool:
        """Return whether the reconstruction is judged by a loss, and no distribution."""
        return self._distribution.has_loss_function

    @checked
    def reconstruction_log_probability(self, data: Array, num_samples: Count = 1) -> Array:
        """Return an estimate ``[N, 1]`` of log p(x|z) of ``data [N, n_in]``, the mean over so many z from q(z|x).

        Source: An and Cho 2015, algorithm 4.

        Raises
        ------
        ConfigurationError
            The layer has a loss in the place of a distribution.
        """
        if isinstance(self._distribution, LossFunctionWrapper):
            raise nd.ConfigurationError(
                f"{self.label}: reconstruction_log_probability: needs a distribution, got the loss "
                f"{self._distribution.loss!r}. Use reconstruction_error."
            )
        x, ctx = self.rows_of(data, self.conf.n_in), self.outside()
        _, mean, _, deviation = self._posterior(x, self.params, ctx)
        total: Any = 0.0
        for _ in range(num_samples):
            z = nd.add(mean.a, nd.multiply(self._noise(mean.a), deviation))
            total = self._distribution.example_neg_log_probability(x, self._decoded(z)) + total
        return nd.reshape(total * (-1.0 / num_samples), (x.shape[0], 1))

    @checked
    def reconstruction_probability(self, data: Array, num_samples: Count = 1) -> Array:
        """Return e to the power of `reconstruction_log_probability`, ``[N, 1]`` of float64."""
        return nd.exp(nd.astype(self.reconstruction_log_probability(data, num_samples), "float64"))

    @checked
    def reconstruction_error(self, data: Array) -> Array:
        """Return the loss ``[N, 1]`` of the reconstruction at the mean of z, for ``data [N, n_in]``.

        Raises
        ------
        ConfigurationError
            The layer has a distribution in the place of a loss.
        """
        if not self.has_loss_function():
            raise nd.ConfigurationError(
                f"{self.label}: reconstruction_error: needs a loss, got {self._distribution!r}. Use "
                "reconstruction_log_probability, or a LossFunctionWrapper."
            )
        x = self.rows_of(data, self.conf.n_in)
        mean, _ = self.forward(x, self.params, self.outside())
        scores = self._distribution.example_neg_log_probability(x, self._decoded(mean))
        return nd.reshape(scores, (x.shape[0], 1))

    @checked
    def generate_at_mean_given_z(self, latent_space_values: Array) -> Array:
        """Return the mean ``[N, n_in]`` of p(x|z) for ``z [N, n_out]``."""
        return self._distribution.generate_at_mean(self._decoded(self.rows_of(latent_space_values, self.conf.n_out)))

    @checked
    def generate_random_given_z(self, latent_space_values: Array) -> Array:
        """Draw ``[N, n_in]`` from p(x|z) for ``z [N, n_out]``, with `nd.random.get_random()`."""
        return self._distribution.generate_random(self._decoded(self.rows_of(latent_space_values, self.conf.n_out)))

    def _decoded(self, z: Array) -> Array:
        ctx = self.outside()
        return self._affine(self._through(z, self._decoder, self.params, ctx)[-1].a, OUTPUT, self.params, ctx)


def repeated(x: Array, samples: int) -> Array:
    """Return ``[S N, n]``: all rows of x, once for each sample."""
    return x if samples == 1 else nd.concat([x] * samples, 0)


def summed_samples(x: Array, samples: int) -> Array:
    """Return ``[N, n]``, the sum over the samples of ``x [S N, n]``."""
    return x if samples == 1 else nd.sum(nd.reshape(x, (samples, x.shape[0] // samples, x.shape[1])), 0)


def _loss_verb(builder: Builder, first: str | Activation | Loss, loss: str | Loss | None = None) -> Builder:
    """Take Java's activation and loss; a loss alone is that of all layers that are pretrained, without effect here."""
    if loss is None:
        builder.given["reconstruction_loss"] = first
    else:
        builder.given["reconstruction_distribution"] = LossFunctionWrapper(first, loss)  # type: ignore[arg-type]
    return builder


def _sizes_verb(name: str) -> Callable[..., Builder]:
    def take(builder: Builder, *sizes: Any) -> Builder:
        builder.given[name] = sizes[0] if len(sizes) == 1 else sizes
        return builder

    return take


_GAUSSIAN = GaussianReconstructionDistribution("tanh")


@dataclass(frozen=True, kw_only=True)
class VariationalAutoencoder(BasePretrainNetwork):
    """Variational autoencoder: dense layers to the mean and the variance of random numbers z, and back to the data.

    Parameters
    ----------
    encoder_layer_sizes, decoder_layer_sizes : int or sequence of int
        Units of the dense layers before z, and behind it.
    reconstruction_distribution : ReconstructionDistribution
        p(x|z), or a loss in its place.
    pzx_activation : str or Activation
        Of the means of z, and of the logarithms of its variances.
    num_samples : int
        z drawn for each example in pretraining.
    activation : str or Activation
        Of all layers before z and behind it.
    n_in, n_out : int
        Numbers of the data and of z.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Raises
    ------
    ConfigurationError
        There is no layer before z or none behind it, or the sizes of a composite distribution do not fit.

    Notes
    -----
    Input ``[N, n_in]``, output ``[N, n_out]``, the means of z. Vector: e0W, e0b, e1W, ... of the layers before z;
    pZXMeanW and pZXMeanb of its means, pZXLogStd2W and pZXLogStd2b of the logarithms of its variances; d0W, d0b, ... of
    the layers behind it; pXZW and pXZb of p(x|z). Weights are in f order, biases start at 0. Training on labels leaves
    what stands behind the means alone.

    Pretraining minimises -log p(x|z) - Σ (1 + l - m² - e^l) / 2 for z = m + n e^(l/2), n drawn from the normal
    distribution: the negative lower bound of log p(x). Source: DL4J ``VariationalAutoencoder``; Kingma and Welling
    2014. Differs: the gradients of several samples are added before they go through the encoder; constraints hold,
    which Java's layer ignores. Once it has been trained on labels, pretrained and is trained on labels again, Java
    takes the last step of its pretraining again with every step. Java cannot pretrain with weight noise. With
    ``mini_batch=False`` the score is the sum, Java's the mean.
    """

    encoder_layer_sizes: Count | Sequence[Count] = (100,)
    decoder_layer_sizes: Count | Sequence[Count] = (100,)
    reconstruction_distribution: ReconstructionDistribution = _GAUSSIAN
    pzx_activation: str | Activation = "identity"
    num_samples: Count = 1
    runtime: ClassVar = VariationalRuntime
    drops_in_pretraining: ClassVar[bool] = False
    gives_columns: ClassVar[bool] = True
    """Whether the means lie by columns in Java's memory; a layer behind draws its noise in that order."""
    builder_names: ClassVar[dict[str, str]] = {
        **FeedForwardConf.builder_names, "loss_fn": "reconstruction_loss", "loss_function": "loss_function",
        "pzx_activation_fn": "pzx_activation",
        "pzx_activation_function": "pzx_activation", "output_distribution": "reconstruction_distribution",
    }  # fmt: skip
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **BasePretrainNetwork.builder_verbs, "loss_function": _loss_verb,
        "encoder_layer_sizes": _sizes_verb("encoder_layer_sizes"),
        "decoder_layer_sizes": _sizes_verb("decoder_layer_sizes"),
    }  # fmt: skip
    form: ClassVar[JavaForm] = BasePretrainNetwork.form.more(
        {
            "encoderLayerSizes": ("encoder_layer_sizes", "sizes"),
            "decoderLayerSizes": ("decoder_layer_sizes", "sizes"),
            "outputDistribution": ("reconstruction_distribution", "reconstruction"),
            "pzxActivationFn": ("pzx_activation", "activation"),
            "numSamples": ("num_samples", "plain"),
        },
        package="variational.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pzx_activation", get_activation(self.pzx_activation))
        for name in ("encoder_layer_sizes", "decoder_layer_sizes"):
            given = getattr(self, name)
            sizes = (given,) if isinstance(given, int) else tuple(given)
            if not sizes:
                raise nd.ConfigurationError(f"VariationalAutoencoder: {name} must be of one layer at least, got none.")
            object.__setattr__(self, name, sizes)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(self._specs())

    def _specs(self) -> Iterator[ParamSpec]:
        n_in, n_out = self.n_in or 0, self.n_out or 0
        encoder: Any = self.encoder_layer_sizes  # tuples by now
        decoder: Any = self.decoder_layer_sizes
        numbers = self.reconstruction_distribution.distribution_input_size(n_in) if n_in else 0
        ways = [
            *((f"e{number}", size, False) for number, size in enumerate(encoder)),
            (MEAN, n_out, False),
            (LOG_VARIANCE, n_out, True),
            *((f"d{number}", size, True) for number, size in enumerate(decoder)),
            (OUTPUT, numbers, True),
        ]
        before = n_in
        for name, size, pretrained in ways:
            before = encoder[-1] if name == LOG_VARIANCE else n_out if name == "d0" else before
            shape = (before, size)
            yield ParamSpec(f"{name}W", shape, "f", fan_in=before, fan_out=size, pretrained=pretrained)
            yield ParamSpec(f"{name}b", (1, size), "c", bias=True, initial=0.0, pretrained=pretrained)
            before = size
