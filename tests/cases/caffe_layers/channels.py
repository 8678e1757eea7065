"""Rows for ShuffleChannel and Reorg: number by number."""

import itertools

import numpy as np

from .base import CaffeCase


def shuffled(x, groups):
    each = x.shape[1] // groups
    return x[:, [group * each + number for number in range(each) for group in range(groups)]]


def darknet(x, stride, reverse):
    """Return what Darknet's loop over the bottom's channels, rows and columns makes of every example."""
    _, channels, height, width = x.shape
    each, flat = channels // stride**2, x.reshape(len(x), -1)
    out = np.empty_like(flat)
    for channel, row, column in itertools.product(range(channels), range(height), range(width)):
        offset, inner = divmod(channel, each)
        near = column + width * (row + height * channel)
        down, across = row * stride + offset // stride, column * stride + offset % stride
        far = across + width * stride * (down + height * stride * inner)
        if reverse:
            out[:, far] = flat[:, near]
        else:
            out[:, near] = flat[:, far]
    return out


CASES = {
    "Reorg": [
        CaffeCase(
            "places to channels",
            "reorg_param { stride: 2 }",
            ((3, 8, 4, 6),),
            lambda xs, params: [darknet(xs[0], 2, False).reshape(3, 32, 2, 3)],
        ),
        CaffeCase(
            "channels to places",
            "reorg_param { stride: 3 reverse: true }",
            ((2, 9, 2, 1),),
            lambda xs, params: [darknet(xs[0], 3, True).reshape(2, 1, 6, 3)],
        ),
    ],
    "ShuffleChannel": [
        CaffeCase(
            "of two groups",
            "shuffle_channel_param { group: 2 }",
            ((2, 6, 2, 3),),
            lambda xs, params: [shuffled(xs[0], 2)],
        ),
        CaffeCase(
            "of rows in three groups",
            "shuffle_channel_param { group: 3 }",
            ((4, 6),),
            lambda xs, params: [shuffled(xs[0], 3)],
        ),
    ],
}
