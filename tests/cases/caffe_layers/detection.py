"""Rows for PriorBox and DetectionOutput."""

import itertools
import math

import numpy as np

from .base import CaffeCase


def priors(places, picture, sizes, step, offset, variances):
    """Return the boxes around every place, one number after the other."""
    numbers = []
    for row, column in itertools.product(range(places[0]), range(places[1])):
        x, y = (column + offset) * step[1], (row + offset) * step[0]
        for width, height in sizes:
            corners = x - width / 2, y - height / 2, x + width / 2, y + height / 2
            numbers += [corner / picture[1 - number % 2] for number, corner in enumerate(corners)]
    return np.array([[numbers, variances * (len(numbers) // 4)]])


WIDE = 4 * math.sqrt(3.0), 4 / math.sqrt(3.0)
PRIORS = np.array([[[0.1, 0.1, 0.5, 0.5, 0.12, 0.1, 0.5, 0.5], [0.1, 0.1, 0.2, 0.2] * 2]])


def detections(rng):
    """Return two boxes on each other; the second is surer."""
    return [rng.normal(0.0, 0.1, (1, 8)), [[0.5, 0.5, 0.25, 0.75]], PRIORS]


def surer(xs, params):
    """Return the second of the boxes, decoded from centers and sizes."""
    place, prior, variance = xs[0][0, 4:], PRIORS[0, 0, 4:], PRIORS[0, 1, 4:]
    size = prior[2:] - prior[:2]
    center = (prior[:2] + prior[2:]) / 2 + variance[:2] * place[:2] * size
    half = size * np.exp(variance[2:] * place[2:]) / 2
    return [np.array([[[[0.0, 1.0, 0.75, *(center - half), *(center + half)]]]])]


CASES = {
    "DetectionOutput": [
        CaffeCase(
            "of two boxes on each other the surer one",
            "detection_output_param { num_classes: 2 code_type: CENTER_SIZE confidence_threshold: 0.1 }",
            ((1, 8), (1, 4), (1, 2, 8)),
            surer,
            numbers=detections,
            differentiable=(),
            splits=False,
        ),
    ],
    "PriorBox": [
        CaffeCase(
            "sizes and aspect ratios, by the picture",
            "prior_box_param { min_size: 4 max_size: 9 aspect_ratio: 3 aspect_ratio: 1 variance: 0.5 }",
            ((2, 1, 2, 3), (2, 3, 20, 24)),
            lambda xs, params: [priors((2, 3), (20, 24), [(4, 4), (6, 6), WIDE, WIDE[::-1]], (10, 8), 0.5, [0.5] * 4)],
            differentiable=(),
            splits=False,
        ),
        CaffeCase(
            "steps, clipped, with variances for each coordinate",
            "prior_box_param { min_size: 8.5 min_size: 16 aspect_ratio: 4 flip: false clip: true img_h: 32 img_w: 16 "
            "step: 16 offset: 0.25 variance: 0.5 variance: 0.25 variance: 1 variance: 2 }",
            ((1, 1, 2, 1), (1, 1, 5, 5)),
            lambda xs, params: [
                np.clip(
                    priors((2, 1), (32, 16), [(8, 8), (16, 4), (16, 16), (32, 8)], (16, 16), 0.25, [0.5, 0.25, 1, 2]),
                    0.0,
                    np.array([[[1.0], [2.0]]]),
                )
            ],
            differentiable=(),
            splits=False,
        ),
    ],
}
