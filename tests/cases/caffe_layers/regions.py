"""Rows for ROIPooling: maxima of slices."""

import math

import numpy as np

from .base import CaffeCase


def places(first, last, part, parts, length):
    long = max(last - first + 1, 1)
    start, stop = first + math.floor(part * long / parts), first + math.ceil((part + 1) * long / parts)
    return slice(min(max(start, 0), length), min(max(stop, 0), length))


def pooled(x, regions, height, width, scale):
    y = np.zeros((len(regions), x.shape[1], height, width))
    for number, (picture, *corners) in enumerate(regions):
        left, top, right, bottom = (math.floor(corner * scale + 0.5) for corner in corners)
        for row in range(height):
            for column in range(width):
                down = places(top, bottom, row, height, x.shape[2])
                across = places(left, right, column, width, x.shape[3])
                cells = x[int(picture), :, down, across].reshape(x.shape[1], -1)
                if cells.size:
                    y[number, :, row, column] = cells.max(1)
    return y


def numbers(rng):
    """Return pictures, and regions: inside, beyond a border, of one place, turned round, outside."""
    regions = [[1, 0, 2, 7, 13], [0, 4, 4, 30, 30], [1, 6, 6, 6, 6], [0, 9, 5, 2, 3], [1, -9, 20, -6, 30]]
    return [rng.permutation(2 * 3 * 7 * 6).reshape(2, 3, 7, 6) / 50.0, regions]


CASES = {
    "ROIPooling": [
        CaffeCase(
            "regions",
            "roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 }",
            ((2, 3, 7, 6), (5, 5)),
            lambda xs, params: [pooled(*xs, 3, 2, 0.5)],
            numbers=numbers,
            differentiable=(True, False),
            splits=False,
        ),
        CaffeCase(
            "whole regions",
            "roi_pooling_param { pooled_h: 1 pooled_w: 1 }",
            ((2, 3, 7, 6), (5, 5)),
            lambda xs, params: [pooled(*xs, 1, 1, 1.0)],
            numbers=numbers,
            differentiable=(True, False),
            splits=False,
        ),
    ],
}
