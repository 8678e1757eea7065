"""An old layer as 1.0 writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import values
from .names import LAYERS, Json, as_class, is_wrapper, number_or_none
from .values import Around

Path = tuple[str | int, ...]


class Dropped(NamedTuple):
    """A setting of a file that Java 1.0 does not take over."""

    path: Path
    value: Any


NO_BASE = frozenset({
    "ActivationLayer", "Bidirectional", "Cropping1D", "Cropping2D", "DropoutLayer", "FrozenLayer", "GlobalPoolingLayer",
    "LocalResponseNormalization", "MaskLayer", "MaskZeroLayer", "Subsampling1DLayer", "SubsamplingLayer",
    "Upsampling2D", "Yolo2OutputLayer", "ZeroPadding1DLayer", "ZeroPaddingLayer",
})  # fmt: skip
"""Classes of the oldest form that 1.0 no longer gives an updater and penalties."""
_OWN_INITS = ("LocallyConnected", "SelfAttention", "LearnedSelfAttention", "RecurrentAttention", "Capsule", "Primary")
"""Beginnings of classes that 1.0 still writes with a weightInit."""
_INNER = ("layer", "underlying", "fwd", "bwd")
_RATES = frozenset({
    "adamMeanDecay", "adamVarDecay", "biasLearningRate", "epsilon", "learningRate", "learningRateSchedule", "momentum",
    "momentumSchedule", "rho", "rmsDecay", "updater",
})  # fmt: skip
_PENALTIES = frozenset({"biasL1", "biasL2", "l1", "l1Bias", "l2", "l2Bias"})
_BASE_FIELDS = frozenset({
    "biasInit", "biasUpdater", "gradientNormalization", "gradientNormalizationThreshold", "iupdater", "weightInitFn",
    "weightNoise",
})  # fmt: skip
_OTHERS = frozenset({"activationFunction", "convolutionType", "customLossFunction", "dist", "dropOut"})
_Kind = Callable[[Json, Around], Json]
_KINDS: tuple[_Kind, ...] = (
    values.activations, values.distributions, values.dropouts, values.penalties, values.reconstructions,
    values.updaters, values.weight_inits,
)  # fmt: skip
_HAS_LOSS = frozenset({
    "CenterLossOutputLayer", "CnnLossLayer", "Cnn3DLossLayer", "LossLayer", "OCNNOutputLayer", "OutputLayer",
    "RnnLossLayer", "RnnOutputLayer", "Yolo2OutputLayer",
})  # fmt: skip
_SIZES = {
    "Upsampling1D": ("size", 1), "Upsampling2D": ("size", 2), "Upsampling3D": ("size", 3),
    "ZeroPadding1DLayer": ("padding", 2), "Cropping1D": ("cropping", 2), "Convolution1DLayer": ("kernelSize", 2),
}  # fmt: skip
"""Sizes that were one integer -> their number in 1.0."""


def modern_layer(data: object, around: Around, path: Path, dropped: list[Dropped]) -> Any:
    """Return a layer of any version as 1.0 writes it; data that is no layer at all comes back as it is.

    Parameters
    ----------
    data : object
        ``{"dense": {...}}``, or ``{"@class": ..., ...}`` of any release since beta.
    around : Around
    path : tuple
        Place of the layer in the document.
    dropped : list
        Gets the settings that Java drops.
    """
    if not isinstance(data, dict) or not (isinstance(data.get("@class"), str) or is_wrapper(data)):
        return data
    fields = as_class(LAYERS, data)
    java = fields["@class"].rpartition(".")[2]
    inner = {key: modern_layer(fields[key], around, (*path, key), dropped) for key in _INNER if key in fields}
    if java == "BatchNormalization" and around.variables:
        inner["useLogStd"] = "var" not in around.variables
    if not is_wrapper(data) and not _is_old(java, fields):
        return {**fields, **values.distributions(fields, around), **inner}
    plain = is_wrapper(data) and java in NO_BASE
    dropped += _dropped(fields, path, plain, around)
    rewritten = {key: value for kind in _kinds_of(java, plain, around) for key, value in kind(fields, around).items()}
    gone = _OTHERS | _PENALTIES | ({"activationFn"} if plain and java != "ActivationLayer" else frozenset())
    gone |= _RATES if isinstance(fields.get("updater"), str) or plain else frozenset()
    gone |= {"weightInit"} if "weightInitFn" in rewritten or plain else frozenset()
    gone |= _BASE_FIELDS if plain else frozenset()
    gone |= {"lossFunction"} if java in _HAS_LOSS else frozenset()
    kept = {key: value for key, value in fields.items() if key not in gone}
    return {**kept, **_sizes(java, fields), **rewritten, **inner}


def _is_old(java: str, fields: Json) -> bool:
    if java.startswith(_OWN_INITS):
        return bool(_PENALTIES & fields.keys())
    if "weightInit" in fields and not {"regularization", "weightInitFn"} & fields.keys():
        return True
    return bool((_PENALTIES | {"dropOut"}) & fields.keys()) or isinstance(fields.get("updater"), str)


def _kinds_of(java: str, plain: bool, around: Around) -> tuple[_Kind, ...]:
    loss = (values.losses,) if java in _HAS_LOSS else ()
    if not plain:
        return *(kind for kind in _KINDS if kind is not values.weight_inits or not java.startswith(_OWN_INITS)), *loss
    activation = (values.activations,) if java == "ActivationLayer" else ()
    dropout = (values.dropouts,) if java == "DropoutLayer" or around.in_graph else ()
    return *activation, *loss, *dropout


def _sizes(java: str, fields: Json) -> Json:
    key, count = _SIZES.get(java, ("", 0))
    sizes = {key: [fields[key]] * count} if isinstance(fields.get(key), int) else {}
    for name in ("kernelSize", "stride", "padding", "dilation"):
        if isinstance(fields.get(name), int) and name != key:
            sizes[name] = [fields[name]] * 2
    return sizes


def _dropped(fields: Json, path: Path, plain: bool, around: Around) -> list[Dropped]:
    """Return the settings of a layer that have no place in 1.0, as far as they are not defaults."""
    settings = {key: fields.get(key) for key in ("learningRateSchedule", "momentumSchedule") if fields.get(key)}
    schedules = fields.get("iupdater")
    if isinstance(schedules, dict) and schedules.get("momentumSchedule"):
        settings["iupdater.momentumSchedule"] = schedules["momentumSchedule"]
    rate = number_or_none(fields.get("biasLearningRate"))
    if not plain and rate not in (None, number_or_none(fields.get("learningRate"))):
        settings["biasLearningRate"] = rate
    settings |= {key: fields[key] for key in ("biasL1", "biasL2") if (number_or_none(fields.get(key)) or 0.0) > 0.0}
    if plain and fields["@class"].endswith("DropoutLayer") and around.use_drop_connect and not around.in_graph:
        settings |= {key: fields[key] for key in ("dropOut",) if (number_or_none(fields.get(key)) or 0.0) > 0.0}
    if not values.is_known_init(fields) and not plain:
        settings["weightInit"] = fields["weightInit"]
    if fields.get("convolutionType", "VALID") != "VALID":
        settings["convolutionType"] = fields["convolutionType"]
    return [Dropped((*path, key), value) for key, value in settings.items()]
