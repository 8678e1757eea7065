"""Initialisation of weights: by a name, a distribution, or DL4J 0.x's both."""

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
from optimize.builder import Builder

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

    def draw(self, rng: Random, shape: Sequence[int], dtype: str) -> Array:
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


# ---- as configurations give it

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
        raise nd.ConfigurationError(
            f"{who}: dist must be a distribution, got {dist!r}. Pass NormalDistribution(0.0, 0.01), say."
        )
    init = weight_init_of(who, init)
    if init == "distribution" and dist is None:
        raise nd.ConfigurationError(f"{who}: weight_init 'distribution' needs dist, got None. Pass dist=...")
    if dist is not None and init not in (None, "distribution", dist, type(conf).weight_init):
        raise nd.ConfigurationError(f"{who}: give weight_init or dist, not both, got {init!r} and {dist!r}.")
    object.__setattr__(conf, "weight_init", init if dist is None else dist)
    object.__setattr__(conf, "dist", None)


def weight_init_of(who: str, init: object) -> str | Distribution | None:
    """Return an initialisation by its name in small letters, or the distribution or None that was given."""
    if init is None or isinstance(init, Distribution):
        return init
    name = check_choice(who, "weight initialisation", str(init).lower(), WEIGHT_INITS)
    return _SAME.get(name, name)


def _weight_init_verb(builder: Builder, init: object) -> Builder:
    builder.given["weight_init"] = init
    if str(init).lower() != "distribution":
        builder.given.pop("dist", None)
    return builder


def _dist_verb(builder: Builder, dist: object) -> Builder:
    builder.given["dist"] = dist
    builder.given.pop("weight_init", None)
    return builder


WEIGHT_INIT_VERBS = {"dist": _dist_verb, "weight_init": _weight_init_verb}
"""The Builder's calls, of which the later one counts, as in DL4J; ``WeightInit.DISTRIBUTION`` goes with any dist."""
