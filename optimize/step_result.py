"""The result of a model on a minibatch, and the watch that keeps it from the parameters where it is not finite."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import nd
from nd.random import Random
from nd.state import within
from nd.typing import Array

logger = logging.getLogger("nd")
WATCHED = 7  # arrays [] that an update is given
CHECK_EVERY = 64  # steps after which the host asks at the latest


class StepWatch:
    """Keeps what is not finite from the parameters of one network, where an operation is over when it returns.

    The host looks at the score and the gradient of every step before the update: `StepResult.check_finite`.

    Attributes
    ----------
    arguments : tuple of array ``[]``
        Those of `protect`; none where the host looks.
    doubt : str
        A sentence of the error: what may be wrong with data of the device that nobody has looked at.
    """

    arguments: tuple[Array, ...] = ()
    in_step = False
    """Whether a step has begun, which `after_step` or `give_up` ends."""

    def __init__(self) -> None:
        self.backend = nd.backend()
        self.doubt = ""

    def penalty(self, penalties: Any, iteration: int, epoch: int) -> Array | float:
        """Return the sum of the penalties on the parameters, a `PenaltySum`, for the step that begins."""
        return 0.0 if penalties.is_none else penalties.at(iteration, epoch)

    def observe(self, loss: Array, gradient: Array, penalties: Any, square: Array) -> None:
        """See the summed loss, the gradient ``[n]`` and the penalties of a step before its update; can be recorded.

        Where the host looks, it finds the sum of the gradient's squares in ``square []``.
        """
        nd.dot(gradient, gradient, square)

    def begin_update(self, iteration: int, generator: Random, drawn: tuple[int, int]) -> None:
        """Hear that an update is issued; the generator's state was `drawn` before the step."""

    def after_step(self, model: Any) -> None:
        """Ask now and then how the steps went."""

    def score_asked(self, model: Any) -> None:
        """Hear that the host has waited for a score."""

    def check(self, model: Any) -> None:
        """Wait for all steps so far; raise the NumericError of one that was not taken."""

    def give_up(self, model: Any) -> None:
        """As `check`, where something else is being done or said than training: the error is logged instead."""

    def held(self, before: Array, now: Array) -> Array:
        """Return what is written after an update: `now`, or `before` where the update has been undone."""
        return now


class DeviceWatch(StepWatch):
    """The same where the host goes on while the device computes.

    An update that is given `arguments` leaves parameters and updater state as they are from the first step on whose
    score or gradient is not finite; `check` asks whether there was one.

    Parameters
    ----------
    cells : tuple of array ``[]``
        Loss, penalties, elements of the gradient that are not finite, steps, the failed one, its loss and penalties.
    memory : array ``[7]``
        Which they are views of.
    """

    def __init__(self, cells: tuple[Array, ...], memory: Array) -> None:
        super().__init__()
        self.arguments, self._memory = cells, memory
        self._first = 0
        self._reset()

    def _reset(self) -> None:
        """Count the steps from here on, none of which has failed."""
        nd.fill(self._memory[3:], 0.0)
        nd.fill(self.arguments[4], -1.0)
        self._steps, self._suspected = 0, False
        self._drawn: dict[int, tuple[Random, tuple[int, int]]] = {}

    def penalty(self, penalties: Any, iteration: int, epoch: int) -> Array:
        penalties.set_coefficients(iteration, epoch)
        return self.arguments[1]

    def observe(self, loss: Array, gradient: Array, penalties: Any, square: Array) -> None:
        nd.assign(self.arguments[0], loss)
        penalties.watch(gradient, self._memory[1:3])

    def begin_update(self, iteration: int, generator: Random, drawn: tuple[int, int]) -> None:
        if not self._steps:
            self._first = iteration
        self._drawn[self._steps] = generator, drawn
        self._steps += 1

    def after_step(self, model: Any) -> None:
        self.in_step = False
        if self._suspected or self._steps >= CHECK_EVERY:
            self.check(model)

    def score_asked(self, model: Any) -> None:
        if self.in_step:
            self._suspected = True
        else:
            self.check(model)

    def check(self, model: Any) -> None:
        """Wait for the device.

        Raises
        ------
        NumericError
            A score or gradient was not finite. Parameters, updater state, the iteration count and the generator are as
            they were before that minibatch.
        """
        if not self._steps:
            return
        with within(self.backend):
            *_, failed, loss, penalty = nd.to_host(self._memory).tolist()
            drawn = self._drawn.get(int(failed))
            self._reset()
        if failed < 0:
            return
        model.iteration_count = self._first + int(failed)
        if drawn is not None:
            generator, state = drawn
            generator.set_state(state)
        score = loss + penalty
        if score - score == 0.0:
            refuse("gradient", "NaN or infinity in it", model.iteration_count, self.doubt)
        refuse("score", score, model.iteration_count, self.doubt)

    def give_up(self, model: Any) -> None:
        self.in_step = False
        try:
            self.check(model)
        except nd.NumericError as error:
            logger.warning("%s", error)

    def held(self, before: Array, now: Array) -> Array:
        return nd.where(self.arguments[4] < 0.0, now, before)


