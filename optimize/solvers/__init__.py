"""Optimizers: how a model gets better on a minibatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .base import BaseOptimizer
    from .conjugate_gradient import ConjugateGradient
    from .lbfgs import LBFGS
    from .line_gradient_descent import LineGradientDescent
    from .sgd import StochasticGradientDescent
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "base": "BaseOptimizer",
            "conjugate_gradient": "ConjugateGradient",
            "lbfgs": "LBFGS",
            "line_gradient_descent": "LineGradientDescent",
            "sgd": "StochasticGradientDescent",
        },
    )

__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "BaseOptimizer",
    "ConjugateGradient",
    "LineGradientDescent",
    "StochasticGradientDescent",
]

OPTIMIZERS: ClassTable[type[BaseOptimizer]] = ClassTable(
    __name__,
    {
        "conjugate_gradient": "ConjugateGradient",
        "lbfgs": "LBFGS",
        "line_gradient_descent": "LineGradientDescent",
        "stochastic_gradient_descent": "StochasticGradientDescent",
    },
)
"""Name -> class, sorted."""
