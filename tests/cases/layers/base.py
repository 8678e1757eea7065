"""What a row is, and the data that every row is fed with."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nn import InputType, OutputLayer

N = 3  # examples in a minibatch
ROWS = InputType.feed_forward(5)
IMAGES = InputType.convolutional(6, 6, 2)
ODD_IMAGES = InputType.convolutional(7, 5, 3)
TAIL = (OutputLayer(n_out=3, loss="mcxent", activation="softmax"),)


class LayerCase(NamedTuple):
    """A layer, what comes in, and its inference written another way: ``oracle(x, params) -> activations``.

    What else the checks have to know of a layer its row says; most layers are as the defaults have it.
    """

    variant: str
    layer: Any
    input_type: InputType
    oracle: Callable[..., np.ndarray]
    tail: tuple[Any, ...] = TAIL
    labels: str = "classes"
    draws: bool = False  # training draws random numbers
    couples: bool = False  # training looks at the whole minibatch
    vocabulary: int = 0  # features are whole numbers below, and have no epsilon
    silences: bool = False  # activations of examples that the mask takes out are zeros, as behind `activate_sum`
    ends_masks: bool = False  # no mask goes on
    looks_back: bool = False  # keeps numbers of other minibatches
    mixes_places: bool = False  # places of a series or an image meet, though it has no window


def every(rows, **said):
    """Return rows that all say so."""
    return [row._replace(**said) for row in rows]


def make_features(case, seed=0, n=N):
    """Return float64 features ``[n, ...]`` for a row."""
    rng, shape = np.random.default_rng([seed, 1]), (n, *case.input_type.shape)
    if case.vocabulary:
        return rng.integers(0, case.vocabulary, shape).astype(np.float64)
    return rng.normal(0.0, 0.8, shape)


def make_labels(case, shape, seed=0, n=N):
    """Return float64 labels of the row's kind ``[n, n_out, ...]``; `shape` is (n_out, ...) of one example."""
    if case.labels == "boxes":
        return make_boxes(shape, len(case.layer.bounding_boxes), seed, n)
    n_out, *places = shape
    rows, rng = n * math.prod(places), np.random.default_rng([seed, 2])
    kinds = {
        "bits": lambda: rng.integers(0, 2, (rows, n_out)),
        "classes": lambda: np.eye(n_out)[rng.integers(0, n_out, rows)],
        "indices": lambda: rng.integers(0, n_out, (rows, 1)),
        "positives": lambda: rng.uniform(0.2, 2.0, (rows, n_out)),
        "probabilities": lambda: rng.dirichlet([2.0] * n_out, rows),
        "reals": lambda: rng.normal(0.0, 1.0, (rows, n_out)),
        "signs": lambda: 2.0 * rng.integers(0, 2, (rows, n_out)) - 1.0,
    }
    labels = np.asarray(kinds[case.labels](), np.float64)
    return np.ascontiguousarray(np.moveaxis(labels.reshape(n, *places, -1), -1, 1))


def make_boxes(shape, boxes, seed, n):
    """Return labels ``[n, 4 + C, H, W]`` of objects in most cells, for so many boxes of a network's output."""
    channels, height, width = shape
    labels, rng = np.zeros((n, channels // boxes - 1, height, width)), np.random.default_rng([seed, 2])
    for example, row, column in np.ndindex(n, height, width):
        center, half = np.add(rng.uniform(0.1, 0.9, 2), (column, row)), rng.uniform(0.2, 1.0, 2)
        if rng.uniform() < 0.6:
            labels[example, :4, row, column] = *(center - half), *(center + half)
            labels[example, 4 + rng.integers(0, channels // boxes - 5), row, column] = 1.0
    return labels
