"""One row or more for each loss: an oracle of its scores in float64 NumPy, fitting labels, a hand-computed value."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

ROWS_OF_LABELS = 6


@dataclass(frozen=True, eq=False)
class LossCase:
    """A loss and what it is tested with.

    `oracle(y, p)` gives the scores of all elements; `hand` is (labels, outputs, score). `coupled`: the score of one
    output depends on the others, so that a mask of single outputs is not a weight.
    """

    oracle: Any
    labels: Any
    hand: tuple
    activations: tuple = ("identity", "sigmoid", "softmax", "tanh")
    parameters: dict = field(default_factory=dict)
    n_out: int = 3
    weighted: bool = False
    coupled: bool = False


# ---- labels


def one_hot(rng):
    return np.eye(3)[rng.integers(0, 3, ROWS_OF_LABELS)]


def distribution(rng):
    return rng.dirichlet((1.0, 2.0, 3.0), ROWS_OF_LABELS)


def index(rng):
    return rng.integers(0, 3, (ROWS_OF_LABELS, 1)).astype("float64")


def real(rng):
    return rng.normal(size=(ROWS_OF_LABELS, 3))


def pair(rng):
    return rng.normal(size=(ROWS_OF_LABELS, 2))


def positive(rng):
    return rng.uniform(0.5, 2.0, (ROWS_OF_LABELS, 3))


def signed(rng):
    return positive(rng) * signs(rng)


def signs(rng):
    return rng.choice((-1.0, 1.0), (ROWS_OF_LABELS, 3))


def binary(rng):
    return rng.integers(0, 2, (ROWS_OF_LABELS, 3)).astype("float64")


def binary_column(rng):
    return np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [0.0]])


def two_classes(rng):
    column = binary_column(rng)
    return np.hstack([1.0 - column, column])


def counts(rng):
    return rng.poisson(2.0, (ROWS_OF_LABELS, 3)).astype("float64")


def multi_hot(rng):
    return np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1], [1, 0, 1], [0, 0, 1]], "float64")


# ---- oracles


def cosine(y, p):
    return np.stack([-a * b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(y, p, strict=True)])


def hinge(y, p):
    return np.where(y * p < 1.0, 1.0 - y * p, 0.0)


def kl_divergence(y, p):
    y, p = np.clip(y, 1e-5, 1.0), np.clip(p, 1e-5, 1.0)
    return y * np.log(y) - y * np.log(p)


def cross_entropy(y, p):
    return np.where(y == 0.0, 0.0, -y * np.log(p))


def sparse_cross_entropy(y, p):
    return cross_entropy(np.eye(3)[y[:, 0].astype(int)], p)


def binary_cross_entropy(y, p):
    return -(y * np.log(p) + (1.0 - y) * np.log1p(-p))


def logarithmic(y, p):
    return np.log((p + 1.0) / (y + 1.0)) ** 2 / 3.0


def ranking(y, p):
    scores = np.zeros_like(p)
    for row in range(len(y)):
        present, absent = np.flatnonzero(y[row] == 1.0), np.flatnonzero(y[row] == 0.0)
        for j in absent:
            scores[row, j] = sum(np.exp(p[row, j] - p[row, i]) for i in present)
        scores[row] /= max(len(present) * len(absent), 1)
    return scores


def mixture_density(y, p):
    """Two distributions of labels with two elements."""
    scores = []
    for label, row in zip(y, p, strict=True):
        alpha, sigma, mu = np.exp(row[:2]) / np.exp(row[:2]).sum(), np.exp(row[2:4]), row[4:].reshape(2, 2)
        density = np.exp(-((label - mu) ** 2).sum(1) / (2.0 * sigma**2)) / (2.0 * np.pi * sigma**2)
        scores.append([-np.log(alpha @ density)])
    return np.array(scores)


def f_measure(beta):
    def oracle(y, p, mask=1.0):
        y, p = y[:, -1:] * np.ones((1, 1)), p[:, -1:]
        hit, missed, false = ((mask * part).sum() for part in (y * p, y * (1.0 - p), (1.0 - y) * p))
        precision, recall = hit / (hit + false), hit / (hit + missed)
        return 1.0 - (1.0 + beta**2) * precision * recall / (beta**2 * precision + recall)

    return oracle


PROBABILITIES = ("sigmoid", "softmax")
LN2 = 0.6931471805599453
HALF = [[0.5, 0.75]]

CASES = {
    "cosine_proximity": [LossCase(cosine, signed, ([[3, 4]], [[4, 3]], -24 / 25), coupled=True)],
    "fmeasure": [
        LossCase(
            f_measure(1.0), binary_column, ([[1], [0], [1]], [[0.8], [0.4], [0.6]], 1 / 3.8), ("sigmoid",), n_out=1
        ),
        LossCase(
            f_measure(2.0),
            two_classes,
            ([[0, 1], [1, 0], [0, 1]], [[0.2, 0.8], [0.6, 0.4], [0.4, 0.6]], 1 - 7 / 9.8),
            ("softmax",),
            {"beta": 2.0},
            n_out=2,
        ),
    ],
    "hinge": [LossCase(hinge, signs, ([[1, -1]], [[0.5, 0.5]], 2.0))],
    "kl_divergence": [LossCase(kl_divergence, distribution, ([[0.5, 0.5]], [[0.25, 0.25]], LN2), PROBABILITIES)],
    "l1": [LossCase(lambda y, p: np.abs(y - p), real, ([[1, 2]], [[3, 1]], 3.0), weighted=True)],
    "l2": [LossCase(lambda y, p: (y - p) ** 2, real, ([[1, 2]], [[3, 1]], 5.0), weighted=True)],
    "mcxent": [
        LossCase(cross_entropy, one_hot, ([[0, 1]], [[0.75, 0.25]], 2 * LN2), PROBABILITIES, weighted=True),
        LossCase(cross_entropy, distribution, ([[0.5, 0.5]], [[0.5, 0.25]], 1.5 * LN2), PROBABILITIES, weighted=True),
    ],
    "mean_absolute_error": [LossCase(lambda y, p: np.abs(y - p) / 3.0, real, ([[1, 2]], [[3, 1]], 1.5), weighted=True)],
    "mean_absolute_percentage_error": [
        LossCase(lambda y, p: 100.0 / 3.0 * np.abs(1.0 - p / y), signed, ([[1, 2]], [[3, 1]], 125.0), weighted=True)
    ],
    "mean_squared_logarithmic_error": [
        LossCase(logarithmic, positive, ([[0, 1]], [[1, 3]], LN2**2), (*PROBABILITIES, "softplus"), weighted=True)
    ],
    "mixturedensity": [
        LossCase(
            mixture_density,
            pair,
            ([[0.5, 0]], [[0, 0, 0, 0, 0.5, 0, 0.5, 0]], 1.8378770664093453),  # ln 2 pi
            ("identity", "tanh"),
            {"mixtures": 2, "labels_width": 2},
            n_out=8,
            coupled=True,
        )
    ],
    "mse": [LossCase(lambda y, p: (y - p) ** 2 / 3.0, real, ([[1, 2]], [[3, 1]], 2.5), weighted=True)],
    "multilabel": [LossCase(ranking, multi_hot, ([[1, 0, 0]], [[1, 1, 0]], 0.6839397205857212), coupled=True)],
    "negativeloglikelihood": [
        LossCase(cross_entropy, one_hot, ([[0, 1]], [[0.75, 0.25]], 2 * LN2), PROBABILITIES, weighted=True)
    ],
    "poisson": [
        LossCase(lambda y, p: p - y * np.log(p), counts, ([[2, 0]], [[1, 3]], 4.0), (*PROBABILITIES, "softplus"))
    ],
    "reconstruction_crossentropy": [
        LossCase(kl_divergence, distribution, ([[1, 0]], [[0.5, 0.5]], LN2 - 1e-5 * np.log(5e4)), PROBABILITIES)
    ],
    "sparse_mcxent": [
        LossCase(sparse_cross_entropy, index, ([[1]], [[0.75, 0.25]], 2 * LN2), PROBABILITIES, weighted=True)
    ],
    "squared_hinge": [LossCase(lambda y, p: hinge(y, p) ** 2, signs, ([[1, -1]], [[0.5, 0.5]], 2.5))],
    "squared_loss": [LossCase(lambda y, p: (y - p) ** 2 / 3.0, real, ([[1, 2]], [[3, 1]], 2.5), weighted=True)],
    "wasserstein": [LossCase(lambda y, p: y * p / 3.0, signs, ([[1, -1]], [[3, 1]], 1.0))],
    "xent": [LossCase(binary_cross_entropy, binary, ([[1, 0]], HALF, 3 * LN2), ("sigmoid",), weighted=True)],
}

ROWS = [(name, case) for name, cases in CASES.items() for case in cases]
IDS = [f"{name}-{number}" for name, cases in CASES.items() for number in range(len(cases))]
