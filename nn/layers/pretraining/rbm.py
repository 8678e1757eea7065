"""RBM: a restricted Boltzmann machine, trained by contrastive divergence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import nd
from nd.activations import Activation, get_activation
from nd.activations.base import value_of
from nd.arguments import Count, checked
from nd.checks import check_choice
from nd.java_enums import JavaEnum
from nd.typing import Array

from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..core.dense import Cache
from ..runtime import Context, Params
from .base import BasePretrainNetwork
from .tied import TiedRuntime

HIDDEN_UNITS = {
    "binary": "sigmoid",
    "gaussian": "identity",
    "identity": "identity",
    "rectified": "relu",
    "softmax": "softmax",
}
"""Name -> activation whose value is the mean of such a unit, or what stands for it."""
VISIBLE_UNITS = {
    "binary": "sigmoid",
    "gaussian": "identity",
    "identity": "identity",
    "linear": "identity",
    "softmax": "softmax",
}
"""The same of visible units."""
_SAMPLED = frozenset({"binary", "gaussian", "linear", "rectified"})
"""Units that a chain draws values for."""


class HiddenUnit(JavaEnum):
    """Names of `HIDDEN_UNITS`, as ``RBM.HiddenUnit``."""

    BINARY = "binary"
    GAUSSIAN = "gaussian"
    IDENTITY = "identity"
    RECTIFIED = "rectified"
    SOFTMAX = "softmax"


class VisibleUnit(JavaEnum):
    """Names of `VISIBLE_UNITS`, as ``RBM.VisibleUnit``."""

    BINARY = "binary"
    GAUSSIAN = "gaussian"
    IDENTITY = "identity"
    LINEAR = "linear"
    SOFTMAX = "softmax"


class Divergence(NamedTuple):
    """Results of `RBMRuntime.reconstruct`: both ends of the chain."""

    x: Array
    hidden: Array
    visible_at_end: Array
    hidden_at_end: Array
    sample: Array
    """Visible units drawn at the end, which the score looks at."""


class RBMRuntime(TiedRuntime):
    """Forward and backward of a dense layer with the hidden units' activation, and chains of Gibbs sampling."""

    pure = splits = True

    def setup(self) -> None:
        self.samples = not _SAMPLED.isdisjoint((self.conf.hidden_unit, self.conf.visible_unit))
        self._visible_activation = get_activation(VISIBLE_UNITS[self.conf.visible_unit])

    @cached_property
    def activation(self) -> Activation:
        """That of the hidden units; the configured one is for the score of pretraining alone, as in Java."""
        return get_activation(HIDDEN_UNITS[self.conf.hidden_unit])

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        a, cache = super().forward(x, params, ctx)
        if self.conf.hidden_unit != "gaussian" or not (ctx.training and ctx.activates):
            return a, cache
        return self.masked(nd.addi(a, self._noise(a)), ctx), cache

    def may_split(self, training: bool) -> bool:
        return super().may_split(training) and not (training and self.conf.hidden_unit == "gaussian")

    # ---- contrastive divergence

    def reconstruct(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Divergence]:
        hidden, sample = self._hidden_given(x, params, ctx, "first")
        chain = hidden
        for step in range(self.conf.k):
            visible, visible_sample = self._visible_given(chain, params, ctx, f"visible{step % 2}")
            at_end, sample = self._hidden_given(visible, params, ctx, f"hidden{step % 2}")
            chain = sample
        return visible, Divergence(x, hidden, visible, at_end, visible_sample)

    def _hidden_given(self, v: Array, params: Params, ctx: Context, name: str) -> tuple[Array, Array]:
        """Return mean and sample of the hidden units."""
        return self._unit(self.conf.hidden_unit, self.up(v, params, ctx, name), self.activation)

    def _visible_given(self, h: Array, params: Params, ctx: Context, name: str) -> tuple[Array, Array]:
        """Return mean and sample of the visible units."""
        return self._unit(self.conf.visible_unit, self.down(h, params, ctx, name), self._visible_activation)

    def _unit(self, unit: str, z: Array, activation: Activation) -> tuple[Array, Array]:
        """Return what Java takes for the mean of units with input z, in its memory, and their sample."""
        if unit == "gaussian":
            nd.addi(z, self._noise(z))
        mean = value_of(activation, z, z)
        if unit == "softmax":  # once more where Java draws a sample, which is the mean itself
            value_of(activation, mean, mean)
        return mean, SAMPLES[unit](self, mean) if unit in SAMPLES else mean

    def _noise(self, like: Array) -> Array:
        """Draw standard normal numbers of the shape of an array."""
        drawn = nd.random.get_random().gaussian(math.prod(like.shape), self.dtype)
        return nd.reshape(drawn, tuple(like.shape))

    def _binary(self, mean: Array) -> Array:
        drawn = nd.random.get_random().uniform(math.prod(mean.shape), self.dtype)
        return nd.astype(nd.greater(mean, nd.reshape(drawn, tuple(mean.shape))), self.dtype)

    def _normal(self, mean: Array) -> Array:
        return nd.add(mean, self._noise(mean))

    def _rectified(self, mean: Array) -> Array:
        deviation = nd.sqrt(value_of(get_activation("sigmoid"), mean))
        return nd.maximum(nd.add(mean, nd.multiply(self._normal(mean), deviation)), 0.0)

    def reconstruction_loss(self, cache: Divergence, params: Params, ctx: Context) -> Array:
        return self.loss_of(cache.x, cache.sample)

    def reconstruction_gradients(self, cache: Divergence, params: Params, grads: Params, ctx: Context) -> None:
        x, hidden, visible, at_end, _ = cache
        nd.gemm(visible, at_end, grads["W"], transpose_a=True)
        nd.subi(grads["W"], nd.gemm(x, hidden, transpose_a=True))
        sparsity, out = self.conf.sparsity, ctx.buffer("difference", hidden.shape)
        nd.sum_into(nd.subtract(hidden if sparsity else at_end, sparsity or hidden, out), 0, grads["b"][0, ...])
        nd.sum_into(nd.subtract(visible, x, ctx.buffer("visible", x.shape)), 0, grads["vb"][0, ...])

    # ---- for programs that look inside

    @checked
    def sample_hidden_given_visible(self, v: Array) -> tuple[Array, Array]:
        """Return mean and sample ``[N, n_out]`` of the hidden units for ``v [N, n_in]``, new arrays."""
        return self._hidden_given(self.rows_of(v, self.conf.n_in), self.params, self._context(), "hidden")

    @checked
    def sample_visible_given_hidden(self, h: Array) -> tuple[Array, Array]:
        """Return mean and sample ``[N, n_in]`` of the visible units for ``h [N, n_out]``, new arrays."""
        return self._visible_given(self.rows_of(h, self.conf.n_out), self.params, self._context(), "visible")

    @checked
    def prop_up(self, v: Array) -> Array:
        """Return the means ``[N, n_out]`` of the hidden units for ``v [N, n_in]``, a new array."""
        z = self.up(self.rows_of(v, self.conf.n_in), self.params, self._context(), "hidden")
        return value_of(self.activation, z, z)

    @checked
    def prop_down(self, h: Array) -> Array:
        """Return the means ``[N, n_in]`` of the visible units for ``h [N, n_out]``, a new array."""
        z = self.down(self.rows_of(h, self.conf.n_out), self.params, self._context(), "visible")
        return value_of(self._visible_activation, z, z)

    def _context(self) -> Context:
        return Context(True, nd.fresh_buffers(self.dtype))

    @checked
    def free_energy(self, v: Array) -> Array:
        """Return the free energy ``[N]`` of ``v [N, n_in]`` for binary hidden units: -v·vb - Σ log(1 + exp(v W + b)).

        With Gaussian or linear visible units |v - vb|² / 2 takes the place of -v·vb: of units of variance 1.

        Raises
        ------
        ConfigurationError
            The hidden units are not binary, or the visible ones neither binary, Gaussian nor linear.
        """
        if self.conf.hidden_unit != "binary" or self.conf.visible_unit not in ("binary", "gaussian", "linear"):
            raise nd.ConfigurationError(
                f"{self.label}: free_energy: needs binary hidden units, and binary, gaussian or linear visible ones, "
                f"got {self.conf.hidden_unit} and {self.conf.visible_unit}. Sample with sample_hidden_given_visible."
            )
        v = self.rows_of(v, self.conf.n_in)
        z = self.up(v, self.params, self._context(), "z")
        hidden = nd.sum(value_of(get_activation("softplus"), z), 1)
        vb = self.params["vb"]
        if self.conf.visible_unit == "binary":
            return nd.subtract(-1.0 * nd.sum(nd.multiply(v, vb), 1), hidden)
        return nd.subtract(0.5 * nd.sum(nd.square(nd.subtract(v, vb)), 1), hidden)

    @checked
    def pseudo_likelihood(self, v: Array) -> Array:
        """Return an estimate ``[N]`` of the log-likelihood of binary ``v [N, n_in]``: n_in log sigmoid(F(v') - F(v)).

        v' is v with one number of each example turned over, drawn from `nd.random.get_random()`; F is `free_energy`.
        Source: Bengio, Learning deep architectures for AI, as in scikit-learn's ``BernoulliRBM.score_samples``.

        Raises
        ------
        ConfigurationError
            The units are not binary.
        """
        if self.conf.visible_unit != "binary":
            raise nd.ConfigurationError(
                f"{self.label}: pseudo_likelihood: needs binary units, got {self.conf.visible_unit} visible ones."
            )
        v = self.rows_of(v, self.conf.n_in)
        examples, width = v.shape
        drawn = nd.random.get_random().uniform(examples, self.dtype, 0.0, float(width))
        places = nd.reshape(nd.arange(width, dtype=self.dtype), (1, width))
        below = nd.subtract(nd.reshape(drawn, (examples, 1)), places)  # in 0..1 at the place that was drawn
        chosen = nd.astype(nd.greater_equal(below, 0.0), self.dtype) * nd.astype(nd.greater(1.0, below), self.dtype)
        turned = nd.add(v, nd.multiply(chosen, nd.subtract(1.0, 2.0 * v)))
        rise = nd.subtract(self.free_energy(turned), self.free_energy(v))
        return -float(width) * value_of(get_activation("softplus"), -1.0 * rise)


