"""Keras 1: its settings by Keras 3's names, its weights in Keras 3's axes."""

import itertools
import json

import numpy as np
import pytest

from nn.keras.reading import read_keras

from .files import layer, legacy, read


def one(class_name, name, **settings):
    return layer(class_name, name, version=1, **settings)


def document(*layers):
    return {"class_name": "Sequential", "keras_version": "1.2.2", "config": list(layers)}


def config_of(class_name, **settings):
    """Return the class and the settings that a layer of Keras 1 becomes."""
    model = read_keras(json.dumps(document(one(class_name, "l", batch_input_shape=[None, 4, 4, 4], **settings))))
    (call,) = model.calls
    kept = {name: value for name, value in call.layer.config.items() if name not in ("name", "batch_input_shape")}
    return call.layer.class_name, kept


UNIFORM = {"class_name": "RandomUniform", "config": {"minval": -0.05, "maxval": 0.05}}
L1L2 = {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.5}}
RENAMED = {
    "Dense": (
        {"output_dim": 3, "init": "uniform", "W_regularizer": {"name": "L1L2Regularizer", "l1": 0.0, "l2": 0.5},
         "b_constraint": {"name": "MaxNorm", "m": 2, "axis": 0}, "bias": False},
        "Dense", {"units": 3, "kernel_initializer": UNIFORM, "kernel_regularizer": L1L2,
                  "bias_constraint": {"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 0}},
                  "use_bias": False},
    ),
    "Convolution2D": (
        {"nb_filter": 5, "nb_row": 3, "nb_col": 2, "subsample": [2, 1], "border_mode": "same", "dim_ordering": "th"},
        "Conv2D", {"filters": 5, "kernel_size": [3, 2], "strides": [2, 1], "padding": "same",
                   "data_format": "channels_first"},
    ),
    "AtrousConvolution2D": (
        {"nb_filter": 5, "nb_row": 3, "nb_col": 3, "atrous_rate": [2, 2], "dim_ordering": "tf"},
        "Conv2D", {"filters": 5, "kernel_size": [3, 3], "dilation_rate": [2, 2], "data_format": "channels_last"},
    ),
    "Convolution1D": (
        {"nb_filter": 5, "filter_length": 3, "subsample_length": 2, "border_mode": "valid"},
        "Conv1D", {"filters": 5, "kernel_size": 3, "strides": 2, "padding": "valid"},
    ),
    "Convolution3D": (
        {"nb_filter": 5, "kernel_dim1": 1, "kernel_dim2": 2, "kernel_dim3": 3, "dim_ordering": "tf"},
        "Conv3D", {"filters": 5, "kernel_size": [1, 2, 3], "data_format": "channels_last"},
    ),
    "Deconvolution2D": (
        {"nb_filter": 5, "nb_row": 3, "nb_col": 3, "output_shape": [None, 9, 9, 5], "dim_ordering": "tf"},
        "Conv2DTranspose", {"filters": 5, "kernel_size": [3, 3], "output_shape": [None, 9, 9, 5],
                            "data_format": "channels_last"},
    ),
    "SeparableConvolution2D": (
        {"nb_filter": 5, "nb_row": 3, "nb_col": 3, "init": "uniform"},
        "SeparableConv2D", {"filters": 5, "kernel_size": [3, 3], "depthwise_initializer": UNIFORM,
                            "pointwise_initializer": UNIFORM},
    ),
    "LSTM": (
        {"output_dim": 3, "inner_init": "orthogonal", "forget_bias_init": "one", "inner_activation": "hard_sigmoid",
         "dropout_W": 0.1, "dropout_U": 0.2, "consume_less": "cpu", "U_regularizer": None},
        "LSTM", {"units": 3, "recurrent_initializer": {"class_name": "Orthogonal", "config": {}},
                 "unit_forget_bias": True, "recurrent_activation": "hard_sigmoid", "dropout": 0.1,
                 "recurrent_dropout": 0.2, "use_bias": True, "recurrent_regularizer": None},
    ),
    "GRU": ({"output_dim": 3}, "GRU", {"units": 3, "use_bias": True, "reset_after": False}),
    "Embedding": (
        {"input_dim": 9, "output_dim": 3, "init": "uniform", "dropout": 0.0},
        "Embedding", {"input_dim": 9, "output_dim": 3, "embeddings_initializer": UNIFORM},
    ),
    "MaxPooling1D": (
        {"pool_length": 3, "stride": 2, "border_mode": "valid"},
        "MaxPooling1D", {"pool_size": 3, "strides": 2, "padding": "valid"},
    ),
    "BatchNormalization": ({"mode": 0, "axis": -1}, "BatchNormalization", {"axis": -1}),
    "BatchNormalization ": ({"mode": 2, "axis": 1}, "BatchNormalization", {"axis": 1, "mode": 2}),
    "Dropout": ({"p": 0.5}, "Dropout", {"rate": 0.5}),
    "GaussianNoise": ({"sigma": 0.5}, "GaussianNoise", {"stddev": 0.5}),
    "LeakyReLU": ({"alpha": 0.5}, "LeakyReLU", {"negative_slope": 0.5}),
    "PReLU": ({"init": "uniform"}, "PReLU", {"alpha_initializer": UNIFORM}),
    "UpSampling1D": ({"length": 3}, "UpSampling1D", {"size": 3}),
    "RepeatVector": ({"n": 3}, "RepeatVector", {"n": 3}),
    "ZeroPadding2D": ({"padding": [1, 2, 3, 4]}, "ZeroPadding2D", {"padding": [[1, 2], [3, 4]]}),
    "TimeDistributedDense": ({"output_dim": 3, "input_length": 4}, "Dense", {"units": 3}),
    "TimeDistributed": (
        {"layer": {"class_name": "Dense", "config": {"output_dim": 3, "name": "d"}}},
        "TimeDistributed", {"layer": {"class_name": "Dense", "config": {"units": 3, "name": "d"}}},
    ),
    "MaxoutDense": ({"output_dim": 3, "nb_feature": 4}, "MaxoutDense", {"units": 3, "nb_feature": 4}),
}  # fmt: skip
"""Class of Keras 1 -> settings, and what Keras 2 calls them (its legacy/interfaces.py)."""


@pytest.mark.parametrize("class_name", RENAMED)
def test_settings_have_keras_3s_names(class_name):
    settings, expected, named = RENAMED[class_name]
    assert config_of(class_name.strip(), **settings) == (expected, named)


@pytest.mark.parametrize(
    ("mode", "class_name"),
    {
        "sum": "Add",
        "mul": "Multiply",
        "ave": "Average",
        "max": "Maximum",
        "concat": "Concatenate",
        "cos": "Merge",
    }.items(),
)
def test_chains_that_begin_with_models_which_are_merged(mode, class_name, tmp_path):
    denses = [one("Dense", f"d{side}", output_dim=2, batch_input_shape=[None, 3]) for side in "ab"]
    branches = [{"class_name": "Sequential", "config": [dense]} for dense in denses]
    merge = one("Merge", "m", mode=mode, mode_type="raw", concat_axis=1, layers=branches)
    config = document(merge, one("Dense", "last", output_dim=1))
    width = 4 if mode == "concat" else 2
    layers = {name: {f"{name}_W": np.full(shape, at), f"{name}_b": np.full(shape[1:], at + 0.5)}
              for at, (name, shape) in enumerate({"da": (3, 2), "db": (3, 2), "last": (width, 1)}.items())}  # fmt: skip
    model = read_keras(legacy(tmp_path / "m.h5", config, {"da": layers["da"], "db": layers["db"], "m": {},
                                                          "last": layers["last"]}), isolated=False)  # fmt: skip
    assert model.version == 1
    assert list(model.inputs) == ["sequential_1_input", "sequential_2_input"]
    assert [call.layer.class_name for call in model.calls] == ["Dense", "Dense", class_name, "Dense"]
    assert model.calls[2].inputs == (model.calls[0].name, model.calls[1].name)
    assert [one.read().flat[0] for call in model.calls for one in call.layer.weights] == [0, 0.5, 1, 1.5, 2, 2.5]
    if mode == "concat":
        assert model.calls[2].layer.config["axis"] == 1


# ---- weights


def kernel_of(tmp_path, first, weights, **attributes):
    config = document({**first, "config": {**first["config"], "batch_input_shape": [None, 8, 8, 8]}})
    named = {f"l_{at}": array for at, array in enumerate(weights)}
    model = read_keras(legacy(tmp_path / "m.h5", config, {"l": named}, **attributes), isolated=False)
    assert all(tuple(one.shape) == one.read().shape for one in model.calls[0].layer.weights)
    return read(model)["l"]


def convolved(x, kernel):
    """Return the convolution of ``x [c, h, w]`` with Theano's ``kernel [o, c, kh, kw]``: its places run backwards."""
    outs, _, rows, columns = kernel.shape
    out = np.zeros((outs, x.shape[1] - rows + 1, x.shape[2] - columns + 1))
    for (o, h, w), (c, a, b) in itertools.product(np.ndindex(out.shape), np.ndindex(kernel.shape[1:])):
        out[o, h, w] += x[c, h + rows - 1 - a, w + columns - 1 - b] * kernel[o, c, a, b]
    return out


def correlated(x, kernel):
    """Return what Keras 3 computes of ``x [c, h, w]`` and ``kernel [kh, kw, c, o]``."""
    rows, columns, _, outs = kernel.shape
    out = np.zeros((outs, x.shape[1] - rows + 1, x.shape[2] - columns + 1))
    for (o, h, w), (a, b, c) in itertools.product(np.ndindex(out.shape), np.ndindex(kernel.shape[:3])):
        out[o, h, w] += x[c, h + a, w + b] * kernel[a, b, c, o]
    return out


@pytest.mark.parametrize("attributes", [{}, {"backend": "theano"}, {"backend": "tensorflow"}])
def test_theanos_kernels_are_turned(attributes, tmp_path):
    rng = np.random.default_rng(1)
    stored = rng.normal(size=(4, 2, 3, 2))
    first = one("Convolution2D", "l", nb_filter=4, nb_row=3, nb_col=2, dim_ordering="th", bias=False)
    kernel = kernel_of(tmp_path, first, [stored], **attributes)["kernel"]
    x = rng.normal(size=(2, 5, 4))
    turned = stored if attributes.get("backend") != "tensorflow" else stored[:, :, ::-1, ::-1]
    np.testing.assert_allclose(correlated(x, kernel), convolved(x, turned), rtol=1e-6, atol=1e-6)


def test_kernels_of_tensorflow_stay(tmp_path):
    stored = np.random.default_rng(1).normal(size=(3, 2, 2, 4))
    first = one("Convolution2D", "l", nb_filter=4, nb_row=3, nb_col=2, dim_ordering="tf", bias=False)
    np.testing.assert_array_equal(kernel_of(tmp_path, first, [stored])["kernel"], stored)


def test_series_were_pictures_one_pixel_wide(tmp_path):
    stored = np.arange(24.0).reshape(3, 1, 2, 4)
    first = one("Convolution1D", "l", nb_filter=4, filter_length=3, bias=False)
    np.testing.assert_array_equal(kernel_of(tmp_path, first, [stored])["kernel"], stored[:, 0])
    older = stored.transpose(3, 2, 0, 1)  # [out, in, length, 1], before 1.2
    np.testing.assert_array_equal(kernel_of(tmp_path, first, [older])["kernel"], stored[:, 0])


@pytest.mark.parametrize("ordering", ["th", "tf"])
def test_kernels_of_transposed_convolutions_have_the_filters_third(ordering, tmp_path):
    stored = np.arange(48.0).reshape((4, 2, 3, 2) if ordering == "th" else (3, 2, 2, 4))
    first = one("Deconvolution2D", "l", nb_filter=4, nb_row=3, nb_col=2, dim_ordering=ordering, bias=False)
    kernel = kernel_of(tmp_path, first, [stored], backend="tensorflow")["kernel"]
    assert kernel.shape == (3, 2, 4, 2)
    for o, c, a, b in np.ndindex(4, 2, 3, 2):
        assert kernel[a, b, o, c] == (stored[o, c, a, b] if ordering == "th" else stored[a, b, c, o])


@pytest.mark.parametrize(("class_name", "gates", "order"), [("LSTM", "icfo", "ifco"), ("GRU", "zrh", "zrh")])
def test_gates_that_had_weights_of_their_own(class_name, gates, order, tmp_path):
    arrays = {f"{part}_{gate}": np.full(shape, 10 * at + number)
              for at, gate in enumerate(gates)
              for number, (part, shape) in enumerate({"W": (3, 2), "U": (2, 2), "b": (2,)}.items())}  # fmt: skip
    for bidirectional in (False, True):
        inner = one(class_name, "l", output_dim=2)
        first = one("Bidirectional", "l", layer=inner, merge_mode="sum") if bidirectional else inner
        weights = [*arrays.values()] + [100 + array for array in arrays.values()] * bidirectional
        config = document({**first, "config": {**first["config"], "batch_input_shape": [None, 5, 3]}})
        path = legacy(tmp_path / f"{bidirectional}.h5", config, {"l": {f"l_{at}": a for at, a in enumerate(weights)}})
        kept = read_keras(path, isolated=False).calls[0].layer.weights
        assert [weight.name for weight in kept] == ["kernel", "recurrent_kernel", "bias"] * (1 + bidirectional)
        for at, weight in enumerate(kept):
            expected = [arrays[f"{'WUb'[at % 3]}_{gate}"] + 100 * (at > 2) for gate in order]
            np.testing.assert_array_equal(weight.read(), np.concatenate(expected, axis=-1))
            assert tuple(weight.shape) == weight.read().shape
