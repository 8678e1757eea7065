"""When an optimizer has done enough on a minibatch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import nd
from nd.arguments import Checked, NonNegative
from nd.part import undefined
from nd.typing import Array


@dataclass(frozen=True)
class TerminationCondition(Checked):
    """Asked after every iteration of an optimizer that searches along lines."""

    def terminate(self, score: float, old_score: float, gradient: Array) -> bool:
        """Tell whether to stop.

        Parameters
        ----------
        score, old_score : float
            After and before the iteration.
        gradient : array ``[n]``
            Of the score, regularisation included, after it.
        """
        undefined(self, "terminate(score, old_score, gradient)", "whether to stop")


@dataclass(frozen=True)
class EpsTermination(TerminationCondition):
    """2 |old - new| <= tolerance (|old| + |new| + eps): the score hardly changes.

    Notes
    -----
    As in DL4J two scores of 0 do not stop anything. Source: DL4J 0.x ``EpsTermination``.
    """

    eps: NonNegative = 1e-4
    tolerance: NonNegative = 1e-5

    def terminate(self, score: float, old_score: float, gradient: Array) -> bool:
        if score == 0.0 and old_score == 0.0:
            return False
        return 2.0 * abs(old_score - score) <= self.tolerance * (abs(old_score) + abs(score) + self.eps)


@dataclass(frozen=True)
class Norm2Termination(TerminationCondition):
    """The gradient's Euclidean norm is below the tolerance. Source: DL4J 0.x ``Norm2Termination``."""

    gradient_tolerance: NonNegative = 1e-3

    def terminate(self, score: float, old_score: float, gradient: Array) -> bool:
        return nd.item(nd.dot(gradient, gradient)) < self.gradient_tolerance**2


@dataclass(frozen=True)
class ZeroDirection(TerminationCondition):
    """The gradient is zero. Source: DL4J 0.x ``ZeroDirection``."""

    def terminate(self, score: float, old_score: float, gradient: Array) -> bool:
        return nd.item(nd.sum(nd.absolute(gradient))) == 0.0


def as_terminations(
    who: str, given: TerminationCondition | Sequence[TerminationCondition] | None
) -> tuple[TerminationCondition, ...] | None:
    """Return conditions as a tuple, one alone too; None stays None.

    Raises
    ------
    ConfigurationError
        One of them is something else.
    """
    if given is None:
        return None
    conditions = (given,) if isinstance(given, TerminationCondition) else tuple(given)
    for condition in conditions:
        if not isinstance(condition, TerminationCondition):
            raise nd.ConfigurationError(f"{who}: terminations must be TerminationConditions, got {condition!r}.")
    return conditions


TERMINATIONS: dict[str, type[TerminationCondition]] = {
    "eps": EpsTermination,
    "norm2": Norm2Termination,
    "zero_direction": ZeroDirection,
}
"""Name -> class, sorted."""

DEFAULT_TERMINATIONS: tuple[TerminationCondition, ...] = (ZeroDirection(), EpsTermination())
"""Those of DL4J 0.x."""
