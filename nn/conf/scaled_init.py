"""Initialisations of weights with a scale of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nd import ConfigurationError
from nd.arguments import Positive
from nd.random import Random

from .distributions import Distribution

SCALED = (
    "identity",
    *(f"var_scaling_{kind}_fan_{fan}" for kind in ("normal", "uniform") for fan in ("avg", "in", "out")),
)
"""Names of the initialisations that take a scale."""


@dataclass(frozen=True)
class ScaledWeightInit(Distribution):
    """An initialisation by name, scaled: the variance of a normal one, the bounds of a uniform one, identity's ones.

    Parameters
    ----------
    name : str
        "identity" or one of the names that begin with "var_scaling".
    scale : float
        Above 0; without a scale the initialisations have 1.

    Raises
    ------
    ConfigurationError
        That initialisation takes no scale.

    Notes
    -----
    Source: DL4J ``WeightInitVarScalingNormalFanIn(scale)`` and the like, ``WeightInitIdentity(scale)``.

    Examples
    --------
    >>> ScaledWeightInit("var_scaling_normal_fan_in", 2.0).scale
    2.0
    """

    name: str
    scale: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name not in SCALED:
            raise ConfigurationError(
                f"ScaledWeightInit: name must be one of {', '.join(SCALED)}, which take a scale, got {self.name!r}."
            )

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Any:
        raise ConfigurationError(
            "ScaledWeightInit: must be the weight_init of a layer, got another use. Use a distribution."
        )
