"""Stochastic gradient descent: one gradient, one update."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import nd
from nd.arguments import checked
from nd.interrupts import Held
from nd.state import state

from ..api import Listener, Model, OptimizationConf, OptimizerState, as_listeners
from ..chunks import get_step_function
from ..network_updater import NetworkUpdater
from ..solver import OfModel
from ..step_result import StepResult


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
        super().__init__(model)
        self.conf, self.listeners, self._averages = conf, listeners, conf.mini_batch
        as_listeners(listeners)
        default = "negative_gradient" if conf.minimize else "gradient"
        self.step_function = get_step_function(conf.step_function or default)

    def optimize(self, iterations: int = 1, step: Any = None) -> StepResult | None:
        """Take steps on a minibatch, by default the model's current one; return the result of the last one.

        Raises
        ------
        NumericError
            The score or the gradient is NaN or infinite. Parameters, updater state and counters are as they were.
            On a device that computes while the host goes on, this is said some steps later, or by `finish`; none of
            them has changed anything.
        """
        model: Any = self.model
        updater: NetworkUpdater = model.updater
        try:
            for _ in self.steps_of(iterations):
                with self.lock:
                    self._step(model, updater, step)
                if self.listeners:
                    self.hear_iteration(model)
                if updater.watch.arguments:
                    updater.watch.after_step(model)
        except BaseException:
            self.abandon()
            raise
        return self.accepted

    def get_state(self) -> OptimizerState:
        """Return nothing: what is learned is the updater's."""
        return OptimizerState()

    def set_state(self, state: OptimizerState) -> None:
        """Take over nothing. Raises FormatError for anything else."""
        state.check("StochasticGradientDescent", 0, 0)

    def abandon(self) -> None:
        """Settle what the device has still to say, where training ends by another error."""
        self.model.updater.watch.give_up(self.model)

    def _step(self, model: Any, updater: NetworkUpdater, step: Any) -> None:
        """Compute the gradient and go a step. Where that raises, everything is as it was."""
        iteration, generator, watch = model.iteration_count, nd.random.get_random(), updater.watch
        drawn = generator.get_state()
        watch.in_step = True
        try:
            result = self.computed(model, step)
            result.check_finite(iteration)
            if self.listeners:
                self.hear_gradient(model, result)
            batch_size = result.examples if self._averages else None
            with Held():
                if result.observed:
                    watch.begin_update(iteration, generator, drawn)
                self._update(model, updater, result, batch_size)
        except BaseException:
            if model.iteration_count == iteration:
                generator.set_state(drawn)
            raise

    def _update(self, model: Any, updater: NetworkUpdater, result: StepResult, batch_size: int | None) -> None:
        """Update, constrain and count, or leave everything as it was: parts of the user's own may raise."""
        iteration, epoch, constraints = model.iteration_count, model.epoch_count, getattr(model, "constraints", None)
        proven = updater.proven is self.step_function and (constraints is None or constraints.proven)
        before = None if proven and not state.eager else updater.saved()
        try:
            updater.update(batch_size, iteration, epoch, self.step_function, result=result)
            if constraints is not None:
                constraints.apply(iteration + 1, epoch, updater.watch if result.observed else None)
        except BaseException:
            if before is not None:
                updater.restore(before)
            raise
        model.iteration_count, self.accepted = iteration + 1, result
        result.keep_state()

    def finish(self) -> None:
        """Raise what the device has still to say, the NumericError of a step that it has not taken."""
        self.model.updater.watch.check(self.model)
