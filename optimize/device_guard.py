"""The guard of steps on a device, which decides while the host goes on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import nd
from nd.random import Random
from nd.state import within
from nd.typing import Array

from .step import TAME, Outcome, StepGuard, StepResult, refused

if TYPE_CHECKING:
    from .regularization import PenaltySum


logger = logging.getLogger("nd")
CHECK_EVERY = 64  # steps after which the host asks at the latest


class DeviceGuard(StepGuard):
    """The same where the host goes on while the device computes: that decides, and takes back what it must.

    Parameters and updater state stay as they are from the first step on whose score or gradient is not finite; `check`
    asks whether there was one. So may the host be many steps ahead, and wait for none.

    Parameters
    ----------
    penalties : MergedPenaltySum
    memory : array ``[7]``
        For the loss, penalties, elements of the gradient that are not finite, steps, the failed one, its loss and
        penalties: the cells.
    """

    def __init__(self, penalties: PenaltySum, memory: Array) -> None:
        super().__init__(penalties)
        self.cells, self._memory = nd.cells(memory), memory
        self._in_step = False
        self._first = 0
        self._numbered = 0  # updates before those that the device has counted
        self._refused: list[tuple[int, int, nd.NumericError]] = []  # from the update that failed to the last after it
        self._reset()

    def _reset(self) -> None:
        """Count the steps from here on, none of which has failed."""
        nd.fill(self._memory[3:], 0.0)
        nd.fill(self.cells[4], -1.0)
        self._steps, self._suspected = 0, False
        self._drawn: dict[int, tuple[Random, tuple[int, int]]] = {}

    def penalty(self, iteration: int, epoch: int) -> Array:
        self.penalties.set_coefficients(iteration, epoch)
        return self.cells[1]

    def observe(self, loss: Array, gradient: Array) -> tuple[()]:
        nd.assign(self.cells[0], loss)
        self.penalties.watch(gradient, self._memory[1:3])
        return ()

    def score(self, loss: Array, penalty: Array | float, divisor: int) -> None:
        return None

    def judged(self, result: StepResult, iteration: int) -> tuple[float, None]:
        if result.gradients.evidence is None:
            self.observe(result.loss, result.gradient())
        return TAME, None

    def taken(self, iteration: int) -> Outcome:
        if not self._steps:
            self._first = iteration
        self._steps += 1
        return Outcome(None, self, self._numbered + self._steps - 1)

    def held(self, before: Array, now: Array) -> Array:
        return nd.where(self.cells[4] < 0.0, now, before)

    def begin(self, generator: Random, drawn: tuple[int, int]) -> None:
        self._in_step, self._drawn[self._steps] = True, (generator, drawn)

    def ended(self, model: object) -> None:
        self._in_step = False
        if self._suspected or self._steps >= CHECK_EVERY:
            self.check(model)

    def score_asked(self, model: object) -> None:
        if self._in_step:
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
        failed, error, drawn = self._asked()
        if error is None:
            return
        model.iteration_count = self._first + failed
        if drawn is not None:
            generator, before = drawn
            generator.set_state(before)
        raise error

    def _asked(self) -> tuple[int, nd.NumericError | None, tuple[Random, tuple[int, int]] | None]:
        """Wait; return the first step that has failed, why, and what was drawn before it; begin to count anew."""
        if not self._steps:
            return -1, None, None
        with within(self.backend):
            *_, failed, loss, penalty = nd.to_host(self._memory).tolist()
            drawn, steps = self._drawn.get(int(failed)), self._steps
            self._reset()
        self._numbered += steps
        if failed < 0:
            return -1, None, None
        score = loss + penalty
        what, value = ("gradient", "NaN or infinity in it") if score - score == 0.0 else ("score", score)
        error = refused(what, value, self._first + int(failed), self.doubt)
        self._refused.append((self._numbered - steps + int(failed), self._numbered, error))
        return int(failed), error, drawn

    def error_of(self, number: int) -> nd.NumericError | None:
        """Wait for an update; return why it was refused, None if it was taken."""
        if number >= self._numbered:
            self._asked()
        return next((error for first, stop, error in self._refused if first <= number < stop), None)

    def settle(self, model: object) -> None:
        self._in_step = False
        try:
            self.check(model)
        except nd.NumericError as error:
            logger.warning("%s", error)


def protect(cells: tuple[Array, ...], now: tuple[Array, ...], before: tuple[Array, ...], last: bool) -> None:
    """Put arrays back to what they were before an update that must not be; the `last` part of one counts it.

    Operations on single elements, for `nd.Elementwise`. The numbers that are written, steps and so on, decide nothing
    in the step that writes them, except `failed`, which then says what the sums say too: elements may see it early.
    """
    loss, penalty, broken, steps, failed, its_loss, its_penalty = cells
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
