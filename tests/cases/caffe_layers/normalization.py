"""Rows for LRN, BatchNorm, MVN and Normalize: loops and sums over axes, written out."""

import numpy as np

from .base import CaffeCase


def lrn_across(x, n, k, alpha, beta):
    scale = np.full_like(x, k)
    for channel in range(x.shape[1]):
        around = x[:, max(channel - n // 2, 0) : channel + n // 2 + 1]
        scale[:, channel] += alpha / n * (around**2).sum(1)
    return x / scale**beta


def lrn_within(x, n, alpha, beta):
    wide = np.pad(x, ((0, 0), (0, 0), (n // 2, n // 2), (n // 2, n // 2)))
    y = np.empty_like(x)
    for row in range(x.shape[2]):
        for column in range(x.shape[3]):
            square = wide[:, :, row : row + n, column : column + n] ** 2
            y[:, :, row, column] = x[:, :, row, column] / (1 + alpha * square.sum((2, 3)) / n**2) ** beta
    return y


def standardised(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def mvn(x, axes):
    return (x - x.mean(axes, keepdims=True)) / (x.std(axes, keepdims=True) + float(np.float32(1e-9)))


def by_blobs(x, params, eps):
    """Return x less the stored mean, by the stored deviation."""
    mean, variance = params["mean"] / params["factor"], params["variance"] / params["factor"]
    shape = (1, -1, *(1,) * (x.ndim - 2))
    return (x - mean.reshape(shape)) / np.sqrt(variance + eps).reshape(shape)


def stored(rng, name, shape):
    return {"factor": np.full(shape, 2.5)}.get(name, rng.uniform(0.5, 2.0, shape))


def normalised(x, axes, eps, scale):
    return x * scale / np.sqrt((x**2).sum(axes, keepdims=True) + eps)


NOTHING_STORED = {"params": lambda rng, name, shape: np.zeros(shape), "phase": "TEST"}

CASES = {
    "BatchNorm": [
        CaffeCase(
            "images, in training",
            "batch_norm_param { eps: 0.125 moving_average_fraction: 0.5 }",
            ((3, 2, 4, 5),),
            lambda xs, params: [standardised(xs[0], (0, 2, 3), 0.125)],
            splits=False,
        ),
        CaffeCase(
            "numbers of one channel, in training",
            "batch_norm_param { eps: 0.125 }",
            ((6,),),
            lambda xs, params: [standardised(xs[0], 0, 0.125)],
            splits=False,
        ),
        CaffeCase(
            "rows, by the blobs in testing",
            "batch_norm_param { eps: 0.125 }",
            ((4, 3),),
            lambda xs, params: [by_blobs(xs[0], params, 0.125)],
            phase="TEST",
            params=stored,
        ),
        CaffeCase(
            "volumes, by the blobs in training",
            "batch_norm_param { eps: 0.125 use_global_stats: true } param { lr_mult: 0 }",
            ((3, 2, 2, 2, 3),),
            lambda xs, params: [by_blobs(xs[0], params, 0.125)],
            params=stored,
        ),
        CaffeCase(
            "of the minibatch in testing",
            "batch_norm_param { eps: 0.125 use_global_stats: false }",
            ((5, 3),),
            lambda xs, params: [standardised(xs[0], 0, 0.125)],
            phase="TEST",
            splits=False,
        ),
        CaffeCase(
            "with nothing stored",
            "batch_norm_param { eps: 0.25 }",
            ((3, 2, 3),),
            lambda xs, params: [xs[0] / 0.5],
            **NOTHING_STORED,
        ),
    ],
    "LRN": [
        CaffeCase(
            "across channels",
            "lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 k: 2 }",
            ((2, 5, 2, 3),),
            lambda xs, params: [lrn_across(xs[0], 3, 2.0, 0.5, 0.75)],
        ),
        CaffeCase(
            "across more channels than there are",
            "lrn_param { local_size: 9 alpha: 0.5 beta: 0.5 }",
            ((2, 3, 2, 2),),
            lambda xs, params: [lrn_across(xs[0], 9, 1.0, 0.5, 0.5)],
        ),
        CaffeCase(
            "within a channel, where k counts nothing",
            "lrn_param { local_size: 3 alpha: 0.5 k: 7 norm_region: WITHIN_CHANNEL }",
            ((2, 2, 4, 5),),
            lambda xs, params: [lrn_within(xs[0], 3, 0.5, 0.75)],
        ),
    ],
    "MVN": [
        CaffeCase(
            "channels",
            "",
            ((2, 3, 4, 5),),
            lambda xs, params: [mvn(xs[0], (2, 3))],
        ),
        CaffeCase(
            "whole examples",
            "mvn_param { across_channels: true }",
            ((2, 3, 4, 2),),
            lambda xs, params: [mvn(xs[0], (1, 2, 3))],
        ),
        CaffeCase(
            "the mean alone",
            "mvn_param { normalize_variance: false }",
            ((2, 3, 4, 2),),
            lambda xs, params: [xs[0] - xs[0].mean((2, 3), keepdims=True)],
        ),
        CaffeCase(
            "rows, whose channels are one number each",
            "mvn_param { normalize_variance: false }",
            ((2, 3),),
            lambda xs, params: [0.0 * xs[0]],
        ),
    ],
    "Normalize": [
        CaffeCase(
            "whole examples, one scale",
            "norm_param { eps: 0.5 }",
            ((2, 3, 2, 4),),
            lambda xs, params: [normalised(xs[0], (1, 2, 3), 0.5, params["scale"])],
        ),
        CaffeCase(
            "places, a scale for each channel",
            "norm_param { eps: 0.5 across_spatial: false channel_shared: false }",
            ((2, 3, 2, 4),),
            lambda xs, params: [normalised(xs[0], 1, 0.5, params["scale"].reshape(1, 3, 1, 1))],
        ),
        CaffeCase(
            "rows, a scale for each channel",
            "norm_param { eps: 0.5 channel_shared: false }",
            ((4, 3),),
            lambda xs, params: [normalised(xs[0], 1, 0.5, params["scale"])],
        ),
    ],
}
