"""A step: what a model computes on a minibatch, and the guard that says whether it may be taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import Natural, converted, shown
from nd.checks import check_choice
from nd.part import pure
from nd.random import Random
from nd.rules import rule_of
from nd.state import state, within
from nd.typing import Array

if TYPE_CHECKING:
    from .device_guard import DeviceGuard
    from .network_updater import NetworkUpdater

CELLS = 7  # arrays [] that an update is given where a device decides
NOTHING_KEPT: Mapping[Any, Any] = MappingProxyType({})
TAME = 1e12  # gradients and factors below it make no update that overflows


class Gradients:
    """The gradient in memory: one vector ``[n]`` of every worker, whose sum it is. Added up once, in the first.

    Parameters
    ----------
    first : array ``[n]``
        The network's gradient vector.

    Attributes
    ----------
    number : int
        Of the computation whose gradient it is; another from the moment on when an update takes it.
    evidence : tuple of array, or None
        What a `StepGuard` has seen: the sums of every vector's squares; on a device nothing. None: not looked at yet.
    """

    __slots__ = ("_more", "backend", "evidence", "first", "number")

    def __init__(self, first: Array) -> None:
        self.backend, self.first, self.number = nd.backend(), first, 0
        self._more: tuple[Array, ...] = ()
        self.evidence: tuple[Array, ...] | None = None

    def written(self, more: tuple[Array, ...], evidence: tuple[Array, ...] | None) -> int:
        """Hear that the workers have computed: `more` are the vectors beside the first. Return the number."""
        self._more, self.evidence, self.number = more, evidence, self.number + 1
        return self.number

    def whole(self) -> Array:
        """Return the gradient ``[n]``, to be read or written: what was seen of it before counts no longer."""
        more, self._more, self.evidence = self._more, (), None
        if more:
            with within(self.backend), self.backend.quiet():
                for other in more:
                    nd.addi(self.first, other)
        return self.first

    def take(self) -> tuple[Array, ...]:
        """Hand over the vectors beside the first to an update, which adds them to it and overwrites it."""
        more, self._more, self.evidence, self.number = self._more, (), None, self.number + 1
        return more

    def check_holds(self, vector: Array, number: int | None) -> None:
        """Raise ConfigurationError unless a network's gradient vector ``[n]`` holds the computation of that number."""
        if self.first is not vector and vector.shape[0] and not self.backend.may_share_memory(self.first, vector):
            raise nd.ConfigurationError(
                "update: the result must be of this network's own computation, got another's. Compute it with "
                "compute_gradient_and_score of the network whose updater this is."
            )
        if number not in (None, self.number):
            raise nd.ConfigurationError(
                "update: the result must be the last one that was computed, and no update's yet, got one whose "
                "gradient has been overwritten. Update before anything else is computed, once."
            )

    def norm(self) -> float:
        """Return the Euclidean norm of the gradient; NaN or infinite if any of its elements is.

        Of several workers' vectors whose squares are known, the sum of their norms.
        """
        if self.evidence:
            item, total = self.backend.item, 0.0
            for square in self.evidence:
                total += math.sqrt(item(square))
            if total < math.inf:  # nor NaN
                return total
        with within(self.backend):
            return self.backend.quietly(_norm, self.whole())


def _norm(gradient: Array) -> float:
    square = nd.item(nd.dot(gradient, gradient))
    if math.isfinite(square) or gradient.shape[0] == 0:
        return math.sqrt(square)
    largest = nd.item(nd.max(nd.absolute(gradient)))  # the square of a large finite number may be infinite
    if not 0.0 < largest < float("inf"):
        return largest
    scaled = nd.multiply(gradient, 1.0 / largest)
    return largest * math.sqrt(nd.item(nd.dot(scaled, scaled)))


