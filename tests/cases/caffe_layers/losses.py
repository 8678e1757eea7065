"""Rows for losses of two bottoms of one size: Euclidean, sigmoid cross entropy, contrastive."""

import math

import numpy as np

from .base import CaffeCase

FIRST = (True, False)


def half_squares(xs, params):
    a, b = xs
    return [np.array(sum((x - y) ** 2 for x, y in zip(a.ravel(), b.ravel(), strict=True)) / len(a) / 2.0)]


def cross_entropy(divisor="BATCH_SIZE", ignored=None):
    """Return an oracle of single numbers, with the logarithm of both probabilities."""

    def oracle(xs, params):
        x, targets = xs
        total, counted = 0.0, 0
        for score, target in zip(x.ravel().tolist(), targets.ravel().tolist(), strict=True):
            if int(target) == ignored:
                continue
            p = 1.0 / (1.0 + math.exp(-score))
            total -= target * math.log(p) + (1.0 - target) * math.log(1.0 - p)
            counted += 1
        divisors = {"BATCH_SIZE": len(x), "FULL": x.size, "VALID": max(counted, 1), "NONE": 1}
        return [np.array(total / divisors[divisor])]

    return oracle


def scores_and_targets(shape, targets=None, ignored=()):
    def draw(rng):
        wanted = rng.uniform(0.0, 1.0, targets or shape)
        for place, label in enumerate(ignored):
            wanted.flat[3 * place + 1] = label
        return [rng.normal(0.0, 2.0, shape), wanted]

    return draw


def entropy_row(variant, text, oracle, shape=(4, 3, 2), ignored=(), targets=None, splits=True):
    return CaffeCase(
        variant,
        text,
        (),
        oracle,
        numbers=scores_and_targets(shape, targets, ignored),
        differentiable=FIRST,
        splits=splits,
        parts_add_up=splits,
    )


def pairs_loss(margin=1.0, legacy=False):
    def oracle(xs, params):
        total = 0.0
        for a, b, similar in zip(xs[0], xs[1], xs[2].ravel(), strict=True):
            distance = math.dist(a.ravel(), b.ravel())
            if int(similar):
                total += distance**2
            elif legacy:
                total += max(margin - distance**2, 0.0)
            else:
                total += max(margin - distance, 0.0) ** 2
        return [np.array(total / 2.0 / len(xs[0]))]

    return oracle


def pairs(scale, axes=(), labels=(1.0, 0.0, 0.0, 2.0, 0.5, 0.0)):
    """Return a drawing of pairs; of the last the distance is far beyond the margin."""

    def draw(rng):
        shape = (len(labels), 3, *axes)
        a, b = rng.normal(0.0, scale, shape), rng.normal(0.0, scale, shape)
        b[-1] += 100.0 * scale
        return [a, b, np.reshape(labels, (-1, *axes))]

    return draw


def pairs_row(variant, text, oracle, numbers):
    return CaffeCase(variant, text, (), oracle, numbers=numbers, differentiable=(True, True, False), parts_add_up=True)


CASES = {
    "ContrastiveLoss": [
        # The derivative divides by the distance + 0.0001, which only numbers as large as these do not show.
        pairs_row(
            "pairs",
            "contrastive_loss_param { margin: 512 }",
            pairs_loss(512.0),
            pairs(64.0),
        ),
        pairs_row(
            "with axes of length 1",
            "contrastive_loss_param { margin: 512 }",
            pairs_loss(512.0),
            pairs(64.0, (1, 1)),
        ),
        pairs_row(
            "legacy",
            "contrastive_loss_param { margin: 10.5 legacy_version: true }",
            pairs_loss(10.5, legacy=True),
            pairs(1.0),
        ),
    ],
    "EuclideanLoss": [
        CaffeCase("rows", "", ((4, 3), (4, 3)), half_squares, parts_add_up=True),
        CaffeCase("as many elements", "", ((4, 3, 2), (4, 6)), half_squares, parts_add_up=True),
        CaffeCase("images", "", ((3, 2, 3, 2), (3, 2, 3, 2)), half_squares, parts_add_up=True),
        CaffeCase(
            "one bottom needed",
            "",
            ((4, 3), (4, 3)),
            half_squares,
            differentiable=(False, True),
            parts_add_up=True,
        ),
    ],
    "SigmoidCrossEntropyLoss": [
        entropy_row("plain", "", cross_entropy()),
        entropy_row("targets of another shape", "", cross_entropy(), targets=(4, 6)),
        *(
            entropy_row(mode, f"loss_param {{ normalization: {mode} }}", cross_entropy(mode))
            for mode in ("FULL", "VALID", "NONE")
        ),
        entropy_row("old valid", "loss_param { normalize: true }", cross_entropy("VALID")),
        entropy_row("old batch", "loss_param { normalize: false }", cross_entropy("BATCH_SIZE")),
        entropy_row(
            "ignored",
            "loss_param { ignore_label: -1 normalization: VALID }",
            cross_entropy("VALID", -1),
            ignored=(-1.0, -1.5, -1.0),
            splits=False,
        ),
        entropy_row(
            "ignored, by examples",
            "loss_param { ignore_label: 255 }",
            cross_entropy(ignored=255),
            ignored=(255.0, 255.0),
        ),
    ],
}
