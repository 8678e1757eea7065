"""CenterLossOutputLayer: a loss that also draws the features of a class together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeGuard

import nd
from nd.arguments import NonNegative
from nd.losses import LossMixtureDensity, LossSparseMCXENT
from nd.typing import Array
from optimize import Updater

from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..base import FeedForwardConf
from ..core.dense import Cache
from ..runtime import Context, Kept, Params
from .output import OutputLayer, OutputRuntime


class CenterDelta(NamedTuple):
    """Start of the backward pass."""

    delta: Array
    """dL/dz ``[N, n_out]``."""
    away: Array
    """x - c_y ``[N, n_in]``."""
    labels: Array
    mask: Array | None


class CenterLossRuntime(OutputRuntime):
    """A dense layer with a loss, and a center for each class among its inputs."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        """Do as a dense layer; without `has_bias` b is there and trained, but not added, as in Java."""
        return super().forward(x, params if self.conf.has_bias else {"W": params["W"]}, ctx)

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Do as a dense layer; without labels centers stay."""
        nd.fill(grads["cL"], 0.0)
        delta = self.activation_gradient(epsilon, cache.z, cache.a, ctx)
        return super().backward_delta(delta, cache, params, grads, ctx)

    def summed_loss(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss and ``lambda / 2 Σ |x - c_y|²``, sums over the minibatch; parameters as in `OutputMixin`."""
        loss = super().summed_loss(labels, kept, mask)
        return loss + self._distance(self._away(labels, kept), mask, kept.context)

    def loss_and_delta(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, CenterDelta]:
        """Return the summed loss, and the start of the backward pass for `backward_delta`."""
        loss, delta = super().loss_and_delta(labels, kept, mask)
        away = self._away(labels, kept)
        return loss + self._distance(away, mask, kept.context), CenterDelta(delta, away, labels, mask)

    def weighted_delta(self, delta: Any, weight: float) -> Any:
        """Do as every layer with a loss; centers go as much shorter a way."""
        nd.muli(delta.away, weight)
        return delta._replace(delta=super().weighted_delta(delta.delta, weight))

    def with_epsilon(self, delta: Any, epsilon: Array, kept: Kept) -> Any:
        """Do as every layer with a loss; centers take no part."""
        return delta._replace(delta=super().with_epsilon(delta.delta, epsilon, kept))

    def backward_delta(self, delta: Any, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Continue from the result of `loss_and_delta`; also write the steps of the centers."""
        delta, away, labels, mask = delta
        self._write_center_steps(away, labels, mask, grads, ctx)
        below = super().backward_delta(delta, cache, params, grads, ctx)
        if below is None:
            return None
        nd.muli(away, self.conf.lambda_)
        if _masks_rows(mask):
            nd.muli(away, mask)
        return nd.addi(below, away)

    def _write_center_steps(self, away: Array, labels: Array, mask: Array | None, grads: Params, ctx: Context) -> None:
        """Write ``alpha Σ (c - x) / (1 + count)`` for each class; with `gradient_check` ``alpha lambda Σ (c - x)``."""
        conf, classes = self.conf, nd.astype(labels, self.dtype)
        if _masks_rows(mask):
            classes = nd.multiply(classes, mask, ctx.buffer("classes", tuple(classes.shape)))
        steps = nd.gemm(classes, away, grads["cL"], transpose_a=True)
        if conf.gradient_check:
            nd.muli(steps, -conf.alpha * conf.lambda_)
        else:
            counts = nd.sum(classes, 0)[:, None]
            nd.muli(steps, -conf.alpha / (counts + 1.0))

    def score_array(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss and the distance of each example, ``[N]``; parameters as in `OutputMixin`."""
        squares = nd.square(self._away(labels, kept))
        if _masks_rows(mask):
            nd.muli(squares, mask)
        distances = nd.multiply(nd.sum(squares, 1), 0.5 * self.conf.lambda_)
        return nd.add(super().score_array(labels, kept, mask), distances)

    def _away(self, labels: Array, kept: Kept) -> Array:
        """Return x - c_y ``[N, n_in]``."""
        x = kept.cache.x
        away = kept.context.buffer("away", tuple(x.shape))
        nd.gemm(nd.astype(labels, self.dtype), kept.params["cL"], away)
        return nd.subtract(x, away, away)

    def _distance(self, away: Array, mask: Array | None, ctx: Context) -> Array:
        squares = nd.square(away, ctx.buffer("squares", tuple(away.shape)))
        if _masks_rows(mask):
            nd.muli(squares, mask)
        return 0.5 * self.conf.lambda_ * nd.sum(squares)

    def may_split(self, training: bool) -> bool:
        """Tell that training does not split: centers move by means over all of the minibatch."""
        return not training and super().may_split(training)


def _masks_rows(mask: Array | None) -> TypeGuard[Array]:
    return mask is not None and mask.shape[1] == 1


@dataclass(frozen=True, kw_only=True)
class CenterLossOutputLayer(OutputLayer):
    """Output layer that also keeps a center for each class and draws the layer's inputs towards it.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Softmax unless the layer is given another; None takes the network's.
    n_in, n_out : int
    has_bias : bool
        Without it the bias is not added; it is there, and trained, all the same, as in Java.
    alpha : float
        Step size of the centers.
    lambda_ : float
        Weight of the distances beside the loss.
    gradient_check : bool
        Let centers have the derivative of the score, times alpha, to compare it with differences.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Raises
    ------
    ConfigurationError
        The loss does not take labels ``[N, n_out]``, or alpha or lambda_ is not a number >= 0.

    Notes
    -----
    As `OutputLayer`; to the loss comes ``lambda / 2 Σ |x_n - c_y|²``, where c_y is ``labels @ cL``, and
    ``lambda (x_n - c_y)`` to the gradient of the input. Centers start at 0, have no penalties and no updater, and are
    subtracted ``alpha Σ (c_k - x_n) / (1 + count_k) / N`` over the examples of their class in each minibatch of N.
    Vector: W ``[n_in, n_out]`` in f order, b ``[1, n_out]``, cL ``[n_out, n_in]`` in c order. Source: DL4J
    ``CenterLossOutputLayer``; Wen et al. 2016. Differs: rows that a mask ``[N, 1]`` leaves out have no part in the
    distances and in the centers; Java looks at the mask in the loss only.
    """

    alpha: NonNegative = 0.05
    lambda_: NonNegative = 2e-4
    gradient_check: bool = False
    runtime: ClassVar = CenterLossRuntime
    form: ClassVar[JavaForm] = OutputLayer.form.more(
        {
            "alpha": ("alpha", "number"),
            "gradientCheck": ("gradient_check", "plain"),
            "lambda": ("lambda_", "number"),
        }
    )
    shape_fields: ClassVar[Mapping[str, object]] = FeedForwardConf.shape_fields

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.loss, (LossSparseMCXENT, LossMixtureDensity)):
            raise nd.ConfigurationError(
                f"CenterLossOutputLayer: the loss must take one-hot labels [N, n_out], got {self.loss!r}. Use mcxent."
            )

    def updater_of(self, bias: bool) -> Updater:
        """Return the layer's updater: Java does not look at `bias_updater` in this layer."""
        return self.updater  # type: ignore[return-value]

    def param_specs(self) -> tuple[ParamSpec, ...]:
        centers = ParamSpec("cL", (self.n_out or 0, self.n_in or 0), "c", initial=0.0, running=True)
        return (*self.matrix_specs(has_bias=True), centers)
