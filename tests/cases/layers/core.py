"""A row for every variant of every layer, and what it computes, written another way: loops over float64 numbers."""

from functools import partial

import numpy as np

import nd
from nd.losses import LossMCXENT
from nn import (
    ActivationLayer,
    AlphaDropout,
    ConvolutionLayer,
    DenseLayer,
    Dropout,
    DropoutLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    GaussianDropout,
    GaussianNoise,
    GlobalPoolingLayer,
    IdentityLayer,
    InputType,
    LossLayer,
    MaskLayer,
    NormalDistribution,
    OutputLayer,
    SpatialDropout,
    SubsamplingLayer,
    WeightNoise,
)
from optimize import MaxNormConstraint, MinMaxNormConstraint, NonNegativeConstraint, UnitNormConstraint

from .base import IMAGES, ODD_IMAGES, ROWS, TAIL, LayerCase, every

NOISE = WeightNoise(NormalDistribution(0.0, 0.3))


# ---- activations, by their formulas


def _softmax(z):
    return np.apply_along_axis(lambda row: np.exp(row) / np.exp(row).sum(), -1, z)


ACTIVATION_ORACLES = {
    "cube": lambda z: z * z * z,
    "elu": lambda z: np.where(z > 0, z, np.exp(z) - 1.0),
    "hardtanh": lambda z: np.where(z > 1, 1.0, np.where(z < -1, -1.0, z)),
    "identity": lambda z: z,
    "leakyrelu": lambda z: np.where(z > 0, z, 0.01 * z),
    "relu": lambda z: np.where(z > 0, z, 0.0),
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "softmax": _softmax,
    "softplus": lambda z: np.log(1.0 + np.exp(z)),
    "swish": lambda z: z / (1.0 + np.exp(-z)),
    "tanh": lambda z: (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z)),
}


def _activated(x, params, activation):
    return ACTIVATION_ORACLES[activation](x)


def _dense(x, params, activation):
    W, b = params["W"], params.get("b")
    z = np.zeros((len(x), W.shape[1]))
    for n, o in np.ndindex(*z.shape):
        z[n, o] = sum(x[n, i] * W[i, o] for i in range(len(W)))
    if "g" in params:
        z = params["g"] * (z - z.mean(1, keepdims=True)) / z.std(1, keepdims=True)
    return ACTIVATION_ORACLES[activation](z if b is None else z + b)


def two_layers_by_hand(params, x, y):
    """Return hidden activations, outputs, summed loss and gradients of tanh, then softmax and cross entropy."""
    p = {key: nd.to_host(view).astype(np.float64) for key, view in params.items()}
    hidden = np.tanh(x @ p["0_W"] + p["0_b"])
    raised = np.exp(hidden @ p["1_W"] + p["1_b"])
    out = raised / raised.sum(1, keepdims=True)
    delta = out - y
    below = delta @ p["1_W"].T * (1.0 - hidden**2)
    gradients = {"0_W": x.T @ below, "0_b": below.sum(0)[None], "1_W": hidden.T @ delta, "1_b": delta.sum(0)[None]}
    return hidden, out, -(y * np.log(out)).sum(), gradients


# ---- windows, position by position


def _geometry(size, kernel, stride, padding, dilation, mode):
    """Return output length and first padding of one axis, by the table in DL4J's terms."""
    effective = kernel + (kernel - 1) * (dilation - 1)
    if mode != "same":
        return (size - effective + 2 * padding) // stride + 1, padding
    out = (size + stride - 1) // stride
    return out, max((out - 1) * stride + effective - size, 0) // 2


def _cells(size, axis, conf, position):
    """Return (cell of the kernel, coordinate in the image) for those under one window that are not padding."""
    kernel, stride, padding, dilation = (conf[key][axis] for key in ("kernel", "stride", "padding", "dilation"))
    _, before = _geometry(size, kernel, stride, padding, dilation, conf["mode"])
    found = [(cell, position * stride - before + cell * dilation) for cell in range(kernel)]
    return [(cell, at) for cell, at in found if 0 <= at < size]


def _out_shape(x, conf):
    return tuple(
        _geometry(
            x.shape[2 + axis], *(conf[key][axis] for key in ("kernel", "stride", "padding", "dilation")), conf["mode"]
        )[0]
        for axis in (0, 1)
    )


def _window(kernel, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mode="truncate"):
    return {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "mode": mode}


