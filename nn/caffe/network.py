"""The network of nodes that a net of Caffe's is: what computes its steps, recorded, by all workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.dataset import MultiDataSet
from nd.interrupts import Held
from nd.state import InForce, Restoring
from nd.typing import Array
from optimize.step import StepResult

from ..networks.network import Network
from ..step.sums import compute_sum
from ..step.worker import StepInput
from .configuration import CaffeConfiguration

if TYPE_CHECKING:
    from ..step.worker import OnForward
    from ..trace.trace import Trace


class CaffeNetwork(Network):
    """The layers of a net but for those that bring data, as nodes over one vector of parameters.

    Parameters
    ----------
    conf : CaffeConfiguration

    Notes
    -----
    Its minibatches are the tops of the layers that bring data, without labels: losses are nodes. Users ask the net,
    which has a summary, passes and files of its own.
    """

    _data_types: ClassVar[tuple[type, ...]] = (MultiDataSet,)
    conf: CaffeConfiguration

    def step_input(self, data: Any, *_: object, **__: object) -> StepInput:
        """Return the input of a step on the arrays of all inputs, ``[N, ...]`` each."""
        with self.lock, Restoring(), self.engine.on_backend():
            return StepInput(self._features(data), share=1.0)

    def _features(self, data: Any) -> tuple[Array, ...]:
        arrays: Sequence[Any] = data.features if hasattr(data, "features") else data
        return tuple(nd.as_array(array, self.dtype) for array in arrays) or (nd.zeros(1, dtype=self.dtype),)

    def trace(self, data: Any, labels: object = None, recorded: bool = False, budget: int = 1 << 28) -> Trace:
        """Trace one step on the arrays of all inputs, by a copy; see `nn.networks.Network.trace`."""
        from ..trace.stepping import trace_step  # which training does not need

        copy = self.clone()
        with copy.lock, Restoring(), copy.engine.on_backend():
            arrays = copy._features(data)
        copy.batch_size = arrays[0].shape[0] if arrays[0].ndim else 1
        return trace_step(copy, arrays, recorded, budget)

    def fit_batch(self, data: Any, *_: object, **__: object) -> None:
        """Take one step on the arrays of all inputs."""
        self.take_step([self.step_input(data)])

    def take_step(
        self,
        steps: Sequence[StepInput],
        divisor: int = 1,
        on_forward: OnForward | None = None,
        on_gradient: Callable[[StepResult], object] | None = None,
    ) -> StepResult:
        """Take one step on the sum of minibatches, divided by `divisor`; return what was computed.

        Parameters
        ----------
        steps : sequence of StepInput
        divisor : int
        on_forward : callable, optional
            As of `GradientComputer.compute`: the step is not recorded then, with the same bits.
        on_gradient : callable (result), optional
            Called between gradient and update; may write into the gradient.

        Raises
        ------
        NumericError
            The loss or the gradient is not finite. Nothing has changed, as after any other error.
        """
        with self.lock, Restoring(), self.engine.on_backend(), InForce(None, self.random):
            iteration, guard = self.iteration_count, self.updater.guard
            drawn = self.random.get_state()
            guard.begin(self.random, drawn)
            statistics = [nd.copy(array) for array in self._statistics()]
            try:
                result = compute_sum(self.engine.gradients, steps, iteration, self.epoch_count, on_forward)
                self.engine.last = result = result._replace(divisor=divisor, known_score=None)
                if on_gradient is not None:
                    on_gradient(result)
                self._update(result)
            except BaseException:
                if self.iteration_count == iteration:
                    self._put_back(drawn, statistics)
                raise
            guard.ended(self)
            return result

    def _put_back(self, drawn: tuple[int, int], statistics: Sequence[Array]) -> None:
        """Put generator and statistics back where they were before a step that was not taken."""
        with Held():
            self.random.set_state(drawn)
            for array, before in zip(self._statistics(), statistics, strict=True):
                nd.assign(array, before)

    def _statistics(self) -> list[Array]:
        """Return views ``[n]`` of the parameters that layers write themselves while they go forward."""
        return [self.engine.vectors.params[0, start:stop] for start, stop in self._written]

    @cached_property
    def _written(self) -> list[tuple[int, int]]:
        """Where these begin and end."""
        stretches: list[tuple[int, int]] = []
        for view in self.engine.vectors.layout.views:
            blobs = self.conf.nodes[view.layer].conf.blobs  # type: ignore[union-attr]
            if any(spec.name == view.spec.name and not spec.learned for spec in blobs):
                begun = stretches.pop()[0] if stretches and stretches[-1][1] == view.start else view.start
                stretches.append((begun, view.stop))
        return stretches

    def _update(self, result: StepResult) -> None:
        """Update the parameters and count it; Ctrl-C waits until both are done."""
        with Held():
            outcome = self.updater.update(result, self.iteration_count, self.epoch_count)
            if outcome.refusal is not None:
                raise outcome.refusal
            self.iteration_count += 1

    def apply_update(self, divisor: int) -> None:
        """Update the parameters by the gradient that lies in the gradient vector, and count it."""
        with self.lock, Restoring(), self.engine.on_backend():
            gradients = self.engine.vectors.gradients
            gradients.whole()
            self._update(StepResult(0.0, 0.0, 1, gradients, divisor, known_score=0.0))

    def _layer_keys(self) -> Sequence[str]:
        return [node.name for node in self.conf.nodes]

    def _checked_node(self, who: str, name: int | str) -> int:
        names = self._layer_keys()
        if isinstance(name, int):
            name = dict(enumerate(names)).get(name, str(name))
        return names.index(nd.checks.check_choice(who, "layer", name, names))

    def _checked_layer(self, who: str, layer: object) -> int:
        return self._checked_node(who, layer)  # type: ignore[arg-type]
