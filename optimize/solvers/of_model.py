"""Whose optimizer it is: kept alive by it, or keeping it."""

from __future__ import annotations

import weakref
from typing import Any

from nd.arguments import converted
from nd.rules import INTEGER


class OfModel:
    """Shared by the optimizers: the model that each improves.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Any) -> None:
        self._model: Any = lambda: model

    @property
    def model(self) -> Any:
        """The model; None where it is gone, after `belong_to_model`."""
        return self._model()

    @staticmethod
    def _steps(value: Any) -> range:
        """Return one index for each step; raise ArgumentError where it is no integer, without cost where it is."""
        return range(value if type(value) is int else converted("optimize", "iterations", INTEGER, value))

    def belong_to_model(self) -> None:
        """Keep the model no longer, which keeps this: it is then freed as soon as nobody else has it."""
        self._model = weakref.ref(self.model)
