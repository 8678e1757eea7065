"""JSON forms of the convolutions beside ConvolutionLayer."""

from __future__ import annotations

import math
from typing import Any

from nd.activations import ACTIVATIONS, Activation, get_activation

from ..json_values import MODE, NORMALIZATION, NUMBER, PLAIN, UPDATER, Codec
from ..noise_json import CONSTRAINTS_LIST
from .base import FEED_FORWARD, IMAGES, LAYER, WINDOW, LayerForm


def _or_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _activation_to_json(activation: Activation) -> str:
    """Return the name alone, as DL4J writes it here: the layers take no activation with other parameters."""
    return next(name for name, found in ACTIVATIONS.items() if activation == found()).upper()


def _along(across: int) -> Codec:
    """A number for time, and the usual one for width 1."""
    return Codec(lambda found: [*found, across], lambda value: value[0] if isinstance(value, list) else value)


SIZES = Codec(lambda value: None if value is None else list(value), _or_list)
SIZE = Codec(lambda value: None if value is None else value[0], lambda value: value)
UPPER = Codec(lambda name: name.upper(), lambda name: name.lower())
ACTIVATION_NAME = Codec(_activation_to_json, get_activation)

ALONG = {
    "convolutionMode": WINDOW["convolutionMode"],
    "kernelSize": ("kernel_size", _along(1)),
    "stride": ("stride", _along(1)),
    "padding": ("padding", _along(0)),
    "dilation": ("dilation", _along(1)),
}
"""The fields of windows along time."""
VOLUMES = {key: (field, MODE if field == "convolution_mode" else SIZES) for key, (field, _) in WINDOW.items()}
_NCDHW = {**IMAGES, "dataFormat": "NCDHW"}
_MULTIPLIER = {**FEED_FORWARD, **WINDOW, "depthMultiplier": ("depth_multiplier", PLAIN)}
VOLUME_ABSENT = {"dilation": [1, 1, 1]}

_UNSHARED = {
    **LAYER,
    "activation": ("activation", ACTIVATION_NAME),
    "weightInit": ("weight_init", UPPER),
    "updater": ("updater", UPDATER),
    "biasUpdater": ("bias_updater", UPDATER),
    "gradientNormalization": ("gradient_normalization", NORMALIZATION),
    "gradientNormalizationThreshold": ("gradient_normalization_threshold", NUMBER),
    "constraints": ("constraints", CONSTRAINTS_LIST),
    "nin": ("n_in", PLAIN),
    "nout": ("n_out", PLAIN),
    "hasBias": ("has_bias", PLAIN),
    "cm": ("convolution_mode", MODE),
}


def _unshared(sizes: Codec, names: tuple[str, ...] = ("kernel", "stride", "padding", "dilation")) -> dict[str, Any]:
    windows = {name: ("kernel_size" if name == "kernel" else name, sizes) for name in names}
    return {**_UNSHARED, **windows, "inputSize": ("input_size", sizes)}


def _of_windows(name: str, axes: int) -> Any:
    """Return what a layer's windows say, as one number or as a list of them."""

    def found(conf: Any) -> Any:
        if conf.windows is None:
            return None
        sizes = getattr(conf.windows, name)[:axes]
        return sizes[0] if axes == 1 else list(sizes)

    return found


def _derived(axes: int, padding: str) -> dict[str, Any]:
    return {
        "featureDim": lambda conf: (conf.n_in or 0) * math.prod(conf.kernel_size),
        "outputSize": _of_windows("out", axes),
        padding: _of_windows("pad_after", axes),
    }


CONVOLUTION_FORMS: dict[str, LayerForm] = {
    "convolution1d": LayerForm({**FEED_FORWARD, **ALONG}, {**IMAGES, "rnnDataFormat": "NCW"}),
    "convolution3d": LayerForm({**FEED_FORWARD, **VOLUMES}, {**_NCDHW, "mode": "Same"}, absent=VOLUME_ABSENT),
    "deconvolution2d": LayerForm({**FEED_FORWARD, **WINDOW}, IMAGES),
    "deconvolution3d": LayerForm({**FEED_FORWARD, **VOLUMES}, _NCDHW, absent=VOLUME_ABSENT),
    "depthwise_convolution2d": LayerForm(_MULTIPLIER, IMAGES),
    "locally_connected1d": LayerForm(
        _unshared(SIZE), {"paramWeightInit": None}, absent={"dilation": 1}, derived=_derived(1, "paddingR")
    ),
    "locally_connected2d": LayerForm(
        _unshared(SIZES), {"format": "NCHW", "paramWeightInit": None}, derived=_derived(2, "paddingBr")
    ),
    "separable_convolution2d": LayerForm(_MULTIPLIER, IMAGES),
}
"""Name in LAYERS -> form, sorted."""
