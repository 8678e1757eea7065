"""The interfaces by which optimizers, listeners and models know each other."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol, runtime_checkable

from nd import DTypeError, FormatError, NumericError
from nd.classes import ExplainedType, overridable
from nd.typing import Array

from .network_updater import NetworkUpdater
from .step import StepResult


class OptimizerState(NamedTuple):
    """Numbers and vectors, in an order that the optimizer knows.

    Attributes
    ----------
    numbers : tuple of float
    vectors : tuple of array ``[n]``
        Of the parameters' length; not to be written.
    """

    numbers: tuple[float, ...] = ()
    vectors: tuple[Array, ...] = ()

    def check(self, who: str, numbers: int, vectors: int) -> None:
        """Raise FormatError unless there are so many."""
        lengths = len(self.numbers), len(self.vectors)
        if lengths != (numbers, vectors):
            raise FormatError(
                f"{who}: its state must be {numbers} numbers and {vectors} vectors, got {lengths[0]} and {lengths[1]}. "
                "Was the checkpoint written with another optimization_algo?"
            )


@runtime_checkable
class OptimizationConf(Protocol):
    """The part of a configuration that a solver reads.

    It may also have `terminations`, conditions that end the steps on a minibatch early, and `lbfgs_memory`.
    """

    @property
    def optimization_algo(self) -> str:
        """Name in `optimize.solvers.OPTIMIZERS`."""

    @property
    def step_function(self) -> str | None:
        """Name in `optimize.chunks.STEP_FUNCTIONS`; None for the optimizer's default."""

    @property
    def iterations(self) -> int:
        """Steps per minibatch."""

    @property
    def mini_batch(self) -> bool:
        """Whether gradient and score are divided by the number of examples."""

    @property
    def minimize(self) -> bool:
        """Whether the score is to become smaller; else larger."""

    @property
    def max_num_line_search_iterations(self) -> int:
        """Evaluations of a line search, at most."""


@runtime_checkable
class Model(Protocol):
    """The part of a network that a solver uses."""

    iteration_count: int
    epoch_count: int
    batch_size: int
    last_etl_ms: float

    @property
    def updater(self) -> NetworkUpdater:
        """The updaters over the flat vectors, with their state."""

    def compute_gradient_and_score(self, step: Any = None) -> StepResult | None:
        """Run forward and backward on `step`, or the current input and labels; return what was computed.

        A model of one's own may return None: then its gradient is in the gradient vector, and `score` says its score.
        """

    def score(self) -> float:
        """Score of the last minibatch, regularisation included."""


class ConvexOptimizer(Protocol):
    """Improves a model on its current minibatch."""

    listeners: Collection[Listener]
    step_function: Callable[[Any, Any, float], object]

    @property
    def ended(self) -> bool:
        """Whether a termination condition has ended the steps on the last minibatch."""

    @property
    def model(self) -> Any:
        """The model that it improves."""

    def belong_to_model(self) -> None:
        """Keep the model no longer, which keeps this: it is then freed as soon as nobody else has it."""

    def get_state(self) -> OptimizerState:
        """Return what was learned from the steps so far."""

    def set_state(self, state: OptimizerState) -> None:
        """Take over what `get_state` returned."""

    @property
    def accepted(self) -> StepResult | None:
        """The result of the last step that was taken; None before the first."""

    def optimize(self, iterations: int = 1, step: Any = None) -> StepResult | None:
        """Take that many steps on a minibatch, or fewer where a termination condition holds; return `accepted`."""

    def finish(self) -> None:
        """Raise the errors of steps whose outcome nobody has asked for yet."""

    def abandon(self) -> None:
        """Settle such steps without an error, because there is another one."""


AROUND_NODES = ("before_forward", "after_forward", "before_backward", "after_backward")
"""Hooks that are called for every node of a network, where a listener overrides them."""


