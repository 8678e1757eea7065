"""Forward and backward through the nodes of a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import Array

from ..conf.nodes import Source
from ..layers.runtime import Context
from ..vertices.runtime import NetworkInput, VertexContext
from .nodes import NETWORK_INPUT, Node
from .pass_memory import PassMemory, last_readers

if TYPE_CHECKING:
    from nd.execution.arena import Lease
    from nd.execution.workers import Buffers

    from ..layers.runtime import Kept
    from ..terms.params import ParamLayout
    from .keeping import Keeping
    from .worker import Arrays, StepInput

OnFinal = Callable[[int, int], object]
"""Called with first and last element, behind it, of a stretch of the gradient that this pass writes no more."""


class Arrival(NamedTuple):
    """What comes out of a node, or out of an input of the network."""

    x: Array
    mask: Array | None
    examples: int


class ForwardPass(NamedTuple):
    """The result of a forward pass."""

    nodes: range  # numbers of those that ran
    arrivals: dict[Source, Arrival]  # everything that nodes and the network's inputs have given
    kept: dict[int, Kept]  # needed by the way back, of every node
    state: tuple[Array, ...]  # of all nodes, after it
    written: set[int]  # where parameters of several nodes begin whose gradients one of these has written, going back

    @property
    def outputs(self) -> list[Array]:
        """The activations of every node that ran, of several those of the first output."""
        return [self.arrivals[Source(number)].x for number in self.nodes]


class Losses(NamedTuple):
    """The loss of a minibatch, summed over examples and outputs, and with what the way back begins."""

    loss: Array
    deltas: dict[int, Array | None]  # dL/dz of the nodes of outputs, whose layers have a loss
    epsilons: dict[Source, Array]  # dL/d(activations) of activations that are losses


class Propagation:
    """The nodes of a network at work, on parameters, into a gradient, in memory of its own: for one worker.

    Parameters and gradient, which is written, are vectors ``[1, n]``. `outputs` are the numbers of the nodes whose
    activations are the network's; `losses` are activations that are losses themselves, beside those of the outputs'
    layers, and their weights.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        outputs: Sequence[int],
        layout: ParamLayout,
        params: Array,
        gradient: Array,
        dtype: str,
        input_names: Sequence[str] = ("input",),
        losses: Mapping[Source, float] | None = None,
    ) -> None:
        self.nodes, self.outputs, self.dtype, self.losses = nodes, tuple(outputs), dtype, losses or {}
        self.gradient = nd.reshape_view(gradient, (gradient.shape[1],))
        self.params = [layout.views_of(node.position, params) for node in nodes]
        self.grads = [layout.views_of(node.position, gradient) for node in nodes]
        self._inputs = {name: Source(NETWORK_INPUT - place) for place, name in enumerate(input_names)}
        self._used = [layout.used_by(node.position) for node in nodes]
        users = Counter(view.start for views in self._used for view in views)
        # Of every node the parameters that other nodes use too; and of parameters the first node that uses them.
        self._shared = [[view for view in views if users[view.start] > 1] for views in self._used]
        self._first_user = {view.start: n for n in reversed(range(len(nodes))) for view in self._used[n]}
        self._buffers = [nd.Buffers(dtype) for _ in nodes]  # of passes that keep everything
        self._arena, self._ended = nd.Arena(dtype), last_readers(nodes, self.outputs)
        self._features = nd.Buffers(dtype)  # in activation order

    # ---- forward

    def forward(
        self,
        step: StepInput,
        training: bool = True,
        *,
        start: int = 0,
        stop: int | None = None,
        before: ForwardPass | None = None,
        unmasked: Sequence[int] = (),
        memory: PassMemory | None = None,
        state_into: Arrays = (),
        meeting: nd.Seat = nd.ALONE,
        shown: list[Array] | None = None,
        keeping: Keeping | None = None,
    ) -> ForwardPass:
        """Run nodes start .. stop - 1.

        Parameters
        ----------
        step : StepInput
            With a `start` and nothing `before`, features of the node there.
        training : bool
        start, stop : int
        before : ForwardPass, optional
            An earlier pass, whose activations those nodes read: so a pass can go from one node to another.
        unmasked : sequence of int
            Nodes whose layer gets no mask.
        memory : PassMemory, optional
            Where to take memory from. Without it nodes have their own, which stays as it is until they run again.
        state_into : tuple of array
            Where to write the state after the pass, as soon as it is there; the step's own may be.
        meeting : nd.Seat
            Where layers meet those of other workers, which have other parts of the minibatch.
        shown : list, optional
            Takes the activations of every layer and vertex, one by one, also of two that run as one.
        keeping : Keeping, optional
        """
        if meeting.count > 1:
            meeting.begin()
        arrivals = self._arrivals(step, start) if before is None else dict(before.arrivals)
        kept: dict[int, Kept] = {} if before is None else dict(before.kept)
        state, place = list(step.state), sum(node.states for node in self.nodes[:start])
        numbers = range(start, len(self.nodes) if stop is None else stop)
        for number in numbers:
            node = self.nodes[number]
            buffer = self._buffers[number] if memory is None else memory.of(number)
            own, first = slice(place, place + node.states), None
            if node.joins:
                xs, mask, examples, kept[number] = self._join(number, arrivals, training, buffer, step)
            else:
                x, mask, examples = arrivals[node.inputs[0]]
                if node.preprocessor is not None:
                    x = node.preprocessor.pre_process(x, examples, buffer)
                    mask = None if mask is None else node.preprocessor.feed_forward_mask(mask, examples)
                mask = None if number in unmasked else mask
                ctx = Context(training, buffer, mask, node.needs_epsilon[0])
                ctx.restarts, ctx.back_length = step.truncation
                ctx.shard = step.shard
                shows = shown is not None or (keeping is not None and number in keeping.into)
                ctx.meeting, ctx.shown = meeting, [] if shows else None
                x, kept[number], state[own] = node.layer.propagate(x, step.state[own], self.params[number], ctx)
                xs, mask = (x,), None if mask is None else node.layer.feed_forward_mask(mask)
                first = ctx.shown[0] if ctx.shown else None
            for target, after in zip(state_into[own], state[own], strict=bool(state_into)):
                nd.assign(target, after)
            place = own.stop
            for output, x in enumerate(xs):
                arrivals[Source(number, output)] = Arrival(x, mask, examples)
            if shown is not None:
                shown += xs[:1] if first is None else (first, xs[0])
            if keeping is not None:
                keeping.at_activation(number, xs, first)
            if memory is not None:
                memory.after_forward(number, xs, mask)
        return ForwardPass(numbers, arrivals, kept, tuple(state), set() if before is None else before.written)

    def _arrivals(self, step: StepInput, start: int) -> dict[Source, Arrival]:
        arrivals = {}
        for number, (x, mask) in enumerate(zip(step.features, step.features_masks, strict=True)):
            x = nd.to_input_order(x, lambda name, shape, at=number: self._features(f"{name}{at}", shape))
            arrivals[Source(start - 1 - number)] = Arrival(x, mask, x.shape[0])
        return arrivals

    def _join(
        self, number: int, arrivals: dict[Source, Arrival], training: bool, buffer: Lease | Buffers, step: StepInput
    ) -> tuple[tuple[Array, ...], Array | None, int, Kept]:
        """Run a vertex; return its activations, their mask and examples, and what the way back needs."""
        node = self.nodes[number]
        given = [arrivals[source] for source in node.inputs]
        named = {name: NetworkInput(*arrivals[at][:2]) for name, at in self._inputs.items() if at in arrivals}
        masks = tuple(mask for _, mask, _ in given)
        counts = tuple(count for _, _, count in given)
        examples, share = counts[0] if counts else step.examples, 1.0 if step.share is None else step.share
        ctx = VertexContext(training, buffer, masks, node.needs_epsilon, named, examples, share)
        a, kept, _ = node.layer.propagate(tuple(x for x, _, _ in given), (), self.params[number], ctx)
        xs = (a,) if node.outputs == 1 else a
        return xs, node.layer.feed_forward_mask(masks, ctx), node.layer.examples(counts), kept

    def output(self, step: StepInput, training: bool = False, state_into: Arrays = ()) -> list[Array]:
        """Return the activations ``[N, ...]`` of every output, in memory that is used again.

        They are multiplied by the labels' mask where there is one, which then stands in for the last layer's own;
        layers of a loss of places alone take none, as in Java.
        """
        masks = [step.labels_mask(output) for output in range(len(self.outputs))]
        unmasked = [node for node, mask in zip(self.outputs, masks, strict=True) if mask is not None]
        memory = self.pass_memory(way_back=False)
        passed = self.forward(step, training, unmasked=unmasked, memory=memory, state_into=state_into)
        outs = []
        for number, mask in zip(self.outputs, masks, strict=True):
            out, masks_output = passed.outputs[number], getattr(self.nodes[number].layer, "masks_output", True)
            if mask is not None and masks_output:  # in other memory, as another output may be a view of this one
                masked = self._buffers[number]("masked_output", tuple(out.shape))
                out = nd.multiply(out, over(mask, out), masked)
            outs.append(out)
        return outs

    # ---- backward

    def pass_memory(self, way_back: bool = True) -> PassMemory | None:
        """Return memory that is given back on the way; None in eager mode, where all activations stay, to look."""
        return None if nd.is_eager() else PassMemory(self._arena, self.nodes, self._ended, way_back)

    def losses_of(self, step: StepInput, passed: ForwardPass, way_back: bool = True) -> Losses:
        """Return the summed loss of all outputs, and of nodes that are losses; and with what the `way_back` begins."""
        loss: Any = None
        deltas, epsilons = {}, {}
        for output, number in enumerate(self.outputs if step.labels else ()):
            layer, mask = self.nodes[number].layer, loss_mask(step, passed, output, number)
            given = step.labels[output], passed.kept[number], mask
            of_output, delta = layer.loss_and_delta(*given) if way_back else (layer.summed_loss(*given), None)
            if step.loss_weights:
                weight = step.loss_weights[output]
                of_output, delta = of_output * weight, layer.weighted_delta(delta, weight) if way_back else None
            loss = of_output if loss is None else loss + of_output
            deltas[number] = delta
        for source, weight in self.losses.items():
            x, buffer = passed.arrivals[source].x, passed.kept[source.node].context.buffer
            of_node = nd.sum(x) * weight
            loss = of_node if loss is None else loss + of_node
            if way_back:
                epsilons[source] = nd.fill(nd.buffer_like(x, buffer, "weight"), weight)
        return Losses(loss, deltas, epsilons)

    def backward(
        self,
        passed: ForwardPass,
        deltas: Mapping[int, Array | None],
        epsilons: Mapping[Source, Array] | None = None,
        to_input: bool = False,
        memory: PassMemory | None = None,
        on_final: OnFinal | None = None,
        start: int | None = None,
        stop: int = 0,
        keeping: Keeping | None = None,
    ) -> dict[Source, Array]:
        """Fill the gradient, node after node backwards: start - 1 .. stop, by default all.

        Nothing is computed above which there is nothing to train, unless `to_input` asks for dL/d(features). A layer
        with a loss whose activations others read gets the gradients of both. Differs: in Java such a graph cannot be
        trained. Of several nodes with the same parameters each but the first writes elsewhere, which is then added.

        `deltas` are dL/dz of nodes with a loss, `epsilons` dL/d(activations) of others, which are used up; `memory` is
        that of the forward pass. What is left is returned: dL/d(activations) of nodes before `stop`, and of features.
        """
        waiting = dict(epsilons or {})
        start = len(self.nodes) if start is None else start
        if start == len(self.nodes):
            passed.written.clear()
        for number in reversed(range(stop, start)):
            node, gradient, delta = self.nodes[number], self._waiting_for(number, waiting), deltas.get(number)
            if keeping is not None and gradient is not None:
                keeping.at_epsilon(number, gradient)
            if delta is not None and gradient is not None:
                delta = node.layer.with_epsilon(delta, gradient, passed.kept[number])
            gradient = gradient if delta is None else delta
            needs = self._needs(node, to_input, keeping)
            if gradient is not None and (node.trained or any(needs)):  # the loss knows of it, and somebody wants it
                belows = self._belows(number, passed, gradient, delta is not None, needs)
                _hand_on(waiting, node.inputs, belows, keeping)
            if on_final is not None:
                self._tell_final(number, on_final)
            if memory is not None:
                memory.after_backward(number, waiting.values())
        return waiting

    @staticmethod
    def _needs(node: Node, to_input: bool, keeping: Keeping | None) -> tuple[bool, ...]:
        """Return for each input of a node whether anybody wants what comes back to it."""
        if to_input:
            return (True,) * len(node.inputs)
        if keeping is None:
            return node.needs_epsilon
        wanted = [source.node >= 0 and keeping.wanted[source.node] for source in node.inputs]
        return tuple(need or want for need, want in zip(node.needs_epsilon, wanted, strict=True))

    def _waiting_for(self, number: int, waiting: dict[Source, Array]) -> object:
        """Take out what has come back to a node: of several outputs a tuple, None where nothing has."""
        several = tuple(waiting.pop(Source(number, output), None) for output in range(self.nodes[number].outputs))
        if len(several) == 1:
            return several[0]
        return None if all(one is None for one in several) else several

    def _scratch(self, number: int, passed: ForwardPass) -> dict[str, Array]:
        """Return memory for gradients of a node that another has written already; note those that it writes."""
        again = [view for view in self._shared[number] if view.start in passed.written]
        passed.written.update(view.start for view in self._shared[number])
        buffer = passed.kept[number].context.buffer
        return {
            view.spec.name: view.of(buffer(f"gradient.{view.spec.name}", (1, view.spec.length)), view.start)
            for view in again
        }

    def _tell_final(self, number: int, on_final: OnFinal) -> None:
        """Tell of the stretches of the gradient that no node writes any more once this one has."""
        used = [view for view in self._used[number] if view.stop > view.start]
        final = [view for view in used if self._first_user[view.start] == number]
        starts, stops = {view.start for view in final}, {view.stop for view in final}
        for start, stop in zip(sorted(starts - stops), sorted(stops - starts), strict=True):  # of whole runs
            on_final(start, stop)

    def _belows(
        self, number: int, passed: ForwardPass, gradient: object, is_delta: bool, needs: tuple[bool, ...]
    ) -> Sequence[Array | None]:
        """Take a gradient back through a node, which writes those of its parameters; return those of its inputs."""
        node, kept = self.nodes[number], passed.kept[number]
        again = self._scratch(number, passed) if self._shared[number] else {}
        grads = {**self.grads[number], **again} if again else self.grads[number]
        if node.joins:
            kept.context.needs_epsilons = needs  # type: ignore[attr-defined]
            belows = node.layer.backpropagate(gradient, kept, grads)
        else:
            (kept.context.needs_epsilon,) = needs
            below = node.layer.backpropagate(gradient, kept, grads, is_delta)
            if below is None and node.needs_epsilon[0] and not node.layer.ends_backprop:
                trained = next(above.position for above in self.nodes if above.trained)
                raise nd.ConfigurationError(
                    f"{node.layer.label}: backward must return dL/dx, as layer {trained} below is trained, got "
                    "None. Return it, or set ends_backprop = True on the runtime."
                )
            if below is not None and node.preprocessor is not None:
                examples = passed.arrivals[node.inputs[0]].examples
                below = node.preprocessor.backprop(below, examples, kept.context.buffer)
            belows = (below,)
        for name, scratch in again.items():
            nd.addi(self.grads[number][name], scratch)
        return belows


