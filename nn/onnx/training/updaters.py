"""Updaters as operators: a gradient and the state in, an update and the state after it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from optimize import Updater

from ..out.node_draft import NotInOnnx
from .schedules import Counters, check_schedules
from .tensors import Tensor

Number = Tensor | float
Updated = tuple[Tensor, tuple[Tensor, ...]]
Formula = Callable[["Updating", Any, Tensor, Sequence[Tensor]], Updated]


class Updating:
    """What formulas of updaters are given beside gradient and state.

    Parameters
    ----------
    counters : Counters
    dtype : str
        Of gradient and state: numbers that follow schedules are made such after they were computed in float64.
    """

    def __init__(self, counters: Counters, dtype: str) -> None:
        self.counters, self.dtype = counters, dtype

    def number(self, value: Any) -> Number:
        """Return a number, or a schedule's value, as it stands in a formula of the network's dtype."""
        return self.cast(self.counters.value(value))

    def cast(self, value: Number) -> Number:
        """Return a scalar of float64 in the network's dtype."""
        return value.cast(self.dtype) if isinstance(value, Tensor) else value

    def corrected(self, updater: Any, beta2: float) -> Number:
        """Return Adam's rate: rate * sqrt(1 - beta2^(t + 1)) / (1 - beta1^(t + 1)), epsilon where that is 0."""
        t = self.counters.iteration + 1.0
        rate = self.counters.value(updater.learning_rate)
        rate = rate * (1.0 - beta2**t).sqrt() if beta2 else rate
        a: Number = rate / (1.0 - updater.beta1**t) if updater.beta1 else rate
        if not isinstance(a, Tensor):
            return a or updater.epsilon
        return self.cast(a.where("Equal", 0.0, updater.epsilon, a))

    def update(self, updater: Updater, gradient: Tensor, states: Sequence[Tensor]) -> Updated:
        """Return the update of a gradient, and the states after it, of an updater that `check_updater` lets pass."""
        return UPDATERS[type(updater).__name__](self, updater, gradient, states)


def check_updater(updater: Updater) -> None:
    """Raise NotInOnnx where there is no formula for an updater or for a schedule of it."""
    kind = type(updater)
    if kind.__name__ not in UPDATERS or kind.__module__.partition(".")[0] != "optimize":
        raise NotInOnnx(f"the updater {kind.__name__} has no form as operators here")
    check_schedules(updater)


def _mixed(share: float, old: Tensor, new: Tensor) -> Tensor:
    """Return share * old + (1 - share) * new."""
    return (1.0 - share) * new + share * old


def _sgd(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    return g * at.number(updater.learning_rate), ()


def _nesterovs(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    rate, momentum = at.number(updater.learning_rate), at.number(updater.momentum)
    v = momentum * states[0] - rate * g
    return rate * g - momentum * v, (v,)


def _adam(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    m, v = _mixed(updater.beta1, states[0], g), _mixed(updater.beta2, states[1], g.square())
    return m * at.corrected(updater, updater.beta2) / (v.sqrt() + updater.epsilon), (m, v)


def _amsgrad(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    m, v = _mixed(updater.beta1, states[0], g), _mixed(updater.beta2, states[1], g.square())
    h = states[2].op("Max", v)
    return m * at.corrected(updater, updater.beta2) / (h.sqrt() + updater.epsilon), (m, v, h)


def _adamax(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    m = _mixed(updater.beta1, states[0], g)
    u = (states[1] * updater.beta2).op("Max", g.abs()) + 1e-32
    return m * at.corrected(updater, 0.0) / u, (m, u)


def _nadam(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    m, v = _mixed(updater.beta1, states[0], g), _mixed(updater.beta2, states[1], g.square())
    a = at.counters.value(updater.learning_rate) / (1.0 - updater.beta1 ** (at.counters.iteration + 1.0))
    mean = m * at.cast(a * updater.beta1) + g * at.cast(a * (1.0 - updater.beta1))
    return mean / (v.sqrt() + updater.epsilon), (m, v)


def _adabelief(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    m = _mixed(updater.beta1, states[0], g)
    s = _mixed(updater.beta2, states[1], (g - m).square()) + updater.epsilon
    return m * at.corrected(updater, updater.beta2) / (s.sqrt() + updater.epsilon), (m, s)


def _adagrad(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    h = states[0] + g.square()
    return g * at.number(updater.learning_rate) / (h.sqrt() + updater.epsilon), (h,)


def _rmsprop(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    v = _mixed(updater.rms_decay, states[0], g.square())
    return g * at.number(updater.learning_rate) / (v.sqrt() + updater.epsilon), (v,)


def _adadelta(at: Updating, updater: Any, g: Tensor, states: Sequence[Tensor]) -> Updated:
    s = _mixed(updater.rho, states[0], g.square())
    update = g * (states[1] + updater.epsilon).sqrt() / (s + updater.epsilon).sqrt()
    return update, (s, _mixed(updater.rho, states[1], update.square()))


UPDATERS: Mapping[str, Formula] = {
    "AMSGrad": _amsgrad,
    "AdaBelief": _adabelief,
    "AdaDelta": _adadelta,
    "AdaGrad": _adagrad,
    "AdaMax": _adamax,
    "Adam": _adam,
    "Nadam": _nadam,
    "Nesterovs": _nesterovs,
    "NoOp": lambda at, updater, g, states: (g, ()),
    "RmsProp": _rmsprop,
    "Sgd": _sgd,
}
"""Class -> its formula, sorted."""
