"""Settings of layers of Keras 1 and 2 by Keras 3's names, and those of Keras 3 without what only Keras needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Config = dict[str, Any]

_KERAS_3 = 3
_CLASSES = {
    "AtrousConvolution1D": "Conv1D",
    "AtrousConvolution2D": "Conv2D",
    "BatchNormalizationV1": "BatchNormalization",
    "BatchNormalizationV2": "BatchNormalization",
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution2DTranspose": "Conv2DTranspose",
    "Convolution3D": "Conv3D",
    "Convolution3DTranspose": "Conv3DTranspose",
    "CuDNNGRU": "GRU",
    "CuDNNLSTM": "LSTM",
    "Deconvolution2D": "Conv2DTranspose",
    "Deconvolution3D": "Conv3DTranspose",
    "DropoutV2": "Dropout",
    "GRUV1": "GRU",
    "GRUV2": "GRU",
    "LSTMV1": "LSTM",
    "LSTMV2": "LSTM",
    "SeparableConvolution1D": "SeparableConv1D",
    "SeparableConvolution2D": "SeparableConv2D",
    "TimeDistributedDense": "Dense",
}
"""Older name of a class -> Keras 3's; sorted. Keras 1's TimeDistributedDense is what Dense does with series."""
_MERGES = {
    "ave": "Average",
    "concat": "Concatenate",
    "dot": "Dot",
    "max": "Maximum",
    "mul": "Multiply",
    "sum": "Add",
}
"""Mode of Keras 1's Merge -> Keras 3's class."""
_NAMES_OF_KERAS_1 = {
    "U_regularizer": "recurrent_regularizer",
    "W_constraint": "kernel_constraint",
    "W_regularizer": "kernel_regularizer",
    "atrous_rate": "dilation_rate",
    "b_constraint": "bias_constraint",
    "b_regularizer": "bias_regularizer",
    "beta_init": "beta_initializer",
    "bias": "use_bias",
    "border_mode": "padding",
    "dropout_U": "recurrent_dropout",
    "dropout_W": "dropout",
    "filter_length": "kernel_size",
    "gamma_init": "gamma_initializer",
    "init": "kernel_initializer",
    "inner_activation": "recurrent_activation",
    "inner_init": "recurrent_initializer",
    "length": "size",
    "nb_filter": "filters",
    "output_dim": "units",
    "p": "rate",
    "pool_length": "pool_size",
    "sigma": "stddev",
    "stride": "strides",
    "subsample": "strides",
    "subsample_length": "strides",
}
"""Setting of Keras 1 -> Keras 3's; sorted."""
_NAMES_BY_CLASS = {
    "Embedding": {
        "W_constraint": "embeddings_constraint",
        "W_regularizer": "embeddings_regularizer",
        "init": "embeddings_initializer",
        "output_dim": "output_dim",
    },
    "PReLU": {"init": "alpha_initializer"},
    "SeparableConv2D": {"init": "depthwise_initializer"},
}
"""Class -> its settings whose names differ from those of others."""
_GONE = ("consume_less", "forget_bias_init", "dim_ordering", "output_shape")
"""Settings of Keras 1 that are read and dropped."""
_WITH_OUTPUT_SHAPE = ("Conv2DTranspose", "Conv3DTranspose")
"""Classes whose windows output_shape decides on."""
_ORDERS = {"default": None, "tf": "channels_last", "th": "channels_first"}
_INITIALIZERS = {
    "glorot_normal": ("GlorotNormal", {}),
    "glorot_uniform": ("GlorotUniform", {}),
    "he_normal": ("HeNormal", {}),
    "he_uniform": ("HeUniform", {}),
    "identity": ("Identity", {}),
    "lecun_normal": ("LecunNormal", {}),
    "lecun_uniform": ("LecunUniform", {}),
    "normal": ("RandomNormal", {"mean": 0.0, "stddev": 0.05}),
    "one": ("Ones", {}),
    "ones": ("Ones", {}),
    "orthogonal": ("Orthogonal", {}),
    "random_normal": ("RandomNormal", {"mean": 0.0, "stddev": 0.05}),
    "random_uniform": ("RandomUniform", {"minval": -0.05, "maxval": 0.05}),
    "truncated_normal": ("TruncatedNormal", {"mean": 0.0, "stddev": 0.05}),
    "uniform": ("RandomUniform", {"minval": -0.05, "maxval": 0.05}),
    "zero": ("Zeros", {}),
    "zeros": ("Zeros", {}),
}
"""Short name of an initialiser -> its class and settings."""
_CONSTRAINT_NAMES = {"m": "max_value", "low": "min_value", "high": "max_value"}
_OF_KERAS = ("module", "registered_name", "shared_object_id", "build_config")
"""Fields of Keras 3's objects that nothing depends on."""


