"""Initialisation of weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import nd
from nd.arguments import Positive
from nd.checks import check_choice
from nd.random import Random
from nd.typing import Array

from .distributions import (
    Distribution,
    NormalDistribution,
    OrthogonalDistribution,
    TruncatedNormalDistribution,
    UniformDistribution,
)


@dataclass(frozen=True)
class Fans:
    """Inputs and outputs that a weight connects, and the weight's shape.

    Parameters
    ----------
    fan_in, fan_out : float
        A convolution's fan_out is divided by its strides, so it need not be whole.
    shape : tuple of int
    scale : float
        Of initialisations that take one.
    """

    fan_in: float
    fan_out: float
    shape: tuple[int, ...]
    scale: float = 1.0

    @property
    def mean(self) -> float:
        """(fan_in + fan_out) / 2."""
        return (self.fan_in + self.fan_out) / 2.0


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
            raise nd.ConfigurationError(
                f"ScaledWeightInit: name must be one of {', '.join(SCALED)}, which take a scale, got {self.name!r}."
            )

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Any:
        raise nd.ConfigurationError(
            "ScaledWeightInit: must be the weight_init of a layer, got another use. Use a distribution."
        )


def _normal(variance: Callable[[Fans], float]) -> Callable[[Fans], Distribution]:
    return lambda fans: NormalDistribution(0.0, math.sqrt(variance(fans)))


def _truncated(variance: Callable[[Fans], float]) -> Callable[[Fans], Distribution]:
    return lambda fans: TruncatedNormalDistribution(0.0, math.sqrt(variance(fans)))


def _uniform(bound: Callable[[Fans], float]) -> Callable[[Fans], Distribution]:
    return lambda fans: UniformDistribution(-bound(fans), bound(fans))


RANDOM_INITS: dict[str, Callable[[Fans], Distribution]] = {
    "lecun_normal": _normal(lambda fans: 1.0 / fans.fan_in),
    "lecun_uniform": _uniform(lambda fans: 3.0 / math.sqrt(fans.fan_in)),
    "normal": _normal(lambda fans: 1.0 / fans.fan_in),
    "relu": _normal(lambda fans: 2.0 / fans.fan_in),
    "relu_uniform": _uniform(lambda fans: math.sqrt(6.0 / fans.fan_in)),
    "sigmoid_uniform": _uniform(lambda fans: 4.0 * math.sqrt(6.0 / (fans.fan_in + fans.fan_out))),
    "uniform": _uniform(lambda fans: 1.0 / math.sqrt(fans.fan_in)),
    "var_scaling_normal_fan_avg": _truncated(lambda fans: fans.scale / fans.mean),
    "var_scaling_normal_fan_in": _truncated(lambda fans: fans.scale / fans.fan_in),
    "var_scaling_normal_fan_out": _truncated(lambda fans: fans.scale / fans.fan_out),
    "var_scaling_uniform_fan_avg": _uniform(lambda fans: 3.0 / math.sqrt(fans.mean) * fans.scale),
    "var_scaling_uniform_fan_in": _uniform(lambda fans: 3.0 / math.sqrt(fans.fan_in) * fans.scale),
    "var_scaling_uniform_fan_out": _uniform(lambda fans: 3.0 / math.sqrt(fans.fan_out) * fans.scale),
    "xavier": _normal(lambda fans: 1.0 / fans.mean),
    "xavier_fan_in": _normal(lambda fans: 1.0 / fans.fan_in),
    "xavier_legacy": _normal(lambda fans: 1.0 / (fans.shape[0] + fans.shape[1])),
    "xavier_uniform": _uniform(lambda fans: math.sqrt(6.0) / math.sqrt(fans.fan_in + fans.fan_out)),
}
"""Name -> distribution for the fans. Source: DL4J ``WeightInitUtil`` and the ``WeightInit*`` classes."""

FIXED_INITS = {"identity", "ones", "zero"}
WEIGHT_INITS = {*RANDOM_INITS, *FIXED_INITS, "distribution"}


def init_weight(view: Array, flat: Array, init: str | Distribution, fans: Fans, rng: Random) -> None:
    """Fill one weight.

    Parameters
    ----------
    view : array of the weight's shape
    flat : array ``[n]``
        The same memory, in the order of the parameter vector: draws land there one after the other, as in Java.
    init : str or Distribution
        A name from `WEIGHT_INITS`, or the distribution to draw from.
    fans : Fans
    rng : Random

    Raises
    ------
    ChoiceError
        The name is unknown.
    ConfigurationError
        Identity for a weight that is not square.
    """
    if isinstance(init, ScaledWeightInit):
        init_weight(view, flat, init.name, replace(fans, scale=init.scale), rng)
        return
    if isinstance(init, OrthogonalDistribution):
        nd.assign(view, nd.reshape(init.draw(rng, fans.shape, nd.dtype_name(flat)), fans.shape))
        return
    if isinstance(init, Distribution):
        nd.assign(flat, init.draw(rng, fans.shape, nd.dtype_name(flat)))
        return
    name = check_choice("weight_init", "weight initialisation", init, WEIGHT_INITS)
    if name in RANDOM_INITS:
        nd.assign(flat, RANDOM_INITS[name](fans).draw(rng, fans.shape, nd.dtype_name(flat)))
    elif name == "identity":
        _identity(view, fans.shape)
        if fans.scale != 1.0:
            nd.muli(view, fans.scale)
    else:
        nd.fill(flat, 1.0 if name == "ones" else 0.0)


def _identity(view: Array, shape: Sequence[int]) -> None:
    if len(shape) < 2 or shape[0] != shape[1]:
        raise nd.ConfigurationError(
            f"weight_init 'identity': inputs and outputs must be equal in number, got a weight {list(shape)}."
        )
    nd.fill(view, 0.0)
    centre = tuple(axis // 2 for axis in shape[2:])
    nd.assign(view[:, :, *centre], nd.eye(shape[0], nd.dtype_name(view)))
