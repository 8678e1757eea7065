"""Weights of examples as masks of labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.dataset.checks import aligned, as_array
from nd.serde import as_host


def weights_of_classes(labels: object, weights: Sequence[float]) -> np.ndarray:
    """Return the weight ``[N, 1, ...]`` of every label's class; of labels in one column there are two classes.

    Labels ``[N, C, ...]`` are one-hot, or one column of 0 and 1. The largest number of an example decides its class.
    """
    host = as_host(labels)
    classes = (host > 0.5).astype(np.int64) if host.shape[1] == 1 else host.argmax(1)[:, None]
    return np.asarray(weights, np.float32)[classes]


def balanced_weights(who: str, labels: object, mask: object, count: int) -> list[float]:
    """Return for each of `count` classes n / (classes that occur * examples of the class), n of all of them.

    Labels are as of `weights_of_classes`; time steps and pixels count one by one, where the mask is not 0. 1 for a
    class that does not occur; DataError where no label counts. Source: scikit-learn's
    ``compute_class_weight("balanced", ...)``.
    """
    host = as_host(labels)
    classes = (host[:, 0] > 0.5).astype(np.int64) if host.shape[1] == 1 else host.argmax(1)
    if mask is not None:
        counted = (aligned(who, as_host(mask), host.shape) != 0).any(1)  # of outputs, where any of its does
        classes = classes[np.broadcast_to(counted, classes.shape)]
    counts = np.bincount(classes.reshape(-1), minlength=count)
    if not counts.any():
        raise DataError(f"{who}: the masks must leave labels to be counted, got none that count.")
    present = int((counts > 0).sum())
    return [float(counts.sum() / (present * number)) if number else 1.0 for number in counts]


def weights_of_examples(who: str, weights: object, shape: Sequence[int]) -> np.ndarray:
    """Return ``[N, 1, ...]`` from weights ``[N]``, or with one for every place of ``labels [N, C, ...]``.

    ShapeError, DTypeError where they do not fit the labels, DataError where one is negative or not finite.
    """
    host = as_host(as_array(who, weights))
    n, places = shape[0], tuple(shape[2:])
    if host.shape not in ((n,), (n, 1), (n, *places)):
        allowed = describe_shape((n,)) + (f" or {describe_shape((n, *places))}" if places else "")
        raise ShapeError(
            f"{who}: expected {allowed}, as there are labels {describe_shape(shape)}, got {describe_shape(host.shape)}."
        )
    if not (np.isfinite(host) & (host >= 0)).all():
        raise DataError(f"{who}: weights must be finite and >= 0, got {host.min()} to {host.max()}.")
    return aligned(who, host, shape).astype(np.float32, copy=False)


def weighted_mask(who: str, weights: np.ndarray, mask: object, shape: Sequence[int]) -> np.ndarray:
    """Multiply weights ``[N, 1, ...]`` into a mask of ``labels [N, C, ...]``; without one they are the mask.

    The result is ``[N, 1]``, of series ``[N, T]``, of images ``[N, 1, H, W]``. ShapeError where the mask has a number
    for every one of several outputs: that would weigh their gradient twice, as Java's does.
    """
    n, places = shape[0], tuple(shape[2:])
    if mask is not None:
        host = as_host(mask)
        if host.ndim == len(shape) and host.shape[1] > 1 and (places or len(shape) == 2):
            raise ShapeError(
                f"{who}: weights of examples need a mask with one number for an example or place, got "
                f"{describe_shape(host.shape)}. Multiply the weights into that mask yourself."
            )
        weights = weights * aligned(who, host, shape)
    if len(shape) == 3:  # series
        weights = np.broadcast_to(weights, (n, 1, *places)).reshape(n, *places)
    return weights.astype(np.float32)