def modern(class_name: str, settings: Mapping[str, Any], version: int) -> tuple[str, Config]:
    """Return the class and the settings of a layer in Keras 3's spelling.

    Parameters
    ----------
    class_name : str
    settings : mapping
        As the file has them.
    version : int
        Of Keras.

    Notes
    -----
    Source: Keras 2, legacy/interfaces.py, which reads what Keras 1 was called with.
    """
    config = {name: plain(value) for name, value in settings.items()}
    class_name = class_name.rpartition(">")[2]
    if isinstance(config.get("dtype"), dict):  # a policy of Keras 2 or 3
        policy = config["dtype"].get("config")
        config["dtype"] = policy.get("name") if isinstance(policy, dict) else None
    if version == 1:
        class_name, config = _of_keras_1(class_name, config)
    if version < _KERAS_3:
        config = _of_keras_2(class_name, config)
    class_name = _CLASSES.get(class_name, class_name)
    for name, value in config.items():
        if name.endswith("_initializer"):
            config[name] = _object(value, _INITIALIZERS)
    for name in ("layer", "backward_layer", "cell"):
        if isinstance(config.get(name), dict):
            config[name] = _inner(config[name], version)
    if isinstance(config.get("cells"), list):
        config["cells"] = [_inner(cell, version) if isinstance(cell, dict) else cell for cell in config["cells"]]
    return class_name, config


