"""Stochastic gradient descent: one gradient, one update."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import nd
from nd.arguments import checked
from nd.interrupts import Held

from ..api import Listener, Model, OptimizationConf, OptimizerState, as_listeners
from ..solver import OfModel
from ..step import StepResult, get_step_function

if TYPE_CHECKING:
    from ..earlystopping.api import EarlyStoppingModel


class StochasticGradientDescent(OfModel):
    """Gradient, updater, step: params -= updater(gradient).

    Parameters
    ----------
    conf : OptimizationConf
    model : Model
    listeners : collection of Listener
        Itself, not a copy: listeners that come and go are heard.

    Notes
    -----
    Source: DL4J ``StochasticGradientDescent``. Differs: a score or gradient that is not finite stops training before
    it reaches the parameters; constraints are applied before listeners hear of the iteration, so that a listener that
    saves the parameters saves those with which training goes on. Ctrl-C never comes between an update and the count of
    it, and a step that is not taken has drawn no random numbers.
    """

    ended = False
    """No condition ends its steps."""

    @checked
    def __init__(self, conf: OptimizationConf, model: Model, listeners: Collection[Listener]) -> None:
        super().__init__(model, conf)
        self.listeners = listeners
        as_listeners(listeners)
        default = "negative_gradient" if conf.minimize else "gradient"
        self.step_function = get_step_function(conf.step_function or default)

    def optimize(self, iterations: int = 1, step: object = None) -> StepResult | None:
        """Take steps on a minibatch, by default the model's current one; return the result of the last one.

        Raises
        ------
        NumericError
            The score or the gradient is NaN or infinite. Parameters, updater state and counters are as they were.
            On a device that computes while the host goes on, this is said some steps later, or by `finish`; none of
            them has changed anything.
        """
        model = self.reference()
        guard = model.updater.guard
        try:
            for _ in range(iterations) if type(iterations) is int else self.steps_of(iterations):
                with self.lock:
                    self._step(model, step)
                if self.listeners:
                    self.hear_iteration(model)
                guard.ended(model)
        except BaseException:
            guard.settle(model)
            raise
        return self.accepted

    def _step(self, model: EarlyStoppingModel, step: object) -> None:
        """Compute the gradient and go a step. Where that raises, everything is as it was."""
        iteration, updater, generator = model.iteration_count, model.updater, nd.random.get_random()
        drawn = generator.get_state()
        updater.guard.begin(generator, drawn)
        try:
            compute = model.compute_gradient_and_score
            result = compute() if step is None else compute(step)
            if result is None or result.divisor != (result.examples if self.averages else 1):
                result = self.result_of(model, result)
            if self.listeners and updater.guard.judged(result, iteration)[1] is None:  # may be taken
                self.hear_gradient(model, result)
            with Held():  # Ctrl-C waits until the update is counted
                outcome = updater.update(result, iteration, model.epoch_count, self.step_function)
                if outcome.refusal is not None:
                    raise outcome.refusal
                model.iteration_count, self.accepted = iteration + 1, result.with_own_state()
        except BaseException:
            if model.iteration_count == iteration:
                generator.set_state(drawn)
            raise

    def get_state(self) -> OptimizerState:
        """Return nothing: what is learned is the updater's."""
        return OptimizerState()

    def set_state(self, state: OptimizerState) -> None:
        """Take over nothing. Raises FormatError for anything else."""
        state.check("StochasticGradientDescent", 0, 0)

    def abandon(self) -> None:
        """Settle what the device has still to say, where training ends by another error."""
        model = self.reference()
        model.updater.guard.settle(model)

    def finish(self) -> None:
        """Raise what the device has still to say, the NumericError of a step that it has not taken."""
        model = self.reference()
        model.updater.guard.check(model)
