"""JSON forms of the layers that look rows up."""

from __future__ import annotations

from ..json_values import PLAIN
from .base import FEED_FORWARD, FEED_FORWARD_CONSTANTS, LayerForm

_SEQUENCE = {"inputLength": ("input_length", PLAIN), "inferInputLength": ("infer_input_length", PLAIN)}

EMBEDDING_FORMS: dict[str, LayerForm] = {
    "embedding": LayerForm(FEED_FORWARD, FEED_FORWARD_CONSTANTS),
    "embedding_sequence": LayerForm(
        {**FEED_FORWARD, **_SEQUENCE},
        {**FEED_FORWARD_CONSTANTS, "outputFormat": "NCW"},
        absent={"inputLength": 1, "inferInputLength": False},
    ),
}
"""Name in LAYERS -> form, sorted."""