def watch_steps(dtype: str, length: int) -> StepWatch:
    """Return what watches the steps of a network with so many parameters on the current backend."""
    memory = nd.deferred_memory(WATCHED, dtype) if length else None
    return StepWatch() if memory is None else DeviceWatch(nd.cells(memory), memory)


def protect(arguments: tuple[Array, ...], now: tuple[Array, ...], before: tuple[Array, ...], last: bool) -> None:
    """Put arrays back to what they were before an update that must not be; the `last` part of one counts it.

    Operations on single elements, for `nd.Elementwise`. The numbers that are written, steps and so on, decide nothing
    in the step that writes them, except `failed`, which then says what the sums say too: elements may see it early.
    """
    loss, penalty, broken, steps, failed, its_loss, its_penalty = arguments
    # x - x is NaN where x is not finite, and NaN is not even equal to 0.
    sound = (loss - loss >= 0.0) & (penalty - penalty >= 0.0) & (broken < 0.5) & (failed < 0.0)
    for array, old in zip(now, before, strict=True):
        nd.assign(array, nd.where(sound, array, old))
    if last:
        known = sound | (failed >= 0.0)
        values = nd.where(known, failed, steps), nd.where(known, its_loss, loss), nd.where(known, its_penalty, penalty)
        for cell, value in zip((failed, its_loss, its_penalty), values, strict=True):
            nd.assign(cell, value)
        nd.assign(steps, steps + 1.0)


def broken_elements(gradient: Array) -> Array:
    """Return how many elements are not finite, a sum for `nd.Summed`."""
    return nd.sum(nd.where(gradient - gradient >= 0.0, 0.0, 1.0))


def refuse(what: str, value: object, iteration: int, doubt: str = "") -> NoReturn:
    """Raise the NumericError of a step that was not taken; `doubt` is added to it."""
    raise nd.NumericError(
        f"fit: the {what} must be finite, got {value} at iteration {iteration}. Parameters, "
        "updater state and counters are as they were before this minibatch. Check the data for NaN, or "
        f"lower the learning rate.{doubt}"
    )


