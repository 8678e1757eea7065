"""JSON forms of the layers that every kind of network has."""

from __future__ import annotations

from typing import Any

from ..json_values import ACTIVATION, LOSS, PLAIN, POOLING, Codec
from .base import (
    BASE,
    FEED_FORWARD,
    FEED_FORWARD_CONSTANTS,
    IDLE_FEED_FORWARD,
    IMAGES,
    LAYER,
    PARAMETERLESS,
    WINDOW,
    LayerForm,
)  # fmt: skip


def _encode_wrapped(layer: Any) -> Any:
    from ..json import layer_to_json

    return layer_to_json(layer)


def _decode_wrapped(data: Any) -> Any:
    from ..json import layer_from_json

    return layer_from_json(data)


WRAPPED = Codec(_encode_wrapped, _decode_wrapped)

CORE_FORMS: dict[str, LayerForm] = {
    "activation": LayerForm({**LAYER, "activationFn": ("activation", ACTIVATION)}, PARAMETERLESS),
    "convolution": LayerForm({**FEED_FORWARD, **WINDOW}, IMAGES),
    "dense": LayerForm({**FEED_FORWARD, "hasLayerNorm": ("has_layer_norm", PLAIN)}, FEED_FORWARD_CONSTANTS),
    "dropout": LayerForm(LAYER, IDLE_FEED_FORWARD),
    "frozen": LayerForm({**LAYER, "layer": ("layer", WRAPPED)}, {"constraints": None}, "misc."),
    "frozen_with_backprop": LayerForm({**LAYER, "underlying": ("layer", WRAPPED)}, {"constraints": None}, "misc."),
    "loss": LayerForm({**BASE, "lossFn": ("loss", LOSS)}, {**FEED_FORWARD_CONSTANTS, "nin": 0, "nout": 0}),
    "output": LayerForm({**FEED_FORWARD, "lossFn": ("loss", LOSS)}, FEED_FORWARD_CONSTANTS),
    "subsampling": LayerForm(
        {
            **LAYER,
            **WINDOW,
            "poolingType": ("pooling_type", POOLING),
            "pnorm": ("pnorm", PLAIN),
            "avgPoolIncludePadInDivisor": ("avg_pool_include_pad_in_divisor", PLAIN),
        },
        {**PARAMETERLESS, "cnn2dDataFormat": "NCHW", "cudnnAllowFallback": True, "eps": 1e-8},
    ),
}
"""Name in LAYERS -> form, sorted."""
