"""Caffe's six update rules as updaters, and the penalties of a solver; none of them stands in optimize's table.

The gradient that they turn into an update is divided by `iter_size`, clipped and regularised before, in other places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

import nd
from nd import ConfigurationError
from nd.arguments import NonNegative
from nd.checks import check_choice
from nd.typing import Array
from optimize.regularization import L1Regularization, L2Regularization, Regularization
from optimize.schedules import Schedule
from optimize.updaters.adadelta import AdaDelta
from optimize.updaters.adagrad import AdaGrad
from optimize.updaters.adam import Adam
from optimize.updaters.base import Coefficients, States, Updater, gain_of_factors, rate_alone
from optimize.updaters.rmsprop import RmsProp

from ..configuration import Rule
from ..schema import Message, check_kind
from .rates import PolicyRate

Rate = NonNegative | Schedule


@dataclass(frozen=True)
class _Momentum(Updater):
    """What SGD and Nesterov have in common: settings, one state, coefficients.

    Parameters
    ----------
    learning_rate : float or Schedule
        Per iteration.
    momentum : float
        Of any size, as in Caffe.
    """

    learning_rate: Rate
    momentum: float
    state_names: ClassVar[tuple[str, ...]] = ("H",)
    coefficient_names: ClassVar[tuple[str, ...]] = ("rate", "momentum")

    gain = gain_of_factors

    @classmethod
    def of(cls, solver: Message, rate: PolicyRate) -> Self:
        """Return the updater of a solver, with that rate."""
        return cls(rate, solver.momentum)

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        return self.at(self.learning_rate, iteration, epoch), self.momentum


@dataclass(frozen=True)
class SgdUpdate(_Momentum):
    """h' = momentum * h + learning_rate * g; update = h'.

    Notes
    -----
    The learning rate is within h: a lower rate takes effect as old steps fade. State: h, which starts at 0. Source:
    BVLC Caffe, sgd_solver.cpp.
    """

    pure = True

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        (h,) = states
        learning_rate, momentum = coefficients
        nd.assign(gradient, nd.axpby(learning_rate, gradient, momentum, h, scratch))


@dataclass(frozen=True)
class NesterovUpdate(_Momentum):
    """h' = momentum * h + learning_rate * g; update = (1 + momentum) * h' - momentum * h.

    Notes
    -----
    The update is computed as ``momentum * h' + learning_rate * g``, which is the same without the old h. State: h,
    which starts at 0; that of `optimize.Nesterovs` has the other sign. Source: BVLC Caffe, nesterov_solver.cpp.
    """

    pure = True

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        (h,) = states
        learning_rate, momentum = coefficients
        nd.axpby(learning_rate, gradient, momentum, h, scratch)  # h'
        nd.axpby(momentum, h, learning_rate, gradient, scratch)  # which is the update


@dataclass(frozen=True)
class AdaGradUpdate(AdaGrad):
    """h' = h + g^2; update = learning_rate * g / (sqrt(h') + epsilon).

    Notes
    -----
    State: h, which starts at 0, not at 1e-6 as in `optimize.AdaGrad`. `epsilon` is Caffe's `delta`. Source: BVLC Caffe,
    adagrad_solver.cpp.
    """

    pure = True

    @property
    def initial_state(self) -> tuple[float, ...]:
        return (0.0,)

    @classmethod
    def of(cls, solver: Message, rate: PolicyRate) -> Self:
        """Return the updater of a solver, with that rate."""
        _check_no_momentum(solver)
        return cls(rate, solver.delta)


@dataclass(frozen=True)
class RmsPropUpdate(RmsProp):
    """h' = rms_decay * h + (1 - rms_decay) * g^2; update = learning_rate * g / (sqrt(h') + epsilon).

    Notes
    -----
    State: h, which starts at 0, not at epsilon as in `optimize.RmsProp`. `epsilon` is Caffe's `delta`. Source: BVLC
    Caffe, rmsprop_solver.cpp.
    """

    pure = True

    @property
    def initial_state(self) -> tuple[float, ...]:
        return (0.0,)

    @classmethod
    def of(cls, solver: Message, rate: PolicyRate) -> Self:
        """Return the updater of a solver, with that rate."""
        _check_no_momentum(solver)
        _check_decays(solver, "rms_decay")
        return cls(rate, solver.rms_decay, solver.delta)


@dataclass(frozen=True)
class AdaDeltaUpdate(AdaDelta):
    """The update of `optimize.AdaDelta`, times a learning rate that its states do not see.

    h' = rho h + (1 - rho) g^2; v = g sqrt((d + epsilon) / (h' + epsilon)); d' = rho d + (1 - rho) v^2; update = rate v.

    Notes
    -----
    `rho` is Caffe's `momentum`, `epsilon` its `delta`. State: h, d, which start at 0. Source: BVLC Caffe,
    adadelta_solver.cpp.
    """

    pure = True
    learning_rate: Rate = 1.0
    coefficient_names: ClassVar[tuple[str, ...]] = ("rate",)

    coefficients = rate_alone

    @classmethod
    def of(cls, solver: Message, rate: PolicyRate) -> Self:
        """Return the updater of a solver, with that rate."""
        _check_decays(solver, "momentum")
        return cls(solver.momentum, solver.delta, rate)

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        super().apply(gradient, states, scratch, ())
        nd.muli(gradient, coefficients[0])


@dataclass(frozen=True)
class AdamUpdate(Adam):
    """The update of `optimize.Adam`; its corrected rate is Caffe's.

    m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2; update = a m' / (sqrt(v') + epsilon) with
    a = learning_rate sqrt(1 - beta2^t) / (1 - beta1^t), t the iteration + 1.

    Notes
    -----
    `beta1` is Caffe's `momentum`, which is 0 unless it is set; `beta2` its `momentum2`, `epsilon` its `delta`. State:
    m, v, which start at 0. Source: BVLC Caffe, adam_solver.cpp.
    """

    pure = True

    @classmethod
    def of(cls, solver: Message, rate: PolicyRate) -> Self:
        """Return the updater of a solver, with that rate."""
        _check_decays(solver, "momentum", "momentum2")
        return cls(rate, solver.momentum, solver.momentum2, solver.delta)

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        t, rate = iteration + 1, self.at(self.learning_rate, iteration, epoch)
        return (rate * (1.0 - self.beta2**t) ** 0.5 / (1.0 - self.beta1**t),)


@dataclass(frozen=True)
class NoUpdate(Updater):
    """update = 0: a parameter with `lr_mult` 0 stays as it is.

    Notes
    -----
    There is no state. Differs: Caffe has a history for such parameters too, which nothing reads.
    """

    pure = True

    gain = gain_of_factors

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        return ()

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        nd.fill(gradient, 0.0)


def _check_no_momentum(solver: Message) -> None:
    if solver.momentum != 0.0:
        raise ConfigurationError(
            f"solver: momentum must be 0 with type {solver.type!r}, which has none, got {solver.momentum:g}. "
            "Leave it out."
        )


def _check_decays(solver: Message, *fields: str) -> None:
    for field in fields:
        value = getattr(solver, field)
        if not 0.0 <= value < 1.0:
            raise ConfigurationError(f"solver: {field} must be in [0, 1) with type {solver.type!r}, got {value:g}.")


class _Made(Protocol):
    """A class of updaters that a solver's settings make."""

    state_names: ClassVar[tuple[str, ...]]

    @classmethod
    def of(cls, solver: Message, rate: PolicyRate) -> Updater: ...


