"""CenterLossOutputLayer: a loss that also draws the features of a class together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import nd
from nd.arguments import NonNegative
from nd.losses import LossMixtureDensity, LossSparseMCXENT
from optimize import Updater

from ..params import ParamSpec
from .output import OutputLayer, OutputRuntime
from .runtime import Cache

Array = Any


class CenterDelta(NamedTuple):
    """What the way back starts from."""

    delta: Array
    """dL/dz ``[N, n_out]``."""
    away: Array
    """x - c_y ``[N, n_in]``."""
    labels: Array
    mask: Array | None


class CenterLossRuntime(OutputRuntime):
    """A dense layer with a loss, and a center for each class among its inputs."""

    pure = splits = True

    def weights(self, training: bool) -> dict[str, Array]:
        """Return what is multiplied and added; without `has_bias` b is there and trained, but not added, as in Java."""
        found = super().weights(training)
        return found if self.conf.has_bias else {"W": found["W"]}

    def may_split(self, training: bool) -> bool:
        """In training centers move by means over the whole minibatch."""
        return not training and super().may_split(training)

    def summed_loss(self, labels: Array, cache: Cache, mask: Array | None) -> Array:
        """Return the loss and ``lambda / 2 Σ |x - c_y|²``, sums over the minibatch; parameters as in `OutputMixin`."""
        loss = super().summed_loss(labels, cache, mask)
        return loss + self._distance(self._away(labels, cache.x), mask)

    def loss_and_delta(self, labels: Array, cache: Cache, mask: Array | None) -> tuple[Array, Any]:
        """Return the summed loss, and what `backprop_delta` needs."""
        loss, delta = super().loss_and_delta(labels, cache, mask)
        away = self._away(labels, cache.x)
        return loss + self._distance(away, mask), CenterDelta(delta, away, labels, mask)

    def score_array(self, labels: Array, cache: Cache, mask: Array | None) -> Array:
        """Return the loss and the distance of each example, ``[N]``; parameters as in `OutputMixin`."""
        squares = nd.square(self._away(labels, cache.x))
        if _of_rows(mask):
            nd.muli(squares, mask)
        distances = nd.multiply(nd.sum(squares, 1), 0.5 * self.conf.lambda_)
        return nd.add(super().score_array(labels, cache, mask), distances)

    def _away(self, labels: Array, x: Array) -> Array:
        away = self.buffers("away", tuple(x.shape))
        nd.gemm(nd.astype(labels, self.dtype), self.params["cL"], away)
        return nd.subtract(x, away, away)

    def _distance(self, away: Array, mask: Array | None) -> Array:
        squares = nd.square(away, self.buffers("squares", tuple(away.shape)))
        if _of_rows(mask):
            nd.muli(squares, mask)
        return 0.5 * self.conf.lambda_ * nd.sum(squares)

    def backprop_gradient(self, epsilon: Array, cache: Cache, need_epsilon: bool = True) -> Array | None:
        """As a dense layer; without labels centers stay."""
        nd.fill(self.gradient_views["cL"], 0.0)
        delta = self.activating.backprop(cache.z, cache.a, epsilon)
        if cache.mask is not None:
            nd.muli(delta, cache.mask)
        return super().backprop_delta(delta, cache, need_epsilon)

    def backprop_delta(self, delta: Any, cache: Cache, need_epsilon: bool) -> Array | None:
        """Continue from what `loss_and_delta` returned; also write how far the centers go."""
        delta, away, labels, mask = delta
        self._write_ways(away, labels, mask)
        epsilon = super().backprop_delta(delta, cache._replace(drop_mask=None), need_epsilon)
        if epsilon is None:
            return None
        nd.muli(away, self.conf.lambda_)
        if _of_rows(mask):
            nd.muli(away, mask)
        return self.undropped(nd.addi(epsilon, away), cache.drop_mask)

    def _write_ways(self, away: Array, labels: Array, mask: Array | None) -> None:
        """Write ``alpha Σ (c - x) / (1 + count)`` for each class; with `gradient_check` ``alpha lambda Σ (c - x)``."""
        conf, classes = self.conf, nd.astype(labels, self.dtype)
        if _of_rows(mask):
            classes = nd.multiply(classes, mask, self.buffers("classes", tuple(classes.shape)))
        ways = nd.gemm(classes, away, self.gradient_views["cL"], transpose_a=True)
        if conf.gradient_check:
            nd.muli(ways, -conf.alpha * conf.lambda_)
        else:
            counts = nd.sum(classes, 0)[:, None]
            nd.muli(ways, -conf.alpha / (counts + 1.0))


def _of_rows(mask: Array | None) -> bool:
    return mask is not None and mask.shape[1] == 1


@dataclass(frozen=True, kw_only=True)
class CenterLossOutputLayer(OutputLayer):
    """Output layer that also keeps a center for each class and draws the layer's inputs towards it.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Softmax unless another is given here; None takes the network's.
    n_in, n_out : int
    has_bias : bool
        Without it the bias is not added; it is there, and trained, all the same, as in Java.
    alpha : float
        How far centers go.
    lambda_ : float
        Weight of the distances beside the loss.
    gradient_check : bool
        Let centers have the derivative of the score, times alpha, to compare it with differences.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.loss, (LossSparseMCXENT, LossMixtureDensity)):
            raise nd.ConfigurationError(
                f"CenterLossOutputLayer: the loss must take one-hot labels [N, n_out], got {self.loss!r}. Use mcxent."
            )

    def updater_of(self, bias: bool) -> Updater:
        """Return the layer's updater: Java does not look at `bias_updater` here."""
        return self.updater  # type: ignore[return-value]

    def param_specs(self) -> tuple[ParamSpec, ...]:
        centers = ParamSpec("cL", (self.n_out or 0, self.n_in or 0), "c", initial=0.0, running=True)
        return (*self.matrix_specs(has_bias=True), centers)
