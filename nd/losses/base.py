"""What losses share: checks, weights, masks, and the way back through the activation."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

from backends.base import Backend
from backends.errors import ShapeError, check_rank, describe_shape
from nd.activations import Activation
from nd.state import state

Array = Any

FLOOR = {"float32": 1e-32, "float64": 1e-300}  # smaller probabilities count as this one in logarithms and quotients


def cast(x: Array, like: Array) -> Array:
    """Return `x` in the dtype of `like`, as Java casts labels and masks to that of the output."""
    if x.dtype == like.dtype:
        return x
    here = state.backend
    return here.astype(x, here.dtype_name(like))


def safe_log(p: Array) -> Array:
    """Return ln p, finite at 0 so that 0 ln 0 = 0, and NaN, without a warning, where p is negative."""
    here = state.backend
    t = here.maximum(p, FLOOR[here.dtype_name(p)])
    return here.where(p < 0.0, float("nan"), here.log(t, t))


def nonzero(p: Array) -> Array:
    """Return p as a divisor: its sign stays, zero becomes a very small number."""
    here = state.backend
    floor = FLOOR[here.dtype_name(p)]
    return here.where(here.absolute(p) < floor, floor, p)


@functools.lru_cache(maxsize=256)
def _row(here: Backend, dtype: str, weights: tuple[float, ...]) -> Array:
    """Return weights ``[n_out]`` on a backend, made once so that training copies nothing to the device."""
    return here.asarray(list(weights), dtype)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A measure of the distance between labels y and the output p = activation(z), all ``[N, n_out]``.

    A mask ``[N, 1]`` multiplies rows, one ``[N, n_out]`` multiplies elements, of the scores and of the gradient.
    Nothing here divides by N.
    """

    couples_examples: ClassVar[bool] = False
    """Whether the score of a minibatch is more than the sum of its examples' scores."""

    def score(self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None) -> Array:
        """Return the sum of the scores of all examples, as a scalar array.

        Parameters
        ----------
        labels : array ``[N, n_out]``
        z : array ``[N, n_out]``
            The input of the activation.
        p : array ``[N, n_out]``
            activation.value(z).
        activation : Activation
        mask : array ``[N, 1]`` or ``[N, n_out]``, optional

        Raises
        ------
        ShapeError
            Labels, mask or weights do not fit the output.
        """
        return state.backend.sum(self._scores(labels, p, activation, mask))

    def score_array(
        self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None
    ) -> Array:
        """Return the score of each example, ``[N]``. Parameters and errors as for `score`."""
        return state.backend.sum(self._scores(labels, p, activation, mask), 1)

    def compute_score(
        self, labels: Array, z: Array, activation: Activation, mask: Array | None = None, average: bool = True
    ) -> float:
        """Return the score as a Python number, divided by N with `average`."""
        total = state.backend.item(self.score(labels, z, activation.value(z), activation, mask))
        return total / z.shape[0] if average else total

    def gradient(
        self,
        labels: Array,
        z: Array,
        p: Array,
        activation: Activation,
        mask: Array | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return dL/dz ``[N, n_out]`` of the sum of all scores, in `out` when given.

        Parameters and errors as for `score`; `out` shares memory with no input. As in Java, a mask ``[N, n_out]``
        multiplies dL/dp and once more dL/dz.
        """
        y = self._expected(labels, p, mask)
        return self._mask(self._delta(y, z, p, activation, mask, out), mask)

    def _delta(
        self, y: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """Return dL/dz before rows are masked; a mask ``[N, n_out]`` has to be in dL/dp already."""
        slope = self._weigh(self._slope(y, p))
        return self._through(slope, z, p, activation, mask, out)

    def _through(
        self, slope: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """Mask dL/dp per output and take it back through the activation."""
        if mask is not None and mask.shape[1] > 1:
            slope = state.backend.multiply(slope, cast(mask, p), slope)
        return activation.backprop(z, p, slope, slope if out is None else out)

    def _scores(self, labels: Array, p: Array, activation: Activation, mask: Array | None) -> Array:
        y = self._expected(labels, p, mask)
        return self._mask(self._weigh(self._terms(y, p, activation)), mask)

    def _expected(self, labels: Array, p: Array, mask: Array | None) -> Array:
        """Check labels and mask and return y."""
        self._check_labels(labels, p, p.shape[-1])
        self._check_mask(mask, p)
        return cast(labels, p)

    def _check_labels(self, labels: Array, p: Array, columns: int) -> None:
        who = f"loss {type(self).__name__}"
        check_rank(f"{who}: output", p.shape, 2, "Reshape it to one row for each example or time step.")
        if tuple(labels.shape) != (p.shape[0], columns):
            rows = p.shape[0] if labels.shape[-1] == columns else "N"
            raise ShapeError(
                f"{who}: labels must be {describe_shape((rows, columns))}, got {describe_shape(labels.shape)}. "
                f"The output is {describe_shape(p.shape)}; make the labels fit it."
            )

    def _check_mask(self, mask: Array | None, p: Array, per_output: bool = True) -> None:
        rows, columns = p.shape
        if mask is None or tuple(mask.shape) in ((rows, 1), (rows, columns if per_output else 1)):
            return
        allowed = f" or {describe_shape(p.shape)}" if per_output else ""
        raise ShapeError(
            f"loss {type(self).__name__}: mask must be {describe_shape((rows, 1))}{allowed}, "
            f"got {describe_shape(mask.shape)}. Reshape it."
        )

    def _mask(self, t: Array, mask: Array | None) -> Array:
        return t if mask is None else state.backend.multiply(t, cast(mask, t), t)

    def _weigh(self, t: Array) -> Array:
        """Multiply every column of t, in place, by its weight."""
        return t

    def _terms(self, y: Array, p: Array, activation: Activation) -> Array:
        """Return the unweighted scores, a new array."""
        raise NotImplementedError

    def _slope(self, y: Array, p: Array) -> Array:
        """Return the derivative of the unweighted scores with respect to p, a new array."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class WeightedLoss(Loss):
    """A loss with a weight for each output.

    Parameters
    ----------
    weights : n_out numbers, optional
        The score of output j is multiplied by weights[j].
    """

    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))

    def _weigh(self, t: Array) -> Array:
        if self.weights is None:
            return t
        here = state.backend
        if len(self.weights) != t.shape[1]:
            raise ShapeError(
                f"loss {type(self).__name__}: expected {t.shape[1]} weights, got {len(self.weights)}. "
                "Give one weight for each output of the layer."
            )
        return here.multiply(t, _row(here, here.dtype_name(t), self.weights), t)
