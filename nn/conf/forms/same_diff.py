"""JSON forms of the layers that are written with SameDiff in DL4J."""

from __future__ import annotations

from typing import Any

from nd import ConfigurationError
from nd.checks import check_choice

from ...weights import WEIGHT_INITS
from ..json_values import NORMALIZATION, NUMBER, PLAIN, UPDATER, Codec
from ..noise_json import CONSTRAINTS_LIST
from .base import LAYER, WINDOW, LayerForm


def _init_to_json(init: Any) -> str | None:
    if init is not None and not isinstance(init, str):
        raise ConfigurationError(
            f"to_json: DL4J has names only for the weight_init of such layers, got {init!r}. Use one of "
            f"{', '.join(sorted(WEIGHT_INITS))}."
        )
    return None if init is None else init.upper()


def _init_from_json(name: Any) -> str | None:
    return None if name is None else check_choice("configuration", "weightInit", str(name).lower(), WEIGHT_INITS)


_INIT_NAME = Codec(_init_to_json, _init_from_json)
_SIZE = Codec(lambda size: size or 0, lambda size: size or None)  # what is not inferred yet is 0 in Java

SAME_DIFF = {
    **LAYER,
    "constraints": ("constraints", CONSTRAINTS_LIST),
    "updater": ("updater", UPDATER),
    "biasUpdater": ("bias_updater", UPDATER),
    "gradientNormalization": ("gradient_normalization", NORMALIZATION),
    "gradientNormalizationThreshold": ("gradient_normalization_threshold", NUMBER),
    "weightInit": ("weight_init", _INIT_NAME),
}
_OUT = {"capsules": ("capsules", _SIZE), "capsuleDimensions": ("capsule_dimensions", _SIZE)}
_CONSTANTS = {"paramWeightInit": None}

SAME_DIFF_FORMS: dict[str, LayerForm] = {
    "capsule": LayerForm(
        {
            **SAME_DIFF,
            **_OUT,
            "hasBias": ("has_bias", PLAIN),
            "inputCapsules": ("input_capsules", _SIZE),
            "inputCapsuleDimensions": ("input_capsule_dimensions", _SIZE),
            "routings": ("routings", PLAIN),
        },
        _CONSTANTS,
    ),
    "capsule_strength": LayerForm(SAME_DIFF, _CONSTANTS),
    "primary_capsules": LayerForm(
        {
            **SAME_DIFF,
            **_OUT,
            **WINDOW,
            "channels": ("channels", PLAIN),
            "hasBias": ("has_bias", PLAIN),
            "inputChannels": ("input_channels", _SIZE),
            "leak": ("leak", NUMBER),
            "useRelu": ("use_relu", PLAIN),
        },
        _CONSTANTS,
    ),
}
"""Name in LAYERS -> form, sorted."""
