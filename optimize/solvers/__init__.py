"""Optimizers: how a model gets better on a minibatch."""

from .conjugate_gradient import ConjugateGradient
from .lbfgs import LBFGS
from .line_gradient_descent import LineGradientDescent
from .sgd import StochasticGradientDescent

__all__ = ["LBFGS", "OPTIMIZERS", "ConjugateGradient", "LineGradientDescent", "StochasticGradientDescent"]

OPTIMIZERS = {
    "conjugate_gradient": ConjugateGradient,
    "lbfgs": LBFGS,
    "line_gradient_descent": LineGradientDescent,
    "stochastic_gradient_descent": StochasticGradientDescent,
}
"""Name -> class, sorted."""
