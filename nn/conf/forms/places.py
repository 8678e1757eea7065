"""JSON forms of the layers that move numbers between places."""

from __future__ import annotations

from ..json_values import PLAIN, Codec
from .base import IDLE_FEED_FORWARD, LAYER, PARAMETERLESS, LayerForm
from .convolutions import SIZES

_TWICE = Codec(lambda value: [*value, *value], lambda value: value[0] if isinstance(value, list) else value)
_ROWS = Codec(lambda rows: [list(row) for row in rows], lambda rows: tuple(tuple(row) for row in rows))

_PADDING = {**LAYER, "padding": ("padding", SIZES)}
_CROPPING = {**LAYER, "cropping": ("cropping", SIZES)}
_NCHW = {**PARAMETERLESS, "dataFormat": "NCHW"}
_NCDHW = {**PARAMETERLESS, "dataFormat": "NCDHW"}

PLACES_FORMS: dict[str, LayerForm] = {
    "cropping1d": LayerForm(_CROPPING, PARAMETERLESS, "convolutional."),
    "cropping2d": LayerForm(_CROPPING, _NCHW, "convolutional."),
    "cropping3d": LayerForm(_CROPPING, PARAMETERLESS, "convolutional."),
    "repeat_vector": LayerForm({**LAYER, "n": ("n", PLAIN)}, {**IDLE_FEED_FORWARD, "dataFormat": "NCW"}, "misc."),
    "space_to_batch": LayerForm(
        {**LAYER, "blocks": ("blocks", SIZES), "padding": ("padding", _ROWS)}, {**PARAMETERLESS, "format": "NCHW"}
    ),
    "space_to_depth": LayerForm({**LAYER, "blockSize": ("blocks", PLAIN)}, _NCHW),
    "upsampling1d": LayerForm({**LAYER, "size": ("size", _TWICE)}, PARAMETERLESS),
    "upsampling2d": LayerForm({**LAYER, "size": ("size", SIZES)}, {**PARAMETERLESS, "format": "NCHW"}),
    "upsampling3d": LayerForm({**LAYER, "size": ("size", SIZES)}, {**PARAMETERLESS, "dataFormat": "NCDHW"}),
    "zero_padding": LayerForm(_PADDING, _NCHW),
    "zero_padding1d": LayerForm(_PADDING, PARAMETERLESS),
    "zero_padding3d": LayerForm(_PADDING, PARAMETERLESS),
}
"""Name in LAYERS -> form, sorted."""
