"""Labels and predictions of any rank as pairs of rows, on the host, masked rows removed.

Decisions about rows are host work (see confusion.py), so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real

import numpy as np

from backends.errors import DataError, DTypeError, NumericError, ShapeError, check_mask, describe_shape
from nd.arguments import shown
from nd.serde import as_host

WHO = "Evaluation.eval"


# An activation may leave 0 to 1 by rounding.
PROBABILITY_SLACK = 1e-6


def paired_rows(
    labels: object, predictions: object, mask: object, axis: int, who: str = WHO
) -> tuple[np.ndarray, np.ndarray]:
    """Flatten a minibatch to one row per decision.

    Parameters
    ----------
    labels, predictions : array, shape [N, C], [N, C, T], [N, C, H, W] or [N, C, D, H, W]
    mask : array or None
        The same shape without the class axis, or with 1 there and perhaps 1 for all of another axis; [N, 1] for whole
        examples. Rows with 0 are left out.
    axis : int
        Axis of the classes; 1 in the shapes above.

    Returns
    -------
    tuple of numpy.ndarray
        Labels and predictions, shape [rows, C].
    """
    truth, guess = _same_shape(who, labels, predictions, axis)
    kept = _kept(who, truth.shape, mask, axis)
    truth, guess = _as_rows(truth, axis), _as_rows(guess, axis)
    if kept is not None:
        truth, guess = truth[kept], guess[kept]
    _check_finite(who, truth, guess)
    return truth, guess


class Gathered:
    """Keeps the rows that evaluations count, ``[rows, C]``, until a function is asked about them.

    Time steps, pixels and voxels are rows of their own; what the mask leaves out is none.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    def eval(self, labels: object, predictions: object, mask: object = None) -> None:
        """Keep the rows of one minibatch; parameters as of `IEvaluation.eval`."""
        self._rows.append(paired_rows(labels, predictions, mask, 1))

    def value(self, who: str, function: Callable[[np.ndarray, np.ndarray], float]) -> float:
        """Return ``function(labels, predictions)``.

        Raises
        ------
        DataError
            There are no rows.
        DTypeError
            It returns no number.
        """
        if not any(len(labels) for labels, _ in self._rows):
            raise DataError(f"{who}: the masks must leave labels to compare with, got none that count.")
        labels, predictions = (np.concatenate(arrays) for arrays in zip(*self._rows, strict=True))
        number = function(labels, predictions)
        if not isinstance(number, Real):
            raise DTypeError(f"{who} must return a number, got {shown(number)}. Return float(...).")
        return float(number)


