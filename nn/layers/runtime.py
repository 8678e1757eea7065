"""A layer at work: the duties of every layer, around the mathematics of a single one."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import nd
from nd.activations import Activation
from nd.activations.base import Activating
from nd.checks import describe_shape
from nd.classes import ExplainedType, overridable
from nd.part import Part, named, undefined
from nd.typing import Array

from ..terms.data_formats import channels_last
from ..terms.dropout import IDropout
from ..terms.noise import Noising, NumbersInForce
from ..terms.params import LayerParams
from ..terms.shard import Shard
from .by_hand import ByHand
from .kinds import SaysItsKind

if TYPE_CHECKING:
    from .own_results import OwnResults


Buffers = Callable[..., Array]
Params = dict[str, Array]
State = tuple[Array, ...]


def by_places(x: Array) -> Array:
    """View ``[N, C, ...]`` with the channels last."""
    return nd.permute(x, (0, *range(2, x.ndim), 1))


class Context:
    """One pass through one node of a network.

    Attributes
    ----------
    training : bool
        Whether there is dropout and noise, and statistics are those of the minibatch.
    mask : array ``[N, 1]``, ``[N, T]`` or ``[N, 1, H, W]``, or None
        Of the node's first input: 0 for rows, time steps or places that do not count.
    buffer : callable (name, shape) -> array
        The node's memory, the same for a name until `backward` is through, or nobody reads the activations any more.
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


