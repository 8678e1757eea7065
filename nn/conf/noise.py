"""Random noise in training: the numbers behind it, fixed or by schedule, and their memory while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.arguments import Checked
from nd.part import Part
from nd.typing import Array
from optimize import Schedule

from ..step.params import ParamSpec

Probability = float | Schedule


class Noise(Part, Checked):
    """Something random in training whose numbers may follow schedules; a frozen dataclass, so that it has no state."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in vars(self).items():
            if isinstance(value, float):
                self._check(name, value, "")

    @property
    def scheduled(self) -> bool:
        """Whether a field is a schedule."""
        return any(isinstance(value, Schedule) for value in vars(self).values())

    def numbers(self, iteration: int, epoch: int) -> tuple[float, ...]:
        """Return the numbers to multiply and compare with, in force in that iteration and epoch, both 0-based.

        Raises
        ------
        ConfigurationError
            A schedule gives a number that is not allowed.
        """
        return ()

    def value_of(self, field: str, iteration: int, epoch: int) -> float:
        """Return a checked field, whether it is a number or a schedule."""
        setting = getattr(self, field)
        if not isinstance(setting, Schedule):
            return setting
        value = setting.value_at(iteration, epoch)
        self._check(field, value, f" at iteration {iteration}, epoch {epoch}")
        return value

    def _check(self, field: str, value: float, when: str) -> None:
        """Raise ConfigurationError unless the field may have that value."""


class NumbersInForce:
    """The numbers of one noise at work.

    Parameters
    ----------
    noise : Noise
    dtype : str

    Attributes
    ----------
    values : tuple of float, or of array ``[]``
        Floats where nothing changes them. Numbers that follow a schedule lie in arrays: a recording reads the number
        in force when it is replayed, not that of the first time.
    """

    def __init__(self, noise: Noise, dtype: str) -> None:
        self.noise = noise
        self.scheduled = noise.scheduled
        self._written = noise.numbers(0, 0)
        self.values: tuple[Any, ...] = self._written
        if self.scheduled:
            self._memory = nd.create(list(self._written), dtype=dtype)
            cells = range(len(self._written))
            self.values = tuple(nd.reshape_view(nd.traceable(self._memory[at : at + 1]), ()) for at in cells)

    def at(self, iteration: int, epoch: int) -> None:
        """Put the numbers of that iteration and epoch in force."""
        numbers = self.noise.numbers(iteration, epoch)
        if self.scheduled and numbers != self._written:
            nd.assign(self._memory, nd.create(list(numbers), dtype=nd.dtype_name(self._memory)))
            self._written = numbers


class Noising:
    """Draws the arrays that stand in for the parameters of a layer.

    Parameters
    ----------
    noise : IWeightNoise
    numbers : NumbersInForce
        Of the noise.
    specs : tuple of ParamSpec
        Of all parameters of the layer.
    """

    def __init__(self, noise: Any, numbers: NumbersInForce, specs: tuple[ParamSpec, ...]) -> None:
        self.noise, self.numbers = noise, numbers
        self.specs = [spec for spec in specs if spec.is_weight or (spec.bias and noise.apply_to_biases)]

    def draw(self, params: dict[str, Array], buffer: Callable[..., Array]) -> dict[str, Array]:
        """Return name -> parameter, noised where it is, in the memory order of the parameter."""
        noised = dict(params)
        for spec in self.specs:
            out = nd.reshape_view(buffer(f"noised_{spec.name}", (spec.length,)), spec.shape, spec.order)
            noised[spec.name] = self.noise.get_in_order(params[spec.name], self.numbers.values, out, spec.order)
        return noised
