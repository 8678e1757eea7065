"""Rows for HingeLoss, MultinomialLogisticLoss and InfogainLoss."""

import math

import numpy as np

from .base import CaffeCase
from .classes import places_of, scores_and_labels

FIRST = (True, False)


def hinge(squares=False):
    def oracle(xs, params):
        x, labels = xs
        total = 0.0
        for row, label in zip(x.reshape(len(x), -1).tolist(), labels.ravel().tolist(), strict=True):
            margins = [max(0.0, 1.0 - score if at == label else 1.0 + score) for at, score in enumerate(row)]
            total += sum(margin * margin if squares else margin for margin in margins)
        return [np.array(total / len(x))]

    return oracle


def logistic(xs, params):
    p, labels = xs
    logs = [math.log(row.ravel()[int(label)]) for row, label in zip(p, labels.ravel(), strict=True)]
    return [np.array(-sum(logs) / len(p))]


def probabilities(shape):
    def draw(rng):
        return [rng.uniform(0.1, 1.0, shape), rng.integers(0, math.prod(shape[1:]), (shape[0], 1))]

    return draw


def row(variant, text, oracle, numbers, **more):
    more = {"differentiable": FIRST, "parts_add_up": more.get("splits", True), **more}
    return CaffeCase(variant, text, (), oracle, numbers=numbers, **more)


def of_examples(shape):
    """Return a drawing of scores with a label for every example."""

    def draw(rng):
        return [rng.normal(0.0, 2.0, shape), rng.integers(0, math.prod(shape[1:]), shape[0])]

    return draw


def infogain(axis=1, ignored=None, divisor="VALID", with_p=False):
    """Return an oracle of single classes at single places."""

    def oracle(xs, params):
        scores, labels, matrix = xs
        matrix = matrix.reshape(scores.shape[axis], -1)
        total, counted = 0.0, 0
        for values, label in places_of(scores, labels, axis):
            if label != ignored:
                whole = math.fsum(map(math.exp, values))
                total -= sum(matrix[label, at] * math.log(math.exp(value) / whole) for at, value in enumerate(values))
                counted += 1
        outer, places = math.prod(scores.shape[:axis]), scores.size // scores.shape[axis]
        loss = total / {"VALID": max(counted, 1), "FULL": places, "BATCH_SIZE": outer, "NONE": 1}[divisor]
        p = np.exp(scores) / np.exp(scores).sum(axis, keepdims=True)
        return [np.array(loss)] + ([p] if with_p else [])

    return oracle


def with_matrix(shape, axis=1, ignored=(), axes=()):
    def draw(rng):
        classes = shape[axis]
        first = scores_and_labels(shape, axis, ignored)(rng)
        return [*first, rng.uniform(-0.5, 1.0, (*axes, classes, classes))]

    return draw


def infogain_row(variant, text, oracle, numbers, **more):
    return row(variant, text, oracle, numbers, **{"splits": False, "differentiable": (True, False, False), **more})


CASES = {
    "HingeLoss": [
        row("L1", "", hinge(), of_examples((5, 4))),
        row("L2", "hinge_loss_param { norm: L2 }", hinge(squares=True), of_examples((5, 4))),
        row("images", "hinge_loss_param { norm: L2 }", hinge(squares=True), of_examples((3, 2, 1, 2))),
    ],
    "InfogainLoss": [
        infogain_row("rows", "", infogain(), with_matrix((4, 3))),
        infogain_row(
            "images, classes apart",
            "infogain_loss_param { axis: -2 } loss_param { normalization: BATCH_SIZE }",
            infogain(axis=2, divisor="BATCH_SIZE"),
            with_matrix((4, 2, 3, 2), 2, axes=(1, 1)),
        ),
        infogain_row(
            "ignored",
            "loss_param { ignore_label: 255 }",
            infogain(ignored=255),
            with_matrix((4, 3, 2), ignored=(255.0, 255.0)),
        ),
        infogain_row(
            "probabilities",
            "loss_param { normalization: NONE }",
            infogain(divisor="NONE", with_p=True),
            with_matrix((4, 3)),
            tops=2,
            top_gradients=(True, False),
        ),
        infogain_row("full", "loss_param { normalization: FULL }", infogain(divisor="FULL"), with_matrix((4, 3, 2))),
    ],
    "MultinomialLogisticLoss": [
        row("rows", "", logistic, probabilities((4, 3))),
        row("images", "", logistic, probabilities((4, 3, 2))),
    ],
}