@overridable
class LayerRuntime(ByHand, SaysItsKind, Part, metaclass=ExplainedType):
    """A layer at work. It keeps no arrays between calls: parameters, gradients and memory are arguments.

    A layer writes `forward` and `backward`; one that carries something from one segment of a series to the next writes
    `initial_state` and `forward_from` in the place of `forward`. Dropout of the input and weight noise are applied
    around them, the mask in `activate_sum` and `activation_gradient`; `product` and `backward_product` are x W and its
    way back. Whether steps may be recorded and split is said as `Part` has it.

    Parameters
    ----------
    conf : LayerConf
    label, dtype : str
        Who raises the errors; of the parameters.
    """

    takes_dropout: ClassVar[bool] = True
    """Whether the configured dropout of the input is applied, as on most layers in Java."""
    noised: ClassVar[tuple[str, ...] | None] = None
    """Parameters that weight noise is drawn for, in Java's order; None for all of them, in theirs."""
    masks_activations: ClassVar[bool] = True
    """Whether the mask of its input makes activations and their gradients zeros, as in Java's layers of rows."""
    masks_output: ClassVar[bool] = True
    """Whether the network's output is multiplied by the labels' mask where this layer is the last."""
    state_names: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays of `initial_state`, as Java has them; without them they are "state0", "state1", ..."""
    ends_backprop: bool = False
    """Whether `backward` always returns None, so that layers below are not trained."""

    def __init__(self, conf: Any, label: str, dtype: str) -> None:
        self.conf, self.label, self.dtype, self.params = conf, label, dtype, LayerParams(conf.param_specs)
        self._carries = type(self).forward_from is not LayerRuntime.forward_from
        self.own: OwnResults | None = None
        if not type(self).__module__.startswith("nn."):  # a user's own layer: what it returns is checked
            from .own_results import OwnResults

            self.own = OwnResults(self)
        self.setup()

    def setup(self) -> None:
        """Resolve once everything that no call changes."""

    # ---- written by a layer

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Any]:
        """Return the activations, and a cache for `backward`.

        Parameters
        ----------
        x : array ``[N, ...]``
            Not to be changed.
        params : dict of name -> array
        ctx : Context
        """
        undefined(self, "forward(x, params, ctx)", "the activations and a cache for backward")

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Write dL/d(parameters) into `grads`; return dL/dx, or None where `ctx.needs_epsilon` is False.

        Parameters
        ----------
        epsilon : array of the activations' shape
            dL/d(activations), a sum over examples. May be overwritten.
        cache : object
            From `forward`. Used up.
        params : dict of name -> array
            As `forward` had them.
        grads : dict of name -> array
            Views of the gradient vector.
        ctx : Context
        """
        undefined(self, "backward(epsilon, cache, params, grads, ctx)", "the gradients and dL/dx")

    def initial_state(self, examples: int) -> State:
        """Return the state at the start of a series, arrays ``[N, ...]``; none for layers without a state."""
        return ()

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Any, State]:
        """Do as `forward`; return also the state after this segment: new arrays, or the buffers'."""
        return *self.forward(x, params, ctx), state

    def feed_forward_mask(self, mask: Array) -> Array | None:
        """Return the mask of the layer's activations, from that of its input, in new memory: no context comes along."""
        return mask

    def mask_behind(self, kept: Kept) -> Array | None:
        """Return the mask of the activations of a forward pass, for a layer around this one; None where all count."""
        mask = kept.context.mask
        return None if mask is None else self.feed_forward_mask(mask)

    # ---- called by a network

    def propagate(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Kept, State]:
        """Return activations, results for `backpropagate`, and the state after it: `forward` with noise around it."""
        dropped = None
        if ctx.training:
            if self.dropout is not None:
                drop = self.dropout.apply_dropout if ctx.shard is None else partial(ctx.shard.dropped, self.dropout)
                x, dropped = drop(x, self.drop_numbers.values, ctx.buffer)
            if self.noising is not None:
                params = self.noising.draw(params, ctx.buffer)
        try:
            if self._carries:
                a, cache, state = self.forward_from(x, state, params, ctx)
            else:
                result = self.forward(x, params, ctx)
                a, cache = result if self.own is None else self.own.checked_pair(result)
        except (nd.ShapeError, nd.DTypeError) as error:
            raise named(self.label, error) from error
        if self.own is not None:
            self.own.check_activations(a, x, ctx.activates)
            ctx.input_shape = x.shape
        return a, Kept(cache, params, dropped, ctx), state

    def backpropagate(self, epsilon: Array, kept: Kept, grads: Params, is_delta: bool = False) -> Array | None:
        """Write the gradients; return dL/dx of the layer's input, None where nobody needs it.

        With `is_delta` the gradient is not that of the activations, but what the layer's `loss_and_delta` has returned.
        """
        views, layer = None if self.own is None else dict(grads), cast(Any, self)
        run = layer.backward_delta if is_delta else self.backward
        try:
            below = run(epsilon, kept.cache, kept.params, grads, kept.context)
        except (nd.ShapeError, nd.DTypeError) as error:
            raise named(self.label, error) from error
        if self.own is not None:
            self.own.check_gradients(grads, views)
            self.own.check_epsilon(below, kept.context.input_shape)
        return self._undropped(below, kept)

    def _undropped(self, epsilon: Array | None, kept: Kept) -> Array | None:
        """Take a gradient back through the dropout of the input."""
        through = kept.dropped is not None and epsilon is not None
        return self.dropout.backprop(epsilon, kept.dropped) if through else epsilon  # type: ignore[union-attr, arg-type]

    def may_split(self, training: bool) -> bool:
        """Tell whether parts of a minibatch give the numbers of all of it, but for noise around `forward`."""
        names = ("activation", "gate_activation", "loss") if training else ()
        parts = [part for part in (getattr(self.conf, name, None) for name in names) if part is not None]
        return self.splits and all(part.splits and not getattr(part, "draws", False) for part in parts)

    @property
    def has_noise(self) -> bool:
        """Whether random numbers are drawn around `forward` in training."""
        return self.dropout is not None or self.noising is not None

    def joined_with(self, second: LayerRuntime) -> LayerRuntime | None:
        """Return a layer that does what this one and the one behind it do, if it is faster; nobody else reads this."""
        return None

    def scheduled_numbers(self) -> list[NumbersInForce]:
        """Return the numbers of this layer's noise that follow schedules."""
        noises = (self.dropout and self.drop_numbers, self.noising and self.noising.numbers)
        return [numbers for numbers in noises if isinstance(numbers, NumbersInForce) and numbers.scheduled]

    # ---- noise

    @cached_property
    def dropout(self) -> IDropout | None:
        """Dropout of the input, None where there is none; one that keeps everything draws all the same, as in Java."""
        return self.conf.drop_out if self.takes_dropout else None

    @cached_property
    def drop_numbers(self) -> NumbersInForce:
        """Numbers that dropout multiplies and compares with."""
        return NumbersInForce(self.conf.drop_out, self.dtype)

    @cached_property
    def noising(self) -> Noising | None:
        """Weight noise at work, None when there is none."""
        noise = getattr(self.conf, "weight_noise", None)
        specs = {spec.name: spec for spec in self.conf.param_specs() if not spec.pretrained}
        noised = [specs[name] for name in (specs if self.noised is None else self.noised) if name in specs]
        return Noising(noise, NumbersInForce(noise, self.dtype), noised) if noise is not None and noised else None

    # ---- products, activations and masks

    def product(self, x: Array, W: Array, ctx: Context) -> Array:
        """Return x W ``[N, n_out]``, in the node's memory; raise ShapeError unless x is ``[N, n_in]``."""
        self.check_rows(x, self.conf.n_in)
        return nd.gemm(x, W, ctx.buffer("z", (x.shape[0], self.conf.n_out)))

    def backward_product(self, x: Array, delta: Array, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Write the gradients of x W + b, or of x W without b, from ``delta = dL/dz``; return dL/dx if it is needed."""
        b = grads["b"][0, ...] if "b" in grads else None
        nd.affine_gradients(x, delta, grads["W"], b)
        below = ctx.buffer("epsilon", x.shape) if ctx.needs_epsilon else None
        return None if below is None else nd.gemm(delta, params["W"], below, transpose_b=True)

    @cached_property
    def activation(self) -> Activation:
        """The layer's activation."""
        return self.conf.activation

    @cached_property
    def activating(self) -> Activating:
        """The layer's activation at work."""
        return Activating(self.activation)

    @cached_property
    def over_channels(self) -> bool:
        """Whether the activation goes along the axis of channels: a softmax where data have that axis last."""
        given = self.conf.data_format or getattr(self.conf, "input_format", None)
        return given is not None and self.activation.over_rows and channels_last(given)

    @cached_property
    def _overwrites(self) -> bool:
        """Whether the activation may lie where z was: nobody looks at z then."""
        return self.activation.overwrites and not getattr(getattr(self.conf, "loss", None), "needs_z", False)

    @cached_property
    def activates_parts(self) -> bool:
        """Whether the activation may be applied to parts of z, in its memory: every element stands for itself."""
        return self._overwrites and self.activating.fixed and not self.activation.over_rows

    def activate_sum(self, z: Array, ctx: Context, b: Array | None = None) -> Array:
        """Add b and apply the activation, in z's memory where the way back allows it; then multiply by the mask."""
        if not ctx.activates:
            return z if b is None else nd.addi(z, b)
        a = z if self._overwrites else nd.buffer_like(z, ctx.buffer, "a")
        if self.over_channels:
            self.activating.value(by_places(z), by_places(a), ctx.training, b)
            return self.masked(a, ctx)
        return self.masked(self.activating.value(z, a, ctx.training, b), ctx)

    def activation_gradient(self, epsilon: Array, z: Array, a: Array, ctx: Context) -> Array:
        """Turn ``epsilon = dL/da`` into dL/dz in its memory, and multiply it by the mask."""
        if self.over_channels:
            self.activating.backprop(by_places(z), by_places(a), by_places(epsilon))
            return self.masked(epsilon, ctx)
        return self.masked(self.activating.backprop(z, a, epsilon), ctx)

    def masked(self, a: Array, ctx: Context) -> Array:
        """Multiply activations, or their gradient, by the mask, in their memory."""
        return nd.muli(a, self.mask_over(ctx.mask)) if ctx.mask is not None and self.masks_activations else a

    def mask_over(self, mask: Array) -> Array:
        """Return the mask as it broadcasts to activations."""
        return mask

    # ---- checks

    def check_rows(self, x: Array, n_in: int) -> None:
        """Raise ShapeError unless x is ``[N, n_in]``."""
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 2 or x.shape[1] != n_in:
            from ..terms.axis_order import remedy_of_rows  # which data that fit do not need

            remedy = remedy_of_rows(x.shape, n_in)
            raise nd.ShapeError(f"{self.label}: expected input [N, {n_in}], got {describe_shape(x.shape)}. {remedy}")
