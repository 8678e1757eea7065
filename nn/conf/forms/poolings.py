"""JSON forms of the poolings beside SubsamplingLayer."""

from __future__ import annotations

from typing import Any

from ..json_values import PLAIN, POOLING, Codec
from .base import LAYER, PARAMETERLESS, WINDOW, LayerForm
from .core import CORE_FORMS

_TUPLE = Codec(lambda value: None if value is None else list(value), lambda value: value and tuple(value))
_SIZES = Codec(list, lambda value: tuple(value) if isinstance(value, list) else value)


def _along(across: int) -> Codec:
    """One number for time, and the usual one for width 1, which is not looked at."""
    return Codec(lambda value: [*value, across], lambda value: value[0] if isinstance(value, list) else value)


_ALONG_TIME: dict[str, tuple[str, Codec]] = {
    "kernelSize": ("kernel_size", _along(1)),
    "stride": ("stride", _along(1)),
    "padding": ("padding", _along(0)),
    "dilation": ("dilation", _along(1)),
}
_VOLUMES: dict[str, Any] = {
    key: found if key == "convolutionMode" else (found[0], _SIZES) for key, found in WINDOW.items()
}

POOLING_FORMS: dict[str, LayerForm] = {
    "global_pooling": LayerForm(
        {
            **LAYER,
            "collapseDimensions": ("collapse_dimensions", PLAIN),
            "pnorm": ("pnorm", PLAIN),
            "poolingDimensions": ("pooling_dimensions", _TUPLE),
            "poolingType": ("pooling_type", POOLING),
        },
        PARAMETERLESS,
    ),
    "subsampling1d": LayerForm(
        {**CORE_FORMS["subsampling"].fields, **_ALONG_TIME}, CORE_FORMS["subsampling"].constants
    ),
    "subsampling3d": LayerForm(
        {**LAYER, **_VOLUMES, "poolingType": ("pooling_type", POOLING)},
        {**PARAMETERLESS, "cudnnAllowFallback": True, "dataFormat": "NCDHW"},
        absent={"dilation": [1, 1, 1]},
    ),
}
"""Name in LAYERS -> form, sorted."""
