"""Transfer learning: networks made of trained ones."""

from .editing import TransferLearning
from .featurizing import TransferLearningHelper
from .fine_tune import FineTuneConfiguration

__all__ = ["FineTuneConfiguration", "TransferLearning", "TransferLearningHelper"]
