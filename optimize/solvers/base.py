"""The common part of the optimizers that search along lines: the objective, the loop, when to stop."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import nd
from nd.arguments import checked
from nd.interrupts import Held
from nd.typing import Array

from ..api import Listener, Model, OptimizationConf, OptimizerState, as_listeners
from ..line_search import BackTrackLineSearch, Evaluate, Trial
from ..solver import OfModel
from ..step import StepResult, get_step_function, refused
from ..terminations import DEFAULT_TERMINATIONS, TerminationCondition
from ..updaters import NoOp, Sgd, Updater

UPWARD = {"default", "gradient"}
"""Step functions that add the direction."""
REL_TOL_X = {"float32": 1e-7, "float64": 1e-15}
"""DL4J's, and what it is in double precision."""
UNSCALED = {"gradient", "negative_gradient"}
"""Step functions that know no length of a step."""


def check_line_search(who: str, updaters: Iterable[Updater], normalizes: bool) -> None:
    """Raise ConfigurationError unless a line search can work on the gradient itself: with Sgd, not normalised."""
    if normalizes:
        raise nd.ConfigurationError(
            f"{who}: expected no gradient_normalization. Line searches work on the gradient itself."
        )
    for updater in updaters:
        if type(updater) not in (Sgd, NoOp):
            raise nd.ConfigurationError(
                f"{who}: the updater must be Sgd or NoOp, got {updater!r}. Line searches work on the gradient itself; "
                "other updaters go with stochastic_gradient_descent."
            )


