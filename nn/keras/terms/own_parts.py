"""Parts of networks that Keras has and Deeplearning4j has not: known to files once this module is imported."""

from __future__ import annotations

from .functions import KerasActivation
from .loss_functions import KerasLoss, KerasSparseLoss

KERAS_PARTS = (KerasActivation, KerasLoss, KerasSparseLoss)
"""All of them."""
