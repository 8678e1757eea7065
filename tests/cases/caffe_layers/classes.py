"""Rows for SoftmaxWithLoss and Accuracy."""

import itertools
import math

import numpy as np

from .base import CaffeCase

FIRST = (True, False)
IMAGE = ((4, 3, 2, 2), (4, 1, 2, 2))


def scores_and_labels(shape, axis=1, ignored=(), scale=1.0, few=False):
    """Return a drawing of scores, and of labels in which those of `ignored` are among the classes."""

    def draw(rng):
        scores = rng.normal(0.0, scale, shape)
        if few:
            scores = np.round(scores)  # so that some are equal
        places = [*shape[:axis], *shape[axis + 1 :]]
        labels = rng.integers(0, shape[axis], places).astype(float)
        for place, label in enumerate(ignored):
            labels.flat[2 * place + 1] = label
        return [scores, labels]

    return draw


def places_of(scores, labels, axis):
    """Yield of every place its scores, and its label."""
    others = [range(length) for number, length in enumerate(scores.shape) if number != axis]
    for number, place in enumerate(itertools.product(*others)):
        yield scores[(*place[:axis], slice(None), *place[axis:])], int(labels.ravel()[number])


def softmax_loss(axis=1, ignored=None, divisor="VALID", with_p=False):
    """Return an oracle that goes from place to place."""

    def oracle(xs, params):
        scores, labels = xs
        total, counted = 0.0, 0
        for row, label in places_of(scores, labels, axis):
            if label != ignored:
                total += math.log(math.fsum(math.exp(s - row[label]) for s in row))
                counted += 1
        outer = math.prod(scores.shape[:axis])
        places = scores.size // scores.shape[axis]
        divisors = {"VALID": max(counted, 1), "FULL": places, "BATCH_SIZE": outer, "NONE": 1}
        p = np.exp(scores) / np.exp(scores).sum(axis, keepdims=True)
        return [np.array(total / divisors[divisor])] + ([p] if with_p else [])

    return oracle


def accuracy(axis=1, top_k=1, ignored=None, of_each=False):
    def oracle(xs, params):
        scores, labels = xs
        hits, there = np.zeros(scores.shape[axis]), np.zeros(scores.shape[axis])
        for row, label in places_of(scores, labels, axis):
            if label != ignored:
                there[label] += 1
                hits[label] += sum(s >= row[label] for at, s in enumerate(row) if at != label) < top_k
        tops = [np.array(hits.sum() / max(there.sum(), 1))]
        return tops + ([hits / np.maximum(there, 1)] if of_each else [])

    return oracle


def loss_row(variant, text, shape, oracle, axis=1, ignored=(), **more):
    more = {"differentiable": FIRST, "parts_add_up": more.get("splits", True), **more}
    return CaffeCase(variant, text, (shape, ()), oracle, numbers=scores_and_labels(shape, axis, ignored), **more)


CASES = {
    "Accuracy": [
        CaffeCase("rows", "", (), accuracy(), numbers=scores_and_labels((8, 3)), differentiable=(), parts_add_up=True),
        CaffeCase(
            "equal scores of the three best",
            "accuracy_param { top_k: 3 }",
            (),
            accuracy(top_k=3),
            numbers=scores_and_labels((9, 6), few=True),
            differentiable=(),
            parts_add_up=True,
        ),
        CaffeCase(
            "constant scores",
            "",
            (),
            lambda xs, params: [np.array(0.0)],
            numbers=lambda rng: [np.ones((4, 3)), [0, 1, 2, 1]],
            differentiable=(),
            parts_add_up=True,
        ),
        CaffeCase(
            "images, classes apart",
            "accuracy_param { axis: -2 ignore_label: 1 }",
            (),
            accuracy(axis=2, ignored=1, of_each=True),
            tops=2,
            numbers=scores_and_labels((4, 2, 3, 2), 2),
            differentiable=(),
            splits=False,
        ),
        CaffeCase(
            "nothing counts",
            "accuracy_param { ignore_label: -1 }",
            (),
            lambda xs, params: [np.array(0.0), np.zeros(3)],
            tops=2,
            numbers=lambda rng: [rng.normal(size=(4, 3)), [-1.0] * 4],
            differentiable=(),
            splits=False,
        ),
    ],
    "SoftmaxWithLoss": [
        loss_row("rows", "", (4, 5), softmax_loss()),
        loss_row("labels in an image", "", (4, 5, 2, 3), softmax_loss()),
        loss_row("last axis", "softmax_param { axis: -1 }", (4, 3, 5), softmax_loss(axis=2), axis=2),
        *(
            loss_row(mode, f"loss_param {{ normalization: {mode} }}", (4, 5, 3), softmax_loss(divisor=mode))
            for mode in ("FULL", "BATCH_SIZE", "NONE", "VALID")
        ),
        loss_row("old batch", "loss_param { normalize: false }", (4, 5, 3), softmax_loss(divisor="BATCH_SIZE")),
        loss_row("both", "loss_param { normalize: true normalization: FULL }", (4, 5, 3), softmax_loss(divisor="FULL")),
        loss_row(
            "ignored and not a class",
            "loss_param { ignore_label: 255 }",
            (4, 5, 3),
            softmax_loss(ignored=255),
            ignored=(255, 255, 255),
            splits=False,
        ),
        loss_row(
            "ignored class, full",
            "loss_param { ignore_label: 0 normalization: FULL }",
            (4, 3, 5),
            softmax_loss(ignored=0, divisor="FULL"),
        ),
        loss_row(
            "everything ignored",
            "loss_param { ignore_label: -1 }",
            (2, 3),
            lambda xs, params: [np.array(0.0)],
            splits=False,
        )._replace(numbers=lambda rng: [rng.normal(size=(2, 3)), [-1.0, -1.0]]),
        loss_row(
            "probabilities",
            "",
            (4, 5, 2),
            softmax_loss(with_p=True),
            tops=2,
            top_gradients=(True, False),
            splits=False,
        ),
        loss_row(
            "one example", "softmax_param { axis: 0 }", (5, 3), softmax_loss(axis=0), axis=0, splits=False
        )._replace(numbers=lambda rng: [rng.normal(size=(3, 3)), [0.0, 2.0, 1.0]]),
    ],
}