UPDATES: dict[str, type[_Made]] = {
    "AdaDelta": AdaDeltaUpdate,
    "AdaGrad": AdaGradUpdate,
    "Adam": AdamUpdate,
    "Nesterov": NesterovUpdate,
    "RMSProp": RmsPropUpdate,
    "SGD": SgdUpdate,
}
"""A solver's type -> class; sorted. `state_names` are in the order in which a solver's history has them."""
PENALTIES: dict[str, type[Regularization]] = {"L1": L1Regularization, "L2": L2Regularization}
"""A solver's regularization_type -> class; sorted."""


def update_of_type(solver_type: str) -> type[_Made]:
    """Return the class of updaters of a type of solver, ``"SGD"``.

    Raises
    ------
    ChoiceError
        Caffe has no such type.
    """
    return UPDATES[check_choice("solver", "type", solver_type, UPDATES)]


def updater_for(solver: Message, lr_mult: float = 1.0) -> Updater:
    """Return the updater of a solver for parameters with a multiplier of the learning rate.

    Parameters
    ----------
    solver : SolverParameter
        Of the newest schema: its `type` counts.
    lr_mult : float
        0 for parameters that stay as they are.

    Raises
    ------
    ChoiceError
        Caffe has no such type, or no such policy of the rate.
    ConfigurationError
        There is a momentum with AdaGrad or RMSProp; `rms_decay` of RMSProp, or a decay of Adam or AdaDelta, is not in
        [0, 1); or a setting of the rate is out of its range.

    Notes
    -----
    Differs: Caffe looks at the decays of RMSProp alone; with others it goes on with NaN.
    """
    check_kind("updater_for", solver, "SolverParameter")
    made = update_of_type(solver.type).of(solver, PolicyRate.of(solver, lr_mult))
    return NoUpdate() if lr_mult == 0.0 else made


def regularizations_for(solver: Message, decay_mult: float = 1.0) -> tuple[Regularization, ...]:
    """Return the penalty of a solver, `weight_decay` times a parameter's multiplier; none where that is 0.

    Raises
    ------
    ChoiceError
        The `regularization_type` is neither L1 nor L2.
    ArgumentError
        The product is negative.
    """
    check_kind("regularizations_for", solver, "SolverParameter")
    decay = solver.weight_decay * decay_mult
    if decay == 0.0:
        return ()
    return (PENALTIES[check_choice("solver", "regularization_type", solver.regularization_type, PENALTIES)](decay),)


def rule_for(solver: Message, lr_mult: float = 1.0, decay_mult: float = 1.0) -> Rule:
    """Return how a solver trains parameters with those multipliers; errors as of the functions above.

    Parameters with `lr_mult` 0 have no penalty either: their gradient changes nothing.
    """
    updater, penalties = updater_for(solver, lr_mult), regularizations_for(solver, decay_mult)
    return Rule(updater, () if lr_mult == 0.0 else penalties)
