"""Transfer learning: networks built from trained ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .editing import TransferLearning
    from .featurizing import TransferLearningHelper
    from .fine_tune import FineTuneConfiguration
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "editing": "TransferLearning",
            "featurizing": "TransferLearningHelper",
            "fine_tune": "FineTuneConfiguration",
        },
    )

__all__ = [
    "FineTuneConfiguration",
    "TransferLearning",
    "TransferLearningHelper",
]
