"""Constraints: conditions that parameters are held to after every update."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Checked, Natural, NonNegative, Retained, shown
from nd.checks import describe_shape
from nd.part import Part, undefined
from nd.state import within
from nd.typing import Array

from .step import StepGuard

Names = str | Sequence[str] | None


@dataclass(frozen=True, kw_only=True)
class LayerConstraint(Part, Checked):
    """Holds parameters to a condition.

    Parameters
    ----------
    params : sequence of str, optional
        Names of the layer's parameters, ``"W"``. Without them, where a layer or a network is configured,
        ``constrain_weights``, ``constrain_bias`` and ``constrain_all_parameters`` name them.

    Notes
    -----
    Applied once after every update, with the iteration count that comes next. Source: DL4J ``BaseConstraint``.
    Differs: Java applies every constraint twice.
    """

    params: Names = None
    epsilon: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.params, str):
            object.__setattr__(self, "params", (self.params,))

    def constrained(self, param: Array, iteration: int, epoch: int) -> Array:
        """Return the parameter as it has to be, a new array; ``param`` has its own shape and is not changed."""
        undefined(self, "constrained(param, iteration, epoch)", "the parameter as it has to be")

    def on(self, shapes: dict[str, tuple[int, ...]], who: str) -> list[Self]:
        """Return constraints without open fields, of which every one holds for some of a layer's parameters.

        Parameters
        ----------
        shapes : dict of name -> shape
            Of all parameters of the layer.
        who : str
            The layer, in errors.

        Raises
        ------
        ConfigurationError
            The layer has no such parameter, or it has not that many axes.
        """
        self.check(shapes, who)
        return [self]

    def check(self, shapes: dict[str, tuple[int, ...]], who: str) -> None:
        """Raise ConfigurationError unless it fits on parameters of those shapes."""
        unknown = [name for name in self.params or () if name not in shapes]
        if unknown:
            raise nd.ConfigurationError(
                f"{who}: {type(self).__name__} is for the parameters {list(self.params or ())}, got {sorted(shapes)}. "
                f"Leave out {unknown}."
            )


@dataclass(frozen=True, kw_only=True)
class _NormConstraint(LayerConstraint):
    """Holds norms to a condition.

    Parameters
    ----------
    dimensions : sequence of int, optional
        The norm is over these axes of a parameter. By default all but the first, as DL4J's documentation has it: 1 for
        a matrix ``[n_in, n_out]``, 1, 2, 3 for a convolution's ``[n_out, n_in, h, w]``; of a vector ``[n]`` the only
        one.
    """

    dimensions: Natural | Sequence[Natural] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.dimensions, int):
            object.__setattr__(self, "dimensions", (self.dimensions,))
        axes: Any = self.dimensions
        if axes is not None and (not axes or len(set(axes)) < len(axes)):
            raise nd.ConfigurationError(
                f"{type(self).__name__}: dimensions must be axes >= 0 such as 1, each once, got {list(axes)}. Leave "
                "them out for all but the first."
            )

    def check(self, shapes: dict[str, tuple[int, ...]], who: str) -> None:
        super().check(shapes, who)
        for name in self.params or ():
            if self.dimensions is not None and max(self.dimensions) >= len(shapes[name]):  # type: ignore[arg-type]
                raise nd.ConfigurationError(
                    f"{who}: {type(self).__name__} is over the axes {list(self.dimensions)}, got {name!r} with "  # type: ignore[arg-type]
                    f"{len(shapes[name])} axes. Leave dimensions out, or constrain {name!r} by itself."
                )

    def on(self, shapes: dict[str, tuple[int, ...]], who: str) -> list[Self]:
        self.check(shapes, who)
        if self.dimensions is not None:
            return [self]
        names = self.params or ()
        ranks = dict.fromkeys(len(shapes[name]) for name in names)
        return [
            replace(
                self,
                dimensions=tuple(range(1, rank)) or (0,),
                params=tuple(name for name in names if len(shapes[name]) == rank),
            )
            for rank in ranks
        ]

    def _norm(self, param: Array) -> Array:
        axes = self.dimensions or tuple(range(1, param.ndim)) or (0,)
        return nd.sqrt(nd.sum(nd.square(param), axes, keepdims=True))  # type: ignore[arg-type]


@dataclass(frozen=True)
class MaxNormConstraint(_NormConstraint):
    """Scales weights with a larger norm down: w min(‖w‖, max_norm) / (‖w‖ + 1e-6).

    Parameters
    ----------
    max_norm : float
    dimensions : sequence of int, optional
        The norm is over these axes; by default all but the first.
    params : sequence of str, optional
        See `LayerConstraint`.

    Notes
    -----
    Weights within the norm shrink by 1e-6 / ‖w‖ too. Source: DL4J ``MaxNormConstraint``. Differs: see
    `LayerConstraint`.
    """

    pure = True
    max_norm: NonNegative

    def constrained(self, param: Array, iteration: int, epoch: int) -> Array:
        norm = self._norm(param)
        return param * (nd.minimum(norm, self.max_norm) / (norm + self.epsilon))


@dataclass(frozen=True)
class MinMaxNormConstraint(_NormConstraint):
    """Brings norms between two values, at once or by and by: w (rate clip(‖w‖) + (1 - rate) ‖w‖) / (‖w‖ + 1e-6).

    Parameters
    ----------
    min, max : float
    rate : float
        0 < rate <= 1; with 1 norms are within the values after every update.
    dimensions : sequence of int, optional
        The norm is over these axes; by default all but the first.
    params : sequence of str, optional
        See `LayerConstraint`.

    Notes
    -----
    Source: DL4J ``MinMaxNormConstraint``. Differs: Java multiplies w by (1 - rate) ‖w‖ where it must be divided by the
    norm; its documentation says the formula above. See also `LayerConstraint`.
    """

    pure = True
    min: NonNegative
    max: NonNegative
    rate: Retained = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.min <= self.max:
            raise nd.ConfigurationError(f"MinMaxNormConstraint: min must be <= max, got {self.min} and {self.max}.")

    def constrained(self, param: Array, iteration: int, epoch: int) -> Array:
        norm = self._norm(param)
        wanted = self.rate * nd.minimum(nd.maximum(norm, self.min), self.max) + (1.0 - self.rate) * norm
        return param * (wanted / (norm + self.epsilon))


@dataclass(frozen=True)
class UnitNormConstraint(_NormConstraint):
    """Makes norms 1: w / ‖w‖.

    Parameters
    ----------
    dimensions : sequence of int, optional
        The norm is over these axes; by default all but the first.
    params : sequence of str, optional
        See `LayerConstraint`.

    Notes
    -----
    Source: DL4J ``UnitNormConstraint``. Differs: where all are 0 they stay 0, in Java they become NaN; see also
    `LayerConstraint`.
    """

    pure = True

    def constrained(self, param: Array, iteration: int, epoch: int) -> Array:
        norm = self._norm(param)
        return param / nd.where(norm > 0.0, norm, 1.0)


@dataclass(frozen=True)
class NonNegativeConstraint(LayerConstraint):
    """Makes negative weights 0: max(w, 0).

    Parameters
    ----------
    params : sequence of str, optional
        See `LayerConstraint`.

    Notes
    -----
    Source: DL4J ``NonNegativeConstraint``. Differs: see `LayerConstraint`.
    """

    pure = True

    def constrained(self, param: Array, iteration: int, epoch: int) -> Array:
        return nd.maximum(param, 0.0)


CONSTRAINTS: dict[str, type[LayerConstraint]] = {
    "max_norm": MaxNormConstraint,
    "min_max_norm": MinMaxNormConstraint,
    "non_negative": NonNegativeConstraint,
    "unit_norm": UnitNormConstraint,
}
"""Name -> class, sorted."""


def as_constraints(who: str, field: str, given: object) -> tuple[LayerConstraint, ...] | None:
    """Return one constraint or several as a tuple, None for none; raise ConfigurationError for anything else."""
    if given is None:
        return None
    constraints = (given,) if not isinstance(given, Iterable) or isinstance(given, str) else tuple(given)
    for constraint in constraints:
        if not isinstance(constraint, LayerConstraint):
            raise nd.ConfigurationError(
                f"{who}: {field} must be constraints such as MaxNormConstraint(2), got {constraint!r}."
            )
    return constraints or None


def _is_ours(constraint: LayerConstraint) -> bool:
    return type(constraint).__module__.startswith("optimize.")


class Placed(NamedTuple):
    """A constraint on a parameter of a network.

    Attributes
    ----------
    constraint : LayerConstraint
    param : array
        A view.
    where : str
        Layer and parameter, in errors.
    """

    constraint: LayerConstraint
    param: Array
    where: str

    def constrained(self, iteration: Any, epoch: Any) -> Array:
        """Return the parameter as it has to be; raise errors where the constraint has returned something else."""
        new = self.constraint.constrained(self.param, iteration, epoch)
        shape = tuple(self.param.shape)
        if nd.is_array(new) and tuple(new.shape) == shape:
            return new
        who = f"{self.where}: {type(self.constraint).__name__}: constrained must return an array"
        if nd.is_array(new):
            raise nd.ShapeError(
                f"{who} {describe_shape(shape)}, got {describe_shape(new.shape)}. Return a number for every one of the "
                "parameter."
            )
        raise nd.ConfigurationError(f"{who} {describe_shape(shape)}, got {shown(new)}. Return the new parameter.")

    def check_finite(self) -> None:
        """Raise ConfigurationError where a constraint of a user's own has made a parameter that is not finite."""
        if not _is_ours(self.constraint) and not nd.all_finite(self.param):
            raise nd.ConfigurationError(
                f"{self.where}: {type(self.constraint).__name__}: constrained must return finite numbers, got NaN or "
                "infinity among them. Look for a division by 0 in it."
            )


