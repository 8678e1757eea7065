"""Stochastic gradient descent: one gradient, one update."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import nd
from nd.arguments import checked
from nd.interrupts import Held

from ..api import Listener, Model, OptimizationConf, as_listeners
from ..constraints import constrain
from ..guard import Guard, refuse
from ..solver_state import OptimizerState
from ..step_functions import get_step_function
from .of_model import OfModel


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
        self.conf, self.listeners = conf, listeners
        as_listeners(listeners)
        default = "negative_gradient" if conf.minimize else "gradient"
        self.step = get_step_function(conf.step_function or default)

    def optimize(self, iterations: int = 1) -> None:
        """Take steps on the model's current minibatch.

        Raises
        ------
        NumericError
            The score or the gradient is NaN or infinite. Parameters, updater state and counters are as they were.
            On a device that computes while the host goes on, this is said some steps later, or by `finish`; none of
            them has changed anything.
        """
        try:
            for _ in self._steps(iterations):
                self._step()
        except BaseException:
            self.abandon()
            raise

    def get_state(self) -> OptimizerState:
        """Return nothing: what is learned is the updater's."""
        return OptimizerState()

    def set_state(self, state: OptimizerState) -> None:
        """Take over nothing. Raises FormatError for anything else."""
        state.check("StochasticGradientDescent", 0, 0)

    def abandon(self) -> None:
        """Settle what the device has still to say, where training ends by another error."""
        model: Any = self.model
        model.updater.settle_steps(model)

    def _step(self) -> None:
        model: Any = self.model
        iteration, generator = model.iteration_count, nd.random.get_random()
        drawn = generator.get_state()
        try:
            guard = self._update(model, drawn)
        except BaseException:
            if model.iteration_count == iteration:
                generator.set_state(drawn)
            raise
        for listener in tuple(self.listeners):
            listener.iteration_done(model, model.iteration_count - 1, model.epoch_count)
        if guard is not None:
            guard.after_step(model)

    def _update(self, model: Any, drawn: tuple[int, int]) -> Guard | None:
        """Compute the gradient and go the step; return the guard that watches it, if one does."""
        model.compute_gradient_and_score()
        updater = model.updater
        guard = None if updater.guard is None else updater.ready_guard()
        if guard is None:
            self._check_finite(model, updater)
        for listener in tuple(self.listeners):
            listener.on_gradient_calculation(model)
        batch_size = model.batch_size if self.conf.mini_batch else None
        with Held():
            if guard is not None:
                guard.remember(nd.random.get_random(), drawn)
            updater.update(batch_size, model.iteration_count, model.epoch_count, self.step, guard=guard)
            model.iteration_count += 1
            constrain(model, guard)
        return guard

    def finish(self) -> None:
        """Raise what the device has still to say, the NumericError of a step that it has not taken."""
        model: Any = self.model
        if model.updater.guard is not None:
            model.updater.guard.check(model)

    @staticmethod
    def _check_finite(model: Any, updater: Any) -> None:
        score, norm = model.score(), updater.gradient_norm()
        if math.isfinite(score) and math.isfinite(norm):
            return
        what, value = ("norm of the gradient", norm) if math.isfinite(score) else ("score", score)
        refuse(what, value, model.iteration_count)
