"""How a layer is written in DL4J's JSON: fields that every kind of layer shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..json_values import ACTIVATION, MODE, NORMALIZATION, NUMBER, PAIR, PLAIN, UPDATER, WEIGHT_INIT, Codec
from ..noise_json import CONSTRAINTS_LIST, DROPOUT, WEIGHT_NOISE

Json = dict[str, Any]


class LayerForm(NamedTuple):
    """How a layer is written: its own fields, the base it extends, and what must always be so."""

    fields: dict[str, tuple[str, Codec]]
    constants: Json
    package: str = ""
    """Below the layers' package; one that begins with "org." is whole."""
    absent: Mapping[str, Any] = MappingProxyType({})
    """What Java takes where one of its fields is missing, if it is not the dataclass's default."""
    derived: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
    """What Java writes beside the fields and finds by itself."""


LAYER = {"layerName": ("name", PLAIN), "idropout": ("drop_out", DROPOUT)}
BASE = {
    **LAYER,
    "activationFn": ("activation", ACTIVATION),
    "weightInitFn": ("weight_init", WEIGHT_INIT),
    "biasInit": ("bias_init", NUMBER),
    "iupdater": ("updater", UPDATER),
    "biasUpdater": ("bias_updater", UPDATER),
    "gradientNormalization": ("gradient_normalization", NORMALIZATION),
    "gradientNormalizationThreshold": ("gradient_normalization_threshold", NUMBER),
    "constraints": ("constraints", CONSTRAINTS_LIST),
    "weightNoise": ("weight_noise", WEIGHT_NOISE),
}
FEED_FORWARD = {**BASE, "nin": ("n_in", PLAIN), "nout": ("n_out", PLAIN), "hasBias": ("has_bias", PLAIN)}
WINDOW = {
    "convolutionMode": ("convolution_mode", MODE),
    "kernelSize": ("kernel_size", PAIR),
    "stride": ("stride", PAIR),
    "padding": ("padding", PAIR),
    "dilation": ("dilation", PAIR),
}
BASE_CONSTANTS = {"gainInit": 1.0}
PARAMETERLESS = {"constraints": None, "gradientNormalization": "None", "gradientNormalizationThreshold": 0.0}
CUDNN = {
    "cudnnAlgoMode": "PREFER_FASTEST", "cudnnAllowFallback": True, "cudnnBwdDataAlgo": None,
    "cudnnBwdFilterAlgo": None, "cudnnFwdAlgo": None,
}  # fmt: skip
