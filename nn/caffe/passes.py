"""Passes from layer to layer of a net, by hand: every blob stays, and is read where somebody has written it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import Array

from ..conf.nodes import Source
from ..step.propagation import Arrival, ForwardPass
from ..step.worker import StepInput
from .assembly import LayerPlan
from .recorded_forward import RecordedForward

if TYPE_CHECKING:
    from ..layers.runtime import Kept
    from .blob import Blob
    from .network import CaffeNetwork

LayerCallback = Callable[[int], object]
"""Called with the number of a layer."""


class Given(NamedTuple):
    """What a layer computes with."""

    arrivals: dict[Source, Arrival]
    training: bool
    drawn: tuple[int, int]
    """The generator as it was before."""


class Passes:
    """Goes through the nodes of a net one by one; between them arrays are those of blobs.

    Parameters
    ----------
    layers : sequence of LayerPlan
    blobs : sequence of Blob
        By the numbers that layers have for them.
    network : CaffeNetwork
    goes_back : sequence of bool
        Of every layer.

    Attributes
    ----------
    callbacks : dict of str -> list of callable (layer's number)
        ``"before_forward"``, ``"after_forward"``, ``"before_backward"``, ``"after_backward"``.
    """

    def __init__(
        self, layers: Sequence[LayerPlan], blobs: Sequence[Blob], network: CaffeNetwork, goes_back: Sequence[bool]
    ) -> None:
        self._layers, self._blobs, self._network, self._goes_back = layers, blobs, network, goes_back
        self._kept: dict[int, Kept] = {}
        self._given: dict[int, Given] = {}  # node -> what it computed with last
        self._used: set[int] = set()  # nodes that have gone back since
        self._writers: dict[int, int] = {}  # blob -> layer that wrote it last
        self._at_once: RecordedForward | None = RecordedForward(network)  # None once somebody has gone backward
        self._adopts: Sequence[Array] = ()  # of a pass at once, what no layer has been given yet
        self._brought = [blobs[top] for plan in layers if plan.data is not None for top in plan.tops]
        self._computed_blobs = [blobs[top] for plan in layers if plan.data is None for top in plan.tops]
        self._last_writers = {top: number for number, plan in enumerate(layers) for top in plan.tops}
        self._step = StepInput((nd.zeros(1, dtype=network.dtype),))
        self.callbacks: dict[str, list[LayerCallback]] = {
            hook: [] for hook in ("before_forward", "after_forward", "before_backward", "after_backward")
        }

    # ---- forward

    def forward(self, start: int, stop: int, training: Sequence[bool]) -> float:
        """Run layers start .. stop, both included; return the sum of their losses."""
        loss = 0.0
        if start == 0 and stop == len(self._layers) - 1 and self._may_run_at_once(training):
            return self._run_at_once()
        self._adopt()
        for number in range(start, stop + 1):
            self._call("before_forward", number)
            loss += self._forward(number, training[number])
            self._call("after_forward", number)
        return loss

    def _forward(self, number: int, training: bool) -> float:
        plan = self._layers[number]
        tops = [self._blobs[blob] for blob in plan.tops]
        if plan.data is not None:
            self._bring(plan, tops)
        else:
            arrays = self._run(number, plan, training)
            for blob, array in zip(tops, arrays, strict=True):
                blob.put("data", array)
        for number_of_blob, blob in zip(plan.tops, tops, strict=True):
            self._writers[number_of_blob] = number
            blob.missing = None
        return self._loss_of(plan)

    def _loss_of(self, plan: LayerPlan) -> float:
        """Return the sum of a layer's tops that are losses, times their weights, with which their diffs begin."""
        loss = 0.0
        for number, weight in zip(plan.tops, plan.loss_weights, strict=True):
            if weight != 0.0:
                nd.fill(self._blobs[number].read("diff"), weight)
                loss += weight * nd.item(nd.sum(self._blobs[number].read("data")))
        return loss

    def _may_run_at_once(self, training: Sequence[bool]) -> bool:
        """Tell whether nobody sees layers run one by one: no callback, nor a way back, which takes what they keep."""
        if self._at_once is None or not self._at_once.can_be or any(training):
            return False
        listens = self.callbacks["before_forward"] or self.callbacks["after_forward"]
        return not listens and bool(self._brought) and all(blob.shape for blob in self._brought)

    def _run_at_once(self) -> float:
        """Run all layers, those that bring data first."""
        for plan in self._layers:
            if plan.data is not None:
                self._bring(plan, [self._blobs[blob] for blob in plan.tops])
        features = tuple(blob.read("data") for blob in self._brought)
        self._adopts = arrays = self._at_once.run(features)  # type: ignore[union-attr]
        for blob, array in zip(self._computed_blobs, arrays, strict=True):
            blob.put("data", array)
        for blob in self._blobs:
            blob.missing = None
        self._writers.update(self._last_writers)
        return sum(map(self._loss_of, self._layers), 0.0)

    def _adopt(self) -> None:
        """Have layers given what they computed with in a pass at once; they have kept nothing of it."""
        if not self._adopts:
            return
        arrays = {Source(-1 - number): blob.read("data") for number, blob in enumerate(self._brought)}
        arrays.update(zip(self._at_once.sources, self._adopts, strict=True))  # type: ignore[union-attr]
        for plan in self._layers:
            if plan.node is not None:
                given = ((source, arrays[source]) for source in plan.inputs)
                arrivals = {source: Arrival(x, None, x.shape[0] if x.ndim else 1) for source, x in given}
                self._given[plan.node] = Given(arrivals, False, self._network.random.get_state())
                self._used.add(plan.node)
        self._adopts = ()

    def _bring(self, plan: LayerPlan, tops: Sequence[Blob]) -> None:
        """Have a layer bring its next arrays; where it brings none, those that are there stay."""
        arrays = plan.data.next()  # type: ignore[union-attr]
        for blob, array in zip(tops, arrays or (), strict=arrays is not None):
            if tuple(array.shape) != blob.shape:
                blob.resize(tuple(array.shape))
            nd.assign(blob.read("data"), nd.as_array(array, self._network.dtype))

    def _run(self, number: int, plan: LayerPlan, training: bool) -> tuple[Array, ...]:
        """Run the node of a layer on the arrays of its bottoms; return its tops."""
        arrivals = {}
        for source, blob in zip(plan.inputs, plan.bottoms, strict=True):
            x = self._bottom(number, plan, blob)
            arrivals[source] = Arrival(x, None, x.shape[0] if x.ndim else 1)
        self._given[plan.node or 0] = Given(arrivals, training, self._network.random.get_state())
        return self._computed(plan)

    def _computed(self, plan: LayerPlan) -> tuple[Array, ...]:
        """Compute what the last pass has given to a layer; return its tops."""
        node = plan.node or 0
        given, propagation = self._given[node], self._network.engine.propagation
        before = ForwardPass(range(0), given.arrivals, {}, (), set())
        passed = propagation.forward(self._step, given.training, start=node, stop=node + 1, before=before)
        self._kept[node] = passed.kept[node]
        self._used.discard(node)
        return tuple(passed.arrivals[Source(node, output)].x for output in range(len(plan.tops)))

    def _bottom(self, number: int, plan: LayerPlan, blob: int) -> Array:
        """Return the array of a bottom: a copy where this layer, or one in place behind it, writes that memory."""
        self._blobs[blob].check_there("data")
        array, in_place = self._blobs[blob].read("data"), blob in plan.tops
        if not in_place:
            return array
        shares = self._blobs[blob].is_asked("data") or self._writers.get(blob, -1) >= number
        return nd.copy(array) if shares else array

    # ---- backward

    def backward(self, start: int, stop: int) -> None:
        """Take diffs of tops back, layers start .. stop, both included, against their order."""
        self._adopt()
        self._at_once = None
        for number in range(start, stop - 1, -1):
            self._call("before_backward", number)
            if self._goes_back[number] and self._layers[number].node is not None:
                self._backward(self._layers[number])
            self._call("after_backward", number)

    def _backward(self, plan: LayerPlan) -> None:
        node = plan.node or 0
        if node not in self._given:
            raise nd.ConfigurationError(f"{plan.label}: forward must come before backward. Call net.forward().")
        if node in self._used:
            self._compute_again(plan)
        propagation = self._network.engine.propagation
        arrivals: dict[Source, Any] = {source: Arrival(None, None, 1) for source in plan.inputs}  # type: ignore[arg-type]
        passed = ForwardPass(range(node, node + 1), arrivals, dict(self._kept), (), set())
        epsilons = {
            Source(node, output): self._epsilon(self._blobs[blob], len(plan.tops) == 1)
            for output, blob in enumerate(plan.tops)
        }
        given = {source: epsilon for source, epsilon in epsilons.items() if epsilon is not None}
        if not given:
            return
        before = {name: nd.copy(view) for name, view in propagation.grads[node].items()}
        for view in propagation.grads[node].values():  # as a layer may leave out those that are not trained
            nd.fill(view, 0.0)
        waiting = propagation.backward(passed, {}, given, start=node + 1, stop=node)
        if propagation.nodes[node].layer.computes_again:
            self._used.add(node)
        for name, view in propagation.grads[node].items():  # layers write gradients outright
            nd.addi(view, before[name])
        for source, blob in zip(plan.inputs, plan.bottoms, strict=True):
            if source in waiting:
                self._blobs[blob].put("diff", waiting[source])

    def _compute_again(self, plan: LayerPlan) -> None:
        """Compute a layer anew, as its backward pass has used up what it had kept: the same draws, old statistics."""
        node, random = plan.node or 0, self._network.random
        params = self._network.engine.propagation.params[node]
        statistics = {spec.name: nd.copy(params[spec.name]) for spec in plan.conf.blobs if not spec.learned}  # type: ignore[union-attr]
        drawn = random.get_state()
        random.set_state(self._given[node].drawn)
        self._computed(plan)
        random.set_state(drawn)
        for name, values in statistics.items():
            nd.assign(params[name], values)

    @staticmethod
    def _epsilon(blob: Blob, alone: bool) -> Array | None:
        """Return a copy of a top's diff; None of one of several to which nothing has ever come."""
        if not blob.has("diff") and not alone:
            return None
        return nd.copy(blob.read("diff"))

    def _call(self, hook: str, number: int) -> None:
        for callback in self.callbacks[hook]:
            callback(number)

    def forget(self) -> None:
        """Forget what layers have kept: blobs now show another pass, a solver's, from which none can go back."""
        for kept in (self._kept, self._given, self._used, self._writers):
            kept.clear()
        self._adopts = ()

    # ---- shapes

    def reshape(self, layers: Sequence[Any]) -> None:
        """Give all blobs the shapes that follow from those of the layers that bring data."""
        for plan, layer in zip(self._layers, layers, strict=True):
            if plan.node is not None:
                shapes = layer.top_shapes([self._blobs[blob].shape for blob in plan.bottoms])
                for blob, shape in zip(plan.tops, shapes, strict=True):
                    self._blobs[blob].resize(tuple(shape))
