"""Forward and backward through the nodes of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import Array

from ..layers.runtime import Context
from ..vertices.runtime import NetworkInput, VertexContext
from .minibatch import WHOLE, Truncation
from .nodes import NETWORK_INPUT, Node
from .pass_memory import PassMemory, last_readers

if TYPE_CHECKING:
    from ..layers.runtime import Kept
    from ..terms.params import ParamLayout
    from .minibatch import Arrays, Masks, StepInput


class Arrival(NamedTuple):
    """What comes out of a node, or out of an input of the network."""

    x: Array
    mask: Array | None
    examples: int


class ForwardPass(NamedTuple):
    """The result of a forward pass."""

    outputs: list[Array]
    """Of every node that ran."""
    kept: list[Kept]
    """Needed by the way back, of every node."""
    state: tuple[Array, ...]
    """Of all nodes, after it."""
    examples: list[int]
    """Of the inputs of every node."""


class _Settings(NamedTuple):
    """Of a pass, for all nodes; see `Propagation.forward`."""

    training: bool
    unmasked: Sequence[int]
    truncation: Truncation
    meeting: nd.Seat
    shown: list[Array] | None


class Propagation:
    """The nodes of a network at work, on parameters, into a gradient, in memory of its own: for one worker.

    Parameters
    ----------
    nodes : sequence of Node
    outputs : sequence of int
        Numbers of the nodes whose activations are the network's outputs.
    layout : ParamLayout
    params : array ``[1, n]``
    gradient : array ``[1, n]``
        Receives the gradients of the parameters.
    dtype : str
    input_names : sequence of str
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
    ) -> None:
        self.nodes, self.outputs, self.dtype = nodes, tuple(outputs), dtype
        self.params = [layout.views_of(node.position, params) for node in nodes]
        self.grads = [layout.views_of(node.position, gradient) for node in nodes]
        self._input_names = tuple(input_names)
        self._buffers = [nd.Buffers(dtype) for _ in nodes]  # of passes that keep everything
        self._arena, self._ended = nd.Arena(dtype), last_readers(nodes, self.outputs)
        self._features = nd.Buffers(dtype)  # in activation order

    # ---- forward

    def forward(
        self,
        features: Sequence[Array],
        training: bool,
        masks: Masks = (),
        state: Arrays = (),
        *,
        start: int = 0,
        stop: int | None = None,
        unmasked: Sequence[int] = (),
        memory: PassMemory | None = None,
        truncation: Truncation = WHOLE,
        state_into: Arrays = (),
        meeting: nd.Seat = nd.ALONE,
        shown: list[Array] | None = None,
    ) -> ForwardPass:
        """Run nodes start .. stop - 1.

        Parameters
        ----------
        features : sequence of array
            Of the network's inputs; with a `start` in a chain that of its first node.
        training : bool
        masks : sequence of array or None
            Of the features.
        state : tuple of array
        start, stop : int
        unmasked : sequence of int
            Nodes whose layer gets no mask.
        memory : PassMemory, optional
            Take memory from there, and say when a node has run. Without it nodes have memory of their own, which stays
            as it is until they run again.
        truncation : Truncation
            Of the way back.
        state_into : tuple of array
            Where to write the state after the pass, as soon as it is there; `state` itself may be.
        meeting : nd.Seat
            Where layers that meet those of other workers do so.
        shown : list, optional
            Takes the activations of every layer and vertex, one by one, also of two that run as one.
        """
        given = self._arrivals(features, masks, start)
        settings = _Settings(training, unmasked, truncation, meeting, shown)
        state_after, first_state = list(state), sum(node.states for node in self.nodes[:start])
        outputs: list[Array] = []
        kept_of: list[Kept] = []
        counts: list[int] = []
        for number, node in enumerate(self.nodes[start:stop], start):
            buffer: Any = self._buffers[number] if memory is None else memory.of(number)
            own = slice(first_state, first_state + node.states)
            run = self._join if node.joins else self._run
            arrival, kept, state_after[own] = run(number, node, given, tuple(state[own]), buffer, settings)
            for target, after in zip(state_into[own], state_after[own], strict=bool(state_into)):
                nd.assign(target, after)
            given[number], first_state = arrival, own.stop
            outputs.append(arrival.x)
            if shown is not None:
                shown.append(arrival.x)
            kept_of.append(kept)
            counts.append(given[node.inputs[0]].examples)
            if memory is not None:
                memory.after_forward(number, arrival.x, arrival.mask)
        return ForwardPass(outputs, kept_of, tuple(state_after), counts)

    def _arrivals(self, features: Sequence[Array], masks: Masks, start: int) -> dict[int, Arrival]:
        arrivals = {}
        for number, x in enumerate(features):
            x = nd.to_input_order(x, partial(_numbered, self._features, number))
            arrivals[start - 1 - number] = Arrival(x, masks[number] if masks else None, x.shape[0])
        return arrivals

    def _run(
        self,
        number: int,
        node: Node,
        given: Mapping[int, Arrival],
        state: Arrays,
        buffer: Any,
        settings: _Settings,
    ) -> tuple[Arrival, Kept, Arrays]:
        """Run a layer, behind its preprocessor."""
        x, mask, examples = given[node.inputs[0]]
        if node.preprocessor is not None:
            x = node.preprocessor.pre_process(x, examples, buffer)
            mask = None if mask is None else node.preprocessor.feed_forward_mask(mask, examples)
        if number in settings.unmasked:
            mask = None
        ctx = Context(settings.training, buffer, mask, node.needs_epsilon[0])
        ctx.restarts, ctx.back_length = settings.truncation
        ctx.meeting, ctx.shown = settings.meeting, settings.shown
        x, kept, state = node.layer.propagate(x, state, self.params[number], ctx)
        mask = None if mask is None else node.layer.feed_forward_mask(mask)
        return Arrival(x, mask, examples), kept, state

    def _join(
        self,
        number: int,
        node: Node,
        given: Mapping[int, Arrival],
        state: Arrays,
        buffer: Any,
        settings: _Settings,
    ) -> tuple[Arrival, Kept, Arrays]:
        """Run a vertex."""
        arriving = [given[source] for source in node.inputs]
        places = {name: -1 - place for place, name in enumerate(self._input_names)}
        named = {name: NetworkInput(*given[place][:2]) for name, place in places.items() if place in given}
        masks = tuple(mask for _, mask, _ in arriving)
        counts = tuple(count for _, _, count in arriving)
        ctx = VertexContext(settings.training, buffer, masks, node.needs_epsilon, named, counts[0])
        xs = tuple(x for x, _, _ in arriving)
        x, kept, state = node.layer.propagate(xs, state, self.params[number], ctx)
        return Arrival(x, node.layer.feed_forward_mask(masks, ctx), node.layer.examples(counts)), kept, state

    def masks_behind(self, features: Sequence[Array], masks: Masks) -> list[Array | None]:
        """Return the masks of the outputs, from those of such features; None for none. Nothing else is computed."""
        given: dict[int, tuple[Array | None, int]] = {
            NETWORK_INPUT - number: (masks[number] if masks else None, x.shape[0]) for number, x in enumerate(features)
        }
        named = {name: NetworkInput(x, mask) for name, x, mask in zip(self._input_names, features, masks, strict=True)}
        for number, node in enumerate(self.nodes):
            arriving = [given[source] for source in node.inputs]
            mask, examples = arriving[0]
            if node.joins:
                joined = tuple(mask for mask, _ in arriving)
                counts = tuple(count for _, count in arriving)
                ctx = VertexContext(False, nd.fresh_buffers(self.dtype), joined, node.needs_epsilon, named, counts[0])
                mask, examples = node.layer.feed_forward_mask(joined, ctx), node.layer.examples(counts)
            elif mask is not None:
                if node.preprocessor is not None:
                    mask = node.preprocessor.feed_forward_mask(mask, examples)
                mask = None if mask is None else node.layer.feed_forward_mask(mask)
            given[number] = (mask, examples)
        return [given[number][0] for number in self.outputs]

    def output(self, step: StepInput, training: bool = False, state_into: Arrays = ()) -> list[Array]:
        """Return the activations ``[N, ...]`` of every output, in memory that is used again.

        They are multiplied by the labels' mask where there is one, which then stands in for the last layer's own;
        layers of a loss of places alone take none, as in Java.
        """
        masks = [step.labels_mask(output) for output in range(len(self.outputs))]
        unmasked = [node for node, mask in zip(self.outputs, masks, strict=True) if mask is not None]
        memory = self._pass_memory(way_back=False)
        passed = self.forward(
            step.features, training, step.features_masks, step.state, unmasked=unmasked, memory=memory,
            state_into=state_into,
        )  # fmt: skip
        outs = []
        for number, mask in zip(self.outputs, masks, strict=True):
            out, masks_output = passed.outputs[number], getattr(self.nodes[number].layer, "masks_output", True)
            if mask is not None and masks_output:  # in other memory, as another output may be a view of this one
                masked = self._buffers[number]("masked_output", tuple(out.shape))
                out = nd.multiply(out, _over(mask, out), masked)
            outs.append(out)
        return outs

    # ---- backward

    def gradient_and_loss(self, step: StepInput, meeting: nd.Seat = nd.ALONE) -> tuple[Array, tuple[Array, ...]]:
        """Fill the gradient with sums over the examples of a minibatch; return the summed loss, and the state after it.

        The losses of several outputs are added. `meeting` is where layers meet those of other workers, which have other
        parts of the minibatch.
        """
        memory = self._pass_memory(way_back=True)
        return self.way_back(step, self.way_there(step, meeting, memory), memory)

    def way_there(
        self,
        step: StepInput,
        meeting: nd.Seat = nd.ALONE,
        memory: PassMemory | None = None,
        shown: list[Array] | None = None,
    ) -> ForwardPass:
        """Do the first half of `gradient_and_loss`: forward, in training; `memory` and `shown` as in `forward`."""
        if meeting.count > 1:
            meeting.begin()
        masks, truncation = step.features_masks, step.truncation
        return self.forward(
            step.features, True, masks, step.state, memory=memory, truncation=truncation, meeting=meeting, shown=shown
        )

    def way_back(
        self, step: StepInput, passed: ForwardPass, memory: PassMemory | None = None
    ) -> tuple[Array, tuple[Array, ...]]:
        """Do the second half: the loss, and backward."""
        loss, deltas = self.loss_and_deltas(step, passed)
        if memory is not None:
            memory.keep((loss, *passed.state))
        self.backward(passed, deltas, memory=memory)
        return loss, passed.state

    def _pass_memory(self, way_back: bool) -> PassMemory | None:
        """Return memory that is given back on the way; None in eager mode, where all activations stay, to look."""
        return None if nd.is_eager() else PassMemory(self._arena, self.nodes, self._ended, way_back)

    def loss_and_deltas(self, step: StepInput, passed: ForwardPass) -> tuple[Array, dict[int, Array]]:
        """Return the summed loss ``[]`` of all outputs, and dL/dz of each by the number of its node."""
        loss: Array | Any = None
        deltas = {}
        for output, number in enumerate(self.outputs):
            mask = loss_mask(step, passed, output, number)
            layer = self.nodes[number].layer
            of_output, delta = layer.loss_and_delta(step.labels[output], passed.kept[number], mask)
            if step.loss_weights:
                weight = step.loss_weights[output]
                of_output, delta = of_output * weight, layer.weighted_delta(delta, weight)
            loss = of_output if loss is None else loss + of_output
            deltas[number] = delta
        return loss, deltas

    def summed_loss(self, step: StepInput, passed: ForwardPass) -> Array:
        """Return the summed loss ``[]`` of all outputs."""
        loss: Array | Any = None
        for output, number in enumerate(self.outputs):
            mask = loss_mask(step, passed, output, number)
            of_output = self.nodes[number].layer.summed_loss(step.labels[output], passed.kept[number], mask)
            if step.loss_weights:
                of_output = of_output * step.loss_weights[output]
            loss = of_output if loss is None else loss + of_output
        return loss

    def backward(
        self,
        passed: ForwardPass,
        deltas: Mapping[int, Array],
        to_input: bool = False,
        external: bool = False,
        memory: PassMemory | None = None,
    ) -> list[Array | None]:
        """Fill the gradient from the deltas of nodes with a loss; return dL/d(features) of every input.

        Nothing is computed above which there is nothing to train, unless `to_input` asks for dL/d(features). `external`
        says that the deltas are dL/d(activations) of the nodes, whatever they are. The `memory` of the forward pass is
        told when a node is through.

        A layer with a loss whose activations others read gets the gradients of both. Differs: in Java such a graph
        cannot be trained.
        """
        losses = {} if external else deltas
        epsilons: dict[int, Array] = dict(deltas) if external else {}  # by the number of the node
        for number in reversed(range(len(self.nodes))):
            node, epsilon, delta = self.nodes[number], epsilons.pop(number, None), losses.get(number)
            if delta is not None and epsilon is not None:
                delta = node.layer.with_epsilon(delta, epsilon, passed.kept[number])
            gradient = epsilon if delta is None else delta
            belows: Sequence[Array | None] = (None,) * len(node.inputs)
            if gradient is not None:  # something that the loss knows of, and something to train here or above
                belows = self._belows(number, gradient, passed, delta is not None, to_input)
            for source, below in zip(node.inputs, belows, strict=True):
                if below is not None:
                    epsilons[source] = nd.addi(epsilons[source], below) if source in epsilons else below
            if memory is not None:
                memory.after_backward(number, epsilons.values())
        return [epsilons.get(NETWORK_INPUT - place) for place in range(len(self._input_names))]

    def _belows(
        self, number: int, epsilon: Array, passed: ForwardPass, is_delta: bool, to_input: bool
    ) -> Sequence[Array | None]:
        """Take a gradient back through a node; return those of its inputs."""
        node, kept = self.nodes[number], passed.kept[number]
        layer: Any = node.layer
        if node.joins:
            kept.context.needs_epsilons = (True,) * len(node.inputs) if to_input else node.needs_epsilon  # type: ignore[attr-defined]
            return layer.backpropagate(epsilon, kept, self.grads[number])
        kept.context.needs_epsilon = to_input or node.needs_epsilon[0]
        run = layer.backpropagate_delta if is_delta else layer.backpropagate
        below = run(epsilon, kept, self.grads[number])
        if below is None and node.needs_epsilon[0] and not layer.ends_backprop:
            raise self._no_epsilon(node)
        if below is not None and node.preprocessor is not None:
            below = node.preprocessor.backprop(below, passed.examples[number], kept.context.buffer)
        return (below,)

    def _no_epsilon(self, node: Node) -> nd.ConfigurationError:
        """Return the error of a layer that gave no gradient that layers above it need, and did not say so."""
        trained = next(above.position for above in self.nodes if above.trained)
        return nd.ConfigurationError(
            f"{node.layer.label}: backward must return dL/dx, as layer {trained} below is trained, got "
            "None. Return it, or set ends_backprop = True on the runtime."
        )


def loss_mask(step: StepInput, passed: ForwardPass, output: int, number: int) -> Array | None:
    """Return the mask of an output's labels; as in Java, where there is none, the mask that reached its node."""
    mask = step.labels_mask(output)
    return passed.kept[number].context.mask if mask is None else mask


def _numbered(buffers: Any, number: int, name: str, shape: tuple[int, ...]) -> Array:
    """Return memory under a name of an input's own."""
    return buffers(f"{name}{number}", shape)


def _over(mask: Array, out: Array) -> Array:
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