def _convolved(x, params, conf, activation="identity"):
    W, b = params["W"], params.get("b")
    z = np.zeros((len(x), len(W), *_out_shape(x, conf)))
    for n, o, row, column in np.ndindex(*z.shape):
        total = 0.0 if b is None else b[0, o]
        for cell_y, y in _cells(x.shape[2], 0, conf, row):
            for cell_x, at in _cells(x.shape[3], 1, conf, column):
                total += sum(x[n, c, y, at] * W[o, c, cell_y, cell_x] for c in range(x.shape[1]))
        z[n, o, row, column] = total
    return ACTIVATION_ORACLES[activation](z)


def _pooled(x, params, conf, pool):
    out = np.zeros((*x.shape[:2], *_out_shape(x, conf)))
    for n, c, row, column in np.ndindex(*out.shape):
        rows, columns = _cells(x.shape[2], 0, conf, row), _cells(x.shape[3], 1, conf, column)
        out[n, c, row, column] = pool([x[n, c, y, at] for _, y in rows for _, at in columns])
    return out


def _p_norm(p):
    return lambda values: sum(abs(value) ** p for value in values) ** (1.0 / p)


def _mean_over(divisor):
    return lambda values: sum(values) / divisor


# ---- the rows


def _draws(settings):
    return not {"drop_out", "weight_noise"}.isdisjoint(settings)


def _dense_case(variant, activation, **settings):
    layer, oracle = DenseLayer(n_out=4, activation=activation, **settings), partial(_dense, activation=activation)
    return LayerCase(variant, layer, ROWS, oracle, draws=_draws(settings), silences=True)


def _conv_case(variant, window, input_type=IMAGES, activation="identity", **settings):
    layer = ConvolutionLayer(
        n_out=3,
        activation=activation,
        kernel_size=window["kernel"],
        stride=window["stride"],
        padding=window["padding"],
        dilation=window["dilation"],
        convolution_mode=window["mode"],
        **settings,
    )
    oracle = partial(_convolved, conf=window, activation=activation)
    return LayerCase(variant, layer, input_type, oracle, draws=_draws(settings))


def _pool_case(variant, kind, pool, window, input_type=IMAGES, **settings):
    layer = SubsamplingLayer(
        kind,
        kernel_size=window["kernel"],
        stride=window["stride"],
        padding=window["padding"],
        dilation=window["dilation"],
        convolution_mode=window["mode"],
        **settings,
    )
    return LayerCase(variant, layer, input_type, partial(_pooled, conf=window, pool=pool))


def _last_case(layer_class, oracle, loss, activation, labels, **settings):
    name = loss if isinstance(loss, str) else "weighted_mcxent"
    layer = layer_class(loss=loss, activation=activation, **settings)
    variant = "-".join((name, activation, *(key for key in settings if key != "n_out")))
    draws = _draws(settings) and layer_class is not LossLayer  # which drops nothing, as in Java
    return LayerCase(variant, layer, ROWS, partial(oracle, activation=activation), (), labels, draws)


def _frozen(layer_class, case):
    """The same inference, and never more than that."""
    return case._replace(layer=layer_class(case.layer), draws=False)


_LOSSES = (
    ("mcxent", "softmax", "classes"),
    ("negativeloglikelihood", "softmax", "classes"),
    (LossMCXENT(weights=(0.5, 2.0, 1.0, 3.0, 0.25)), "softmax", "classes"),
    ("mcxent", "sigmoid", "classes"),
    ("sparse_mcxent", "softmax", "indices"),
    ("mse", "identity", "reals"),
    ("mse", "tanh", "reals"),
    ("l1", "tanh", "reals"),
    ("l2", "sigmoid", "reals"),
    ("xent", "sigmoid", "bits"),
    ("kl_divergence", "softmax", "probabilities"),
    ("poisson", "softplus", "positives"),
    ("hinge", "tanh", "signs"),
    ("squared_hinge", "identity", "signs"),
    ("cosine_proximity", "tanh", "reals"),
)