class StepResult(NamedTuple):
    """Loss, penalties, gradient and state of one minibatch; its arrays are overwritten by the next computation.

    Attributes
    ----------
    loss : array ``[]`` or float
        Summed over the examples.
    penalty : array ``[]`` or float
        Sum of the penalties on the parameters.
    examples : int
    gradients : Gradients
        Summed over the examples.
    divisor : int
        Of loss and gradient: the examples where the score is their mean, else 1.
    state : tuple of array
        Handed on by layers to the next segment of the same series.
    known_score : float, optional
        The score, where it costs no waiting for a device.
    kept : mapping of str -> KeptArrays
        Activations and epsilons of the nodes that somebody has asked to keep; of further outputs by (name, number).
    number : int, optional
        That of the gradients when they were computed: an update refuses a result that others have overwritten since.
    """

    loss: Array | Any
    penalty: Array | float
    examples: int
    gradients: Gradients
    divisor: int = 1
    state: tuple[Array, ...] = ()
    known_score: float | None = None
    kept: Mapping[Any, Any] = NOTHING_KEPT
    number: int | None = None

    @property
    def score(self) -> float:
        """The regularised score, before the update: mean or summed loss, and the penalties. Waits for a device."""
        if self.known_score is not None:
            return self.known_score
        with within(self.gradients.backend):
            return nd.item(self.loss / self.divisor + self.penalty)

    def gradient(self) -> Array:
        """Return the gradient ``[n]``, the network's vector: an update takes what is written into it."""
        return self.gradients.whole()

    def with_own_state(self) -> StepResult:
        """Return the same with a state that the next computation does not overwrite."""
        return self._replace(state=tuple(map(nd.copy, self.state))) if self.state else self


class Outcome(NamedTuple):
    """Whether an update was taken: then parameters, updater state and constraints have changed, else nothing has."""

    refusal: nd.NumericError | None = None
    """Why it was refused, as far as that is known without waiting: where the host decides, always."""
    guard: DeviceGuard | None = None  # who knows it later
    number: int = 0  # of the update, for the guard

    @property
    def error(self) -> nd.NumericError | None:
        """Why it was refused, None where it was taken; waits for a device that decides."""
        return self.refusal if self.guard is None else self.guard.error_of(self.number)

    @property
    def taken(self) -> bool:
        """Whether it was taken; waits for a device that decides."""
        return self.error is None


TAKEN = Outcome()


class StepGuard:
    """Decides whether a step may be taken, where an operation is over when it returns: the host looks before.

    Score and gradient must be finite. A large gradient may still make an update overflow, and parts of a user's own may
    raise in the middle: then there are copies to go back to, which cost about as much as an update. They are not needed
    where the gradient is small, and the update has run before from a recording, that is without anybody's code.

    Attributes
    ----------
    cells : tuple of array ``[]``
        What an update on a device is given to decide by; none where the host decides.
    doubt : str
        A sentence of the error: what may be wrong with data that nobody has looked at.
    """

    cells: tuple[Array, ...] = ()

    def __init__(self, penalties: Any = None) -> None:
        self.backend, self.penalties, self.doubt = nd.backend(), penalties, ""
        self._proven: set[object] = set()  # keys of updates that run from recordings

    # ---- while the gradient is computed

    def penalty(self, iteration: int, epoch: int) -> Array | float:
        """Return the sum of the penalties on the parameters, for the step that begins."""
        return 0.0 if self.penalties is None else self.penalties.at(iteration, epoch)

    def observe(self, loss: Array, gradient: Array) -> tuple[Array, ...]:
        """See the summed loss and the gradient ``[n]`` of a step; can be recorded. Return the sum of its squares."""
        return (nd.dot(gradient, gradient),)

    def score(self, loss: Array, penalty: Array | float, divisor: int) -> float | None:
        """Return the score of a step, None where the host would wait for it."""
        item = self.backend.item
        no_penalty = type(penalty) is float and not penalty
        return item(loss / divisor) + 0.0 if no_penalty else item(loss / divisor + penalty)  # 0.0, also of -0.0

    # ---- an update

    def knows(self, key: object) -> bool:
        """Tell whether the updates of that key have run from recordings."""
        return key in self._proven and not state.eager

    def forget(self) -> None:
        """Hear that updates are other ones from now on."""
        self._proven.clear()

    def judged(self, result: StepResult, iteration: int) -> tuple[float, nd.NumericError | None]:
        """Return the norm of the gradient, and the error of a step that must not be taken, None of one that may."""
        score, norm = result.score, result.gradients.norm()
        if math.isfinite(score) and math.isfinite(norm):
            return norm, None
        what, value = ("norm of the gradient", norm) if math.isfinite(score) else ("score", score)
        return norm, refused(what, value, iteration)

    def taken(self, iteration: int) -> Outcome:
        """Return the outcome of an update that has run, and cannot have gone wrong but by what a device knows."""
        return TAKEN

    def carry_out(
        self, iteration: int, updater: NetworkUpdater, run: Callable[[], bool], key: object, tame: bool
    ) -> Outcome:
        """Run an update of parameters and states; take it back where it raises, or leaves something not finite.

        `run` tells whether it runs from recordings from now on, as `knows` says of its `key`. A `tame` one cannot
        overflow.
        """
        saved = updater.saved()
        try:
            pure = run()
            if not tame and not updater.is_finite():
                updater.restore(saved)
                return Outcome(refused("update", "NaN or infinity in it", iteration))
        except BaseException:
            updater.restore(saved)
            raise
        if pure and not state.eager:
            self._proven.add(key)
        return self.taken(iteration)

    def held(self, before: Array, now: Array) -> Array:
        """Return what is written after an update: `now`, or `before` where the update has been undone."""
        return now

    # ---- steps of a model, whose outcome a device says later

    def begin(self, generator: Random, drawn: tuple[int, int]) -> None:
        """Hear that a step begins, and where the generator stands; `ended` or `settle` ends it."""

    def ended(self, model: Any) -> None:
        """Ask now and then how the steps went."""

    def score_asked(self, model: Any) -> None:
        """Hear that the host has waited for a score."""

    def check(self, model: Any) -> None:
        """Wait for all steps so far; raise the NumericError of one that was not taken."""

    def settle(self, model: Any) -> None:
        """As `check`, where something else is being done or said than training: the error is logged instead."""