class StepResult:
    """Loss, penalties and gradient of one minibatch; valid until the model computes again.

    Parameters
    ----------
    loss : array ``[]`` or float
        Summed over the examples.
    penalty : array ``[]`` or float
        Sum of the penalties on the parameters.
    examples : int
    gradients : sequence of array ``[n]``
        One from every worker: the gradient is their sum, over the examples.
    squares : sequence of array ``[]``
        The sum of squares of each of several gradients, where the workers know it.
    watch : StepWatch
        Keeps what is not finite from the parameters.
    averaged : bool
        Whether the score is the mean loss of the examples, not its sum.
    state : tuple of array
        Handed on by layers to the next segment of the same series.
    """

    @classmethod
    def of_score(cls, score: float, watch: StepWatch) -> StepResult:
        """Return what is left of a step in a file: its score."""
        return cls(score, 0.0, 0, (), watch, averaged=False)

    __slots__ = (
        "_divisor", "_gradients", "_score", "_squares", "examples", "known_norm", "loss", "observed", "penalty",
        "state", "watch",
    )  # fmt: skip

    def __init__(
        self,
        loss: Array | Any,
        penalty: Array | float,
        examples: int,
        gradients: Sequence[Array],
        watch: StepWatch,
        squares: Sequence[Array] = (),
        averaged: bool = True,
        state: tuple[Array, ...] = (),
    ) -> None:
        self.loss, self.penalty, self.examples, self.watch, self.state = loss, penalty, examples, watch, state
        self.observed = False
        """Whether the watch has seen loss, penalties and gradient on the device."""
        self._gradients, self._squares = tuple(gradients), tuple(squares)
        self._divisor = examples if averaged else 1
        self._score: float | None = None
        self.known_norm: float | None = None
        """Of the gradient, where it was looked at."""

    def keep_state(self) -> None:
        """Move the state out of the memory that the next step uses: the step was taken."""
        if self.state:
            with within(self.watch.backend):
                self.state = tuple(map(nd.copy, self.state))

    @property
    def gradients(self) -> tuple[Array, ...]:
        """The vectors ``[n]`` whose sum the gradient is; a single one after `gradient`."""
        return self._gradients

    def gradient(self) -> Array:
        """Return the gradient ``[n]``; the workers' are added up in the memory of the first."""
        first, *others = self._gradients
        if others:
            with within(self.watch.backend), self.watch.backend.quiet():
                for other in others:
                    nd.addi(first, other)
            self._gradients, self._squares = (first,), ()
        return first

    def take_others(self) -> tuple[Array, ...]:
        """Return the gradients but the first, for an update that adds them to it: they are no longer the result's."""
        others = self._gradients[1:]
        self._gradients, self._squares = self._gradients[:1], ()
        return others

    @property
    def scored(self) -> bool:
        """Whether somebody has asked for the score, and the host has waited for it."""
        return self._score is not None

    @property
    def score(self) -> float:
        """The regularised score, before the update: mean or summed loss, and the penalties."""
        if self._score is None:
            mean, penalty = self.loss / self._divisor, self.penalty
            item = self.watch.backend.item
            # 0 is added where it costs less: a loss of -0 is then 0 too.
            self._score = item(mean) + 0.0 if type(penalty) is float and not penalty else item(mean + penalty)
        return self._score

    def check_finite(self, iteration: int) -> None:
        """Raise NumericError where score or gradient are not finite; a watch on a device does it later instead."""
        if self.observed:
            return
        score, norm = self.score, self.norm()
        self.known_norm = norm
        if math.isfinite(score + norm) or (math.isfinite(score) and math.isfinite(norm)):
            return
        what, value = ("norm of the gradient", norm) if math.isfinite(score) else ("score", score)
        refuse(what, value, iteration)

    def norm(self) -> float:
        """Return the Euclidean norm of the gradient; NaN or infinite if any of its elements is.

        Of several workers' gradients whose squares are known, the sum of their norms.
        """
        squares = self._squares
        if squares and len(squares) == len(self._gradients):
            item, total = self.watch.backend.item, 0.0
            for square in squares:
                total += math.sqrt(item(square))
            if total < math.inf:  # nor NaN
                return total
        with within(self.watch.backend):
            return self.watch.backend.quietly(_norm, self.gradient())


def _norm(gradient: Array) -> float:
    square = nd.item(nd.dot(gradient, gradient))
    if math.isfinite(square) or gradient.shape[0] == 0:
        return math.sqrt(square)
    largest = nd.item(nd.max(nd.absolute(gradient)))  # the square of a large finite number may be infinite
    if not 0.0 < largest < float("inf"):
        return largest
    scaled = nd.multiply(gradient, 1.0 / largest)
    return largest * math.sqrt(nd.item(nd.dot(scaled, scaled)))
