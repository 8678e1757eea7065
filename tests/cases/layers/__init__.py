"""A row for every variant of every layer, and what it computes, written another way: loops over float64 numbers."""

from .attention import ATTENTION_CASES
from .base import TAIL, LayerCase, make_features, make_labels
from .capsules import CAPSULE_CASES
from .convolutions import CONVOLUTION_CASES
from .core import CORE_CASES, two_layers_by_hand
from .embeddings import EMBEDDING_CASES
from .normalization import NORMALIZATION_CASES
from .outputs import OUTPUT_CASES
from .places import PLACES_CASES
from .poolings import POOLING_CASES
from .pretraining import PRETRAINING_CASES
from .recurrent import RECURRENT_CASES
from .wrapping import WRAPPING_CASES

LAYER_CASES: dict[str, list[LayerCase]] = dict(
    sorted(
        {
            **ATTENTION_CASES,
            **CAPSULE_CASES,
            **CONVOLUTION_CASES,
            **CORE_CASES,
            **EMBEDDING_CASES,
            **NORMALIZATION_CASES,
            **OUTPUT_CASES,
            **PLACES_CASES,
            **POOLING_CASES,
            **PRETRAINING_CASES,
            **RECURRENT_CASES,
            **WRAPPING_CASES,
        }.items()
    )
)
"""Name in LAYERS -> rows."""

__all__ = ["LAYER_CASES", "TAIL", "LayerCase", "make_features", "make_labels", "two_layers_by_hand"]
