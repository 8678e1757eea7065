"""Losses that measure distances of the output from the labels."""

from __future__ import annotations

from dataclasses import dataclass

import nd
from nd.activations import Activation
from nd.arrays import standard
from nd.explaining import explained_method

from .base import Array, Loss, WeightedLoss

_COSINE_FLOOR = 1e-5


@dataclass(frozen=True, kw_only=True)
class LossCosineProximity(Loss):
    """-(y · p) / (‖y‖ ‖p‖) for every example, the norms held above 1e-5.

    Notes
    -----
    dL/dp = -(y ‖p‖² - p (y · p)) / (‖y‖ ‖p‖ ‖p‖²). As in Java masks are ``[N, 1]`` only.
    Source: LossCosineProximity. Differs: Java takes Σ |y p| for y · p in the gradient.
    """

    pure = splits = True
    couples_outputs = True

    def _norms(self, y: Array, p: Array) -> tuple[Array, Array, Array]:
        """Return ‖y‖ and ‖p‖, both held above the floor, and ‖p‖²."""
        square = nd.sum(nd.square(p), 1, True)
        y_norm = nd.sqrt(nd.sum(nd.square(y), 1, True))
        return nd.maximum(y_norm, _COSINE_FLOOR), nd.maximum(nd.sqrt(square), _COSINE_FLOOR), square

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        y_norm, p_norm, _ = self._norms(y, p)
        return -(y * p) / (y_norm * p_norm)

    def slope(self, y: Array, p: Array) -> Array:
        y_norm, p_norm, square = self._norms(y, p)
        along = p * nd.sum(y * p, 1, True) - y * square
        return along / (y_norm * p_norm * nd.maximum(square, _COSINE_FLOOR))


@dataclass(frozen=True, kw_only=True)
class LossL1(WeightedLoss):
    """Σ w |y - p|. Source: LossL1."""

    pure = splits = True

    def _scale(self, n_out: int) -> float:
        return 1.0

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = nd.subtract(p, y)
        return nd.multiply(nd.absolute(t, t), self._scale(p.shape[1]), t)

    def slope(self, y: Array, p: Array) -> Array:
        t = nd.subtract(p, y)
        return nd.multiply(nd.sign(t, t), self._scale(p.shape[1]), t)


@dataclass(frozen=True, kw_only=True)
class LossMAE(LossL1):
    """Σ w |y - p| / n_out.

    Notes
    -----
    Source: LossMAE. As in Java, `score_array` alone is not divided by n_out.
    """

    pure = splits = True

    @explained_method
    def score_array(
        self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None
    ) -> Array:
        """Return Σ w |y - p| of every example, ``[N]``: Java divides by the width of the sum, which is 1."""
        return nd.multiply(super().score_array(labels, z, p, activation, mask), float(p.shape[1]))

    def _scale(self, n_out: int) -> float:
        return 1.0 / n_out


@dataclass(frozen=True, kw_only=True)
class LossL2(WeightedLoss):
    """Σ w (y - p)². Source: LossL2."""

    pure = splits = True

    def _scale(self, n_out: int) -> float:
        return 1.0

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = nd.subtract(p, y)
        return nd.multiply(nd.square(t, t), self._scale(p.shape[1]), t)

    def slope(self, y: Array, p: Array) -> Array:
        t = nd.subtract(p, y)
        return nd.multiply(t, 2.0 * self._scale(p.shape[1]), t)


@dataclass(frozen=True, kw_only=True)
class LossMSE(LossL2):
    """Σ w (y - p)² / n_out. Source: LossMSE."""

    pure = splits = True

    def _scale(self, n_out: int) -> float:
        return 1.0 / n_out


@dataclass(frozen=True, kw_only=True)
class LossMAPE(WeightedLoss):
    """Σ w 100 |(y - p) / y| / n_out; a label of 0 gives infinity, as in Java. Source: LossMAPE."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = nd.divide(nd.subtract(y, p), y)
        return nd.multiply(nd.absolute(t, t), 100.0 / p.shape[1], t)

    def slope(self, y: Array, p: Array) -> Array:
        t = nd.divide(nd.sign(nd.subtract(p, y)), nd.absolute(y))
        return nd.multiply(t, 100.0 / p.shape[1], t)


@dataclass(frozen=True, kw_only=True)
class LossMSLE(WeightedLoss):
    """Σ w ln²((p + 1) / (y + 1)) / n_out. Source: LossMSLE."""

    pure = splits = True

    def _log_ratio(self, y: Array, p: Array) -> Array:
        return nd.subtract(standard.log1p(p), standard.log1p(y))

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = self._log_ratio(y, p)
        return nd.multiply(nd.square(t, t), 1.0 / p.shape[1], t)

    def slope(self, y: Array, p: Array) -> Array:
        t = self._log_ratio(y, p)
        nd.multiply(t, 2.0 / p.shape[1], t)
        return nd.divide(t, nd.add(p, 1.0), t)


@dataclass(frozen=True, kw_only=True)
class LossWasserstein(Loss):
    """Σ y p / n_out. Source: LossWasserstein; Arjovsky et al. 2017."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        t = nd.multiply(y, p)
        return nd.multiply(t, 1.0 / p.shape[1], t)

    def slope(self, y: Array, p: Array) -> Array:
        return nd.multiply(y, 1.0 / p.shape[1])
