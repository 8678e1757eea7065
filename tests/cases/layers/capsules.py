"""Rows of capsules, written as loops over single capsules."""

from functools import partial

import numpy as np

from nn import CapsuleLayer, CapsuleStrengthLayer, DenseLayer, InputType, LossLayer, OutputLayer, PrimaryCapsules

from .base import IMAGES, LayerCase, every

CAPSULES = InputType.recurrent(4, 3)
SUM_OF_SQUARES = (DenseLayer(n_out=3, activation="tanh"), OutputLayer(n_out=2, loss="mse", activation="identity"))


def _squashed(s):
    q = sum(number * number for number in s)
    return s * q / ((1.0 + q) * np.sqrt(q + 1e-5))


def _routed(x, params, layer):
    W, b = params["W"][0, :, :, :, 0], params.get("b")
    J, D = layer.capsules, layer.capsule_dimensions
    out = np.zeros((len(x), J, D))
    for n, capsules in enumerate(x):
        predicted = [[W[i, j * D : (j + 1) * D] @ capsules[i] for j in range(J)] for i in range(len(capsules))]
        logits = np.zeros((len(capsules), J))
        for _ in range(layer.routings):
            shares = [np.exp(row) / np.exp(row).sum() for row in logits]
            for j in range(J):
                s = sum(shares[i][j] * predicted[i][j] for i in range(len(capsules)))
                out[n, j] = _squashed(s if b is None else s + b[0, 0, j, :, 0])
            for i, j in np.ndindex(*logits.shape):
                logits[i, j] += predicted[i][j] @ out[n, j]
    return out


def _primary(x, params, layer, padding):
    W, b = params["W"], params.get("b")
    (kernel_y, kernel_x), (stride_y, stride_x) = layer.kernel_size, layer.stride
    x = np.pad(x, ((0, 0), (0, 0), *padding))
    height, width = (x.shape[2] - kernel_y) // stride_y + 1, (x.shape[3] - kernel_x) // stride_x + 1
    z = np.zeros((len(x), W.shape[3], height, width))
    for n, o, row, column in np.ndindex(*z.shape):
        total = 0.0 if b is None else b[o]
        for c, y, at in np.ndindex(x.shape[1], kernel_y, kernel_x):
            total += x[n, c, row * stride_y + y, column * stride_x + at] * W[y, at, c, o]
        z[n, o, row, column] = max(total, layer.leak * total) if layer.use_relu else total
    numbers = layer.capsule_dimensions
    return np.array([[_squashed(s) for s in each.reshape(-1, numbers)] for each in z])


def _lengths(x, params):
    return np.array([[np.sqrt(sum(number**2 for number in capsule)) for capsule in each] for each in x])


def _capsules(variant, **settings):
    layer = CapsuleLayer(capsules=2, capsule_dimensions=3, **settings)
    tail = (CapsuleStrengthLayer(), LossLayer(loss="mse", activation="identity"))
    return LayerCase(variant, layer, CAPSULES, partial(_routed, layer=layer), tail, "reals")


def _images(variant, padded=((0, 0), (0, 0)), input_type=IMAGES, **settings):
    layer = PrimaryCapsules(capsule_dimensions=2, channels=2, **settings)
    oracle = partial(_primary, layer=layer, padding=padded)
    tail = (CapsuleStrengthLayer(), *SUM_OF_SQUARES)
    return LayerCase(variant, layer, input_type, oracle, tail, "reals")


CAPSULE_CASES: dict[str, list[LayerCase]] = {
    "capsule": every(
        [
            _capsules("one-routing", routings=1),
            _capsules("two-routings", routings=2, has_bias=True),
            _capsules("three-routings"),
            _capsules("three-routings-bias", has_bias=True),
        ],
        ends_masks=True,
    ),
    "capsule_strength": every(
        [
            LayerCase("lengths", CapsuleStrengthLayer(), CAPSULES, _lengths, SUM_OF_SQUARES, "reals"),
            LayerCase("single", CapsuleStrengthLayer(), InputType.recurrent(5, 1), _lengths, SUM_OF_SQUARES, "reals"),
        ],
        ends_masks=True,
    ),
    "primary_capsules": every(
        [
            _images("strided", kernel_size=(3, 2), stride=(2, 3)),
            _images("no-bias", kernel_size=(3, 3), stride=(3, 3), has_bias=False),
            _images("padded", ((1, 1), (2, 2)), kernel_size=(4, 4), stride=(3, 3), padding=(1, 2)),
            _images("same", ((0, 1), (0, 1)), kernel_size=(3, 3), stride=(2, 2), convolution_mode="same"),
            _images("relu", kernel_size=(3, 3), stride=(2, 2), use_relu=True),
            _images("leaky", kernel_size=(3, 3), stride=(3, 3), use_relu=True, leak=0.2),
        ],
        ends_masks=True,
    ),
}