@overridable
class Listener(metaclass=ExplainedType):
    """Hooks into training; override what you need.

    A listener makes the device wait only if it asks for the score. Any hook may end fit with ``model.stop_training``.
    """

    def on_epoch_start(self, model: Any) -> None:
        """Before the first minibatch of an epoch."""

    def on_epoch_end(self, model: Any) -> None:
        """After the last minibatch of an epoch, before the epoch count goes up."""

    def on_forward_pass(self, model: Any, activations: Any) -> None:
        """After the forward pass, with a list of features and activations, of a ComputationGraph a dict by name.

        The arrays are those that the step goes on with: not to be written, and overwritten by the next step.
        """

    def before_forward(self, model: Any, name: str, arrays: Any) -> None:
        """Before a node of a training step runs: a layer or vertex, by the name that `get_layer` takes.

        ``arrays.inputs``, a tuple, are the activations that come in, ``[N, ...]`` of the whole minibatch; `outputs` is
        empty. All arrays of these four hooks are copies: what is written into them changes nothing.
        """

    def after_forward(self, model: Any, name: str, arrays: Any) -> None:
        """After it has run: ``arrays.outputs`` are its activations, of most nodes one, `inputs` as before."""

    def before_backward(self, model: Any, name: str, arrays: Any) -> None:
        """Before a node goes back: ``arrays.outputs`` are dL/d(activations), L a sum over examples; `inputs` is empty.

        None where nothing comes back, as to the layer of an output, whose loss is its own.
        """

    def after_backward(self, model: Any, name: str, arrays: Any) -> None:
        """After it has gone back: ``arrays.inputs`` are dL/d(what came in), by this node alone, `outputs` as before.

        None where nobody needs it, as of features. Every node is called, also one that has nothing to go back for.
        """

    def on_gradient_calculation(self, model: Any) -> None:
        """After the raw gradient is computed, before the updater."""

    def on_backward_pass(self, model: Any) -> None:
        """After the backward pass."""

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        """After the parameters were updated; `iteration` is the number of this one, 0-based.

        Differs: ``model.iteration_count`` is ``iteration + 1`` already, the steps that were taken, so that what is
        saved here goes on with the next one. Java counts the step after its listeners: there both are the same number.
        """

    def on_fit_end(self, model: Any) -> None:
        """After the last epoch of a fit that ends without an error."""

    def on_numeric_error(self, model: Any, error: NumericError) -> None:
        """When fit ends because a score or gradient is not finite; raise another error to say more."""

    def wants(self, hook: str, iteration: int) -> bool:
        """Tell whether a hook of a step has something to do at that iteration, 0-based.

        Steps at which nobody wants ``on_forward_pass``, ``on_gradient_calculation`` or ``on_backward_pass`` are
        faster. The hooks are called in any case if another listener wants them; those around nodes are not.
        """
        return getattr(getattr(self, hook), "__func__", None) is not getattr(Listener, hook)

    def hears_nodes(self) -> bool:
        """Tell whether it overrides a hook around nodes: asked once, when it is set."""
        hooks = [getattr(getattr(self, hook), "__func__", None) for hook in AROUND_NODES]
        return hooks != [getattr(Listener, hook) for hook in AROUND_NODES]

    def close(self) -> None:
        """When fit ends, also by an error or Ctrl-C."""


def as_listeners(listeners: Collection[Any]) -> list[Listener]:
    """Return listeners, or the one list of them that was given.

    Raises
    ------
    DTypeError
        One of them is no Listener.
    """
    if getattr(listeners, "shape", None) == ():
        raise DTypeError(f"set_listeners: expected instances of optimize.Listener, got {listeners!r}.")
    instances = list(listeners)
    if len(instances) == 1 and isinstance(instances[0], (list, tuple)):
        instances = list(instances[0])
    for listener in instances:
        if not isinstance(listener, Listener):
            raise DTypeError(f"set_listeners: expected instances of optimize.Listener, got {listener!r}.")
    return instances


def listens(listeners: Collection[Listener], iteration: int, *hooks: str) -> bool:
    """Tell whether one of the listeners wants one of the hooks at that iteration."""
    return bool(listeners) and any(listener.wants(hook, iteration) for listener in listeners for hook in hooks)
