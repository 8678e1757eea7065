"""Backtracking line search: how far to go along a direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import nd
from nd.arguments import checked
from nd.classes import ExplainedType
from nd.typing import Array

Evaluate = Callable[[float], tuple[float, Array]]
"""step -> (cost, its gradient ``[n]``), at the parameters after that step; the gradient's memory is used again."""

SHRINK_UNDEFINED = 0.2
LEAST_SHRINK, MOST_SHRINK = 0.1, 0.5  # of a step that was too long, to the next


@dataclass
class Trial:
    """A point on the line.

    Attributes
    ----------
    step : float
        0 where no step makes it better.
    cost : float
    gradient : array ``[n]``
        A copy.
    """

    step: float
    cost: float
    gradient: Array


class BackTrackLineSearch(metaclass=ExplainedType):
    """Shortens a step until the cost is low enough: f(t) <= f(0) + alf * t * slope.

    Parameters
    ----------
    max_iterations : int
        Evaluations, at most.
    alf : float
        The share of the slope that a step has to keep.
    rel_tol_x : float
        Steps that change no parameter by more, relative to 1, are given up.
    step_max : float, optional
        The first step is at most so long, as the norm of the change of all parameters.

    Notes
    -----
    The next step comes from a parabola, later a cubic, through what is known of the line; a cost that is NaN or
    infinite makes it five times shorter. Out of evaluations, the best step is taken if it is better than none. Source:
    DL4J ``BackTrackLineSearch``; Press et al., Numerical Recipes, lnsrch. Differs: the first step is always tried.
    """

    @checked
    def __init__(
        self, max_iterations: int = 5, alf: float = 1e-4, rel_tol_x: float = 1e-7, step_max: float | None = None
    ) -> None:
        if max_iterations < 1:
            raise nd.ConfigurationError(f"BackTrackLineSearch: max_iterations must be >= 1, got {max_iterations}.")
        self.max_iterations, self.alf, self.rel_tol_x = max_iterations, alf, rel_tol_x
        self.set_step_max(step_max)

    @checked
    def set_step_max(self, step_max: float | None) -> None:
        """Set the length of the longest step, None for any; raise ConfigurationError unless it is above 0."""
        if step_max is not None and not step_max > 0.0:
            raise nd.ConfigurationError(f"BackTrackLineSearch: step_max must be > 0, got {step_max}.")
        self.step_max = step_max

    def search(self, evaluate: Evaluate, start: Trial, direction: Array, first: float = 1.0) -> Trial:
        """Return the point that is gone to, `start` where there is none.

        Parameters
        ----------
        evaluate : callable
            A step t goes to where t * direction is subtracted from the parameters.
        start : Trial
            With step 0.
        direction : array ``[n]``
        first : float
            The longest step.
        """
        slope = -nd.item(nd.dot(direction, start.gradient))
        if not slope < 0.0:  # uphill, or there are no parameters
            return start
        largest = nd.item(nd.max(nd.absolute(direction)))
        if not math.isfinite(largest):
            return start
        if self.step_max is not None:
            first = min(first, self.step_max / math.sqrt(nd.item(nd.dot(direction, direction))))
        least, step, best = self.rel_tol_x / largest, first, start
        before: tuple[float, float] | None = None
        for _ in range(self.max_iterations):
            cost, gradient = evaluate(step)
            if cost < best.cost:
                best = Trial(step, cost, nd.copy(gradient))
            if cost <= start.cost + self.alf * step * slope:
                return best
            shorter = _shorter(step, cost - start.cost, slope, before)
            before = (step, cost - start.cost) if math.isfinite(cost) else None
            step = shorter
            if step < least:
                break
        return best


def _shorter(step: float, rise: float, slope: float, before: tuple[float, float] | None) -> float:
    """Return the next step, where a polynomial through the known points is lowest."""
    if not math.isfinite(rise):
        return SHRINK_UNDEFINED * step
    lowest = -slope * step * step / (2.0 * (rise - slope * step))
    if before is not None:
        lowest = _lowest_of_cubic(step, rise, slope, before)
    return min(max(lowest, LEAST_SHRINK * step), MOST_SHRINK * step)


def _lowest_of_cubic(step: float, rise: float, slope: float, before: tuple[float, float]) -> float:
    """Return where a t^3 + b t^2 + slope t, through both points, has its minimum."""
    step2, rise2 = before
    one, two = (rise - step * slope) / step**2, (rise2 - step2 * slope) / step2**2
    a = (one - two) / (step - step2)
    b = (step * two - step2 * one) / (step - step2)
    if a == 0.0:
        return -slope / (2.0 * b)
    discriminant = b * b - 3.0 * a * slope
    if discriminant < 0.0:
        return MOST_SHRINK * step
    root = math.sqrt(discriminant)
    return (root - b) / (3.0 * a) if b <= 0.0 else -slope / (b + root)
