"""How every layer is written in DL4J's JSON, family by family."""

from __future__ import annotations

from .base import LayerForm
from .convolutions import CONVOLUTION_FORMS
from .core import CORE_FORMS

LAYER_FORMS: dict[str, LayerForm] = dict(sorted({**CONVOLUTION_FORMS, **CORE_FORMS}.items()))
"""Name in LAYERS -> form."""