def loss_mask(step: StepInput, passed: ForwardPass, output: int, number: int) -> Array | None:
    """Return the mask of an output's labels; as in Java, where there is none, the mask that reached its node."""
    mask = step.labels_mask(output)
    return passed.kept[number].context.mask if mask is None else mask


def _hand_on(
    waiting: dict[Source, Array], sources: Sequence[Source], belows: Sequence[Array | None], keeping: Keeping | None
) -> None:
    """Add what comes back to nodes, or inputs of the network, to what has come before."""
    if keeping is not None:
        keeping.at_belows(belows)
    for source, below in zip(sources, belows, strict=True):
        if below is not None:
            waiting[source] = nd.addi(waiting[source], below) if source in waiting else below


def over(mask: Array, out: Array) -> Array:
    """Return a labels' mask as it broadcasts to activations; raise ShapeError if it does not."""
    n, shape = out.shape[0], tuple(out.shape)
    sizes = tuple(mask.shape)
    if len(shape) == 3 and sizes == (n, shape[2]):
        mask = nd.reshape(mask, (n, 1, shape[2]))
    elif sizes == (n, 1):
        mask = nd.reshape(mask, (n, *(1 for _ in shape[1:])))
    fits = mask.ndim == len(shape) and mask.shape[0] == n
    if not fits or any(m not in (1, size) for m, size in zip(mask.shape, shape, strict=True)):
        raise nd.ShapeError(
            f"output: the labels' mask must be {[n, 1]} or fit the output {list(shape)}, got {list(sizes)}."
        )
    return mask