def output_rows(
    who: str, labels: object, predictions: object, mask: object, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Flatten a minibatch of independent outputs, which may be masked one by one.

    Parameters
    ----------
    labels, predictions, mask, axis
        As in `paired_rows`; the mask may also have the full shape of the labels, 0 where there is no label.

    Returns
    -------
    truth, guess : numpy.ndarray, shape [rows, C]
    kept : numpy.ndarray of bool or None, shape [rows, C]
        True for those that count; None for all. The rest are 0.
    """
    host = None if mask is None else real_numbers(who, "mask", mask)
    truth, guess = _same_shape(who, labels, predictions, axis)
    if host is None or host.shape != truth.shape or truth.shape[axis] == 1:
        return (*paired_rows(truth, guess, host, axis, who), None)
    check_mask(who, host)
    kept = _as_rows(host, axis) != 0
    truth, guess = np.where(kept, _as_rows(truth, axis), 0), np.where(kept, _as_rows(guess, axis), 0)
    _check_finite(who, truth, guess)
    return truth, guess, kept


def as_binary(who: str, truth: np.ndarray) -> np.ndarray:
    """Return labels of 0 and 1 as booleans; raise DataError for other labels."""
    positive: np.ndarray = truth != 0
    if (truth[positive] != 1).any():
        raise DataError(
            f"{who}: labels must be 0 or 1, got values from {truth.min()} to {truth.max()}. "
            "Evaluate with the labels as they were before they were smoothed or scaled."
        )
    return positive


def as_probabilities(who: str, guess: np.ndarray) -> np.ndarray:
    """Return predictions from 0 to 1, of a float type; raise DataError for other numbers."""
    guess = guess if guess.dtype.kind == "f" else guess.astype(np.float64)
    if guess.size and not -PROBABILITY_SLACK <= guess.min() <= guess.max() <= 1 + PROBABILITY_SLACK:
        raise DataError(
            f"{who}: predictions must be probabilities from 0 to 1, got values from {guess.min()} to {guess.max()}. "
            "Give the output layer a softmax or sigmoid activation."
        )
    return guess.clip(0, 1)


def _same_shape(who: str, labels: object, predictions: object, axis: int) -> tuple[np.ndarray, np.ndarray]:
    truth, guess = real_numbers(who, "labels", labels), real_numbers(who, "predictions", predictions)
    if truth.shape != guess.shape:
        remedy = "Use one-hot labels, one column per output of the network."
        if truth.ndim == guess.ndim and truth.shape[1:] == guess.shape[1:]:
            remedy = (
                "Give a row of labels for every row of predictions. A network of series that ends with an OutputLayer "
                "predicts every time step: put LastTimeStep(...) around its recurrent layer, or end with an "
                "RnnOutputLayer."
            )
        elif truth.ndim == guess.ndim > 2 and truth.shape[axis] == guess.shape[axis]:
            remedy = "Give every place of every example its labels, one-hot or a class number."
        raise ShapeError(
            f"{who}: labels and predictions must have the same shape, got {describe_shape(truth.shape)} and "
            f"{describe_shape(guess.shape)}. {remedy}"
        )
    if not 2 <= truth.ndim <= 5 or not 1 <= axis < truth.ndim or truth.shape[axis] == 0:
        raise ShapeError(
            f"{who}: expected labels [N, C], [N, C, T], [N, C, H, W] or [N, C, D, H, W] with classes on axis {axis}, "
            f"got {describe_shape(truth.shape)}. Add the minibatch axis, or set axis."
        )
    return truth, guess


def decide(truth: np.ndarray, guess: np.ndarray, threshold: float | None, cost: np.ndarray | None) -> np.ndarray:
    """Return the actual and the predicted class of every row, shape [2, rows].

    Parameters
    ----------
    truth, guess : numpy.ndarray, shape [rows, C]
        C = 1 is a binary classifier with the probability of class 1.
    threshold : float or None
        Class 1 is predicted above it. Default for C = 1: 0.5.
    cost : numpy.ndarray or None, shape [C]
        The prediction is argmax(cost * guess).
    """
    columns = truth.shape[1]
    if columns == 1:
        if truth.size and not 0 <= truth.min() <= truth.max() <= 1:
            raise DataError(
                f"{WHO}: labels of one column must be 0 or 1, got values from {truth.min()} to {truth.max()}. "
                "Use one-hot labels for more than two classes."
            )
        actual = truth[:, 0] > 0.5 if truth.dtype.kind == "f" else truth[:, 0] != 0
        return np.stack([actual, guess[:, 0] > (0.5 if threshold is None else threshold)]).astype(np.int64)
    if threshold is not None and columns != 2:
        raise ShapeError(
            f"{WHO}: a binary decision threshold needs 1 or 2 columns, got {columns}. "
            "Leave binary_decision_threshold out."
        )
    if cost is not None and len(cost) != columns:
        raise ShapeError(f"{WHO}: the cost array must have {columns} values, got {len(cost)}. Give one cost per class.")
    if threshold is not None:
        predicted = (guess[:, 1] > threshold).astype(np.int64)
    else:
        predicted = (guess if cost is None else guess * cost).argmax(axis=1)
    return np.stack([truth.argmax(axis=1), predicted])


def top_n_hits(actual: np.ndarray, guess: np.ndarray, top_n: int) -> int:
    """Return the number of rows in which fewer than `top_n` classes got more than the actual one.

    Parameters
    ----------
    actual : numpy.ndarray, shape [rows]
    guess : numpy.ndarray, shape [rows, C]
    """
    own = np.take_along_axis(guess, actual[:, None], axis=1)
    return int(((guess > own).sum(axis=1) < top_n).sum())


def checked_cost(cost_array: object) -> np.ndarray:
    """Return a cost array as float32, shape [1, C] or [C], if it is a row vector of costs that are not negative."""
    cost = real_row("Evaluation", "the cost array", cost_array).astype(np.float32)
    if not (cost >= 0).all():
        raise DataError(f"Evaluation: costs must not be negative, got {cost.min()}. Use weights of 0 or more.")
    return cost


def real_row(who: str, name: str, array: object) -> np.ndarray:
    """Return numbers [n] or [1, n] on the host; raise ShapeError or DTypeError for other values."""
    row = real_numbers(who, name, array)
    if row.ndim not in (1, 2) or row.size == 0 or row.size != row.shape[-1]:
        raise ShapeError(f"{who}: {name} must be [n] or [1, n], got {describe_shape(row.shape)}. Reshape it.")
    return row


def real_numbers(who: str, name: str, array: object) -> np.ndarray:
    """Return an array on the host.

    Raises
    ------
    ShapeError
        It is a list whose rows have different lengths.
    DTypeError
        The elements are not real numbers.
    """
    try:
        host = as_host(array)
    except ValueError as error:
        raise ShapeError(f"{who}: {name} must have rows of equal length ({error}). Complete the rows.") from error
    if host.dtype.kind not in "biuf":
        raise DTypeError(f"{who}: {name} must be real numbers, got {host.dtype}. Convert them to float32.")
    return host


def _as_rows(array: np.ndarray, axis: int) -> np.ndarray:
    return np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis])


def _kept(who: str, shape: tuple[int, ...], mask: object, axis: int) -> np.ndarray | None:
    if mask is None:
        return None
    host = real_numbers(who, "mask", mask)
    check_mask(who, host)
    per_row = shape[:axis] + shape[axis + 1 :]
    full_shape = (*shape[:axis], 1, *shape[axis + 1 :])
    if len(shape) > 2 and host.shape == (shape[0], 1):
        host = host.reshape(shape[0], *(1 for _ in shape[1:]))
    if (
        host.ndim == len(full_shape)
        and host.shape[0] == shape[0]
        and all(axis_length in (1, size) for axis_length, size in zip(host.shape, full_shape, strict=True))
    ):
        host = np.broadcast_to(host, full_shape)
    if host.shape not in (per_row, full_shape):
        raise ShapeError(
            f"{who}: expected a mask of shape {describe_shape(per_row)} for labels {describe_shape(shape)}, "
            f"got {describe_shape(host.shape)}. Classifiers are masked per example or time step, not per output."
        )
    kept = host.reshape(math.prod(per_row)) != 0
    return None if kept.all() else kept


def _check_finite(who: str, truth: np.ndarray, guess: np.ndarray) -> None:
    # argmax would take the first NaN for the winner.
    if guess.dtype.kind == "f" and np.isnan(guess).any():
        raise NumericError(
            f"{who}: predictions must not be NaN, got {int(np.isnan(guess).sum())} NaN in {len(guess)} rows. "
            "The network diverged: lower the learning rate or clip the gradients."
        )
    if truth.dtype.kind == "f" and np.isnan(truth).any():
        raise DataError(f"{who}: labels must not be NaN, got {int(np.isnan(truth).sum())} NaN. Clean the data set.")
