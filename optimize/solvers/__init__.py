"""Optimizers: how a model gets better on a minibatch."""

from .sgd import StochasticGradientDescent

__all__ = ["OPTIMIZERS", "StochasticGradientDescent"]

OPTIMIZERS = {"stochastic_gradient_descent": StochasticGradientDescent}
"""Name -> class, sorted."""
