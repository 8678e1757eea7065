"""Rows of the normalisations, and of the layers that treat every number for itself."""

import math
from functools import partial

import numpy as np

from nn import (
    BatchNormalization,
    ElementWiseMultiplicationLayer,
    InputType,
    LocalResponseNormalization,
    PReLULayer,
    UniformDistribution,
)
from optimize import MaxNormConstraint

from .base import IMAGES, ROWS, LayerCase, every

FEW = InputType.convolutional(3, 2, 2)


def _normalised(x, params, eps, gamma=None, beta=None):
    """Inference, number by number."""
    out = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        c = index[1]
        variance = 10.0 ** (2.0 * params["log10stdev"][0, c]) if "log10stdev" in params else params["var"][0, c]
        scale = params["gamma"][0, c] if gamma is None else gamma
        shift = params["beta"][0, c] if beta is None else beta
        out[index] = scale * (x[index] - params["mean"][0, c]) / math.sqrt(variance + eps) + shift
    return out


def _batch_case(variant, input_type=ROWS, eps=1e-5, locked=(), **settings):
    constants = dict(zip(("gamma", "beta"), locked, strict=False))
    layer = BatchNormalization(eps=eps, lock_gamma_beta=bool(locked), **constants, **settings)
    if constants.get("gamma") == 1.0 or constants.get("beta") == 0.0:
        constants = {"gamma": 1.0, "beta": 0.0}  # as in Java
    return LayerCase(variant, layer, input_type, partial(_normalised, eps=eps, **constants), couples=True)


def _by_neighbours(x, params, n, k, alpha, beta):
    out = np.zeros_like(x)
    for example, c, row, column in np.ndindex(*x.shape):
        near = range(max(c - n // 2, 0), min(c + n // 2, x.shape[1] - 1) + 1)
        total = sum(x[example, other, row, column] ** 2 for other in near)
        out[example, c, row, column] = x[example, c, row, column] / (k + alpha * total) ** beta
    return out


def _response_case(variant, channels, **settings):
    layer, numbers = LocalResponseNormalization(**settings), {"n": 5, "k": 2.0, "alpha": 1e-4, "beta": 0.75, **settings}
    oracle = partial(_by_neighbours, **{name: numbers[name] for name in ("n", "k", "alpha", "beta")})
    return LayerCase(variant, layer, InputType.convolutional(2, 3, channels), oracle)


def _rectified(x, params):
    out = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        alpha = params["W"][tuple(min(i, size - 1) for i, size in zip(index[1:], params["W"].shape, strict=True))]
        out[index] = x[index] if x[index] >= 0.0 else alpha * x[index]
    return out


def _prelu_case(variant, input_type, **settings):
    settings = {"weight_init": UniformDistribution(0.1, 0.5), **settings}
    return LayerCase(variant, PReLULayer(**settings), input_type, _rectified, draws="drop_out" in settings)


def _multiplied(x, params, activation=np.tanh):
    out = np.zeros_like(x)
    for n, i in np.ndindex(*x.shape):
        out[n, i] = activation(x[n, i] * params["W"][0, i] + params["b"][0, i])
    return out


def _product_case(variant, **settings):
    layer = ElementWiseMultiplicationLayer(**{"activation": "tanh", **settings})
    oracle = partial(_multiplied, activation=float) if settings.get("activation") == "identity" else _multiplied
    return LayerCase(variant, layer, ROWS, oracle, draws="drop_out" in settings)


NORMALIZATION_CASES: dict[str, list[LayerCase]] = {
    "batch_normalization": every(
        [
            _batch_case("rows"),
            _batch_case("rows-var", use_log_std=False, decay=0.5, gamma=1.5, beta=-0.5, eps=0.1),
            _batch_case("images", IMAGES),
            _batch_case("images-locked", FEW, locked=(1.5, 0.25)),
            _batch_case("rows-locked-gamma", locked=(2.0, 0.0), use_log_std=False),
            _batch_case("constrained-drops-nothing", drop_out=0.5, constrain_all_parameters=MaxNormConstraint(0.5)),
            _batch_case("one-minibatch", FEW, minibatch=False),
        ],
        mixes_places=True,
    ),
    "element_wise_multiplication": every(
        [
            _product_case("tanh"),
            _product_case("identity", activation="identity", n_out=5),
            _product_case("dropped", drop_out=0.6),
        ],
        silences=True,
    ),
    "local_response_normalization": [
        _response_case("usual", 7),
        _response_case("strong", 4, n=3, k=1.0, alpha=0.5),
        _response_case("even", 5, n=4, alpha=0.3, beta=0.5),
        _response_case("wider-than-the-image", 2, n=9, k=0.5, alpha=0.2, beta=1.25),
        _response_case("alone", 3, n=1, alpha=1.0),
    ],
    "prelu": [
        _prelu_case("rows", ROWS),
        _prelu_case("images", FEW),
        _prelu_case("channels", IMAGES, shared_axes=(2, 3)),
        _prelu_case("columns", IMAGES, shared_axes=(1, 2)),
        _prelu_case("zero", ROWS, weight_init="zero"),
        _prelu_case("dropped", FEW, shared_axes=1, drop_out=0.7),
    ],
}
"""Name in LAYERS -> rows."""
