"""Shared by losses, users' own too: formulas, checks, weights, masks, and the way back through the activation."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from types import ModuleType
from typing import ClassVar

from backends.base import Backend
from backends.errors import DTypeError, ShapeError, check_rank, describe_shape
from nd.activations import Activation
from nd.activations.base import back_through
from nd.arguments import Checked, checked, refusal, shown
from nd.explaining import explained_method
from nd.part import Part, into, refuse_returned, undefined
from nd.state import state
from nd.typing import Array

_FLOOR = {"float32": 1e-32, "float64": 1e-300}


def cast(x: Array, like: Array) -> Array:
    """Return `x` in the dtype of `like`, as Java casts labels and masks to that of the output."""
    if x.dtype == like.dtype:
        return x
    backend = state.backend
    return backend.astype(x, backend.dtype_name(like))


def floor_of(p: Array) -> float:
    """Return the number that smaller probabilities count as in logarithms and quotients."""
    return _FLOOR[state.backend.dtype_name(p)]


def safe_log(p: Array) -> Array:
    """Return ln p, finite at 0 so that 0 ln 0 = 0, and NaN, without a warning, where p is negative."""
    backend = state.backend
    t = backend.maximum(p, floor_of(p))
    return backend.where(p < 0.0, float("nan"), backend.log(t, t))


def nonzero(p: Array) -> Array:
    """Return p as a divisor: its sign stays, zero becomes a very small number."""
    backend = state.backend
    floor = floor_of(p)
    return backend.where(backend.absolute(p) < floor, floor, p)


def masks_outputs(mask: Array | None) -> bool:
    """Tell whether a mask has a number for every one of several outputs."""
    return mask is not None and mask.shape[1] > 1


def clip(p: Array, low: float, high: float) -> Array:
    """Return p held in low .. high, a new array."""
    backend = state.backend
    t = backend.maximum(p, low)
    return backend.minimum(t, high, t)


def _own_memory(result: Array, *arguments: Array) -> Array:
    """Return the result of a loss, copied where it is the labels or the output: masks are multiplied in."""
    return state.backend.multiply(result, 1.0) if any(result is array for array in arguments) else result


@functools.lru_cache(maxsize=256)
def _weight_array(backend: Backend, dtype: str, weights: tuple[float, ...]) -> Array:
    """Return weights ``[n_out]`` on a backend, cached so that training copies nothing to the device."""
    return backend.asarray(list(weights), dtype)


@dataclass(frozen=True, kw_only=True)
class Loss(Part, Checked):
    """A measure of the distance between labels y and the output p = activation(z), all ``[N, n_out]``.

    A loss is a subclass with `terms` and `slope`, the library's as one of your own; its declarations, see `Part`, let
    steps be recorded, and split where the score of a minibatch is the sum of its examples' scores. None divides by N.

    Notes
    -----
    The score is ``Σ mask * terms``, a mask ``[N, 1]`` over rows, one ``[N, n_out]`` over elements, and the gradient is
    its derivative. Source: ILossFunction. Differs: a mask ``[N, n_out]``, and any mask of a single output, multiplies
    Java's gradient twice, in front of the activation and behind it. For masks of 0 and 1 and activations of single
    elements that is the derivative too; with softmax, and for other numbers, it is not.

    Examples
    --------
    >>> import nd
    >>> from nd.activations import Identity
    >>> class Quartic(Loss):
    ...     def terms(self, y, p, activation):
    ...         return (p - y) ** 4
    ...
    ...     def slope(self, y, p):
    ...         return 4.0 * (p - y) ** 3
    >>> y, z = nd.create([[0.0, 1.0]]), nd.create([[2.0, 0.0]])
    >>> Quartic().compute_score(y, z, Identity())
    17.0
    """

    needs_z: ClassVar[bool] = False
    """Whether scores or gradients look at z itself: then the activation is not written over it."""
    couples_outputs: ClassVar[bool] = False
    """Whether a term depends on other outputs than its own; masks ``[N, n_out]`` are refused then."""
    other_labels: ClassVar[str] = ""
    """What `check_labels` says beside, of labels that are of another kind than the outputs."""
    limits_outputs: ClassVar[bool] = False
    """Whether `check_outputs` refuses some numbers of outputs, whatever the settings are."""

    @explained_method
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
        DTypeError, ArgumentError
            An argument is no array, or no activation.
        """
        return state.backend.sum(self._scores(labels, z, p, activation, mask))

    @explained_method
    def score_array(
        self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None
    ) -> Array:
        """Return the score of every example, ``[N]``. Parameters and errors as for `score`."""
        return state.backend.sum(self._scores(labels, z, p, activation, mask), 1)

    @explained_method
    @checked
    def compute_score(
        self, labels: Array, z: Array, activation: Activation, mask: Array | None = None, average: bool = True
    ) -> float:
        """Return the score as a Python number, divided by N with `average`."""
        total = state.backend.item(self.score(labels, z, activation.value(z), activation, mask))
        return total / z.shape[0] if average else total

    @explained_method
    def compute_score_array(self, labels: Array, z: Array, activation: Activation, mask: Array | None = None) -> Array:
        """Return the score of every example, ``[N]``, from the input of the activation."""
        return self.score_array(labels, z, activation.value(z), activation, mask)

    @explained_method
    def compute_gradient(self, labels: Array, z: Array, activation: Activation, mask: Array | None = None) -> Array:
        """Return dL/dz ``[N, n_out]`` of the sum of all scores, from the input of the activation."""
        return self.gradient(labels, z, activation.value(z), activation, mask)

    @explained_method
    @checked
    def compute_gradient_and_score(
        self, labels: Array, z: Array, activation: Activation, mask: Array | None = None, average: bool = True
    ) -> tuple[float, Array]:
        """Return `compute_score` and `compute_gradient`."""
        return self.compute_score(labels, z, activation, mask, average), self.compute_gradient(
            labels, z, activation, mask
        )

    @explained_method
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

        Parameters and errors as for `score`; `out` shares memory with no input.
        """
        self.check_source(z, activation)
        y = self.read_labels(labels, p, mask)
        delta = self.unmasked_gradient(y, z, p, activation, mask, out)
        return delta if masks_outputs(mask) else self._mask(delta, mask)

    def unmasked_gradient(
        self, y: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """Return dL/dz before rows are masked; a mask ``[N, n_out]`` has to be in dL/dp already.

        A loss overrides it where its way back through an activation is shorter, as cross entropy's through softmax.
        """
        slope = self.slope(y, p)
        if not state.backend.fits(slope, p):
            refuse_returned(f"loss {type(self).__name__}: slope(y, p)", slope, p)
        return self.through(self.weigh(_own_memory(slope, y, p)), z, p, activation, mask, out)

    def through(
        self, slope: Array, z: Array, p: Array, activation: Activation, mask: Array | None, out: Array | None
    ) -> Array:
        """Mask dL/dp per output and take it back through the activation."""
        if masks_outputs(mask):
            slope = self._mask(slope, mask)
        target = slope if out is None else out
        delta = back_through(activation, z, p, slope, target)
        return delta if delta is target else into(activation, "backprop(z, a, epsilon, out)", delta, target)

    def _scores(self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None) -> Array:
        self.check_source(z, activation)
        y = self.read_labels(labels, p, mask)
        terms = self.terms(y, p, activation)
        if not state.backend.fits(terms, p):
            self._check_terms(terms, p)
        return self._mask(self.weigh(_own_memory(terms, y, p)), mask)

    def _check_terms(self, terms: Array, p: Array) -> None:
        """Raise errors unless they are a score for every example."""
        if not state.backend.fits(terms, p[:, :1]):
            shape = f"{describe_shape(p.shape)} or {describe_shape((p.shape[0], 1))}"
            refuse_returned(f"loss {type(self).__name__}: terms(y, p, activation)", terms, p, shape)

    def read_labels(self, labels: Array, p: Array, mask: Array | None) -> Array:
        """Check labels and mask and return y; a loss whose labels are of another kind overrides it, and their width."""
        self.check_labels(labels, p, p.shape[-1])
        self.check_mask(mask, p)
        return cast(labels, p)

    def check_source(self, z: Array, activation: Activation) -> None:
        """Raise errors unless z and the activation can be the source of the output; most scores look at neither."""
        if not hasattr(z, "dtype") or isinstance(z, ModuleType):  # as `is_array_like`: every step comes by
            raise DTypeError(f"loss {type(self).__name__}: z must be an array, got {shown(z)}. Make it with nd.create.")
        if not isinstance(activation, Activation):
            raise refusal(f"loss {type(self).__name__}", "activation", "an Activation", activation)

    def check_labels(self, labels: Array, p: Array, columns: int) -> None:
        """Raise ShapeError or DTypeError unless there are labels of so many columns for the outputs p."""
        who = f"loss {type(self).__name__}"
        if len(p.shape) != 2:
            check_rank(f"{who}: output", p.shape, 2, "Reshape it to one row for each example or time step.")
        if tuple(labels.shape) != (p.shape[0], columns):
            rows = p.shape[0] if labels.shape[-1] == columns else "N"
            raise ShapeError(
                f"{who}: labels must be {describe_shape((rows, columns))}, got {describe_shape(labels.shape)}. "
                f"The output is {describe_shape(p.shape)}; make the labels fit it{self.other_labels}."
            )

    def check_mask(self, mask: Array | None, p: Array) -> None:
        """Raise ShapeError unless the mask is one of examples, or of outputs where each counts alone."""
        rows, columns = p.shape
        if mask is None or tuple(mask.shape) in ((rows, 1), (rows, 1 if self.couples_outputs else columns)):
            return
        allowed = "" if self.couples_outputs else f" or {describe_shape(p.shape)}"
        remedy = "Its outputs count together: mask whole examples." if self.couples_outputs else "Reshape it."
        raise ShapeError(
            f"loss {type(self).__name__}: mask must be {describe_shape((rows, 1))}{allowed}, "
            f"got {describe_shape(mask.shape)}. {remedy}"
        )

    def _mask(self, t: Array, mask: Array | None) -> Array:
        return t if mask is None else state.backend.multiply(t, cast(mask, t), t)

    def weigh(self, t: Array) -> Array:
        """Multiply every column of t, in place, by its weight."""
        return t

    def check_outputs(self, who: str, outputs: int) -> None:
        """Raise ShapeError, in the name of `who`, unless the loss is defined for so many outputs."""

    def label_columns(self, outputs: int) -> int:
        """Return the number of columns of labels for so many outputs."""
        return outputs

    def terms(self, y: Array, p: Array, activation: Activation) -> Array:
        """Return the score of every output, a new array ``[N, n_out]``, or of every example, ``[N, 1]``.

        Parameters
        ----------
        y, p : array ``[N, n_out]``
            Labels, in the dtype of the output, and the output.
        activation : Activation
            The activation that p came out of.
        """
        undefined(self, "terms(y, p, activation)", "the score of every output")

    def slope(self, y: Array, p: Array) -> Array:
        """Return the derivative of the sum of `terms` with respect to p, a new array ``[N, n_out]``."""
        undefined(self, "slope(y, p)", "the derivative of the sum of terms with respect to p")


@dataclass(frozen=True, kw_only=True)
class WeightedLoss(Loss):
    """A loss with a weight for every output.

    Parameters
    ----------
    weights : n_out numbers, optional
        The score of output j is multiplied by weights[j].
    """

    weights: tuple[float, ...] | None = field(default=None, kw_only=False)

    def check_outputs(self, who: str, outputs: int) -> None:
        if self.weights is not None and len(self.weights) != outputs:
            raise ShapeError(
                f"{who}: expected {outputs} weights, got {len(self.weights)}. Give one weight for each output of the "
                "layer."
            )

    def weigh(self, t: Array) -> Array:
        if self.weights is None:
            return t
        backend = state.backend
        self.check_outputs(f"loss {type(self).__name__}", t.shape[1])
        return backend.multiply(t, _weight_array(backend, backend.dtype_name(t), self.weights), t)
