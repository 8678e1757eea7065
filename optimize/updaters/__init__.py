"""Updaters: a file for every one, with formula, state and defaults.

An updater has its line in UPDATERS, from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .adabelief import AdaBelief as AdaBelief
    from .adadelta import AdaDelta as AdaDelta
    from .adagrad import AdaGrad as AdaGrad
    from .adam import Adam as Adam
    from .adamax import AdaMax as AdaMax
    from .amsgrad import AMSGrad as AMSGrad
    from .base import Updater as Updater
    from .by_name import get_updater as get_updater
    from .nadam import Nadam as Nadam
    from .nesterovs import Nesterovs as Nesterovs
    from .noop import NoOp as NoOp
    from .rmsprop import RmsProp as RmsProp
    from .sgd import Sgd as Sgd

UPDATERS: ClassTable[type[Updater]] = ClassTable(
    __name__,
    {
        "adabelief": "adabelief:AdaBelief",
        "adadelta": "adadelta:AdaDelta",
        "adagrad": "adagrad:AdaGrad",
        "adam": "adam:Adam",
        "adamax": "adamax:AdaMax",
        "amsgrad": "amsgrad:AMSGrad",
        "nadam": "nadam:Nadam",
        "nesterovs": "nesterovs:Nesterovs",
        "noop": "noop:NoOp",
        "rmsprop": "rmsprop:RmsProp",
        "sgd": "sgd:Sgd",
    },
)
"""Name of an updater -> module, a file of its name, and class, sorted."""

if not TYPE_CHECKING:
    _NAMES = UPDATERS.modules({"base": "Updater", "by_name": "get_updater"})
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["UPDATERS", *" ".join(_NAMES.values()).split()])