class Constraining:
    """The constraints of a network at work on its parameters.

    Parameters
    ----------
    placed : sequence of Placed
        In the order in which they are applied.

    Notes
    -----
    The host does not wait, but for users' own where they run as they are written.
    """

    def __init__(self, placed: Sequence[Placed]) -> None:
        self._placed = list(placed)
        self._backend = nd.backend()
        pure = all(place.constraint.pure for place in placed)
        self._recordings = nd.Recordings(nd.dtype_name(placed[0].param), pure)
        self._own = any(not _is_ours(place.constraint) for place in placed)  # which may follow iteration and epoch

    @property
    def pure(self) -> bool:
        """Whether they run from recordings, without anybody's code but for the first time."""
        return self._recordings.pure

    def apply(self, iteration: int, epoch: int, guard: StepGuard | None = None, check: bool = True) -> None:
        """Change the parameters; iteration counts the update before, epoch is 0-based.

        With the guard of an update that has been undone on the device nothing changes. `check` looks at what
        constraints of a user's own have made.

        Raises
        ------
        ConfigurationError, ShapeError
            A constraint has returned something that is no parameter. Then some may be written, for the step to undo.
        """
        with within(self._backend):
            run = partial(self._run, guard, (iteration, epoch))
            # With a guard other numbers may be written: another recording.
            self._recordings.run(guard is None, run, (iteration, epoch) if self._own else ())
            for placed in self._placed if check else ():
                placed.check_finite()

    def _run(self, guard: StepGuard | None, counts: tuple[int, int], given: tuple[object, ...]) -> Array:
        for placed in self._placed:
            param, new = placed.param, placed.constrained(*(given or counts))
            nd.assign(param, new if guard is None else guard.held(param, new))
        return self._placed[-1].param
