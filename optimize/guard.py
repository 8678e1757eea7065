"""What is not finite is kept from the parameters, without asking the device after every step."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

import nd
from nd.random import Random
from nd.state import within

Array = Any

logger = logging.getLogger("nd")
WATCHED = 7  # arrays [] that an update is given
CHECK_EVERY = 64  # steps after which the host asks at the latest


class Guard:
    """Watches the scores and gradients of one network, for backends that compute while the host goes on.

    An update that is given `arguments` leaves parameters and updater state as they are from the first step on whose
    score or gradient is not finite; `check` asks whether there was one.

    Parameters
    ----------
    dtype : str

    Attributes
    ----------
    loss : array ``[]``
        Of the step, put there before the update.
    sums : array ``[2]``
        Penalties on the parameters, and how many elements of the gradient are not finite, likewise.
    ready : bool
        Whether both are of the step whose update comes next.
    doubt : str
        A sentence of the error: what may be wrong with data of the device that nobody has looked at.
    """

    def __init__(self, dtype: str) -> None:
        self._backend = nd.backend()
        self._memory = nd.zeros(WATCHED, dtype=dtype)
        self._cells = tuple(nd.reshape_view(self._memory[at : at + 1], ()) for at in range(WATCHED))
        self.loss = self._cells[0]
        self.sums = self._memory[1:3]
        self.ready, self.doubt = False, ""
        self._steps, self._first = 0, 0
        self._reset()

    def _reset(self) -> None:
        """Count the steps from here on, none of which has failed."""
        nd.fill(self._memory[3:], 0.0)
        nd.fill(self._cells[4], -1.0)
        self._steps, self._suspected = 0, False
        self._drawn: dict[int, tuple[Random, tuple[int, int]]] = {}

    @property
    def penalty(self) -> Array:
        """The sum of the penalties, ``[]``."""
        return self._cells[1]

    @property
    def failed(self) -> Array:
        """The first step since the host asked that changed nothing, ``[]``; below 0 while there is none."""
        return self._cells[4]

    @property
    def arguments(self) -> tuple[Array, ...]:
        """What `protect` needs: loss, penalty, elements not finite, steps, the failed one, its loss and penalty."""
        return self._cells

    def suspect(self) -> None:
        """Have the device asked after the next step."""
        self._suspected = True

    def remember(self, generator: Random, state: tuple[int, int]) -> None:
        """Remember the generator, as it was before the step that is counted next."""
        self._drawn[self._steps] = generator, state

    def count(self, iteration: int) -> None:
        """Count a guarded update, when it is issued."""
        if not self._steps:
            self._first = iteration
        self._steps += 1

    def after_step(self, model: Any) -> None:
        """Ask the device now and then."""
        if self._suspected or self._steps >= CHECK_EVERY:
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
        with within(self._backend):
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
        """As `check`, where something else is being done or said than training: the error is logged instead."""
        try:
            self.check(model)
        except nd.NumericError as error:
            logger.warning("%s", error)


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
        found = nd.where(known, failed, steps), nd.where(known, its_loss, loss), nd.where(known, its_penalty, penalty)
        for cell, value in zip((failed, its_loss, its_penalty), found, strict=True):
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
