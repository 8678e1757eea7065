"""Loss functions: score and gradient, once for all backends.

A class is a frozen dataclass, named as in org.nd4j.linalg.lossfunctions.impl. In the formulas y is a label, p the
output of the activation, w the weight of an output; a sum Σ goes over the outputs of an example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.errors import ConfigurationError, check_choice
from nd.on_demand import ClassTable, names_on_demand

from .base import Loss

if TYPE_CHECKING:
    from .distances import LossCosineProximity, LossL1, LossL2, LossMAE, LossMAPE, LossMSE, LossMSLE, LossWasserstein
    from .entropies import (
        LossBinaryXENT,
        LossKLD,
        LossMCXENT,
        LossNegativeLogLikelihood,
        LossPoisson,
        LossSparseMCXENT,
    )
    from .margins import LossFMeasure, LossHinge, LossMultiLabel, LossSquaredHinge
    from .mixture import LossMixtureDensity
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "distances": "LossCosineProximity LossL1 LossL2 LossMAE LossMAPE LossMSE LossMSLE LossWasserstein",
            "entropies": "LossBinaryXENT LossKLD LossMCXENT LossNegativeLogLikelihood LossPoisson LossSparseMCXENT",
            "margins": "LossFMeasure LossHinge LossMultiLabel LossSquaredHinge",
            "mixture": "LossMixtureDensity",
        },
    )

__all__ = [
    "LOSSES",
    "Loss",
    "LossBinaryXENT",
    "LossCosineProximity",
    "LossFMeasure",
    "LossHinge",
    "LossKLD",
    "LossL1",
    "LossL2",
    "LossMAE",
    "LossMAPE",
    "LossMCXENT",
    "LossMSE",
    "LossMSLE",
    "LossMixtureDensity",
    "LossMultiLabel",
    "LossNegativeLogLikelihood",
    "LossPoisson",
    "LossSparseMCXENT",
    "LossSquaredHinge",
    "LossWasserstein",
    "get_loss",
]

LOSSES: ClassTable[type[Loss]] = ClassTable(
    __name__,
    {
        "cosine_proximity": "LossCosineProximity",
        "fmeasure": "LossFMeasure",
        "hinge": "LossHinge",
        "kl_divergence": "LossKLD",
        "l1": "LossL1",
        "l2": "LossL2",
        "mcxent": "LossMCXENT",
        "mean_absolute_error": "LossMAE",
        "mean_absolute_percentage_error": "LossMAPE",
        "mean_squared_logarithmic_error": "LossMSLE",
        "mixturedensity": "LossMixtureDensity",
        "mse": "LossMSE",
        "multilabel": "LossMultiLabel",
        "negativeloglikelihood": "LossNegativeLogLikelihood",
        "poisson": "LossPoisson",
        "reconstruction_crossentropy": "LossKLD",
        "sparse_mcxent": "LossSparseMCXENT",
        "squared_hinge": "LossSquaredHinge",
        "squared_loss": "LossMSE",  # not LossL2: the name is Java's
        "wasserstein": "LossWasserstein",
        "xent": "LossBinaryXENT",
    },
)
"""Name, as DL4J's enum LossFunction spells it, in lower case -> class."""


def get_loss(value: str | Loss) -> Loss:
    """Return `value` if it is a loss, else the loss of that name, in any case.

    Raises
    ------
    ChoiceError
        No loss has that name.
    ConfigurationError
        The loss has parameters without defaults, so that its name is not enough.

    Examples
    --------
    >>> get_loss("MCXENT")
    LossMCXENT(weights=None, softmax_clip_eps=1e-10)
    """
    if isinstance(value, Loss):
        return value
    name = value.lower() if isinstance(value, str) else value
    chosen = LOSSES[check_choice("get_loss", "loss", name, LOSSES)]
    if name == "mixturedensity":
        raise ConfigurationError(
            f"get_loss: the loss must be given with its parameters, got {value!r}. "
            "Pass LossMixtureDensity(mixtures=..., labels_width=...)."
        )
    return chosen()
