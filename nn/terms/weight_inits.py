"""Starts of weights, as configurations give them: a name, a distribution, or DL4J 0.x's both."""

from __future__ import annotations

from typing import Any

from nd import ConfigurationError
from nd.checks import check_choice
from optimize.builder import Builder

from .distributions import Distribution
from .weights import WEIGHT_INITS

_SAME = {"lecun_normal": "normal", "xavier_fan_in": "normal"}
"""Names of one formula, N(0, 1 / fan_in), for which Java has one class."""


def settle_weight_init(conf: Any) -> None:
    """Let `weight_init` say all: a name of `WEIGHT_INITS`, or the distribution that was given as either field.

    Raises
    ------
    ChoiceError
        There is no initialisation of that name.
    ConfigurationError
        `dist` is no distribution, is missing for "distribution", or stands beside another initialisation.

    Notes
    -----
    Source: DL4J 1.0's Builder, where ``dist(d)`` is ``weightInit(d)``.
    """
    who, init, dist = type(conf).__name__, conf.weight_init, conf.dist
    if dist is not None and not isinstance(dist, Distribution):
        raise ConfigurationError(
            f"{who}: dist must be a distribution, got {dist!r}. Pass NormalDistribution(0.0, 0.01), say."
        )
    init = weight_init_of(who, init)
    if init == "distribution" and dist is None:
        raise ConfigurationError(f"{who}: weight_init 'distribution' needs dist, got None. Pass dist=...")
    if dist is not None and init not in (None, "distribution", dist, type(conf).weight_init):
        raise ConfigurationError(f"{who}: give weight_init or dist, not both, got {init!r} and {dist!r}.")
    object.__setattr__(conf, "weight_init", init if dist is None else dist)
    object.__setattr__(conf, "dist", None)


def weight_init_of(who: str, init: Any) -> str | Distribution | None:
    """Return an initialisation by its name in small letters, or the distribution or None that was given."""
    if init is None or isinstance(init, Distribution):
        return init
    name = check_choice(who, "weight initialisation", str(init).lower(), WEIGHT_INITS)
    return _SAME.get(name, name)


def _weight_init_verb(builder: Builder, init: Any) -> Builder:
    builder.given["weight_init"] = init
    if str(init).lower() != "distribution":
        builder.given.pop("dist", None)
    return builder


def _dist_verb(builder: Builder, dist: Any) -> Builder:
    builder.given["dist"] = dist
    builder.given.pop("weight_init", None)
    return builder


WEIGHT_INIT_VERBS = {"dist": _dist_verb, "weight_init": _weight_init_verb}
"""The Builder's calls, of which the later one counts, as in DL4J; ``WeightInit.DISTRIBUTION`` goes with any dist."""
