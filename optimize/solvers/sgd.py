"""Stochastic gradient descent: one gradient, one update."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nd import NumericError

from ..api import Listener, Model, OptimizationConf
from ..step_functions import get_step_function


class StochasticGradientDescent:
    """Gradient, updater, step: params -= updater(gradient).

    Parameters
    ----------
    conf : OptimizationConf
    model : Model
    listeners : sequence of Listener

    Notes
    -----
    Source: DL4J ``StochasticGradientDescent``. Differs: a score or gradient that is not finite stops training before
    it reaches the parameters.
    """

    default_step_function = "negative_gradient"

    def __init__(self, conf: OptimizationConf, model: Model, listeners: Sequence[Listener]) -> None:
        self.conf, self.model, self.listeners = conf, model, listeners
        self.step = get_step_function(conf.step_function or self.default_step_function)

    def optimize(self) -> None:
        """Take one step on the model's current minibatch.

        Raises
        ------
        NumericError
            The score or the gradient is NaN or infinite. Parameters, updater state and counters are as they were.
        """
        model: Any = self.model
        model.compute_gradient_and_score()
        self._check_finite(model)
        for listener in self.listeners:
            listener.on_gradient_calculation(model)
        batch_size = model.batch_size if self.conf.mini_batch else None
        model.updater.update(batch_size, model.iteration_count, model.epoch_count, self.step)
        model.iteration_count += 1
        for listener in self.listeners:
            listener.iteration_done(model, model.iteration_count - 1, model.epoch_count)

    @staticmethod
    def _check_finite(model: Any) -> None:
        score, norm = model.score(), model.updater.gradient_norm()
        if math.isfinite(score) and math.isfinite(norm):
            return
        what, value = ("norm of the gradient", norm) if math.isfinite(score) else ("score", score)
        raise NumericError(
            f"fit: the {what} must be finite, got {value} at iteration {model.iteration_count}. Parameters, "
            "updater state and counters are as they were before this minibatch. Check the data for NaN, or "
            "lower the learning rate."
        )
