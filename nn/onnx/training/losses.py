"""Losses as operators: the score of every output, and its derivative, as `nd.losses` have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nd.activations import Activation, Softmax
from nd.losses import Loss

from ..out.node_draft import NotInOnnx
from .tensors import Tensor

FLOOR = {"float32": 1e-32, "float64": 1e-300}
"""Smaller probabilities count as this in logarithms and quotients."""
NORM_FLOOR = 1e-5


class Compared(NamedTuple):
    """Labels and output of one output of a network.

    Attributes
    ----------
    y, p : Tensor
        ``[N, n_out, ...]``, or with the outputs along another axis.
    n_out : int
    rank, axis : int
        Number of axes, and that of the outputs.
    activation : Activation
        What p came out of.
    z : Tensor
        What the activation was computed from.
    """

    y: Tensor
    p: Tensor
    n_out: int
    rank: int
    axis: int
    activation: Activation
    z: Tensor

    def along(self, t: Tensor) -> Tensor:
        """Return the sum over the outputs."""
        return t.sum([self.axis], keepdims=True)


class LossForm(NamedTuple):
    """A loss: the score of every output, and its derivative with respect to p, or to z where that is shorter."""

    terms: Callable[[Any, Compared], Tensor]
    slope: Callable[[Any, Compared], Tensor]
    with_softmax: Callable[[Any, Compared], Tensor] | None = None
    """dL/dz of a softmax, weights included, in the place of the way through its derivative."""


def scored(loss: Loss, given: Compared) -> Tensor:
    """Return the sum of a loss over all examples and places, a scalar."""
    return _weighed(loss, _form_of(loss).terms(loss, given), given).sum()


def seeded(loss: Loss, given: Compared) -> tuple[str, Tensor]:
    """Return a tensor, the output or what it came out of, and the gradient of the summed loss with respect to it."""
    form = _form_of(loss)
    if form.with_softmax is not None and isinstance(given.activation, Softmax):
        return given.z.name, form.with_softmax(loss, given)
    return given.p.name, _weighed(loss, form.slope(loss, given), given)


def _form_of(loss: Loss) -> LossForm:
    kind = type(loss)
    if kind.__name__ not in LOSSES or kind.__module__.partition(".")[0] != "nd":
        raise NotInOnnx(f"the loss {kind.__name__} has no form as operators here")
    return LOSSES[kind.__name__]


def _weighed(loss: Any, t: Tensor, given: Compared) -> Tensor:
    weights = getattr(loss, "weights", None)
    if weights is None:
        return t
    shape = tuple(given.n_out if axis == given.axis else 1 for axis in range(given.rank))
    return t * Tensor(t.draft, t.draft.numbers(weights, *shape), t.dtype)


def _nonzero(p: Tensor) -> Tensor:
    floor = FLOOR[p.dtype]
    return p.abs().op("Less", floor, dtype="bool").op("Where", p.like(floor), p, dtype=p.dtype)


def _log(p: Tensor) -> Tensor:
    return p.op("Max", FLOOR[p.dtype]).log()


def _entropy(loss: Any, given: Compared) -> Tensor:
    if not isinstance(given.activation, Softmax):
        return -(given.y * _log(given.p))
    low = max(loss.softmax_clip_eps, FLOOR[given.p.dtype])
    return -(given.y * given.p.clip(low, 1.0 - loss.softmax_clip_eps).log())


def _entropy_of_softmax(loss: Any, given: Compared) -> Tensor:
    if loss.weights is None:
        return given.p - given.y
    wy = _weighed(loss, given.y, given)
    return given.p * given.along(wy) - wy


def _binary(loss: Any, given: Compared) -> Tensor:
    if isinstance(given.activation, Softmax):
        return -(given.y * _log(given.p))
    q = given.p.clip(loss.clip_eps, 1.0 - loss.clip_eps)
    return -(given.y * q.log() + (1.0 - given.y) * (1.0 - q).log())


def _binary_slope(loss: Any, given: Compared) -> Tensor:
    q = given.p.clip(loss.clip_eps, 1.0 - loss.clip_eps)
    return (q - given.y) / (q * (1.0 - q))


def _binary_of_softmax(loss: Any, given: Compared) -> Tensor:
    """Weigh behind the softmax, as `nd.losses` do."""
    slope = _binary_slope(loss, given)
    return _weighed(loss, (slope - given.along(slope * given.p)) * given.p, given)


def _distance(scale: Callable[[int], float]) -> LossForm:
    return LossForm(
        lambda loss, given: (given.p - given.y).abs() * scale(given.n_out),
        lambda loss, given: (given.p - given.y).sign() * scale(given.n_out),
    )


def _squares(scale: Callable[[int], float]) -> LossForm:
    return LossForm(
        lambda loss, given: (given.p - given.y).square() * scale(given.n_out),
        lambda loss, given: (given.p - given.y) * (2.0 * scale(given.n_out)),
    )


def _cosine(loss: Any, given: Compared) -> Tensor:
    y_norm, p_norm = (given.along(x.square()).sqrt().op("Max", NORM_FLOOR) for x in (given.y, given.p))
    return -(given.y * given.p) / (y_norm * p_norm)


def _cosine_slope(loss: Any, given: Compared) -> Tensor:
    y, p = given.y, given.p
    square = given.along(p.square())
    y_norm, p_norm = (given.along(x.square()).sqrt().op("Max", NORM_FLOOR) for x in (y, p))
    return (p * given.along(y * p) - y * square) / (y_norm * p_norm * square.op("Max", NORM_FLOOR))


def _divergence(loss: Any, given: Compared) -> Tensor:
    y = given.y.clip(1e-5, 1.0)
    return y * (y / given.p.clip(1e-5, 1.0)).log()


def _log_ratio(given: Compared) -> Tensor:
    return (given.p + 1.0).log() - (given.y + 1.0).log()


_LIKELIHOOD = LossForm(_entropy, lambda loss, given: -given.y / _nonzero(given.p), _entropy_of_softmax)

LOSSES: Mapping[str, LossForm] = {
    "LossBinaryXENT": LossForm(_binary, _binary_slope, _binary_of_softmax),
    "LossCosineProximity": LossForm(_cosine, _cosine_slope),
    "LossHinge": LossForm(
        lambda loss, given: (1.0 - given.y * given.p).op("Max", 0.0),
        lambda loss, given: (given.y * given.p).holds("Less", 1.0) * -given.y,
    ),
    "LossKLD": LossForm(_divergence, lambda loss, given: -given.y / _nonzero(given.p)),
    "LossL1": _distance(lambda n_out: 1.0),
    "LossL2": _squares(lambda n_out: 1.0),
    "LossMAE": _distance(lambda n_out: 1.0 / n_out),
    "LossMAPE": LossForm(
        lambda loss, given: ((given.y - given.p) / given.y).abs() * (100.0 / given.n_out),
        lambda loss, given: (given.p - given.y).sign() / given.y.abs() * (100.0 / given.n_out),
    ),
    "LossMCXENT": _LIKELIHOOD,
    "LossMSE": _squares(lambda n_out: 1.0 / n_out),
    "LossMSLE": LossForm(
        lambda loss, given: _log_ratio(given).square() * (1.0 / given.n_out),
        lambda loss, given: _log_ratio(given) * (2.0 / given.n_out) / (given.p + 1.0),
    ),
    "LossNegativeLogLikelihood": _LIKELIHOOD,
    "LossPoisson": LossForm(
        lambda loss, given: given.p - given.y * _log(given.p),
        lambda loss, given: 1.0 - given.y / _nonzero(given.p),
    ),
    "LossSquaredHinge": LossForm(
        lambda loss, given: (1.0 - given.y * given.p).op("Max", 0.0).square(),
        lambda loss, given: (1.0 - given.y * given.p).op("Max", 0.0) * (-2.0 * given.y),
    ),
    "LossWasserstein": LossForm(
        lambda loss, given: given.y * given.p * (1.0 / given.n_out),
        lambda loss, given: given.y * (1.0 / given.n_out),
    ),
}
"""Class -> its form, sorted."""
