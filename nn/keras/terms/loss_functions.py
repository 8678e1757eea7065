"""Losses of Keras that Deeplearning4j has not, or has in another form: value and derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import nd
from nd.activations import Activation
from nd.activations.base import pick, sigmoid
from nd.arguments import Fraction, Positive
from nd.arrays import standard
from nd.checks import check_choice
from nd.losses import Loss, LossSparseMCXENT
from nd.typing import Array

from ...conf.parts import register
from .functions import log_sigmoid, log_softmax

EPSILON = 1e-7
"""Keras' backend.epsilon()."""


class _Formula(NamedTuple):
    """A loss of one example; arrays are ``[N, n_out]``."""

    terms: Callable[[KerasLoss, Array, Array], Array]
    slope: Callable[[KerasLoss, Array, Array], Array]
    """Derivative of the sum of the terms with respect to p."""
    is_mean: bool = False
    """Whether the terms of an example are averaged, not added."""


def _positive(x: Array) -> Array:
    return nd.maximum(x, EPSILON)


def _clipped(p: Array) -> Array:
    return nd.minimum(_positive(p), 1.0 - EPSILON)


def _where_inside(p: Array, slope: Array, high: float) -> Array:
    """Return the slope where p is between epsilon and a number, else 0."""
    above = pick(nd.greater(p, EPSILON), p, 1.0, 0.0)
    return nd.multiply(nd.multiply(slope, above), pick(nd.greater(high, p), p, 1.0, 0.0))


# ---- entropies


def _categorical(loss: KerasLoss, y: Array, p: Array) -> Array:
    if loss.from_logits:
        return nd.multiply(nd.multiply(y, log_softmax(p)), -1.0)
    return nd.multiply(nd.multiply(y, nd.log(_clipped(nd.divide(p, nd.sum(p, 1, True))))), -1.0)


def _categorical_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    if loss.from_logits:
        return nd.subtract(nd.multiply(nd.exp(log_softmax(p)), nd.sum(y, 1, True)), y)
    total = nd.sum(p, 1, True)
    q = nd.divide(p, total)
    by_q = _where_inside(q, nd.multiply(nd.divide(y, _clipped(q)), -1.0), 1.0 - EPSILON)
    return nd.divide(nd.subtract(by_q, nd.sum(nd.multiply(by_q, q), 1, True)), total)


def _binary(loss: KerasLoss, y: Array, p: Array) -> Array:
    if loss.from_logits:
        yes, no = log_sigmoid(p), log_sigmoid(nd.multiply(p, -1.0))
    else:
        q = _clipped(p)
        yes, no = nd.log(q), nd.log(nd.subtract(1.0, q))
    return nd.multiply(nd.add(nd.multiply(y, yes), nd.multiply(nd.subtract(1.0, y), no)), -1.0)


def _binary_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    if loss.from_logits:
        return nd.subtract(sigmoid(p), y)
    q = _clipped(p)
    return _where_inside(p, nd.divide(nd.subtract(q, y), nd.multiply(q, nd.subtract(1.0, q))), 1.0 - EPSILON)


def _divergence(loss: KerasLoss, y: Array, p: Array) -> Array:
    y = nd.minimum(_positive(y), 1.0)
    return nd.multiply(y, nd.log(nd.divide(y, nd.minimum(_positive(p), 1.0))))


def _divergence_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    y = nd.minimum(_positive(y), 1.0)
    return _where_inside(p, nd.multiply(nd.divide(y, nd.minimum(_positive(p), 1.0)), -1.0), 1.0)


