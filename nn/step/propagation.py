"""Forward and backward through the nodes of a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.typing import Array

from ..layers.runtime import Context
from .nodes import NETWORK_INPUT, Node

if TYPE_CHECKING:
    from ..layers.runtime import Kept
    from .minibatch import StepInput
    from .params import ParamLayout

OnForward = Callable[[list[Array]], None]
"""Called with the features and the activations of all nodes, between forward and backward."""


class ForwardPass(NamedTuple):
    """The result of a forward pass."""

    outputs: list[Array]
    """Of every node that ran."""
    kept: list[Kept]
    """Needed by the way back, of every node."""
    mask: Array | None
    """Of the last outputs."""
    state: tuple[Array, ...]
    """Of all nodes, after it."""


class Propagation:
    """The nodes of a network at work, on parameters, into a gradient, in memory of its own: for one worker.

    Parameters
    ----------
    nodes : sequence of Node
    layout : ParamLayout
    params : array ``[1, n]``
    gradient : array ``[1, n]``
        Receives the gradients of the parameters.
    dtype : str
    """

    def __init__(self, nodes: Sequence[Node], layout: ParamLayout, params: Array, gradient: Array, dtype: str) -> None:
        self.nodes, self.dtype, self.lowest = nodes, dtype, layout.lowest_layer
        self.params = [layout.views_of(node.position, params) for node in nodes]
        self.grads = [layout.views_of(node.position, gradient) for node in nodes]
        self._buffers = [nd.Buffers(dtype) for _ in nodes]
        self._features = nd.Buffers(dtype)  # in activation order

    def forward(
        self,
        x: Array,
        training: bool,
        mask: Array | None = None,
        state: tuple[Array, ...] = (),
        *,
        start: int = 0,
        stop: int | None = None,
        last_masked: bool = True,
        fresh: bool = False,
    ) -> ForwardPass:
        """Run nodes start .. stop - 1, of which the first gets x; `fresh` in new memory, which the next run leaves."""
        outputs: list[Array] = []
        kept, state_after, examples = [], list(state), x.shape[0]
        first_state = 0
        x = nd.to_activation_order(x, nd.fresh_buffers(self.dtype) if fresh else self._features)
        given = {start - 1: (x, mask)}  # activations and their mask, by the number of the node
        for number, node in enumerate(self.nodes[start:stop], start):
            x, mask = given[node.inputs[0]]
            buffer = nd.fresh_buffers(self.dtype) if fresh else self._buffers[number]
            if node.preprocessor is not None:
                x = node.preprocessor.pre_process(x, examples, buffer)
                mask = None if mask is None else node.preprocessor.feed_forward_mask(mask, examples)
            if not last_masked and number == len(self.nodes) - 1:
                mask = None
            ctx = Context(training, buffer, mask, node.needs_epsilon[0])
            own = slice(first_state, first_state + node.states)
            x, for_backward, state_after[own] = node.layer.propagate(x, tuple(state[own]), self.params[number], ctx)
            mask = None if mask is None else node.layer.feed_forward_mask(mask)
            given[number], first_state = (x, mask), own.stop
            outputs.append(x)
            kept.append(for_backward)
        return ForwardPass(outputs, kept, mask, tuple(state_after))

    def mask_behind(self, mask: Array, examples: int) -> Array | None:
        """Return the mask of the last node's activations, from that of so many examples' features; None for none."""
        masks: dict[int, Array | None] = {NETWORK_INPUT: mask}
        for number, node in enumerate(self.nodes):
            reached = masks[node.inputs[0]]
            if node.preprocessor is not None and reached is not None:
                reached = node.preprocessor.feed_forward_mask(reached, examples)
            masks[number] = None if reached is None else node.layer.feed_forward_mask(reached)
        return masks[len(self.nodes) - 1]

    def gradient_and_loss(
        self, step: StepInput, on_forward: OnForward | None = None
    ) -> tuple[Array, tuple[Array, ...]]:
        """Fill the gradient with sums over the examples of a minibatch; return the summed loss, and the state after it.

        `on_forward` is called with the features and all activations after the forward pass.
        """
        last: Any = self.nodes[-1].layer
        forward = self.forward(step.features, True, step.features_mask, step.state)
        if on_forward is not None:
            on_forward([step.features, *forward.outputs])
        loss, delta = last.loss_and_delta(step.labels, forward.kept[-1], loss_mask(step, forward))
        self.backward(forward, delta, step.examples)
        return loss, forward.state

    def output(self, step: StepInput, training: bool = False, fresh: bool = False) -> Array:
        """Return the last node's activations ``[N, ...]``, in memory that is used again unless it is `fresh`.

        They are multiplied by the labels' mask where there is one, which then stands in for the last layer's own;
        layers of a loss of places alone take none, as in Java.
        """
        mask = step.labels_mask
        forward = self.forward(
            step.features, training, step.features_mask, step.state, last_masked=mask is None, fresh=fresh
        )
        out = forward.outputs[-1]
        unmasked = mask is None or not self.nodes[-1].layer.masks_output
        return out if unmasked else nd.muli(out, _over(mask, out))

    def backward(
        self, forward: ForwardPass, delta: Array, examples: int, to_input: bool = False, external: bool = False
    ) -> Array | None:
        """Fill the gradient from the last node's delta, of so many examples.

        Nothing is computed below the lowest parameters, unless `to_input` asks for dL/d(features), which is returned.
        `external` says that delta is dL/d(activations) of the last node, whatever it is.
        """
        epsilons: dict[int, Array] = {len(self.nodes) - 1: delta}  # by the number of the node
        for number in reversed(range(len(self.nodes))):
            node, kept, epsilon = self.nodes[number], forward.kept[number], epsilons.get(number)
            if epsilon is None:  # nothing that the loss knows of, or nothing to train here and below
                continue
            layer: Any = node.layer
            kept.context.needs_epsilon = to_input or node.needs_epsilon[0]
            is_delta = number == len(self.nodes) - 1 and not external
            run = layer.backpropagate_delta if is_delta else layer.backpropagate
            below = run(epsilon, kept, self.grads[number])
            if below is None and node.needs_epsilon[0] and not layer.ends_backprop:
                raise self._no_epsilon(node)
            if below is not None and node.preprocessor is not None:
                below = node.preprocessor.backprop(below, examples, kept.context.buffer)
            if below is not None:
                source = node.inputs[0]
                epsilons[source] = nd.addi(epsilons[source], below) if source in epsilons else below
        return epsilons.get(NETWORK_INPUT)

    def _no_epsilon(self, node: Node) -> nd.ConfigurationError:
        """Return the error of a layer that gave no gradient that layers below need, and did not say so."""
        return nd.ConfigurationError(
            f"{node.layer.label}: backward must return dL/dx, as layer {self.lowest} below is trained, got "
            "None. Return it, or set ends_backprop = True on the runtime."
        )


def loss_mask(step: StepInput, forward: ForwardPass) -> Array | None:
    """Return the labels' mask; as in Java, where there is none, the mask that reached the last layer."""
    return forward.kept[-1].context.mask if step.labels_mask is None else step.labels_mask


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
