"""A solver's steps on a net: recorded, on all workers; blobs are those that somebody has asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.checks import check_choice
from nd.interrupts import Held
from nd.typing import Array
from optimize.step import StepResult

from ..conf.nodes import Source
from ..step.node_calls import NodeArrays, NodeCalls
from ..step.worker import StepInput
from .assembly import AUTOMATIC

if TYPE_CHECKING:
    from ..step.keeping import KeptKey
    from .running import RunningNet

NOT_KEPT = "must be kept while a solver's step runs, got nothing of it. Call net.keep({name!r}) before the step."


class RecordedSteps:
    """Takes the steps of a solver by the network of nodes, and hands what it keeps to the blobs.

    Parameters
    ----------
    net : RunningNet
    """

    def __init__(self, net: RunningNet) -> None:
        self._net = net
        self._names: tuple[str, ...] = ()  # of blobs that somebody wants beside losses and outputs
        self._data_of: dict[int, KeptKey] = {}  # blob -> what is kept of the node that writes it last
        self._diff_of: dict[int, KeptKey] = {}  # blob -> of the one that writes it first, where its diff ends
        for plan in net.assembly.layers:
            for output, blob in enumerate(plan.tops if plan.node is not None else ()):
                key = (net.network.conf.nodes[plan.node or 0].name, output)
                self._data_of[blob] = key
                self._diff_of.setdefault(blob, key)
        self.keep(())

    def keep(self, names: Sequence[str]) -> None:
        """Keep these blobs from the next step on; see `Net.keep`."""
        net = self._net
        for name in names:
            check_choice("keep", "blob", name, net.blobs)
        self._names = tuple(names)
        numbers = [number for number, plan in enumerate(net.assembly.blobs) if self._is_kept(number, plan.name)]
        kept = {of[number] for number in numbers for of in (self._data_of, self._diff_of) if number in of}
        shared = net.network.engine.shared_nodes
        with net.network.lock:
            if set(shared.keeps) != kept:
                shared.keeps = tuple(sorted(kept))
                net.network.engine.gradients.forget()

    def _is_kept(self, number: int, name: str) -> bool:
        weighed = Source(*self._net.assembly.blobs[number].source) in self._net.network.conf.losses
        return name in self._names or name == AUTOMATIC or weighed or name in self._net.assembly.available

    def features(self) -> list[Any]:
        """Have the layers of data bring their next arrays; return those of all inputs, in their order."""
        net, arrays = self._net, list[Any]()
        for plan in net.assembly.layers:
            if plan.data is None:
                continue
            given = plan.data.next()
            blobs = [net._blob_at(number) for number in plan.tops]
            arrays += [blob.read("data") for blob in blobs] if given is None else list(given)
        return arrays

    def take(
        self, minibatches: int, on_gradient: Callable[[StepResult], object] | None = None
    ) -> tuple[float, StepResult]:
        """Take one step on so many minibatches; return the mean of their losses, and the result.

        Raises
        ------
        NumericError
            A loss or the gradient is not finite. Parameters and history are as they were; readers are behind it.

        Notes
        -----
        Where a step ends otherwise, by Ctrl-C or an error, the next one begins with the same minibatches.
        """
        net, network = self._net, self._net.network
        hooks = [hook for hook, functions in net.callbacks.items() if functions]
        calls = NodeCalls(self._hear, hooks) if hooks else None
        with network.lock:  # readers too are for one thread at a time
            count, places = network.iteration_count, [layer.get_state() for layer in net.data_layers]
            try:
                arrays = [self._on_backend(self.features()) for _ in range(minibatches)]
                steps = [StepInput(features, share=1.0) for features in arrays]
                result = network.take_step(steps, minibatches, calls, on_gradient)
                self._hand_over(arrays[-1], result)
            except BaseException as error:
                if network.iteration_count == count and not isinstance(error, nd.NumericError):
                    self._put_back(places)
                raise
            net.loss = loss = result.score
            return loss, result

    def _put_back(self, places: Sequence[Any]) -> None:
        """Have the readers bring again what a step that was not taken has read."""
        with Held():
            for layer, place in zip(self._net.data_layers, places, strict=True):
                layer.set_state(place)

    def _on_backend(self, arrays: Sequence[Any]) -> tuple[Array, ...]:
        network = self._net.network
        with network.lock, network.engine.on_backend():
            return tuple(nd.as_array(array, network.dtype) for array in arrays) or (nd.zeros(1, dtype=network.dtype),)

    def _hand_over(self, features: Sequence[Array], result: StepResult) -> None:
        """Put what was kept into the blobs; others say that they are not there."""
        net, kept = self._net, result.kept
        net.forget_passes()
        with net.network.lock, net.network.engine.on_backend():
            for number, plan in enumerate(net.assembly.blobs):
                blob = net._blob_at(number)
                if plan.source.node < 0:
                    blob.missing = None
                    blob.put("data", nd.copy(features[-1 - plan.source.node]))
                    continue
                data, diff = kept.get(self._data_of[number]), kept.get(self._diff_of[number])
                blob.missing = None if data is not None else NOT_KEPT.format(name=plan.name)
                if data is not None:
                    blob.put("data", data.activation)
                if diff is not None and diff.epsilon is not None:
                    blob.put("diff", diff.epsilon)

    def _hear(self, hook: str, node: int, arrays: NodeArrays) -> None:
        """Show a layer's blobs to the callbacks of the net, as the step goes through it."""
        net = self._net
        number, plan = next((number, plan) for number, plan in enumerate(net.assembly.layers) if plan.node == node)
        name = "data" if hook.endswith("forward") else "diff"
        if hook in ("after_forward", "before_backward"):
            self._show(plan.tops, arrays.outputs, name)
        if hook in ("before_forward", "after_backward"):
            self._show(plan.bottoms, arrays.inputs, name)
        for function in tuple(net.callbacks[hook]):
            function(number)

    def _show(self, blobs: Sequence[int], arrays: Sequence[Array | None], name: str) -> None:
        for number, array in zip(blobs, arrays, strict=True):
            if array is not None:
                blob = self._net._blob_at(number)
                blob.missing = None
                blob.put(name, array)
