"""How a layer is written in DL4J's JSON: fields that every kind of layer shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..json_inits import WEIGHT_INIT
from ..json_values import ACTIVATION, MODE, NORMALIZATION, NUMBER, PAIR, PLAIN, UPDATER, Codec
from ..noise_json import CONSTRAINTS_LIST, DROPOUT, WEIGHT_NOISE

Json = dict[str, Any]


class LayerForm(NamedTuple):
    """How a layer is written: its own fields, the base it extends, and what must always be so."""

    fields: dict[str, tuple[str, Codec]]
    constants: Json
    """What Java writes and there is no field for: it must be so, but for what `nn.conf.json` lists as unused."""
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
FEED_FORWARD_CONSTANTS = {**BASE_CONSTANTS, "timeDistributedFormat": None}
"""The last of them tells files of 1.0.0-M1 and later: see `nn.older_weights`."""
PARAMETERLESS = {"constraints": None, "gradientNormalization": "None", "gradientNormalizationThreshold": 0.0}
CUDNN = {
    "cudnnAlgoMode": "PREFER_FASTEST", "cudnnAllowFallback": True, "cudnnBwdDataAlgo": None,
    "cudnnBwdFilterAlgo": None, "cudnnFwdAlgo": None,
}  # fmt: skip
IMAGES = {**FEED_FORWARD_CONSTANTS, **CUDNN, "cnn2dDataFormat": "NCHW"}
"""Java's convolutions over one and three axes have a format of images too."""
IDLE_FEED_FORWARD: Json = {
    **FEED_FORWARD_CONSTANTS, "constraints": None, "gradientNormalization": "None",
    "gradientNormalizationThreshold": 1.0,
    "activationFn": {"@class": "org.nd4j.linalg.activations.impl.ActivationSigmoid"},
    "biasInit": 0.0, "biasUpdater": None, "nin": 0, "nout": 0, "regularization": [], "regularizationBias": [],
    "iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.001},
    "weightInitFn": {"@class": "org.deeplearning4j.nn.weights.WeightInitXavier"}, "weightNoise": None,
}  # fmt: skip
"""Of layers without parameters that Java derives from those that have them: it reads none without."""
