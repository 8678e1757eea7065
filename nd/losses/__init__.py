"""Loss functions: score and gradient, once for all backends.

A class is a frozen dataclass, named as in org.nd4j.linalg.lossfunctions.impl. In the formulas y is a label, p the
output of the activation, w the weight of an output; a sum Σ goes over the outputs of an example. A loss has its line in
LOSSES, from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .base import Loss as Loss
    from .base import WeightedLoss as WeightedLoss
    from .by_name import get_loss as get_loss
    from .distances import LossCosineProximity as LossCosineProximity
    from .distances import LossL1 as LossL1
    from .distances import LossL2 as LossL2
    from .distances import LossMAE as LossMAE
    from .distances import LossMAPE as LossMAPE
    from .distances import LossMSE as LossMSE
    from .distances import LossMSLE as LossMSLE
    from .distances import LossWasserstein as LossWasserstein
    from .entropies import LossBinaryXENT as LossBinaryXENT
    from .entropies import LossKLD as LossKLD
    from .entropies import LossMCXENT as LossMCXENT
    from .entropies import LossNegativeLogLikelihood as LossNegativeLogLikelihood
    from .entropies import LossPoisson as LossPoisson
    from .entropies import LossSparseMCXENT as LossSparseMCXENT
    from .margins import LossFMeasure as LossFMeasure
    from .margins import LossHinge as LossHinge
    from .margins import LossMultiLabel as LossMultiLabel
    from .margins import LossSquaredHinge as LossSquaredHinge
    from .mixture import LossMixtureDensity as LossMixtureDensity

LOSSES: ClassTable[type[Loss]] = ClassTable(
    __name__,
    {
        "cosine_proximity": "distances:LossCosineProximity",
        "fmeasure": "margins:LossFMeasure",
        "hinge": "margins:LossHinge",
        "kl_divergence": "entropies:LossKLD",
        "l1": "distances:LossL1",
        "l2": "distances:LossL2",
        "mcxent": "entropies:LossMCXENT",
        "mean_absolute_error": "distances:LossMAE",
        "mean_absolute_percentage_error": "distances:LossMAPE",
        "mean_squared_logarithmic_error": "distances:LossMSLE",
        "mixturedensity": "mixture:LossMixtureDensity",
        "mse": "distances:LossMSE",
        "multilabel": "margins:LossMultiLabel",
        "negativeloglikelihood": "entropies:LossNegativeLogLikelihood",
        "poisson": "entropies:LossPoisson",
        "reconstruction_crossentropy": "entropies:LossKLD",
        "sparse_mcxent": "entropies:LossSparseMCXENT",
        "squared_hinge": "margins:LossSquaredHinge",
        "squared_loss": "distances:LossMSE",  # not LossL2: the name is Java's
        "wasserstein": "distances:LossWasserstein",
        "xent": "entropies:LossBinaryXENT",
    },
)
"""Name, as DL4J's enum LossFunction spells it, in lower case -> module and class, sorted."""

if not TYPE_CHECKING:
    _NAMES = LOSSES.modules({"base": "Loss WeightedLoss", "by_name": "get_loss"})
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["LOSSES", *" ".join(_NAMES.values()).split()])
