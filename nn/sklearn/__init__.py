"""scikit-learn's estimators with networks in them: `NetworkClassifier`, `NetworkRegressor`, `NetworkTransformer`.

They go where scikit-learn's own go, into pipelines, searches and ensembles. Extra: ``[sklearn]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.extras import optional
from nd.on_demand import names_on_demand

optional("nn.sklearn", "sklearn.base", "scikit-learn", "sklearn")  # whose classes are the base of these

if TYPE_CHECKING:
    from .classifier import NetworkClassifier as NetworkClassifier
    from .regressor import NetworkRegressor as NetworkRegressor
    from .transformer import NetworkTransformer as NetworkTransformer
else:
    _NAMES = {
        "classifier": "NetworkClassifier",
        "regressor": "NetworkRegressor",
        "transformer": "NetworkTransformer",
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(" ".join(_NAMES.values()).split())
