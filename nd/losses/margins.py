"""Losses that count outputs on the wrong side: hinges, rankings, and the F-measure."""

from __future__ import annotations

from dataclasses import dataclass

import nd
from backends.errors import ConfigurationError, ShapeError
from nd.activations import Activation
from nd.activations.base import back_through
from nd.arguments import checked
from nd.arrays import standard
from nd.explaining import explained_method

from .base import Array, Loss, cast


@dataclass(frozen=True, kw_only=True)
class LossHinge(Loss):
    """Σ max(0, 1 - y p) for labels -1 and 1. Source: LossHinge."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = nd.subtract(1.0, y * p)
        return nd.maximum(t, 0.0, t)

    def slope(self, y: Array, p: Array) -> Array:
        inside = nd.greater(1.0, y * p)
        return nd.multiply(standard.astype(inside, p.dtype), -y)


@dataclass(frozen=True, kw_only=True)
class LossSquaredHinge(LossHinge):
    """Σ max(0, 1 - y p)² for labels -1 and 1. Source: LossSquaredHinge."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = super().terms(y, p, activation)
        return nd.square(t, t)

    def slope(self, y: Array, p: Array) -> Array:
        t = nd.subtract(1.0, y * p)
        nd.maximum(t, 0.0, t)
        return nd.multiply(t, -2.0 * y, t)


@dataclass(frozen=True, kw_only=True)
class LossMultiLabel(Loss):
    """Mean of exp(p_neg - p_pos) over the pairs of an absent and a present label of an example (BP-MLL).

    Notes
    -----
    y is 1 for every label that an example has, else 0. An example with all labels or none counts 0. The score of
    absent label j is exp(p_j) Σ_pos y exp(-p) / (number of pairs). Masks are ``[N, 1]`` only, as Java's score takes
    them. Source: LossMultiLabel; Zhang and Zhou 2006.
    """

    pure = splits = True
    couples_outputs = True

    def _factors(self, y: Array, p: Array) -> tuple[Array, Array]:
        """Return exp(p) of the absent and y exp(-p) of the present labels, the first divided by the number of pairs."""
        middle = (nd.max(p, 1, True) + standard.min(p, axis=1, keepdims=True)) * 0.5
        shifted = p - middle  # in the product of both factors this cancels; alone neither overflows as early
        absent = standard.astype(nd.equal(y, 0.0), p.dtype)
        pairs = nd.sum(absent, 1, True) * nd.sum(y, 1, True)
        pairs = nd.where(nd.equal(pairs, 0.0), 1.0, pairs)
        return absent * nd.exp(shifted) / pairs, y * nd.exp(-shifted)

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        absent, present = self._factors(y, p)
        return nd.multiply(absent, nd.sum(present, 1, True), absent)

    def slope(self, y: Array, p: Array) -> Array:
        absent, present = self._factors(y, p)
        return absent * nd.sum(present, 1, True) - present * nd.sum(absent, 1, True)


@dataclass(frozen=True)
class LossFMeasure(Loss):
    """1 - F_beta of the batch, counted with probabilities: 1 - num / den.

    Parameters
    ----------
    beta : float
        Recall counts beta times as much as precision.

    Notes
    -----
    num = (1 + beta²) TP, den = num + beta² FN + FP; without a positive anywhere (0 / 0) the score and the gradient
    are 0. One output is the probability of the positive class; of two outputs (softmax) the second is, and only it
    gets dL/dp. The score is a ratio already: `compute_score` never divides it. Source: LossFMeasure; Pastor-Pellicer
    et al. 2013.
    """

    pure = True
    beta: float = 1.0
    couples_outputs = limits_outputs = True

    def check_outputs(self, who: str, outputs: int) -> None:
        if outputs not in (1, 2):
            raise ShapeError(f"{who}: the output must have 1 or 2 columns, got {outputs}. Change n_out.")

    @explained_method
    def score(self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None) -> Array:
        """Return 1 - F_beta as a scalar array. Parameters and errors as for `Loss.score`."""
        self.check_source(z, activation)
        num, den = self._ratio(self.read_labels(labels, p, mask), p, mask)
        empty = nd.equal(den, 0.0)
        value = nd.where(empty, 0.0, 1.0 - num / nd.where(empty, 1.0, den))
        return nd.reshape(value, ())

    def score_array(
        self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None
    ) -> Array:
        """Raise ConfigurationError: one example has no F-measure."""
        raise ConfigurationError(
            f"loss LossFMeasure: only a whole batch has a score, got a request for each of {p.shape[0]} examples. "
            "Use score, or another loss to score single examples."
        )

    @explained_method
    @checked
    def compute_score(
        self, labels: Array, z: Array, activation: Activation, mask: Array | None = None, average: bool = True
    ) -> float:
        """Return the score as a Python number; a ratio is not averaged."""
        return super().compute_score(labels, z, activation, mask, average=False)

    def unmasked_gradient(
        self, y: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """Take dL/dp = (num / den - (1 + beta²) y) / den back through the activation."""
        num, den = self._ratio(y, p, mask)
        defined = standard.astype(nd.greater(den, 0.0), p.dtype)
        den = den + (1.0 - defined)
        slope = (num / den - (1.0 + self.beta**2) * y) / den * defined
        if p.shape[1] == 2:
            nd.fill(slope[:, :1], 0.0)
        return back_through(activation, z, p, slope, slope if out is None else out)

    def read_labels(self, labels: Array, p: Array, mask: Array | None) -> Array:
        self.check_outputs(f"loss {type(self).__name__}", p.shape[-1])
        self.check_labels(labels, p, p.shape[1])
        self.check_mask(mask, p)
        return cast(labels, p)

    def _ratio(self, y: Array, p: Array, mask: Array | None) -> tuple[Array, Array]:
        """Return num and den, both ``[1, 1]``."""
        single = p.shape[1] == 1
        positive, p1 = y[:, -1:], p[:, -1:]
        negative, p0 = (1.0 - positive, 1.0 - p1) if single else (y[:, :1], p[:, :1])
        if mask is not None:
            mask = cast(mask, p)
            positive, negative = positive * mask, negative * mask
        tp, fp, fn = (nd.sum(share, None, True) for share in (positive * p1, negative * p1, positive * p0))
        num = (1.0 + self.beta**2) * tp
        return num, num + self.beta**2 * fn + fp
