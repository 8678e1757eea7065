"""One pass through one node of a network: what a layer is given beside its input, and what is kept for the way back."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import nd
from nd.typing import Array

from ..terms.shard import Shard

Buffers = Callable[..., Array]
Params = dict[str, Array]
State = tuple[Array, ...]


class Context:
    """One pass through one node of a network.

    Attributes
    ----------
    training : bool
        Whether there is dropout and noise, and statistics are those of the minibatch.
    mask : array ``[N, 1]``, ``[N, T]`` or ``[N, 1, H, W]``, or None
        Of the node's first input: 0 for rows, time steps or places that do not count.
    buffer : callable (name, shape) -> array
        The node's memory, the same for a name until it is given back: in training when `backward` is through, else when
        nobody reads the activations any more. Nothing stays in it. Outside of steps new memory.
    needs_epsilon : bool
        Whether the backward pass has to return dL/dx.
    activates : bool
        False to leave the activation out, as `LayerRuntime.pre_output` does.
    masks_steps : bool
        Whether the mask holds inside of layers, too, that otherwise hand it on alone: in `LastTimeStep`, say.
    restarts : bool
        Whether the backward pass of a layer with a state computes the segment anew from a zero state, as Java's does.
    back_length : int or None
        How many time steps, the last ones, the backward pass of a layer with a state goes over; None for all.
    input_shape : tuple of int
        Of the layer's input, where the layer is a user's own.
    meeting : nd.Seat
        Where workers exchange numbers in layers that say `meets`; only number 0 writes what is no sum over examples.
    shard : Shard or None
        Where the examples lie in the minibatch that random numbers are drawn for.
    shown : list or None
        Takes those of the first layer, as computed, where `joined_with` has made one of two; None if nobody looks.
    """

    __slots__ = (
        "activates", "back_length", "buffer", "input_shape", "mask", "masks_steps", "meeting", "needs_epsilon",
        "restarts", "shard", "shown", "training",
    )  # fmt: skip

    def __init__(
        self,
        training: bool,
        buffer: Buffers,
        mask: Array | None = None,
        needs_epsilon: bool = True,
        activates: bool = True,
    ) -> None:
        self.training, self.buffer, self.mask = training, buffer, mask
        self.needs_epsilon, self.activates = needs_epsilon, activates
        self.masks_steps = self.restarts = False
        self.back_length: int | None = None
        self.meeting: nd.Seat = nd.ALONE
        self.shard: Shard | None = None
        self.shown: list[Array] | None = None
        self.input_shape: tuple[int, ...] = ()

    def inner(self, prefix: str, training: bool | None = None) -> Context:
        """Return the context of a layer inside of this one, with memory under names of its own."""

        def buffer(name: str, *rest: Any) -> Array:
            return self.buffer(f"{prefix}.{name}", *rest)

        ctx = copy(self)
        ctx.buffer, ctx.training = buffer, self.training if training is None else training
        return ctx


class Kept(NamedTuple):
    """Results of a layer's forward pass that its backward pass needs."""

    cache: Any
    """The layer's own."""
    params: Params
    """As they were used: with weight noise, those that stood in for them."""
    dropped: Array | None
    """From the dropout of the input, for its `backprop`."""
    context: Context
