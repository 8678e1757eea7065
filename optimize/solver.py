"""Solver: picks the optimizer that a configuration names, and runs it on a model."""

from __future__ import annotations

import weakref
from collections.abc import Collection
from typing import Any

from nd import ConfigurationError
from nd.arguments import checked, converted
from nd.checks import check_choice
from nd.classes import ExplainedType
from nd.rules import INTEGER
from nd.state import NOTHING

from .api import ConvexOptimizer, Listener, Model, OptimizationConf, as_listeners, listens
from .solvers import OPTIMIZERS
from .step import Gradients, StepFunction, StepResult


class OfModel:
    """Shared by the optimizers: the model that each improves.

    Parameters
    ----------
    model : Model
    conf : OptimizationConf
    """

    listeners: Collection[Listener]
    step_function: StepFunction

    def __init__(self, model: Any, conf: OptimizationConf) -> None:
        self.reference = lambda: model
        """Returns the model; None where it is gone."""
        self.conf, self.averages = conf, conf.mini_batch
        self.lock: Any = getattr(model, "lock", NOTHING)
        """Held for a step, so that threads take turns; listeners that hear of the end of one are called without it."""
        self.accepted: StepResult | None = None
        """The result of the last step that was taken; None before the first."""

    @property
    def model(self) -> Model:
        """The model; None where it is gone, after `belong_to_model`."""
        return self.reference()

    def result_of(self, model: Model, result: StepResult | None) -> StepResult:
        """Return what a model has computed; one that returns nothing has it in its updater."""
        if result is None:
            score = model.score()
            result = StepResult(score, 0.0, model.batch_size, Gradients(model.updater.gradient), known_score=score)
        divisor = result.examples if self.averages else 1
        # A solver's own configuration may say otherwise than the model's.
        return result if result.divisor == divisor else result._replace(divisor=divisor, known_score=result.score)

    def hear_gradient(self, model: Model, result: StepResult) -> None:
        """Let the listeners hear of the gradient, whole in the gradient vector."""
        listeners = tuple(self.listeners)
        if listens(listeners, model.iteration_count, "on_gradient_calculation"):
            result.gradient()
        for listener in listeners:
            listener.on_gradient_calculation(model)

    def hear_iteration(self, model: Model) -> None:
        """Let the listeners hear that an iteration is done."""
        for listener in tuple(self.listeners):
            listener.iteration_done(model, model.iteration_count - 1, model.epoch_count)

    @staticmethod
    def steps_of(value: object) -> range:
        """Return one index for each step; raise ArgumentError where it is no integer."""
        return range(converted("optimize", "iterations", INTEGER, value))

    def belong_to_model(self) -> None:
        """Keep the model no longer, which keeps this: it is then freed as soon as nobody else has it."""
        self.reference = weakref.ref(self.model)


class Solver(metaclass=ExplainedType):
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

    @property
    def model(self) -> Model:
        """The model that is improved."""
        return self.optimizer.model

    @property
    def step_function(self) -> StepFunction:
        """What goes a step along a direction: a function of parameters, direction and step."""
        return self.optimizer.step_function

    @property
    def listeners(self) -> Collection[Listener]:
        """What hears of the steps."""
        return self.optimizer.listeners

    @classmethod
    def Builder(cls) -> SolverBuilder:
        """Start DL4J's fluent style: ``Solver.Builder().configure(net.conf).model(net).build()``."""
        return SolverBuilder()

    def set_listeners(self, *listeners: Listener | Collection[Listener]) -> None:
        """Replace what hears of the steps: listeners, or one collection of them."""
        self.optimizer.listeners = as_listeners(listeners)

    def optimize(self, taken: int = 0, step: object = None) -> StepResult | None:
        """Take the configured number of steps on a minibatch, by default the model's current one, as `fit` does.

        Parameters
        ----------
        taken : int
            How many of them were taken before, by a run that this one continues.
        step : object
            The input of the model's computation.

        Returns
        -------
        StepResult
            Of the last step that was taken, with the state after the minibatch; None where none was taken.
        """
        if type(taken) is not int:  # which costs nothing where it is
            taken = converted("optimize", "taken", INTEGER, taken)
        return self.optimizer.optimize(self.iterations - taken, step)

    def finish(self) -> None:
        """Wait for what is still computed, and raise its NumericError if there is one: after an epoch, say."""
        self.optimizer.finish()

    def abandon(self) -> None:
        """Settle it where training ends by another error."""
        self.optimizer.abandon()


class SolverBuilder(metaclass=ExplainedType):
    """The arguments of a `Solver`, one call for each.

    Examples
    --------
    ::

        solver = Solver.Builder().configure(net.conf).listeners(ScoreIterationListener(1)).model(net).build()
        solver.optimize()
    """

    def __init__(self) -> None:
        self._conf: OptimizationConf | None = None
        self._model: Model | None = None
        self._listeners: tuple[Listener, ...] = ()

    @checked
    def configure(self, conf: OptimizationConf) -> SolverBuilder:
        """Set what names the algorithm; without it the model's configuration does."""
        self._conf = conf
        return self

    @checked
    def model(self, model: Model) -> SolverBuilder:
        """Set the network that is trained, with input and labels."""
        self._model = model
        return self

    def listeners(self, *listeners: Listener | Collection[Listener]) -> SolverBuilder:
        """Add what hears of the steps."""
        self._listeners += tuple(as_listeners(listeners))
        return self

    listener = listeners
    """Java's other name of it."""

    def build(self) -> Solver:
        """Return the solver; raise ConfigurationError where there is no model."""
        if self._model is None:
            raise ConfigurationError("Solver.Builder: a model must be given. Call model(net).")
        conf: Any = getattr(self._model, "conf", None) if self._conf is None else self._conf
        return Solver(conf, self._model, self._listeners)
