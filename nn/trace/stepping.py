"""A training step of a copy of a network, with marks, which is taken as often as is needed to see all of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import nd
from nd.execution.recording import noted
from nd.execution.seen_arrays import ArrayKeeper
from nd.execution.timeline import Event, StoppedClock, Timeline, let_hear
from nd.state import Restoring, eager
from optimize.chunks import ChunkTerms

from ..networks.multilayer import MultiLayerNetwork
from .rows import ParamNames, Place, rows_of
from .trace import NodeArrays, Trace

if TYPE_CHECKING:
    from ..networks.network import Network
TIMED, TIMED_S = (3, 20), 0.5
"""Steps that are timed, at least and at most, and seconds behind which no other begins; the fastest counts."""
_METHODS = {
    "propagate": ("forward", "input"),
    "loss_and_delta": ("loss", "labels"),
    "backpropagate": ("backward", "epsilon"),
}
"""Method of a layer or vertex -> phase, and what its first argument is."""
_BETWEEN = Place("step")


def trace_step(copy: Network, data: object, recorded: bool, budget: int) -> Trace:
    """Trace one training step of a copy of a network on what its `fit_batch` takes; see `Network.trace`."""
    step, keeper = _TracedStep(copy, data, recorded), ArrayKeeper(budget)
    kept = [_seen(keeper, one) for one in step.nodes()]
    step.again()
    if recorded:
        step.again()  # an update is replayed from its second time on
        step.hear_recordings()
    fastest = min(step.timed_ones(), key=lambda timeline: timeline.seconds)
    seen = step.timed(Timeline(keeper))
    events = _joined(fastest.events, seen.events)
    timeline = seen if events is seen.events else fastest
    rows = rows_of(events, timeline.thread, timeline.seconds, step.names)
    return Trace(rows, timeline.seconds, kept, step.about(budget))


def _joined(times: Sequence[Event], arrays: list[Event]) -> list[Event]:
    """Return the events of a step with the arrays of another one; those of that where they are not the same ones.

    Parts of a minibatch run in any thread: threads that have done the same are the same.
    """
    left, joined = _by_thread(arrays), list[Event]()
    for events in _by_thread(times).values():
        same = next(
            (thread for thread, others in left.items() if list(map(_key, others)) == list(map(_key, events))), None
        )
        if same is None:
            return arrays
        for event, other in zip(events, left.pop(same), strict=True):
            joined.append(event._replace(inputs=other.inputs, outputs=other.outputs, mark=other.mark))
    return arrays if left else joined


def _by_thread(events: Sequence[Event]) -> dict[int, list[Event]]:
    threads: dict[int, list[Event]] = {}
    for event in events:
        threads.setdefault(event.thread, []).append(event)
    return threads


def _key(event: Event) -> tuple[object, ...]:
    return event.name, (event.mark if isinstance(event.mark, Place) else type(event.mark))


def _seen(keeper: ArrayKeeper, arrays: NodeArrays) -> NodeArrays:
    """Return arrays of a node as what is seen of them."""

    def seen(name: str, array: Any) -> Any:
        if isinstance(array, dict):
            return {key: seen(key, value) for key, value in array.items()}
        return None if array is None else keeper.seen(name, array, nd.to_host)

    fields = {name: seen(name, array) for name, array in arrays._asdict().items() if name not in ("name", "type")}
    return arrays._replace(**fields)


class _TracedStep:
    """Takes the same step of a copy of a network again and again."""

    def __init__(self, copy: Network, data: object, recorded: bool) -> None:
        self._net: Any = copy
        self._data, self._recorded = data, recorded
        self._timeline: Timeline | None = None
        self._gradient: Any = None
        self._wants_gradient = False
        engine = self._net.engine
        self._views = engine.vectors.layout.views
        self.names = ParamNames([(view.key, view.start, view.stop) for view in self._views])
        self._random = self._net.random.get_state()
        self._counts = self._net.iteration_count, self._net.epoch_count
        self._net.step_input(self._data)  # which says where a loss is missing
        with self._at_work():
            self._vectors = nd.copy(self._net.params()), nd.copy(self._net.updater_state())
        self._learned = self._net.get_optimizer().get_state()
        self._mark_places()

    # ---- steps

    def timed(self, timeline: Timeline) -> Timeline:
        """Take the step while a timeline listens; return that."""
        self._back()
        self._timeline = timeline
        try:
            with timeline:
                self._step()
        finally:
            self._timeline = None
        return timeline

    def timed_ones(self) -> Iterator[Timeline]:
        """Take the step several times, while only times are heard."""
        started = time.perf_counter()
        for number in range(TIMED[1]):
            if number >= TIMED[0] and time.perf_counter() - started > TIMED_S:
                return
            yield self.timed(Timeline())

    def again(self) -> None:
        """Take the step while nobody listens."""
        self._back()
        self._step()

    def _step(self) -> None:
        if self._recorded:
            self._net.fit_batch(self._data)
        else:
            with eager():
                self._net.fit_batch(self._data)

    def _back(self) -> None:
        """Put everything back where it was before the step."""
        net = self._net
        with self._at_work():
            net.updater.guard.settle(net)
            for target, saved in zip((net.params(), net.updater_state()), self._vectors, strict=True):
                nd.assign(target, saved)
        net.get_optimizer().set_state(self._learned)
        net.random.set_state(self._random)
        net.iteration_count, net.epoch_count = self._counts

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._net.lock, Restoring(), self._net.engine.on_backend():
            yield

    # ---- marks

    def _mark_places(self) -> None:
        """Have the copy say where it is: where a node goes forward and is taken back, where its loss is computed."""
        for node in self._net.engine.shared_nodes.fused.nodes:
            name = node.name if node.inner is None else f"{node.inner[0]} + {node.name}"
            for method, (phase, label) in _METHODS.items():
                if hasattr(node.layer, method):
                    place = Place(phase, name, phase == "forward" and node.position == 0)
                    vars(node.layer)[method] = partial(self._at_node, place, label, getattr(node.layer, method))
        updater = self._net.updater
        for chunk in updater.chunks:
            chunk.on_update = self._at_chunk
        vars(updater)["update"] = partial(self._updating, updater.update)

    def _at_node(self, place: Place, label: str, method: Any, given: Any, *arguments: Any) -> Any:
        with StoppedClock():
            self._note(place, ((label, given),))
        result = method(given, *arguments)
        with StoppedClock():
            self._note(_BETWEEN)
        return result

    def _updating(self, update: Any, *arguments: Any, **named: Any) -> Any:
        if self._wants_gradient:
            self._gradient = nd.copy(self._net.flattened_gradients())
        self._mark(Place("update"))
        outcome = update(*arguments, **named)
        self._mark(_BETWEEN)
        return outcome

    def _at_chunk(self, terms_of: Callable[[], ChunkTerms] | None) -> None:
        with StoppedClock():
            terms = None if terms_of is None else terms_of()
            self._note(terms, () if terms is None else tuple(terms.arrays.items()))

    def _note(self, what: object, arrays: Sequence[tuple[str, Any]] = ()) -> None:
        """Mark a place, in a recording at every replay."""
        if self._recorded:
            noted(partial(self._mark, what, arrays))
        else:
            self._mark(what, arrays)

    def _mark(self, what: object, arrays: Sequence[tuple[str, Any]] = ()) -> None:
        if self._timeline is not None:
            self._timeline.mark(what, arrays)

    # ---- recordings

    def hear_recordings(self) -> None:
        """Have the calls of the recordings heard, which steps have made that were taken before."""
        engine = self._net.engine
        of_workers = [worker.recordings for worker in engine.gradients.workers]
        recordings = [one for own in (*of_workers, *self._net.updater.recordings) for one in own.recorded()]
        if not [one for one in recordings if let_hear(one, lambda: self._timeline)]:
            raise nd.ConfigurationError(
                "trace: recorded=True needs a step that is recorded as a list of calls, got none on the backend "
                f"{self._net.backend.name!r}. Leave it out: a step that is not recorded has the same numbers."
            )

    # ---- what there is beside the ops

    def nodes(self) -> list[NodeArrays]:
        """Return the arrays of every layer and vertex, of the minibatch as a whole."""
        net = self._net
        net.keep(*map(self._called, range(len(net.conf.nodes))))
        self._wants_gradient = True
        self.again()
        if self._gradient is None:  # a line search has no update; it ends with the gradient of where it has led
            self._gradient = nd.copy(net.flattened_gradients())
        self._wants_gradient = False
        nodes = [self._arrays_of(number) for number in range(len(net.conf.nodes))]
        net.keep()
        return nodes

    def _called(self, number: int) -> int | str:
        """Return what `keep` calls a node."""
        return number if isinstance(self._net, MultiLayerNetwork) else self._net.conf.nodes[number].name

    def _arrays_of(self, number: int) -> NodeArrays:
        net = self._net
        conf = net.conf.nodes[number]
        with self._at_work():
            views = net.engine.vectors.layout.used_by(number)
            before = {view.spec.name: nd.copy(view.of(self._vectors[0])) for view in views}
            after = {view.spec.name: nd.copy(view.of(net.params())) for view in views}
            gradients = {view.spec.name: nd.copy(view.of(self._gradient)) for view in views}
        activation, epsilon = net.kept(self._called(number))
        return NodeArrays(conf.name, type(conf.conf).__name__, activation, epsilon, before, gradients, after)

    def about(self, budget: int) -> dict[str, str]:
        """Return what the trace is of."""
        net = self._net
        return {
            "network": type(net).__name__,
            "backend": net.backend.name,
            "dtype": net.dtype,
            "examples": str(net.batch_size),
            "iteration": str(self._counts[0]),
            "parameters": str(net.num_params()),
            "recorded": "yes" if self._recorded else "no",
            "score": repr(float(net.score())),
            "budget": str(budget),
        }
