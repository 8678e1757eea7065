"""CosineRate: the learning rate of one call of fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nd.arguments import Count, NonNegative
from nd.rules import Natural
from optimize import Schedule


@dataclass(frozen=True)
class CosineRate(Schedule):
    """rate * (1 + cos(pi * (i - first) / steps)) / 2, from iteration `first` on for `steps` iterations.

    Parameters
    ----------
    rate : float
    first : int
        The network's iteration count when the call of fit begins: not 0 for a warm start.
    steps : int

    Notes
    -----
    In force during fit alone, after which layers have the plain rate again: no file sees it. Source: Loshchilov and
    Hutter 2017, one cycle; as `CosineSchedule`, which always begins at iteration 0.
    """

    rate: NonNegative
    first: Natural
    steps: Count
    in_java: ClassVar[bool] = False

    def value_at(self, iteration: int, epoch: int) -> float:
        part = min((iteration - self.first) / self.steps, 1.0)
        return self.rate * 0.5 * (1.0 + math.cos(math.pi * part))