# ---- what is done with an update

StepFunction = Callable[[Array, Array, float], object]
"""(params, direction, step) -> None, in place on params; `nd.part.pure` lets an update with it be recorded."""


@pure
def default_step(params: Array, direction: Array, step: float) -> None:
    """Params += step * direction. Source: DL4J ``DefaultStepFunction``."""
    nd.addi(params, nd.multiply(direction, step))


@pure
def gradient_step(params: Array, direction: Array, step: float = 1.0) -> None:
    """Params += direction. Source: DL4J ``GradientStepFunction``."""
    nd.addi(params, direction)


@pure
def negative_default_step(params: Array, direction: Array, step: float) -> None:
    """Params -= step * direction. Source: DL4J ``NegativeDefaultStepFunction``."""
    nd.subi(params, nd.multiply(direction, step))


@pure
def negative_gradient_step(params: Array, direction: Array, step: float = 1.0) -> None:
    """Params -= direction, the default of gradient descent. Source: DL4J ``NegativeGradientStepFunction``."""
    nd.subi(params, direction)


@pure
def update_alone(params: Array, direction: Array, step: float = 1.0) -> None:
    """Leave the parameters as they are, where the update alone is wanted."""


STEP_FUNCTIONS: dict[str, StepFunction] = {
    "default": default_step,
    "gradient": gradient_step,
    "negative_default": negative_default_step,
    "negative_gradient": negative_gradient_step,
}
"""Name -> function, sorted."""


def get_step_function(name: str) -> StepFunction:
    """Return a step function by name.

    Raises
    ------
    ChoiceError
        The name is unknown.
    """
    return STEP_FUNCTIONS[check_choice("step_function", "step function", str(name).lower(), STEP_FUNCTIONS)]


def check_counts(result: object, iteration: object, epoch: object) -> tuple[int, int]:
    """Return the counts of an update as ints; raise DTypeError or ArgumentError where something is none."""
    if not isinstance(result, StepResult):
        raise nd.DTypeError(
            f"update: result must be a StepResult, got {shown(result)}. compute_gradient_and_score returns one."
        )
    natural: Any = rule_of(Natural)
    return converted("update", "iteration", natural, iteration), converted("update", "epoch", natural, epoch)


def refused(what: str, value: object, iteration: int, doubt: str = "") -> nd.NumericError:
    """Return the error of a step that was not taken; `doubt` is added to it."""
    return nd.NumericError(
        f"fit: the {what} must be finite, got {value} at iteration {iteration}. Parameters, "
        "updater state and counters are as they were before this minibatch. Check the data for NaN, or "
        f"lower the learning rate.{doubt}"
    )
