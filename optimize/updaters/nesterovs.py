"""Nesterov's accelerated gradient."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import nd
from nd.arguments import Fraction, NonNegative
from nd.typing import Array

from ..builder import Builder
from ..schedules import Schedule
from .base import Coefficients, States, Updater, gain_of_factors


@dataclass(frozen=True)
class Nesterovs(Updater):
    """v' = momentum * v - learning_rate * g; update = momentum * v - (1 + momentum) * v'.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    momentum : float or Schedule
        0..1.

    Raises
    ------
    ConfigurationError
        One number alone, without its name; the momentum is outside of 0..1.

    Notes
    -----
    The update is computed as ``learning_rate * g - momentum * v'``, which is the same with one pass less.
    State: v, which starts at 0. Source: ND4J ``NesterovsUpdater``; Sutskever et al. 2013. Differs: ``Nesterovs(0.9)``
    is the momentum in Java, and would be read as the rate by a dataclass, so that one number must be named. Java's way
    is ``Nesterovs.Builder(0.9).build()``.

    Examples
    --------
    >>> Nesterovs(0.1, 0.9) == Nesterovs(learning_rate=0.1) == Nesterovs.Builder(0.9).build()
    True
    """

    pure = True
    learning_rate: NonNegative | Schedule = 0.1
    momentum: Fraction | Schedule = 0.9
    state_names: ClassVar[tuple[str, ...]] = ("V",)
    coefficient_names: ClassVar[tuple[str, ...]] = ("rate", "-rate", "momentum", "-momentum")

    def __new__(cls, *arguments: object, **settings: object) -> Self:
        if len(arguments) == 1 and not settings and not isinstance(arguments[0], Schedule):
            number = arguments[0]
            raise nd.ConfigurationError(
                f"Nesterovs: one number alone must be named, got {number!r}, which is the momentum in Java. Write "
                f"Nesterovs(learning_rate={number!r}) or Nesterovs(momentum={number!r})."
            )
        return super().__new__(cls)

    @classmethod
    def Builder(cls, *arguments: Any) -> Builder:
        """Start ND4J's fluent style; one number alone is the momentum, as in Java, and one schedule the rate."""
        if len(arguments) == 1 and not isinstance(arguments[0], Schedule):
            return Builder(cls, momentum=arguments[0])
        return super().Builder(*arguments)

    gain = gain_of_factors

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        momentum = self.at(self.momentum, iteration, epoch)
        learning_rate = self.at(self.learning_rate, iteration, epoch)
        return learning_rate, -learning_rate, momentum, -momentum

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        learning_rate, minus_learning_rate, momentum, minus_momentum = coefficients
        (v,) = states
        nd.axpby(minus_learning_rate, gradient, momentum, v, scratch)  # v'
        nd.axpby(minus_momentum, v, learning_rate, gradient, scratch)  # which is the update


_of_init = inspect.signature(Nesterovs.__init__)
# The signature that help shows: not that of __new__.
Nesterovs.__signature__ = _of_init.replace(parameters=[*_of_init.parameters.values()][1:])
