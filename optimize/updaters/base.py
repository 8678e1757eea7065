"""Base of every updater: a frozen configuration, and a formula over one chunk of the flat vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nd import ConfigurationError
from nd.arguments import Checked, shown
from nd.java_enums import Name, NameHolder, name_the_others
from nd.part import Part, undefined
from nd.typing import Array

from ..builder import Builder, builder_of
from ..schedules import Schedule
from . import UPDATERS

States = tuple[Array, ...]
Coefficients = Sequence[Any]


class UpdaterName(Name):
    """A name of an updater."""

    def get_i_updater_with_default_config(self) -> Updater:
        """Return the updater with its defaults."""
        from . import get_updater

        return get_updater(self)


@dataclass(frozen=True)
class Updater(Part, Checked, metaclass=NameHolder):
    """Turns a gradient into the update that is subtracted from the parameters.

    One of your own is a frozen dataclass with `coefficients`, `apply` and, if it remembers, `state_names`.
    Updaters with equal configuration share a block of the flat vector (`optimize.network_updater`).

    The class has the names of the library's own too, texts that go wherever an updater goes: ``Updater.SGD``.
    """

    ADABELIEF = UpdaterName("adabelief")
    ADADELTA = UpdaterName("adadelta")
    ADAGRAD = UpdaterName("adagrad")
    ADAM = UpdaterName("adam")
    ADAMAX = UpdaterName("adamax")
    AMSGRAD = UpdaterName("amsgrad")
    NADAM = UpdaterName("nadam")
    NESTEROVS = UpdaterName("nesterovs")
    NONE = UpdaterName("noop")
    RMSPROP = UpdaterName("rmsprop")
    SGD = UpdaterName("sgd")

    state_names: ClassVar[tuple[str, ...]] = ()
    """Names of the state vectors, in the order in which they lie in a block's state."""
    coefficient_names: ClassVar[tuple[str, ...]] = ()
    """Names of the numbers of `coefficients`, for traces; without them they have numbers."""
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        "learning_rate_schedule": lambda builder, schedule: builder.learning_rate(schedule),
        "momentum_i_schedule": lambda builder, schedule: builder.momentum(schedule),
    }
    """ND4J's names for schedules, which are fields of their own there."""

    @classmethod
    def Builder(cls, *arguments: Any) -> Builder:
        """Start ND4J's fluent style: ``Adam.Builder().learningRate(1e-3).build()``."""
        return builder_of(cls, *arguments)

    @property
    def initial_state(self) -> tuple[float, ...]:
        """Values of all elements of the state vectors before the first step, one for each vector."""
        return (0.0,) * len(self.state_names)

    def learning_rate_at(self, iteration: int, epoch: int) -> float:
        """Return the learning rate now, 1 for updaters that have none."""
        return self.at(getattr(self, "learning_rate", 1.0), iteration, epoch)

    def coefficients(self, iteration: int, epoch: int) -> Coefficients:
        """Return the numbers that `apply` needs, the same for every element in an iteration."""
        undefined(self, "coefficients(iteration, epoch)", "a tuple of the numbers that apply needs")

    def apply(self, gradient: Array, states: States, scratch: Array, coefficients: Coefficients) -> None:
        """Turn `gradient` into the update, in place, and move the states on.

        Parameters
        ----------
        gradient : array ``[n]``
            In: the gradient, divided by the minibatch size and regularised. Out: the update to subtract.
        states : arrays ``[n]``
            One for each of `state_names`.
        scratch : array ``[n]``
            Contents undefined.
        coefficients : sequence of float, or of arrays with one number each
            From `coefficients`. A number that is computed from them alone belongs there: they are operands only.
        """
        undefined(self, "apply(gradient, states, scratch, coefficients)", "the gradient becomes the update in it")

    def gain(self, coefficients: Coefficients) -> float:
        """Return the factor by which an update may exceed its gradient, roughly: infinite where nobody knows.

        A step whose update might overflow is checked before it is kept, at the cost of a copy of the parameters.
        """
        return math.inf

    @staticmethod
    def at(value: float | Schedule, iteration: int, epoch: int) -> float:
        """Return a hyper-parameter's value now."""
        if type(value) is float:
            return value
        return value.value_at(iteration, epoch) if isinstance(value, Schedule) else value


name_the_others(Updater, UpdaterName, UPDATERS)


def check_coefficients(updater: Updater, coefficients: object, before: int | None) -> int:
    """Return how many numbers an updater's `coefficients` has returned.

    Raises
    ------
    ConfigurationError
        It is no tuple of numbers, or there were another number of them `before`.
    """
    who = f"{type(updater).__name__}: coefficients must return a tuple of numbers"
    if not isinstance(coefficients, (list, tuple)) or not all(map(_is_number, coefficients)):
        raise ConfigurationError(f"{who}, got {shown(coefficients)}. A comma makes a tuple of one: (rate,).")
    if before is not None and len(coefficients) != before:
        raise ConfigurationError(
            f"{who}, as many for every iteration, got {len(coefficients)} after {before}. Return 0 or 1 for one that "
            "does nothing."
        )
    return len(coefficients)


def _is_number(value: Any) -> bool:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return plain or (hasattr(value, "dtype") and value.shape == ())


def gain_of_factors(updater: Updater, coefficients: Coefficients) -> float:
    """Return `Updater.gain` of formulas that multiply by their coefficients."""
    return max((1.0, *map(abs, coefficients)))


def gain_over_epsilon(updater: Any, coefficients: Coefficients) -> float:
    """Return `Updater.gain` of formulas that multiply by their coefficients and divide by no less than epsilon."""
    return gain_of_factors(updater, coefficients) / updater.epsilon if updater.epsilon else math.inf


def rate_alone(updater: Any, iteration: int, epoch: int) -> Coefficients:
    """Return `Updater.coefficients` of formulas that need the learning rate alone."""
    return (updater.at(updater.learning_rate, iteration, epoch),)


def corrected_coefficients(updater: Any, iteration: int, epoch: int) -> Coefficients:
    """Return `Updater.coefficients` of Adam and its kin: the corrected rate alone."""
    rate = updater.at(updater.learning_rate, iteration, epoch)
    return (corrected_rate(rate, updater.beta1, updater.beta2, iteration, updater.epsilon),)


def corrected_rate(rate: float, beta1: float, beta2: float, iteration: int, epsilon: float) -> float:
    """Return rate * sqrt(1 - beta2^(t + 1)) / (1 - beta1^(t + 1)), t the iteration: Adam's corrections.

    Where that is 0 or infinite, epsilon, as in ND4J. With beta2 = 0 only the first mean is corrected.
    """
    unbias = 1.0 - beta1 ** (iteration + 1)
    a = rate * math.sqrt(1.0 - beta2 ** (iteration + 1)) / unbias if unbias else 0.0
    return a if a != 0.0 and math.isfinite(a) else epsilon
