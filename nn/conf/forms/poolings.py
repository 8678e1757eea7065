"""JSON forms of the poolings beside SubsamplingLayer."""

from __future__ import annotations

from ..json_values import PLAIN, POOLING
from .base import LAYER, PARAMETERLESS, LayerForm
from .convolutions import ALONG, SIZES, VOLUME_ABSENT, VOLUMES
from .core import CORE_FORMS

POOLING_FORMS: dict[str, LayerForm] = {
    "global_pooling": LayerForm(
        {
            **LAYER,
            "collapseDimensions": ("collapse_dimensions", PLAIN),
            "pnorm": ("pnorm", PLAIN),
            "poolingDimensions": ("pooling_dimensions", SIZES),
            "poolingType": ("pooling_type", POOLING),
        },
        PARAMETERLESS,
    ),
    "subsampling1d": LayerForm({**CORE_FORMS["subsampling"].fields, **ALONG}, CORE_FORMS["subsampling"].constants),
    "subsampling3d": LayerForm(
        {**LAYER, **VOLUMES, "poolingType": ("pooling_type", POOLING)},
        {**PARAMETERLESS, "cudnnAllowFallback": True, "dataFormat": "NCDHW"},
        absent=VOLUME_ABSENT,
    ),
}
"""Name in LAYERS -> form, sorted."""