CORE_CASES: dict[str, list[LayerCase]] = {
    "activation": [
        *(
            LayerCase(name, ActivationLayer(name), ROWS, partial(_activated, activation=name))
            for name in sorted(ACTIVATION_ORACLES)
        ),
        LayerCase(
            "softmax-images",
            ActivationLayer("softmax"),
            IMAGES,
            partial(_activated, activation="softmax"),
            mixes_places=True,
        ),
        LayerCase("relu-images", ActivationLayer("relu"), IMAGES, partial(_activated, activation="relu")),
        LayerCase("drops-nothing", ActivationLayer("tanh", drop_out=0.7), ROWS, partial(_activated, activation="tanh")),
    ],
    "convolution": [
        _conv_case("truncate", _window((3, 3))),
        _conv_case("truncate-rest", _window((3, 2), stride=(2, 2))),
        _conv_case("pointwise", _window((1, 1))),
        _conv_case("whole-image", _window((6, 6)), activation="sigmoid"),
        _conv_case("padded", _window((3, 3), padding=(1, 2)), activation="tanh"),
        _conv_case("strict", _window((2, 2), stride=(2, 2), mode="strict"), activation="relu"),
        _conv_case("same", _window((3, 3), mode="same"), activation="swish"),
        _conv_case("same-even-strided", _window((4, 2), stride=(2, 3), mode="same"), ODD_IMAGES),
        _conv_case("dilated", _window((2, 3), dilation=(3, 2)), activation="elu"),
        _conv_case("same-dilated", _window((3, 2), dilation=(2, 3), mode="same"), ODD_IMAGES),
        _conv_case("odd-sizes", _window((3, 2), stride=(2, 1), padding=(1, 0)), ODD_IMAGES, "softplus"),
        _conv_case("softmax", _window((3, 3)), activation="softmax"),
        _conv_case("no-bias", _window((3, 3), stride=(2, 1)), has_bias=False),
        _conv_case("dropped", _window((3, 3)), activation="tanh", drop_out=0.6),
        _conv_case("channels-dropped", _window((3, 3)), activation="tanh", drop_out=SpatialDropout(0.6)),
        _conv_case("noised", _window((3, 2)), weight_noise=WeightNoise(NormalDistribution(0.0, 0.3), True, True)),
        _conv_case(
            "constrained",
            _window((2, 2)),
            constrain_bias=UnitNormConstraint(),
            constrain_weights=MaxNormConstraint(0.4),
        ),
    ],
    "dense": [
        *(_dense_case(name, name) for name in ("cube", "identity", "relu", "sigmoid", "softmax", "swish", "tanh")),
        _dense_case("no-bias", "tanh", has_bias=False),
        _dense_case("layer-norm", "tanh", has_layer_norm=True),
        _dense_case("layer-norm-no-bias-noised", "sigmoid", has_layer_norm=True, has_bias=False, weight_noise=NOISE),
        _dense_case("dropped", "sigmoid", drop_out=0.5),
        _dense_case("alpha-dropped", "tanh", drop_out=AlphaDropout(0.7)),
        _dense_case("gaussian-dropped", "tanh", drop_out=GaussianDropout(0.3)),
        _dense_case("gaussian-noise", "sigmoid", drop_out=GaussianNoise(0.5)),
        _dense_case("noised", "tanh", weight_noise=NOISE, drop_out=0.8),
        _dense_case(
            "constrained",
            "tanh",
            constrain_all_parameters=[MinMaxNormConstraint(0.2, 0.5, 0.8), MaxNormConstraint(1.0, dimensions=0)],
            constrain_weights=NonNegativeConstraint(),
        ),
        LayerCase(
            "images",
            DenseLayer(n_out=4, activation="tanh"),
            InputType.convolutional_flat(2, 3, 2),
            partial(_dense, activation="tanh"),
            silences=True,
        ),
    ],
    "dropout": [
        LayerCase("rows", DropoutLayer(0.5), ROWS, lambda x, params: x, draws=True),
        LayerCase("images", DropoutLayer(Dropout(0.8)), IMAGES, lambda x, params: x, draws=True),
        LayerCase("channels", DropoutLayer(SpatialDropout(0.5)), IMAGES, lambda x, params: x, draws=True),
        LayerCase("noise", DropoutLayer(GaussianNoise(0.2)), IMAGES, lambda x, params: x, draws=True),
        LayerCase("none", DropoutLayer(), ROWS, lambda x, params: x),
    ],
    "frozen": [
        _frozen(FrozenLayer, _dense_case("dense", "tanh")),
        _frozen(FrozenLayer, _dense_case("dense-dropped", "sigmoid", drop_out=0.5)),
        _frozen(FrozenLayer, _conv_case("convolution", _window((3, 3), padding=(1, 0)), activation="relu")),
        _frozen(FrozenLayer, _pool_case("pooling", "max", max, _window((2, 2), stride=(2, 2)))),
    ],
    "frozen_with_backprop": [
        _frozen(FrozenLayerWithBackprop, _dense_case("dense", "softmax", has_bias=False)),
        _frozen(FrozenLayerWithBackprop, _conv_case("convolution", _window((3, 2), stride=(2, 2)))),
    ],
    "identity": [
        LayerCase("rows", IdentityLayer(), ROWS, lambda x, params: 1.0 * x),
        LayerCase("images", IdentityLayer(drop_out=0.6), IMAGES, lambda x, params: x + 0.0),
    ],
    "loss": [
        *(_last_case(LossLayer, _activated, *row) for row in _LOSSES),
        _last_case(LossLayer, _activated, "mse", "tanh", "reals", drop_out=0.5),
    ],
    "mask": every(
        [
            LayerCase("rows", MaskLayer(), ROWS, lambda x, params: 1.0 * x),
            LayerCase(
                "series",
                MaskLayer(),
                InputType.recurrent(4, 5),
                lambda x, params: x / 1.0,
                (GlobalPoolingLayer("sum"), *TAIL),
            ),
            LayerCase("images", MaskLayer(drop_out=0.6), IMAGES, lambda x, params: x + 0.0),
        ],
        silences=True,
    ),
    "output": every(
        [
            *(_last_case(OutputLayer, _dense, *row, n_out=5) for row in _LOSSES),
            _last_case(OutputLayer, _dense, "mse", "tanh", "reals", n_out=5, drop_out=0.5),
            _last_case(
                OutputLayer,
                _dense,
                "mcxent",
                "softmax",
                "classes",
                n_out=5,
                weight_noise=WeightNoise(NormalDistribution(0, 0.3)),
            ),
            _last_case(OutputLayer, _dense, "mcxent", "softmax", "classes", n_out=5, has_bias=False),
        ],
        silences=True,
    ),
    "subsampling": [
        _pool_case("max-pairs", "max", max, _window((2, 2), stride=(2, 2))),
        _pool_case("max-pairs-odd", "max", max, _window((2, 2), stride=(2, 2)), ODD_IMAGES),
        _pool_case("max-strict", "max", max, _window((3, 2), stride=(3, 2), mode="strict")),
        _pool_case("max-overlap", "max", max, _window((3, 2), stride=(2, 1))),
        _pool_case("max-padded", "max", max, _window((3, 3), stride=(2, 2), padding=(1, 1)), ODD_IMAGES),
        _pool_case("max-same", "max", max, _window((3, 3), stride=(2, 2), mode="same")),
        _pool_case("max-dilated", "max", max, _window((2, 2), dilation=(2, 3))),
        _pool_case("avg", "avg", _mean_over(4), _window((2, 2), stride=(2, 2))),
        _pool_case("avg-overlap", "avg", _mean_over(6), _window((3, 2)), ODD_IMAGES),
        _pool_case("avg-padded", "avg", np.mean, _window((3, 3), stride=(2, 2), padding=(1, 2))),
        _pool_case(
            "avg-padding-counts",
            "avg",
            _mean_over(9),
            _window((3, 3), stride=(2, 2), padding=(1, 2)),
            avg_pool_include_pad_in_divisor=True,
        ),
        _pool_case("avg-same-dilated", "avg", np.mean, _window((3, 2), dilation=(2, 2), mode="same"), ODD_IMAGES),
        _pool_case("pnorm-1", "pnorm", _p_norm(1), _window((2, 2), stride=(2, 2)), pnorm=1),
        _pool_case("pnorm-2-overlap", "pnorm", _p_norm(2), _window((3, 3)), pnorm=2),
        _pool_case("pnorm-3-padded", "pnorm", _p_norm(3), _window((3, 2), padding=(1, 1)), ODD_IMAGES, pnorm=3),
        _pool_case("pnorm-2-same", "pnorm", _p_norm(2), _window((3, 3), stride=(2, 2), mode="same"), pnorm=2),
        _pool_case("drops-nothing", "max", max, _window((2, 2), stride=(2, 2)), drop_out=0.5),
    ],
}
"""Name in LAYERS -> rows."""
