"""How every layer is written in DL4J's JSON, family by family."""

from __future__ import annotations

from .base import LayerForm
from .convolutions import CONVOLUTION_FORMS
from .core import CORE_FORMS
from .embeddings import EMBEDDING_FORMS
from .normalization import NORMALIZATION_FORMS
from .outputs import OUTPUT_FORMS
from .places import PLACES_FORMS
from .poolings import POOLING_FORMS
from .same_diff import SAME_DIFF_FORMS

LAYER_FORMS: dict[str, LayerForm] = dict(
    sorted(
        {
            **CONVOLUTION_FORMS,
            **CORE_FORMS,
            **EMBEDDING_FORMS,
            **NORMALIZATION_FORMS,
            **OUTPUT_FORMS,
            **PLACES_FORMS,
            **POOLING_FORMS,
            **SAME_DIFF_FORMS,
        }.items()
    )
)
"""Name in LAYERS -> form."""