SAMPLES: dict[str, Callable[[Any, Array], Array]] = {
    "binary": RBMRuntime._binary,
    "gaussian": RBMRuntime._normal,
    "linear": RBMRuntime._normal,
    "rectified": RBMRuntime._rectified,
}
"""Unit -> what draws its sample, where that is not the mean."""


@dataclass(frozen=True, kw_only=True)
class RBM(BasePretrainNetwork):
    """Restricted Boltzmann machine: a layer of hidden units that learns the distribution of its input.

    Parameters
    ----------
    hidden_unit : {"binary", "gaussian", "identity", "rectified", "softmax"}
    visible_unit : {"binary", "gaussian", "identity", "linear", "softmax"}
    k : int
        Steps of Gibbs sampling for each gradient.
    sparsity : float
        Where not 0, what the mean of every hidden unit is drawn to, in the place of the divergence.
    reconstruction_loss : str or Loss
        Java's ``lossFunction``, for the score of pretraining alone.
    visible_bias_init : float
    activation : str or Activation
        For the score of pretraining alone; what the layer computes its hidden units say.
    n_in, n_out : int
    drop_out : float or IDropout, optional
        Of the input, when the network is trained on labels. A number is the probability to **retain**.

    Raises
    ------
    ChoiceError
        There are no such units.

    Notes
    -----
    Input ``[N, n_in]``, output ``[N, n_out]``: the mean of the hidden units, sigmoid(v W + b) for binary ones. Vector:
    W ``[n_in, n_out]`` in f order, b ``[1, n_out]``, vb ``[1, n_in]``, which training on labels leaves alone.

    Pretraining subtracts dW = vᵀh - v₀ᵀh₀, db = Σ(h - h₀) and dvb = Σ(v - v₀), of the data v₀, means h₀ of the hidden
    units for them, and v, h of both at the end of the chain. As in Java the chain begins with h₀, and goes on with
    samples of the hidden units and means of the visible ones. The score is the loss between the data and a sample of
    the visible units, to which the activation is applied. Gaussian units have variance 1. In a chain the mean of a
    softmax unit is the softmax of its softmax, the sample of a rectified one max(0, a + (a + n) √sigmoid(a)), as in
    Java. Source: DL4J 0.9.1 ``RBM``, which release 1.0 has no more; Hinton 2002.

    Differs: Java's Gaussian units get the means of others, which it reads by rows where they lie by columns. Gaussian
    hidden units have noise in training alone; Java's output has it always. The gradient of softmax
    and of Gaussian units, when the network is trained on labels, is their derivative; Java takes others. The penalties
    in the score of pretraining are not divided by the examples.

    Examples
    --------
    >>> RBM(n_in=3, n_out=2).param_shapes()
    {'W': (3, 2), 'b': (1, 2), 'vb': (1, 3)}
    """

    hidden_unit: str = "binary"
    visible_unit: str = "binary"
    k: Count = 1
    sparsity: float = 0.0
    HiddenUnit: ClassVar = HiddenUnit
    VisibleUnit: ClassVar = VisibleUnit
    runtime: ClassVar = RBMRuntime
    positional: ClassVar[tuple[str, ...]] = ("hidden_unit", "visible_unit")
    form: ClassVar[JavaForm] = BasePretrainNetwork.form.more(
        {
            "hiddenUnit": ("hidden_unit", "upper"),
            "visibleUnit": ("visible_unit", "upper"),
            "k": ("k", "plain"),
            "sparsity": ("sparsity", "number"),
        }
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, units in (("hidden_unit", HIDDEN_UNITS), ("visible_unit", VISIBLE_UNITS)):
            given = getattr(self, name)
            unit = str(getattr(given, "value", given)).lower()
            object.__setattr__(self, name, check_choice(f"RBM: {name}", "unit", unit, units))

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.tied_specs(bias=True)
