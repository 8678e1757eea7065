"""Caffe's seven policies for the learning rate, as one schedule."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from nd import ConfigurationError
from nd.checks import check_choice
from optimize.schedules import Schedule

from ..schema import Message, check_kind


@dataclass(frozen=True)
class PolicyRate(Schedule):
    """The learning rate of a solver's `lr_policy` at an iteration, times the multiplier of a parameter.

    Parameters
    ----------
    lr_policy : {"exp", "fixed", "inv", "multistep", "poly", "sigmoid", "step"}
    base_lr : float
        Per iteration, as all rates here.
    gamma, power : float
        gamma >= 0 for all but "fixed" and "poly".
    stepsize : int
        Iterations; > 0 for "step" and "sigmoid".
    stepvalue : tuple of int
        Iterations, of "multistep".
    max_iter : int
        Of "poly": > 0.
    lr_mult : float
        Of the parameter.

    Raises
    ------
    ChoiceError
        Caffe has no such policy.
    ConfigurationError
        A setting that the policy needs is out of its range.

    Notes
    -----
    With i the iteration, 0-based, and b `base_lr`: "fixed" b; "step" b gamma^floor(i / stepsize); "exp" b gamma^i;
    "inv" b (1 + gamma i)^-power; "multistep" b gamma^(steps that have passed); "poly" b (1 - i / max_iter)^power;
    "sigmoid" b / (1 + exp(-gamma (i - stepsize))). The number is computed in double precision and then rounded to
    single precision, and so is its product with `lr_mult`: Caffe's numbers are C++ floats.

    Source: BVLC Caffe, sgd_solver.cpp. Differs: behind its last iteration "poly" with a power that is no whole number
    is an error; Caffe goes on with NaN. And `max_iter` of "poly" must be > 0, by which Caffe divides unchecked.
    """

    lr_policy: str
    base_lr: float
    gamma: float = 0.0
    power: float = 0.0
    stepsize: int = 0
    stepvalue: tuple[int, ...] = ()
    max_iter: int = 0
    lr_mult: float = 1.0
    in_java: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stepvalue", tuple(self.stepvalue))
        check_choice("solver", "learning rate policy", self.lr_policy, POLICIES)
        checks = (
            ("gamma", ">= 0", self.gamma >= 0, ("exp", "inv", "multistep", "sigmoid", "step")),
            ("stepsize", "> 0", self.stepsize > 0, ("sigmoid", "step")),
            ("max_iter", "> 0", self.max_iter > 0, ("poly",)),
        )
        for field, condition, holds, policies in checks:
            if self.lr_policy in policies and not holds:
                raise ConfigurationError(
                    f"solver: {field} must be {condition} with lr_policy {self.lr_policy!r}, got "
                    f"{getattr(self, field)!r}. Set it, or take another policy."
                )

    @classmethod
    def of(cls, solver: Message, lr_mult: float = 1.0) -> PolicyRate:
        """Return the rate that a SolverParameter has for a parameter with that multiplier."""
        check_kind("PolicyRate.of", solver, "SolverParameter")
        return cls(
            solver.lr_policy, solver.base_lr, solver.gamma, solver.power, solver.stepsize, tuple(solver.stepvalue),
            solver.max_iter, lr_mult,
        )  # fmt: skip

    def value_at(self, iteration: int, epoch: int = 0) -> float:
        rate = _single(self.base_lr * POLICIES[self.lr_policy](self, iteration))
        return rate if self.lr_mult == 1.0 else _single(rate * self.lr_mult)

    def current_step(self, iteration: int) -> int:
        """Return how many steps of the rate have passed in an iteration: of "multistep" and "step", else 0.

        Notes
        -----
        What Caffe has in `current_step` after n updates is that of iteration n - 1. It counts at most one step of
        "multistep" in an iteration: of two equal numbers in `stepvalue` the second counts one iteration later.
        """
        if self.lr_policy == "step":
            return max(iteration, 0) // self.stepsize
        if self.lr_policy == "multistep":
            return sum(reached <= iteration for reached in self._reached)
        return 0

    @cached_property
    def _reached(self) -> tuple[int, ...]:
        """The iterations in which the steps of "multistep" are counted."""
        reached, before = [], -1
        for value in self.stepvalue:
            before = max(value, before + 1)
            reached.append(before)
        return tuple(reached)


def _single(value: float) -> float:
    """Return the nearest number of single precision."""
    return ctypes.c_float(value).value


def _power(base: float, exponent: float) -> float:
    """Return base ^ exponent as C has it: infinite where that is too large, or base 0 and the exponent negative."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        if base != 0.0:
            raise
        return math.inf


def _stepped(rate: PolicyRate, iteration: int) -> float:
    return _power(rate.gamma, rate.current_step(iteration))


def _poly(rate: PolicyRate, iteration: int) -> float:
    try:
        return _power(1.0 - iteration / rate.max_iter, rate.power)
    except ValueError as error:
        raise ConfigurationError(
            f"solver: the iteration must be at most max_iter {rate.max_iter} with lr_policy 'poly' and power "
            f"{rate.power:g}, got {iteration}. Raise max_iter."
        ) from error


def _sigmoid(rate: PolicyRate, iteration: int) -> float:
    x = rate.gamma * (iteration - rate.stepsize)
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


POLICIES: dict[str, Callable[[Any, int], float]] = {
    "exp": lambda rate, iteration: _power(rate.gamma, iteration),
    "fixed": lambda rate, iteration: 1.0,
    "inv": lambda rate, iteration: _power(1.0 + rate.gamma * iteration, -rate.power),
    "multistep": _stepped,
    "poly": _poly,
    "sigmoid": _sigmoid,
    "step": _stepped,
}
"""Name -> (rate, iteration) -> what `base_lr` is multiplied by; sorted."""