def plain(value: Any) -> Any:
    """Return a value of Keras' JSON without what its reader alone needs; tuples are lists."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("class_name") in ("__tuple__", "TensorShape") and isinstance(value.get("items"), list):
        return [plain(item) for item in value["items"]]
    return {name: plain(item) for name, item in value.items() if name not in _OF_KERAS or "class_name" not in value}


def _inner(layer: Config, version: int) -> Config:
    """Return a layer in a wrapper; a model stays as it is."""
    class_name, settings = layer.get("class_name"), layer.get("config")
    if not isinstance(class_name, str) or not isinstance(settings, dict) or "layers" in settings:
        return layer
    class_name, settings = modern(class_name, settings, version)
    return {"class_name": class_name, "config": settings}


def _object(value: Any, classes: Mapping[str, tuple[str, Config]]) -> Any:
    """Return an initialiser as class and settings, whichever way it was written."""
    if isinstance(value, str):
        class_name, config = classes.get(value.lower(), (value, {}))
        return {"class_name": class_name, "config": dict(config)}
    return value


# ---- Keras 2


def _of_keras_2(class_name: str, config: Config) -> Config:
    if class_name == "LeakyReLU" and "alpha" in config:
        config["negative_slope"] = config.pop("alpha")
    if class_name == INPUT_LAYER and "batch_input_shape" in config:
        config["batch_shape"] = config.pop("batch_input_shape")
    if (
        class_name.startswith("BatchNormalization")
        and isinstance(config.get("axis"), list)
        and len(config["axis"]) == 1
    ):
        (config["axis"],) = config["axis"]
    if class_name == "GRU":
        config.setdefault("reset_after", False)
    if class_name == "CuDNNGRU":
        config["reset_after"] = True
    if class_name in ("CuDNNGRU", "CuDNNLSTM"):
        config.update(activation="tanh", recurrent_activation="sigmoid", use_bias=True)
    return config


INPUT_LAYER = "InputLayer"


# ---- Keras 1


def _of_keras_1(class_name: str, config: Config) -> tuple[str, Config]:
    if class_name == "Merge":
        return _of_merge(config)
    older = class_name
    class_name = _CLASSES.get(class_name, class_name)
    names = {**_NAMES_OF_KERAS_1, **_NAMES_BY_CLASS.get(class_name, {})}
    if class_name == "RepeatVector" or class_name == "ActivityRegularization":
        names = {}
    gone = set(_GONE) - ({"output_shape"} if class_name in _WITH_OUTPUT_SHAPE else set())
    named = {names.get(name, name): value for name, value in config.items() if name not in gone}
    if "dim_ordering" in config:
        named["data_format"] = _ORDERS.get(str(config["dim_ordering"]), config["dim_ordering"])
    if "forget_bias_init" in config:
        named["unit_forget_bias"] = config["forget_bias_init"] in ("one", "ones")
    if older == "TimeDistributedDense":
        named.pop("input_length", None)
    for name, value in named.items():
        if name.endswith("_regularizer"):
            named[name] = _regularizer(value)
        elif name.endswith("_constraint"):
            named[name] = _constraint(value)
    more = _MORE.get(class_name)
    return class_name, named if more is None else more(named)


def _of_merge(config: Config) -> tuple[str, Config]:
    """Return the class of a mode; Merge with a function, or cosines, stays Merge."""
    mode = config.get("mode")
    if config.get("mode_type", "raw") != "raw" or mode not in _MERGES:
        return "Merge", config
    kept: Config = {name: config[name] for name in ("name", "trainable") if name in config}
    if mode == "concat":
        kept["axis"] = config.get("concat_axis", -1)
    if mode == "dot":
        kept.update(axes=config.get("dot_axes", -1), normalize=False)
    return _MERGES[mode], kept


def _regularizer(value: Any) -> Any:
    if not isinstance(value, dict) or "class_name" in value:
        return value
    named = dict(value)
    class_name = {"WeightRegularizer": "L1L2", "L1L2Regularizer": "L1L2", "ActivityRegularizer": "L1L2"}
    name = str(named.pop("name", ""))
    return {"class_name": class_name.get(name, name), "config": named}


def _constraint(value: Any) -> Any:
    if not isinstance(value, dict) or "class_name" in value:
        return value
    named = {_CONSTRAINT_NAMES.get(name, name): item for name, item in value.items()}
    name = str(named.pop("name", ""))
    return {"class_name": {"NonNeg": "NonNeg", "UnitNorm": "UnitNorm"}.get(name, name), "config": named}


def _kernel_2d(config: Config) -> Config:
    if "nb_row" in config and "nb_col" in config:
        config["kernel_size"] = [config.pop("nb_row"), config.pop("nb_col")]
    return config


def _kernel_3d(config: Config) -> Config:
    names = ("kernel_dim1", "kernel_dim2", "kernel_dim3")
    if all(name in config for name in names):
        config["kernel_size"] = [config.pop(name) for name in names]
    return config


def _separable(config: Config) -> Config:
    config["pointwise_initializer"] = config.get("depthwise_initializer")
    return _kernel_2d(config)


def _batch_normalization(config: Config) -> Config:
    if config.get("mode") == 0:
        del config["mode"]
    return config


def _embedding(config: Config) -> Config:
    if not config.get("dropout"):
        config.pop("dropout", None)
    return config


def _padding_2d(config: Config) -> Config:
    padding = config.get("padding")
    if isinstance(padding, dict):
        top, bottom, left, right = (padding.get(f"{side}_pad", 0) for side in ("top", "bottom", "left", "right"))
        config["padding"] = [[top, bottom], [left, right]]
    elif isinstance(padding, list) and len(padding) == 4:
        config["padding"] = [padding[:2], padding[2:]]
    return config


def _recurrent(config: Config) -> Config:
    config.setdefault("use_bias", True)
    return config


def _conv_lstm(config: Config) -> Config:
    return _kernel_2d(_recurrent(config))


_MORE: dict[str, Callable[[Config], Config]] = {
    "BatchNormalization": _batch_normalization,
    "Conv2D": _kernel_2d,
    "Conv2DTranspose": _kernel_2d,
    "Conv3D": _kernel_3d,
    "ConvLSTM2D": _conv_lstm,
    "Embedding": _embedding,
    "GRU": _recurrent,
    "LSTM": _recurrent,
    "LocallyConnected2D": _kernel_2d,
    "SeparableConv2D": _separable,
    "SimpleRNN": _recurrent,
    "ZeroPadding2D": _padding_2d,
}
"""Class -> what else differs in Keras 1."""
