"""The loss of a mixture density network."""

from __future__ import annotations

import math
from dataclasses import dataclass

import nd
from backends.errors import ShapeError
from nd.activations import Activation
from nd.arguments import Count

from .base import Array, Loss, cast


@dataclass(frozen=True, kw_only=True)
class LossMixtureDensity(Loss):
    """-ln Σ_k α_k N(y; μ_k, σ_k²): the output describes a mixture of round normal distributions of the labels.

    Parameters
    ----------
    mixtures : int
        Number k of distributions.
    labels_width : int
        Length l of a label; the output is ``[N, k (l + 2)]``, the labels are ``[N, l]``.

    Notes
    -----
    Columns of the output: k for α (softmax over them), k for ln σ, k l for μ, distribution by distribution. With the
    responsibilities π_k = α_k N_k / Σ α N: dL/dp = [α - π | -π (‖y - μ‖² / σ² - l) | -π (y - μ) / σ²]. Meant for the
    identity activation. Only masks ``[N, 1]``. Source: LossMixtureDensity; Bishop 1994.
    """

    pure = splits = True
    mixtures: Count
    labels_width: Count
    couples_outputs = limits_outputs = True

    def check_outputs(self, who: str, outputs: int) -> None:
        k, width = self.mixtures, self.labels_width
        if outputs != k * (width + 2):
            raise ShapeError(
                f"{who}: the output must be [N, {k * (width + 2)}] for {k} mixtures of labels [N, {width}], got "
                f"[N, {outputs}]. Set n_out to mixtures * (labels_width + 2)."
            )

    def read_labels(self, labels: Array, p: Array, mask: Array | None) -> Array:
        self.check_outputs(f"loss {type(self).__name__}", p.shape[-1])
        self.check_labels(labels, p, self.labels_width)
        self.check_mask(mask, p)
        return cast(labels, p)

    def _densities(self, y: Array, p: Array) -> tuple[Array, Array, Array, Array]:
        """Return ln α ``[N, k]``, y - μ ``[N, k, l]``, 1 / σ² ``[N, k]`` and ln(α N(y; μ, σ²)) ``[N, k]``."""
        n, k, width = p.shape[0], self.mixtures, self.labels_width
        raw, log_sigma = p[:, :k], p[:, k : 2 * k]
        log_alpha = raw - _log_sum_exp(raw)
        away = nd.reshape(y, (n, 1, width)) - nd.reshape(p[:, 2 * k :], (n, k, width))
        precision = nd.exp(-2.0 * log_sigma)
        exponent = -0.5 * nd.sum(nd.square(away), 2) * precision
        return log_alpha, away, precision, log_alpha - width * (log_sigma + 0.5 * math.log(2.0 * math.pi)) + exponent

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        return -_log_sum_exp(self._densities(y, p)[3])  # [N, 1]

    def slope(self, y: Array, p: Array) -> Array:
        log_alpha, away, precision, joint = self._densities(y, p)
        pi = nd.exp(joint - _log_sum_exp(joint))
        d_sigma = pi * (self.labels_width - nd.sum(nd.square(away), 2) * precision)
        d_mu = nd.reshape(-pi * precision, (*pi.shape, 1)) * away
        return nd.concat([nd.exp(log_alpha) - pi, d_sigma, nd.reshape(d_mu, (p.shape[0], -1))], 1)


def _log_sum_exp(x: Array) -> Array:
    """Return ln Σ eˣ of every row, ``[N, 1]``."""
    top = nd.max(x, 1, True)
    return top + nd.log(nd.sum(nd.exp(x - top), 1, True))
