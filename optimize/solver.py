"""Solver: picks the optimizer that a configuration names, and runs it on a model."""

from __future__ import annotations

from collections.abc import Collection

from nd import ConfigurationError
from nd.arguments import checked, converted
from nd.checks import check_choice
from nd.java_names import JavaNames
from nd.rules import INTEGER

from .api import ConvexOptimizer, Listener, Model, OptimizationConf
from .solvers import OPTIMIZERS


class Solver(JavaNames):
    """Improves a model on its current input and labels.

    Parameters
    ----------
    conf : OptimizationConf
        Names the algorithm, the step function, and the steps per minibatch.
    model : Model
        With input and labels set.
    listeners : collection of Listener

    Raises
    ------
    ChoiceError
        The algorithm is unknown.

    Notes
    -----
    Source: DL4J ``Solver``.
    """

    @checked
    def __init__(self, conf: OptimizationConf, model: Model, listeners: Collection[Listener] = ()) -> None:
        name = check_choice("Solver", "optimization_algo", str(conf.optimization_algo).lower(), OPTIMIZERS)
        if conf.iterations < 1:
            raise ConfigurationError(f"Solver: iterations must be >= 1, got {conf.iterations}.")
        self.conf, self.iterations = conf, conf.iterations
        self.optimizer: ConvexOptimizer = OPTIMIZERS[name](conf, model, listeners)

    def optimize(self, taken: int = 0) -> None:
        """Take the configured number of steps on the model's current minibatch, as `fit` does for each.

        `taken` of them were taken before, by a run that this one continues.
        """
        if type(taken) is not int:  # which costs nothing where it is
            taken = converted("optimize", "taken", INTEGER, taken)
        self.optimizer.optimize(self.iterations - taken)

    def is_done(self, taken: int) -> bool:
        """Tell whether the last minibatch has had all its steps, after so many of them."""
        return taken >= self.iterations or (taken > 0 and self.optimizer.ended)

    def finish(self) -> None:
        """Wait for what is still computed, and raise its NumericError if there is one: after an epoch, say."""
        self.optimizer.finish()

    def abandon(self) -> None:
        """Settle it where training ends by another error."""
        self.optimizer.abandon()
