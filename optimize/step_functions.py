"""How an update changes the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.checks import check_choice
from nd.part import pure

Array = Any
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
