"""Rows of the layers with a loss that are no plain rows: at every pixel, voxel and time step, and of boxes."""

from functools import partial

import numpy as np

from nd.losses import LossMCXENT
from nn import (
    CenterLossOutputLayer,
    Cnn3DLossLayer,
    CnnLossLayer,
    InputType,
    NormalDistribution,
    OCNNOutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    WeightNoise,
    Yolo2OutputLayer,
)
from nn.layers.losses.output import LossRuntime

from .base import ROWS, LayerCase, every

PIXELS = InputType.convolutional(3, 2, 4)
VOXELS = InputType.convolutional3d(2, 3, 2, 3)
SERIES = InputType.recurrent(4, 5)

FORMULAS = {
    "identity": lambda z: z,
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "softmax": lambda z: np.exp(z) / sum(np.exp(each) for each in z),
    "tanh": np.tanh,
}


def _at_every_place(x, params, activation):
    """The activation of the channels of one place after the other; with parameters of W and b before it."""
    W, b = params.get("W", np.eye(x.shape[1])), params.get("b")
    out = np.zeros((x.shape[0], W.shape[1], *x.shape[2:]))
    for n, *place in np.ndindex(x.shape[0], *x.shape[2:]):
        channels = x[(n, slice(None), *place)]
        z = np.array([sum(channels * W[:, o]) + (0.0 if b is None else b[0, o]) for o in range(W.shape[1])])
        out[(n, slice(None), *place)] = FORMULAS[activation](z)
    return out


def _case(layer_class, input_type, loss, activation, labels, **settings):
    name = loss if isinstance(loss, str) else "weighted_mcxent"
    layer = layer_class(loss=loss, activation=activation, **settings)
    variant = "-".join((name, activation, *(key for key in settings if key != "n_out")))
    oracle = partial(_at_every_place, activation=activation)
    noisy = not {"drop_out", "weight_noise"}.isdisjoint(settings)
    draws = noisy and not issubclass(layer_class.runtime, LossRuntime)  # which drop nothing, as in Java
    return LayerCase(variant, layer, input_type, oracle, (), labels, draws)


def _one_class(variant, activation, **settings):
    def oracle(x, params):
        hidden = [[FORMULAS[activation](sum(row * v)) for v in params["v"].T] for row in x]
        return np.array([[sum(h * w for h, w in zip(each, params["w"][0], strict=True))] for each in hidden])

    layer = OCNNOutputLayer(hidden_size=4, activation=activation, **settings)
    return LayerCase(variant, layer, ROWS, oracle, (), "reals", "drop_out" in settings)


def _boxes(variant, priors, classes, **settings):
    def oracle(x, params):
        out = np.zeros_like(x)
        for n, i, j, b in np.ndindex(len(x), *x.shape[2:], len(priors)):
            channels = slice(b * (5 + classes), (b + 1) * (5 + classes))
            z = x[n, channels, i, j]
            xy, wh, c, kinds = z[:2], z[2:4], z[4:5], z[5:]
            parts = (
                FORMULAS["sigmoid"](xy),
                np.exp(wh) * priors[b],
                FORMULAS["sigmoid"](c),
                FORMULAS["softmax"](kinds),
            )
            out[n, channels, i, j] = np.concatenate(parts)
        return out

    input_type = InputType.convolutional(3, 2, len(priors) * (5 + classes))
    return LayerCase(variant, Yolo2OutputLayer(priors, **settings), input_type, oracle, (), "boxes")


_WEIGHTED = LossMCXENT(weights=(0.5, 2.0, 1.0, 3.0))

OUTPUT_CASES: dict[str, list[LayerCase]] = {
    "center_loss_output": every(
        [
            _case(CenterLossOutputLayer, ROWS, "mcxent", "softmax", "classes", n_out=3, lambda_=0.5),
            _case(CenterLossOutputLayer, ROWS, "mse", "tanh", "classes", n_out=3, lambda_=0.3),
            _case(CenterLossOutputLayer, ROWS, "l2", "tanh", "probabilities", n_out=3, lambda_=0.8, drop_out=0.6),
        ],
        silences=True,
    ),
    "cnn3d_loss": [
        _case(Cnn3DLossLayer, VOXELS, "mcxent", "softmax", "classes"),
        _case(Cnn3DLossLayer, VOXELS, "mse", "tanh", "reals"),
        _case(Cnn3DLossLayer, VOXELS, "l2", "tanh", "reals", drop_out=0.6),
    ],
    "cnn_loss": [
        _case(CnnLossLayer, PIXELS, "mcxent", "softmax", "classes"),
        _case(CnnLossLayer, PIXELS, _WEIGHTED, "softmax", "classes"),
        _case(CnnLossLayer, PIXELS, "sparse_mcxent", "softmax", "indices"),
        _case(CnnLossLayer, PIXELS, "xent", "sigmoid", "bits"),
        _case(CnnLossLayer, PIXELS, "mse", "identity", "reals"),
        _case(CnnLossLayer, PIXELS, "l2", "tanh", "reals", drop_out=0.6),
    ],
    "ocnn_output": every(
        [
            _one_class("sigmoid", "sigmoid"),
            _one_class("tanh-drawn-r", "tanh", configure_r=False, nu=0.3),
            _one_class("far-r", "tanh", initial_r_value=9.0, nu=0.5),
            _one_class("dropped", "sigmoid", nu=0.5, initial_r_value=2.0, drop_out=0.7),
        ],
        looks_back=True,
    ),
    "rnn_loss": [
        _case(RnnLossLayer, SERIES, "mcxent", "softmax", "classes"),
        _case(RnnLossLayer, SERIES, "mse", "tanh", "reals"),
        _case(RnnLossLayer, SERIES, "xent", "sigmoid", "bits", drop_out=0.6),
    ],
    "rnn_output": every(
        [
            _case(RnnOutputLayer, SERIES, "mcxent", "softmax", "classes", n_out=3),
            _case(RnnOutputLayer, SERIES, "mcxent", "softmax", "classes", n_out=3, has_bias=False),
            _case(RnnOutputLayer, SERIES, "sparse_mcxent", "softmax", "indices", n_out=3),
            _case(RnnOutputLayer, SERIES, "mse", "tanh", "reals", n_out=3, drop_out=0.6),
            _case(
                RnnOutputLayer,
                SERIES,
                "l2",
                "sigmoid",
                "reals",
                n_out=3,
                weight_noise=WeightNoise(NormalDistribution(0.0, 0.3)),
            ),
        ],
        silences=True,
    ),
    "yolo2_output": [
        _boxes("two-boxes", [[1.5, 1.0], [0.75, 2.0]], 3),
        _boxes("mcxent", [[1.0, 0.5]], 2, loss_class_predictions="mcxent", lambda_coord=2.0, lambda_no_obj=0.25),
        _boxes("l1", [[0.4, 0.5], [1.0, 1.0], [2.0, 1.5]], 1, loss_position_scale="l1", drop_out=0.6),
    ],
}
