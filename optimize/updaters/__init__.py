"""Updaters: one file each, with formula, state and defaults."""

from __future__ import annotations

from dataclasses import fields

from nd import ConfigurationError
from nd.checks import check_choice

from .adabelief import AdaBelief
from .adadelta import AdaDelta
from .adagrad import AdaGrad
from .adam import Adam
from .adamax import AdaMax
from .amsgrad import AMSGrad
from .base import Updater
from .nadam import Nadam
from .nesterovs import Nesterovs
from .noop import NoOp
from .rmsprop import RmsProp
from .sgd import Sgd

__all__ = [
    "UPDATERS",
    "AMSGrad",
    "AdaBelief",
    "AdaDelta",
    "AdaGrad",
    "AdaMax",
    "Adam",
    "Nadam",
    "Nesterovs",
    "NoOp",
    "RmsProp",
    "Sgd",
    "Updater",
    "get_updater",
]

UPDATERS: dict[str, type[Updater]] = {
    "adabelief": AdaBelief,
    "adadelta": AdaDelta,
    "adagrad": AdaGrad,
    "adam": Adam,
    "adamax": AdaMax,
    "amsgrad": AMSGrad,
    "nadam": Nadam,
    "nesterovs": Nesterovs,
    "noop": NoOp,
    "rmsprop": RmsProp,
    "sgd": Sgd,
}
"""Name -> class, sorted."""


def get_updater(value: str | Updater, **hyper_parameters: float) -> Updater:
    """Return an updater: an instance as it is, a name as a new instance with those hyper-parameters.

    Raises
    ------
    ChoiceError
        The name is unknown.
    ConfigurationError
        The updater has no such hyper-parameter, or `value` is neither a name nor an updater.
    """
    if isinstance(value, Updater):
        return value
    if not isinstance(value, str):
        raise ConfigurationError(f"updater: expected a name or an updater such as Sgd(0.1), got {value!r}.")
    name = str(value).lower()
    chosen = UPDATERS[check_choice("updater", "updater", "noop" if name == "none" else name, UPDATERS)]
    known = {field.name for field in fields(chosen)}
    if unknown := sorted(set(hyper_parameters) - known):
        raise ConfigurationError(
            f"updater: {name!r} has no {', '.join(unknown)}, expected {', '.join(sorted(known)) or 'nothing'}."
        )
    return chosen(**hyper_parameters)
