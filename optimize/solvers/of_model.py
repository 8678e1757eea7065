"""Whose optimizer it is: kept alive by it, or keeping it."""

from __future__ import annotations

import weakref
from collections.abc import Collection
from typing import Any

from nd.arguments import converted
from nd.rules import INTEGER

from ..api import Listener, listens
from ..step_result import StepResult


class OfModel:
    """Shared by the optimizers: the model that each improves.

    Parameters
    ----------
    model : Model
    """

    listeners: Collection[Listener]

    def __init__(self, model: Any) -> None:
        self._model: Any = lambda: model

    @property
    def model(self) -> Any:
        """The model; None where it is gone, after `belong_to_model`."""
        return self._model()

    def computed(self, step: Any = None) -> StepResult:
        """Let the model compute gradient and score, of a step if one is given.

        A model that returns nothing has them in its updater.
        """
        model: Any = self.model
        compute = model.compute_gradient_and_score
        result = compute() if step is None else compute(step)
        if result is None:
            updater = model.updater
            result = StepResult(model.score(), 0.0, model.batch_size, [updater.gradient], updater.watch, averaged=False)
        return result

    def _hear_gradient(self, model: Any, result: StepResult) -> None:
        """Let the listeners hear of the gradient, whole in the gradient vector."""
        listeners = tuple(self.listeners)
        if listens(listeners, model.iteration_count, "on_gradient_calculation"):
            result.gradient()
        for listener in listeners:
            listener.on_gradient_calculation(model)

    @staticmethod
    def _steps(value: Any) -> range:
        """Return one index for each step; raise ArgumentError where it is no integer, without cost where it is."""
        return range(value if type(value) is int else converted("optimize", "iterations", INTEGER, value))

    def belong_to_model(self) -> None:
        """Keep the model no longer, which keeps this: it is then freed as soon as nobody else has it."""
        self._model = weakref.ref(self.model)