class BaseOptimizer(OfModel):
    """Goes down the regularised score of a minibatch, along a direction that the optimizer chooses.

    Parameters
    ----------
    conf : OptimizationConf
    model : Model
        Its updater must be `Sgd` or `NoOp`: the objective's own gradient is used, and no learning rate.
    listeners : collection of Listener
        Itself, not a copy: listeners that come and go are heard.
    terminations : sequence of TerminationCondition, optional
        Any of which ends the steps on a minibatch; without them the configuration's.

    Attributes
    ----------
    ended : bool
        Whether one of them has ended the steps on the last minibatch.

    Raises
    ------
    ConfigurationError
        The model has another updater, or normalises gradients.

    Notes
    -----
    Directions and what was learned of the objective live on from one minibatch to the next. Running parameters, such as
    the statistics of a batch normalisation, are no part of the objective: each step moves them once, by what the
    minibatch says where the step ends. Random numbers, of dropout, say, are the same in all evaluations of one
    iteration, and others in the next. `Listener.on_gradient_calculation` sees the gradient of the objective,
    regularised and averaged. Source: DL4J ``BaseOptimizer``. Differs: updaters with a state are refused; DL4J runs
    them twice per iteration, and searches along the way of running parameters too.
    """

    _default_step_function = "negative_default"

    @checked
    def __init__(
        self,
        conf: OptimizationConf,
        model: Model,
        listeners: Collection[Listener] = (),
        terminations: Sequence[TerminationCondition] | None = None,
    ) -> None:
        super().__init__(model, conf)
        self.listeners = listeners
        as_listeners(listeners)
        if terminations is None:
            terminations = getattr(conf, "terminations", None)
        self.terminations = DEFAULT_TERMINATIONS if terminations is None else tuple(terminations)
        self.ended = False
        self._input: object = None
        self.minimize: bool = conf.minimize
        default = self._default_step_function if self.minimize else "default"
        name = str(conf.step_function or default).lower()
        self.step_function = get_step_function(name)
        # Makes of the score's gradient the vector along which the step function lowers the cost.
        self._sign = (1.0 if self.minimize else -1.0) * (-1.0 if name in UPWARD else 1.0)
        self._scales = name not in UNSCALED
        self.line_search = BackTrackLineSearch(
            conf.max_num_line_search_iterations if self._scales else 1,
            rel_tol_x=REL_TOL_X[nd.dtype_name(model.updater.params)],
        )
        updater = self.model.updater
        check_line_search(type(self).__name__, updater.updaters, updater.normalizes)

    # ---- what optimizers differ in

    def direction(self, gradient: Array) -> Array:
        """Return the direction ``[n]`` to search along, an array of its own or the gradient.

        ``gradient [n]`` points where the cost rises, and so must the direction: steps along it are subtracted.
        """
        raise NotImplementedError

    def first_step(self, start: Trial, direction: Array) -> float:
        """Return the longest step to try."""
        return 1.0

    def refine(self, evaluate: Evaluate, start: Trial, end: Trial, direction: Array) -> Trial:
        """Return a better point on the line than the end of the search, or that end."""
        return end

    def learn(self, start: Trial, end: Trial, direction: Array) -> None:
        """Keep what the step tells of the objective; its length may be 0."""

    def forget(self) -> bool:
        """Forget it where the direction was no good; tell whether there was anything to forget."""
        return False

    def get_state(self) -> OptimizerState:
        """Return what was learned, as a checkpoint keeps it."""
        raise NotImplementedError

    def set_state(self, state: OptimizerState) -> None:
        """Take over what `get_state` returned.

        Raises
        ------
        FormatError
            It is another optimizer's.
        """
        raise NotImplementedError

    # ---- the loop

    def optimize(self, iterations: int = 1, step: object = None) -> StepResult | None:
        """Take steps on a minibatch, by default the model's current one, until a termination condition holds.

        The result of the last one is returned.

        Raises
        ------
        NumericError
            The score or the gradient is NaN or infinite before a step, which then changes nothing.
        """
        model = self.model
        self.ended, self._input = False, step
        point: Trial | None = None
        for _ in self.steps_of(iterations):
            iteration, generator = model.iteration_count, nd.random.get_random()
            drawn = generator.get_state()
            try:
                with self.lock:
                    point = self._iterate(point)
            except BaseException:
                if model.iteration_count == iteration:
                    generator.set_state(drawn)
                raise
            self.hear_iteration(model)
            if self.ended:
                break
        return self.accepted

    def _iterate(self, point: Trial | None) -> Trial:
        """Take a step from where the one before has led, None at first; return where it leads."""
        if point is None or self._after != self.drawn:  # random numbers, which are others in every iteration
            point = self._begun()
        for listener in tuple(self.listeners):
            listener.on_gradient_calculation(self.model)
        return self._step(point)

    def _begun(self) -> Trial:
        """Return where an iteration begins, and remember the random numbers of its evaluations."""
        generator = nd.random.get_random()
        self.drawn = generator.get_state()
        point = self.evaluated()
        self._after = generator.get_state()
        norm = math.sqrt(nd.item(nd.dot(point.gradient, point.gradient)))
        if not math.isfinite(point.cost):
            raise refused("score", point.cost, self.model.iteration_count)
        if not math.isfinite(norm) or not self.model.updater.running.is_finite():
            raise refused("norm of the gradient", norm, self.model.iteration_count)
        return replace(point, gradient=nd.copy(point.gradient))

    def finish(self) -> None:
        """Nothing is left to be said: every step has asked for its score."""

    def abandon(self) -> None:
        """Nothing is left to be settled."""

    def _step(self, start: Trial) -> Trial:
        """Search along a line, go there, and count it; the model's score and gradient are then of that point."""
        line, learned, iteration = _Line(self, start), self.get_state(), self.model.iteration_count
        with ExitStack() as stack:
            try:
                end = self._search(line, start)
                stack.enter_context(Held())  # what is left belongs to the step
                return self._counted(start, end)
            except BaseException:  # Ctrl-C, say: a point that was only tried is none to stay at
                with Held():
                    line.leave()
                    self.set_state(learned)
                    self.model.iteration_count = iteration
                raise

    def _counted(self, start: Trial, end: Trial) -> Trial:
        """Count a step, constrain the parameters, ask whether it is the last; return where it has led."""
        model = self.model
        model.updater.running.move()
        model.iteration_count += 1
        constraints = model.updater.constraints
        if constraints is not None:
            generator = nd.random.get_random()
            constraints.apply(model.iteration_count, model.epoch_count)
            generator.set_state(self.drawn)
            try:
                end = self.evaluated()
            finally:
                generator.set_state(self._after)
            end = replace(end, gradient=nd.copy(end.gradient))
        self.ended = any(condition.terminate(end.cost, start.cost, end.gradient) for condition in self.terminations)
        self.accepted = self._evaluated.with_own_state()
        return end

    def _search(self, line: _Line, start: Trial) -> Trial:
        while True:
            direction = self.direction(start.gradient)
            line.turn(direction)
            end = self.line_search.search(line.evaluate, start, direction, self.first_step(start, direction))
            if end.step:
                end = self.refine(line.evaluate, start, end, direction)
            self.learn(start, end, direction)
            if end.step or not self._scales or not self.forget():
                break
        if end.step != line.step:
            line.evaluate(end.step)
        return replace(end, step=0.0)

    def evaluated(self) -> Trial:
        """Return cost and gradient at the model's parameters, the latter in memory that is used again."""
        model = self.model
        compute = model.compute_gradient_and_score
        computed = compute() if self._input is None else compute(self._input)
        self._evaluated = result = self.result_of(model, computed)
        result.gradient()  # whose score and gradient are looked at: nothing is left to the device
        gradient = model.updater.objective_gradient(result.divisor, model.iteration_count, model.epoch_count)
        if self._sign < 0:
            gradient = nd.multiply(gradient, -1.0)
        return Trial(0.0, result.score if self.minimize else -result.score, gradient)


class _Line:
    """Moves the model's parameters along a line, and remembers where they are."""

    @checked
    def __init__(self, optimizer: BaseOptimizer, start: Trial) -> None:
        self._optimizer = optimizer
        self._params = optimizer.model.updater.params
        self._origin = nd.copy(self._params)
        self._start = start
        self._direction: Array | Any = None  # until a direction is taken
        self.step = 0.0

    def turn(self, direction: Array) -> None:
        """Take another direction from the origin."""
        self._direction = direction

    def leave(self) -> None:
        """Go back to where the line begins."""
        nd.assign(self._params, self._origin)

    def evaluate(self, step: float) -> tuple[float, Array]:
        """Go to a step along the line; return cost and gradient there."""
        optimizer, self.step = self._optimizer, step
        nd.assign(self._params, self._origin)
        if step:
            optimizer.step_function(self._params, self._direction, step)
        nd.random.get_random().set_state(optimizer.drawn)
        trial = optimizer.evaluated()
        return trial.cost, trial.gradient
