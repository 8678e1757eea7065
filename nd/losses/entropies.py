"""Losses of logarithms of probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import nd
from backends.errors import DataError, ShapeError, describe_shape
from nd.activations import Activation, Softmax
from nd.arrays import standard

from .base import Array, Loss, WeightedLoss, cast, clip, floor_of, masks_outputs, nonzero, safe_log


@dataclass(frozen=True, kw_only=True)
class LossBinaryXENT(WeightedLoss):
    """-Σ w (y ln p + (1 - y) ln(1 - p)), p held in clip_eps .. 1 - clip_eps.

    Notes
    -----
    dL/dz = w act'((p - y) / (p (1 - p))), p held likewise. As in Java the score with softmax is -Σ w y ln p, without
    the second term and without clipping, while the gradient keeps both terms. Source: LossBinaryXENT.
    Differs: with softmax 0 ln 0 counts as 0.
    """

    pure = splits = True
    clip_eps: float = 1e-5

    def unmasked_gradient(
        self, y: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """Weigh behind the activation, which matters with softmax."""
        q = clip(p, self.clip_eps, 1.0 - self.clip_eps)
        slope = nd.divide(nd.subtract(q, y), q * (1.0 - q), q)
        return self.weigh(self.through(slope, z, p, activation, mask, out))

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        if isinstance(activation, Softmax):
            return -y * safe_log(p)
        q = clip(p, self.clip_eps, 1.0 - self.clip_eps)
        return -(y * nd.log(q) + (1.0 - y) * nd.log(1.0 - q))


@dataclass(frozen=True, kw_only=True)
class LossKLD(Loss):
    """Σ y ln(y / p), both held in 1e-5 .. 1 in the score, not in the gradient -y / p. Source: LossKLD."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        y = clip(y, 1e-5, 1.0)
        return y * nd.log(y / clip(p, 1e-5, 1.0))

    def slope(self, y: Array, p: Array) -> Array:
        return -y / nonzero(p)


@dataclass(frozen=True, kw_only=True)
class LossMCXENT(WeightedLoss):
    """-Σ w y ln p: cross entropy of classes, meant for softmax.

    Parameters
    ----------
    softmax_clip_eps : float
        With softmax p is held in softmax_clip_eps .. 1 - softmax_clip_eps in the score.

    Notes
    -----
    With softmax dL/dz = p Σ_j (w y)_j - w y; without weights p - y, which is the same where a row of labels sums to 1.
    Else dL/dp = -w y / p. 0 ln 0 counts as 0. As in Java there is no gradient with softmax and a mask ``[N, n_out]``,
    only a score. Source: LossMCXENT.
    """

    pure = splits = True
    softmax_clip_eps: float = 1e-10

    def unmasked_gradient(
        self, y: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """With softmax the quotient cancels, and `out` may be p itself."""
        if not isinstance(activation, Softmax):
            return super().unmasked_gradient(y, z, p, activation, mask, out)
        if masks_outputs(mask):
            raise ShapeError(
                f"loss {type(self).__name__}: with softmax the mask must be the same for all outputs of a row, "
                f"{describe_shape((p.shape[0], 1))}, got {describe_shape(p.shape)}. Mask whole examples, time steps or "
                "places, or take sigmoid and xent."
            )
        if self.weights is None:
            return nd.subtract(p, y, out)
        wy = self.weigh(nd.multiply(y, 1.0))
        delta = nd.multiply(p, nd.sum(wy, 1, True), out)
        return nd.subtract(delta, wy, delta)

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        if isinstance(activation, Softmax):
            low = max(self.softmax_clip_eps, floor_of(p))
            t = clip(p, low, 1.0 - self.softmax_clip_eps)
            nd.log(t, t)
        else:
            t = safe_log(p)
        nd.multiply(t, y, t)
        return nd.multiply(t, -1.0, t)

    def slope(self, y: Array, p: Array) -> Array:
        return -y / nonzero(p)


@dataclass(frozen=True, kw_only=True)
class LossNegativeLogLikelihood(LossMCXENT):
    """The same as LossMCXENT. Source: LossNegativeLogLikelihood."""

    pure = splits = True


@dataclass(frozen=True, kw_only=True)
class LossSparseMCXENT(LossMCXENT):
    """LossMCXENT for labels ``[N, 1]`` that hold the index of the class.

    Raises
    ------
    DataError
        A label is not an integer in 0 .. n_out - 1.

    Notes
    -----
    Source: LossSparseMCXENT.
    """

    splits = True
    other_labels = ", a number of a class in each row; for one-hot rows take the loss 'mcxent'"

    def label_columns(self, outputs: int) -> int:
        return 1

    def read_labels(self, labels: Array, p: Array, mask: Array | None) -> Array:
        self.check_labels(labels, p, 1)
        self.check_mask(mask, p)
        dtype = nd.dtype_name(p)
        classes = nd.arange(0, p.shape[1], dtype)
        y = nd.astype(nd.equal(cast(labels, p), classes), dtype)
        if nd.item(nd.sum(y)) != p.shape[0]:
            raise DataError(
                f"loss {type(self).__name__}: labels must be integers in 0 .. {p.shape[1] - 1}, got values in "
                f"{nd.item(standard.min(labels))} .. {nd.item(nd.max(labels))}. "
                "Give the layer as many outputs as there are classes, and number the classes from 0."
            )
        return y


@dataclass(frozen=True, kw_only=True)
class LossPoisson(Loss):
    """Σ p - y ln p; 0 ln 0 counts as 0. Source: LossPoisson."""

    pure = splits = True

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        return p - y * safe_log(p)

    def slope(self, y: Array, p: Array) -> Array:
        return 1.0 - y / nonzero(p)
