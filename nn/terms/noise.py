"""Random noise in training: the numbers behind it, fixed or by schedule, and their memory while it runs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, ClassVar

import nd
from nd.arguments import Checked, Range, checked
from nd.part import Part
from nd.typing import Array
from optimize import Schedule

from .params import ParamSpec

Probability = float | Schedule
Dropped = Annotated[float, Range("with 0 <= it < 1", lambda value: 0 <= value < 1)]
"""A probability to drop."""


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


class Retaining(Noise):
    """Shared by noises that keep a number with probability p, as Java's do.

    Parameters
    ----------
    p : float or Schedule, optional
        Probability to **retain**.
    rate : float, optional
        Probability to **drop**, in the place of p = 1 - rate.
    """

    retained: ClassVar[str] = "inputs"
    """What is kept, for messages."""
    p: Probability

    @checked
    def __init__(self, p: Probability | None = None, *, rate: Dropped | None = None) -> None:
        if p is None and rate is not None:
            given: Probability = round(1.0 - rate, 15)  # so that rate=0.9 is p=0.1, and not 0.09999999999999998
        elif p is not None and rate is None:
            given = p
        else:
            got = "neither" if p is None else f"p={p!r} and rate={rate!r}"
            raise nd.ConfigurationError(
                f"{type(self).__name__}: expected p, the probability to retain, or rate, the probability to drop, got "
                f"{got}. To drop 20 % write rate=0.2 or p=0.8."
            )
        object.__setattr__(self, "p", given)
        self.__post_init__()
        if rate is None:
            warn_of_few(f"{type(self).__name__}: p={p!r}", self.p, type(self).__name__, self.retained)

    def _check(self, field: str, value: float, when: str) -> None:
        if not 0.0 < value <= 1.0:
            raise nd.ConfigurationError(
                f"{type(self).__name__}: p is the probability to retain, 0 < p <= 1, got {value}{when}. "
                "Leave it out for no dropout."
            )

    def numbers(self, iteration: int, epoch: int) -> tuple[float, ...]:
        return (self.value_of("p", iteration, epoch),)


_PACKAGES = {"dataclasses", "nd", "nn", "optimize"}
_warned = False
_from_file: ContextVar[bool] = ContextVar("_from_file", default=False)


@contextmanager
def read_from_file() -> Iterator[None]:
    """Construct noises without the warning of `warn_of_few`: what a file says was trained with."""
    token = _from_file.set(True)
    try:
        yield
    finally:
        _from_file.reset(token)


def warn_of_few(given: str, p: float | Schedule, kind: str = "Dropout", retained: str = "inputs") -> None:
    """Warn, once in a process, of a probability to retain that may have been meant as one to drop: it is below 0.5.

    Parameters
    ----------
    given : str
        Who got it as what: "DenseLayer: drop_out=0.2".
    p : float, or anything else
        The probability, if it is a number.
    kind : str
        Name of the class whose `rate` leaves no doubt.
    retained : str
        What is kept with that probability.
    """
    global _warned
    if _warned or _from_file.get() or not isinstance(p, float) or not 0.0 < p < 0.5:
        return
    _warned = True
    kept, dropped = f"{p:.4g}", f"{1.0 - p:.4g}"
    warnings.warn(
        f"{given} keeps {100.0 * p:.4g} % of the {retained} and drops {100.0 * (1.0 - p):.4g} %, because it is the "
        f"probability to retain, as in Deeplearning4j. To drop {100.0 * p:.4g} %, write {dropped}, or {kind}(rate="
        f"{kept}); {kind}(rate={dropped}) is the same as now, without this warning.",
        stacklevel=_frames_to_the_program(),
    )


def _frames_to_the_program() -> int:
    """Return the stacklevel, for a warning of the caller's, of the line outside of this library."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        frame, level = frame.f_back, level + 1
    return level


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
        self.values: tuple[float | Array, ...] = self._written
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
    specs : iterable of ParamSpec
        Of parameters of the layer, in the order in which their noise is drawn.
    """

    def __init__(self, noise: Any, numbers: NumbersInForce, specs: Iterable[ParamSpec]) -> None:
        self.noise, self.numbers = noise, numbers
        self.specs = [spec for spec in specs if spec._is_weight or (spec.bias and noise.apply_to_biases)]

    def draw(self, params: dict[str, Array], buffer: Callable[..., Array]) -> dict[str, Array]:
        """Return name -> parameter, noised where it is, in the memory order of the parameter."""
        noised = dict(params)
        for spec in self.specs:
            out = nd.reshape_view(buffer(f"noised_{spec.name}", (spec.length,)), spec.shape, spec.order)
            noised[spec.name] = self.noise.get_in_order(params[spec.name], self.numbers.values, out, spec.order)
        return noised
