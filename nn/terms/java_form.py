"""Form of a layer in DL4J's JSON, said beside its configuration as data that costs nothing to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_PACKAGE = "org.deeplearning4j.nn.conf.layers."
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Codec(NamedTuple):
    """Writer and reader of one kind of value."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


Fields = Mapping[str, tuple[str, str | Codec]]
JAVA_INT = (1 << 31) - 1
"""Java counts no further."""


class JavaForm(NamedTuple):
    """Form of a layer in files: its fields, and its constants. `nn.files.forms` makes codecs of the names.

    A layer that says nothing has the form of the class that it comes from.
    """

    fields: Fields
    """JSON key -> the configuration's field, and its codec: a name in `nn.files.forms.CODECS`, or a `Codec`."""
    constants: Mapping[str, Any] = _NOTHING
    """Values that Java writes and no field has: they must be so, but for those that `nn.files.json` lists as unused."""
    package: str = ""
    """Below the layers' package; one that begins with "org." is complete."""
    absent: Mapping[str, Any] = _NOTHING
    """Values that Java takes for missing fields, where they are not the dataclass's defaults."""
    derived: Mapping[str, Callable[[Any], Any] | tuple[str, str]] = _NOTHING
    """Values that Java writes beside the fields and computes by itself when it reads: a function of the configuration,
    or one of its attributes and a codec."""

    def more(self, fields: Fields = _NOTHING, constants: Mapping[str, object] = _NOTHING, **changes: Any) -> JavaForm:
        """Return a form with further fields and constants; `changes` replace its other parts."""
        return self._replace(fields={**self.fields, **fields}, constants={**self.constants, **constants}, **changes)

    def formatted(self, key: str) -> JavaForm:
        """Return a form that has the layer's data_format under that key."""
        fields: Fields = {key: ("data_format", "plain")}
        return self.more(fields, derived={**self.derived, key: lambda conf: conf.data_format or conf.formats[0]})

    def java_class(self, class_name: str) -> str:
        """Return Java's name of a class of that name."""
        return (self.package if self.package.startswith("org.") else _PACKAGE + self.package) + class_name


# ---- shared by several layers: fields

BIAS: Fields = {"hasBias": ("has_bias", "plain")}
LOSS: Fields = {"lossFn": ("loss", "loss")}
SAME_DIFF: Fields = {
    "updater": ("updater", "updater"),
    "biasUpdater": ("bias_updater", "updater"),
    "gradientNormalization": ("gradient_normalization", "normalization"),
    "weightInit": ("weight_init", "init name"),
}
"""Of layers and vertices with parameters that Java writes in SameDiff."""
SIZES: Fields = {"nin": ("n_in", "plain"), "nout": ("n_out", "plain")}
WINDOW: Fields = {
    "convolutionMode": ("convolution_mode", "mode"),
    "kernelSize": ("kernel_size", "pair"),
    "stride": ("stride", "pair"),
    "padding": ("padding", "pair"),
    "dilation": ("dilation", "pair"),
}
VOLUMES: Fields = {key: (field, "mode" if codec == "mode" else "sizes") for key, (field, codec) in WINDOW.items()}

# ---- and constants

TIMED = {"timeDistributedFormat": None}
"""Of every layer with n_in in files of 1.0.0-M1 and later: see `nn.files.older_weights`."""
PARAMETERLESS = {"constraints": None, "gradientNormalization": "None", "gradientNormalizationThreshold": 0.0}
CUDNN = {
    "cudnnAlgoMode": "PREFER_FASTEST", "cudnnAllowFallback": True, "cudnnBwdDataAlgo": None,
    "cudnnBwdFilterAlgo": None, "cudnnFwdAlgo": None,
}  # fmt: skip
CONVOLUTIONS = {**TIMED, **CUDNN}
WITHOUT_SIZES = {**TIMED, "nin": 0, "nout": 0}
IDLE: dict[str, object] = {
    **TIMED, "gainInit": 1.0, "constraints": None, "gradientNormalization": "None",
    "gradientNormalizationThreshold": 1.0,
    "activationFn": {"@class": "org.nd4j.linalg.activations.impl.ActivationSigmoid"},
    "biasInit": 0.0, "biasUpdater": None, "nin": 0, "nout": 0, "regularization": [], "regularizationBias": [],
    "iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.001},
    "weightInitFn": {"@class": "org.deeplearning4j.nn.weights.WeightInitXavier"}, "weightNoise": None,
}  # fmt: skip
"""Of layers without parameters that Java derives from those that have them: it reads none without."""
VOLUMES_ABSENT = {"dilation": [1, 1, 1]}