def _poisson(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.subtract(p, nd.multiply(y, nd.log(nd.add(p, EPSILON))))


def _poisson_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.subtract(1.0, nd.divide(y, nd.add(p, EPSILON)))


# ---- distances


def _of_percentages(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.multiply(nd.absolute(nd.divide(nd.subtract(y, p), _positive(nd.absolute(y)))), 100.0)


def _of_percentages_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.multiply(nd.divide(nd.sign(nd.subtract(p, y)), _positive(nd.absolute(y))), 100.0)


def _log_ratio(y: Array, p: Array) -> Array:
    return nd.subtract(standard.log1p(_positive(p)), standard.log1p(_positive(y)))


def _of_logarithms(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.square(_log_ratio(y, p))


def _of_logarithms_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    slope = nd.divide(nd.multiply(_log_ratio(y, p), 2.0), nd.add(_positive(p), 1.0))
    return nd.multiply(slope, pick(nd.greater(p, EPSILON), p, 1.0, 0.0))


def _log_cosh(loss: KerasLoss, y: Array, p: Array) -> Array:
    away = nd.absolute(nd.subtract(p, y))
    return nd.add(away, nd.subtract(standard.log1p(nd.exp(nd.multiply(away, -2.0))), math.log(2.0)))


def _huber(loss: KerasLoss, y: Array, p: Array) -> Array:
    away = nd.absolute(nd.subtract(p, y))
    near = nd.minimum(away, loss.delta)
    return nd.add(nd.multiply(nd.square(near), 0.5), nd.multiply(nd.subtract(away, near), loss.delta))


def _huber_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.minimum(nd.maximum(nd.subtract(p, y), -loss.delta), loss.delta)


def _cosine(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.multiply(nd.multiply(_unit(y), _unit(p)), -1.0)


def _norm(x: Array) -> Array:
    return nd.maximum(nd.sqrt(nd.sum(nd.square(x), 1, True)), EPSILON)


def _unit(x: Array) -> Array:
    return nd.divide(x, _norm(x))


def _cosine_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    along, unit = _unit(p), _unit(y)
    share = nd.sum(nd.multiply(unit, along), 1, True)
    return nd.divide(nd.subtract(nd.multiply(along, share), unit), _norm(p))


# ---- margins


def _signs(y: Array) -> Array:
    """Return labels -1 and 1, also of 0 and 1."""
    return nd.subtract(y, pick(nd.equal(y, 0.0), y, 1.0, 0.0))


def _margin(y: Array, p: Array) -> Array:
    return nd.maximum(nd.subtract(1.0, nd.multiply(_signs(y), p)), 0.0)


def _hinge(loss: KerasLoss, y: Array, p: Array) -> Array:
    return _margin(y, p)


def _hinge_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.multiply(nd.multiply(_signs(y), -1.0), pick(nd.greater(_margin(y, p), 0.0), p, 1.0, 0.0))


def _squared_hinge(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.square(_margin(y, p))


def _squared_hinge_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.multiply(nd.multiply(_margin(y, p), _signs(y)), -2.0)


def _between_classes(y: Array, p: Array) -> tuple[Array, Array]:
    """Return max((1 - y) p) - Σ y p + 1 of every example ``[N, 1]``, and the slope of the maximum."""
    others = nd.multiply(nd.subtract(1.0, y), p)
    top = nd.max(others, 1, True)
    hit = nd.astype(nd.equal(others, top), nd.dtype_name(p))
    share = nd.multiply(nd.divide(hit, nd.sum(hit, 1, True)), nd.subtract(1.0, y))
    return nd.add(nd.subtract(top, nd.sum(nd.multiply(y, p), 1, True)), 1.0), share


def _categorical_hinge(loss: KerasLoss, y: Array, p: Array) -> Array:
    return nd.maximum(_between_classes(y, p)[0], 0.0)


def _categorical_hinge_slope(loss: KerasLoss, y: Array, p: Array) -> Array:
    margin, share = _between_classes(y, p)
    return nd.multiply(nd.subtract(share, y), pick(nd.greater(margin, 0.0), margin, 1.0, 0.0))


_FORMULAS: Mapping[str, _Formula] = {
    "binary_crossentropy": _Formula(_binary, _binary_slope, True),
    "categorical_crossentropy": _Formula(_categorical, _categorical_slope),
    "categorical_hinge": _Formula(_categorical_hinge, _categorical_hinge_slope),
    "cosine_similarity": _Formula(_cosine, _cosine_slope),
    "hinge": _Formula(_hinge, _hinge_slope, True),
    "huber": _Formula(_huber, _huber_slope, True),
    "kl_divergence": _Formula(_divergence, _divergence_slope),
    "log_cosh": _Formula(_log_cosh, lambda loss, y, p: nd.tanh(nd.subtract(p, y)), True),
    "mean_absolute_percentage_error": _Formula(_of_percentages, _of_percentages_slope, True),
    "mean_squared_logarithmic_error": _Formula(_of_logarithms, _of_logarithms_slope, True),
    "poisson": _Formula(_poisson, _poisson_slope, True),
    "squared_hinge": _Formula(_squared_hinge, _squared_hinge_slope, True),
}
LOSS_NAMES = tuple(_FORMULAS)
"""Names of these losses."""


@register
@dataclass(frozen=True, kw_only=True)
class KerasLoss(Loss):
    """A loss of Keras.

    Parameters
    ----------
    name : str
        ``"binary_crossentropy"``, ``"categorical_crossentropy"``, ``"categorical_hinge"``, ``"cosine_similarity"``,
        ``"hinge"``, ``"huber"``, ``"kl_divergence"``, ``"log_cosh"``, ``"mean_absolute_percentage_error"``,
        ``"mean_squared_logarithmic_error"``, ``"poisson"`` or ``"squared_hinge"``.
    scale : float
        Factor of the score.
    from_logits : bool
        Of a cross entropy: whether outputs are those in front of softmax or sigmoid.
    label_smoothing : float
        Of a cross entropy: this share of a label goes to all classes alike.
    delta : float
        Of huber: where the parabola ends.

    Raises
    ------
    ChoiceError
        There is no loss of that name.

    Notes
    -----
    The score of an example is Keras' value times `scale`, averaged over outputs where Keras does so. Hinges take 0 for
    -1 in labels. Java cannot open files with it. Source: Keras 3, keras.losses.
    """

    pure = splits = True
    name: str = field(kw_only=False)
    scale: Positive = 1.0
    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    delta: Positive = 1.0

    @property
    def couples_outputs(self) -> bool:  # type: ignore[override]
        """Whether a term depends on other outputs than its own."""
        return not _FORMULAS[self.name].is_mean

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("KerasLoss", "loss", self.name, LOSS_NAMES)

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        formula = _FORMULAS[self.name]
        return nd.multiply(formula.terms(self, self._smoothed(y), p), self._share(p))

    def slope(self, y: Array, p: Array) -> Array:
        formula = _FORMULAS[self.name]
        return nd.multiply(formula.slope(self, self._smoothed(y), p), self._share(p))

    def _share(self, p: Array) -> float:
        return self.scale / p.shape[1] if _FORMULAS[self.name].is_mean else self.scale

    def _smoothed(self, y: Array) -> Array:
        if not self.label_smoothing:
            return y
        classes = 2 if self.name == "binary_crossentropy" else y.shape[1]
        return nd.add(nd.multiply(y, 1.0 - self.label_smoothing), self.label_smoothing / classes)


@register
@dataclass(frozen=True, kw_only=True)
class KerasSparseLoss(KerasLoss):
    """A loss of Keras between classes, for labels ``[N, 1]`` that hold the index of the class.

    Notes
    -----
    As `KerasLoss`, with the name ``"categorical_crossentropy"``. Source: Keras 3, sparse_categorical_crossentropy.
    """

    splits = True
    name: str = field(default="categorical_crossentropy", kw_only=False)
    other_labels = LossSparseMCXENT.other_labels

    def label_columns(self, outputs: int) -> int:
        return 1

    def read_labels(self, labels: Array, p: Array, mask: Array | None) -> Array:
        return LossSparseMCXENT().read_labels(labels, p, mask)
