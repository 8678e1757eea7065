"""JSON forms of the layers that look rows up."""

from __future__ import annotations

from ..json_values import PLAIN
from .base import BASE_CONSTANTS, FEED_FORWARD, LayerForm

_SEQUENCE = {"inputLength": ("input_length", PLAIN), "inferInputLength": ("infer_input_length", PLAIN)}

EMBEDDING_FORMS: dict[str, LayerForm] = {
    "embedding": LayerForm(FEED_FORWARD, BASE_CONSTANTS),
    "embedding_sequence": LayerForm(
        {**FEED_FORWARD, **_SEQUENCE},
        {**BASE_CONSTANTS, "outputFormat": "NCW"},
        absent={"inputLength": 1, "inferInputLength": False},
    ),
}
"""Name in LAYERS -> form, sorted."""
