"""Losses that measure distances of the output from the labels."""

from __future__ import annotations

from dataclasses import dataclass

from nd.activations import Activation
from nd.arrays import standard
from nd.explaining import explained
from nd.state import state

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
        backend = state.backend
        square = backend.sum(backend.square(p), 1, True)
        y_norm = backend.sqrt(backend.sum(backend.square(y), 1, True))
        return backend.maximum(y_norm, _COSINE_FLOOR), backend.maximum(backend.sqrt(square), _COSINE_FLOOR), square

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        y_norm, p_norm, _ = self._norms(y, p)
        return -(y * p) / (y_norm * p_norm)

    def slope(self, y: Array, p: Array) -> Array:
        backend = state.backend
        y_norm, p_norm, square = self._norms(y, p)
        along = p * backend.sum(y * p, 1, True) - y * square
        return along / (y_norm * p_norm * backend.maximum(square, _COSINE_FLOOR))


@dataclass(frozen=True, kw_only=True)
class LossL1(WeightedLoss):
    """Σ w |y - p|. Source: LossL1."""

    pure = splits = True

    def _scale(self, n_out: int) -> float:
        return 1.0

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        backend = state.backend
        t = backend.subtract(p, y)
        return backend.multiply(backend.absolute(t, t), self._scale(p.shape[1]), t)

    def slope(self, y: Array, p: Array) -> Array:
        backend = state.backend
        t = backend.subtract(p, y)
        return backend.multiply(backend.sign(t, t), self._scale(p.shape[1]), t)


@dataclass(frozen=True, kw_only=True)
class LossMAE(LossL1):
    """Σ w |y - p| / n_out.

    Notes
    -----
    Source: LossMAE. As in Java, `score_array` alone is not divided by n_out.
    """

    pure = splits = True

    @explained
    def score_array(
        self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None
    ) -> Array:
        """Return Σ w |y - p| of every example, ``[N]``: Java divides by the width of the sum, which is 1."""
        backend = state.backend
        return backend.multiply(super().score_array(labels, z, p, activation, mask), float(p.shape[1]))

    def _scale(self, n_out: int) -> float:
        return 1.0 / n_out


@dataclass(frozen=True, kw_only=True)
class LossL2(WeightedLoss):
    """Σ w (y - p)². Source: LossL2."""

    pure = splits = True

    def _scale(self, n_out: int) -> float:
        return 1.0

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        backend = state.backend
        t = backend.subtract(p, y)
        return backend.multiply(backend.square(t, t), self._scale(p.shape[1]), t)

    def slope(self, y: Array, p: Array) -> Array:
        backend = state.backend
        t = backend.subtract(p, y)
        return backend.multiply(t, 2.0 * self._scale(p.shape[1]), t)


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
        backend = state.backend
        t = backend.divide(backend.subtract(y, p), y)
        return backend.multiply(backend.absolute(t, t), 100.0 / p.shape[1], t)

    def slope(self, y: Array, p: Array) -> Array:
        backend = state.backend
        t = backend.divide(backend.sign(backend.subtract(p, y)), backend.absolute(y))
        return backend.multiply(t, 100.0 / p.shape[1], t)


@dataclass(frozen=True, kw_only=True)
class LossMSLE(WeightedLoss):
    """Σ w ln²((p + 1) / (y + 1)) / n_out. Source: LossMSLE."""

    pure = splits = True

    def _log_ratio(self, y: Array, p: Array) -> Array:
        backend = state.backend
        return backend.subtract(standard.log1p(p), standard.log1p(y))

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        backend = state.backend
        t = self._log_ratio(y, p)
        return backend.multiply(backend.square(t, t), 1.0 / p.shape[1], t)

    def slope(self, y: Array, p: Array) -> Array:
        backend = state.backend
        t = self._log_ratio(y, p)
        backend.multiply(t, 2.0 / p.shape[1], t)
        return backend.divide(t, backend.add(p, 1.0), t)


@dataclass(frozen=True, kw_only=True)
class LossWasserstein(Loss):
    """Σ y p / n_out. Source: LossWasserstein; Arjovsky et al. 2017."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        backend = state.backend
        t = backend.multiply(y, p)
        return backend.multiply(t, 1.0 / p.shape[1], t)

    def slope(self, y: Array, p: Array) -> Array:
        return state.backend.multiply(y, 1.0 / p.shape[1])
