"""Bidirectional: another layer over time series and, with parameters of its own, over the series reversed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

import nd
from nd.arrays import standard
from nd.checks import check_choice, describe_shape
from nd.java_enums import JavaEnum
from nd.typing import Array
from optimize import LayerConstraint

from ...terms.input_type import FeedForwardType, InputType, RecurrentType
from ...terms.java_form import JavaForm
from ...terms.noise import NumbersInForce
from ...terms.params import ParamSpec
from ..base import LayerConf
from ..draw_order import STEP_BY_STEP, draw_in
from ..runtime import Buffers, Context, Kept, LayerRuntime, Params, State
from ..wrapping import WrappingConf, WrappingRuntime

_SIDES = ("f", "b")  # what names of parameters begin with, in the vector's order


def _reversed(x: Array) -> Array:
    """Return series, or a mask ``[N, T]``, from their last step to their first."""
    return standard.flip(x, axis=-1)


def _in_order(b: Array) -> Array:
    """Return what comes from the reversed pass in the order of the series, or back; rows, of a last step, have none."""
    return _reversed(b) if b.ndim == 3 else b


def _one_side(views: Params, side: str) -> Params:
    return {name[1:]: view for name, view in views.items() if name.startswith(side)}


# ---- ways to make one of the activations of both directions


class Joining:
    """One way, forward and backward."""

    factor = 1
    """Channels that come out, for every one of a direction."""

    def join(self, a: Array, b: Array, buffer: Buffers) -> Array:
        """Return the activations of both directions ``[N, C, ...]`` as one."""
        raise NotImplementedError

    def part(self, epsilon: Array, a: Array, b: Array, of_b: Array) -> Array:
        """Write the gradient of b, in the order of the reversed pass, for that of `join`; return that of a.

        It is in the memory of `epsilon`.
        """
        raise NotImplementedError


class Concat(Joining):
    """Channels of the one, then channels of the other."""

    factor = 2

    def join(self, a: Array, b: Array, buffer: Buffers) -> Array:
        channels = a.shape[1]
        out = buffer("a", (a.shape[0], channels + b.shape[1], *a.shape[2:]))
        nd.assign(out[:, :channels, ...], a)
        nd.assign(out[:, channels:, ...], b)
        return out

    def part(self, epsilon: Array, a: Array, b: Array, of_b: Array) -> Array:
        nd.assign(of_b, _in_order(epsilon[:, a.shape[1] :, ...]))
        return epsilon[:, : a.shape[1], ...]


class Add(Joining):
    """The sum."""

    def join(self, a: Array, b: Array, buffer: Buffers) -> Array:
        return nd.add(a, b, buffer("a", tuple(a.shape)))

    def part(self, epsilon: Array, a: Array, b: Array, of_b: Array) -> Array:
        nd.assign(of_b, _in_order(epsilon))
        return epsilon


class Average(Add):
    """The mean."""

    def join(self, a: Array, b: Array, buffer: Buffers) -> Array:
        return nd.muli(super().join(a, b, buffer), 0.5)

    def part(self, epsilon: Array, a: Array, b: Array, of_b: Array) -> Array:
        return super().part(nd.muli(epsilon, 0.5), a, b, of_b)


class Mul(Joining):
    """The product."""

    def join(self, a: Array, b: Array, buffer: Buffers) -> Array:
        return nd.multiply(a, b, buffer("a", tuple(a.shape)))

    def part(self, epsilon: Array, a: Array, b: Array, of_b: Array) -> Array:
        nd.multiply(_in_order(epsilon), _in_order(a), of_b)
        return nd.muli(epsilon, b)


JOININGS: dict[str, Joining] = {"add": Add(), "average": Average(), "concat": Concat(), "mul": Mul()}
"""Mode -> way, sorted."""


# ---- the layer


class Cache(NamedTuple):
    """Results of forward that backward needs."""

    ahead: Kept
    back: Kept
    a: Array
    b: Array
    """Activations of both passes, steps in the order of the series."""


class BidirectionalRuntime(WrappingRuntime):
    """The other layer twice; the second pass has its input and its gradient reversed, in memory of its own.

    A series begins and ends with the segment, so that there is no state to carry.
    """

    pure = splits = True

    def setup(self) -> None:
        super().setup()
        self.joining, conf = JOININGS[self.conf.mode], self.conf.layer
        self.back: LayerRuntime = conf.runtime(conf, self.label, self.dtype)
        draw_in(self.back, STEP_BY_STEP)

    def initial_state(self, examples: int) -> State:
        return ()

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Cache, State]:
        if x.ndim != 3:
            raise nd.ShapeError(
                f"{self.label}: expected time series [N, C, T], got {describe_shape(x.shape)}. Set the network's "
                "input type: InputType.recurrent(n, t)."
            )
        a, ahead = self._run("f", self.layer, x, ctx.mask, params, ctx)
        turned = nd.assign(ctx.buffer("reversed", tuple(x.shape)), _reversed(x))
        mask = None if ctx.mask is None else _reversed(ctx.mask)
        b, back = self._run("b", self.back, turned, mask, params, ctx)
        b = _in_order(b)
        return self.joining.join(a, b, ctx.buffer), Cache(ahead, back, a, b), state

    def _run(
        self, side: str, layer: LayerRuntime, x: Array, mask: Array | None, params: Params, ctx: Context
    ) -> tuple[Array, Kept]:
        inner = ctx.inner(side)
        inner.mask = mask
        return layer.propagate(x, layer.initial_state(x.shape[0]), _one_side(params, side), inner)[:2]

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        of_b = ctx.buffer("epsilon", tuple(cache.b.shape))
        of_a = self.joining.part(epsilon, cache.a, cache.b, of_b)
        below = self.back_through(of_a, cache.ahead, _one_side(grads, "f"), ctx)
        cache.back.context.needs_epsilon = ctx.needs_epsilon
        other = self.back.backpropagate(of_b, cache.back, _one_side(grads, "b"))
        return None if below is None or other is None else nd.addi(below, _reversed(other))

    def scheduled_numbers(self) -> list[NumbersInForce]:
        return [*self.layer.scheduled_numbers(), *self.back.scheduled_numbers()]

    def mask_behind(self, kept: Kept) -> Array | None:
        return self.layer.mask_behind(kept.cache.ahead)


@dataclass(frozen=True, kw_only=True)
class Bidirectional(WrappingConf):
    """Another layer in both directions of time, each with parameters of its own.

    Parameters
    ----------
    layer : LayerConf
        A recurrent layer, or another one over time series. Its own dropout is applied in both directions, a `drop_out`
        of this one has no effect, as in Java.
    mode : {"concat", "add", "mul", "average"}
        How the activations of both directions become one. With concat their number doubles.
    bwd : LayerConf, optional
        The layer of the reversed direction, for files that say it: the same.

    Raises
    ------
    ConfigurationError
        `layer` is no layer, or has a loss; `bwd` is another one.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]``, of a layer that gives rows ``[N, n_out]``. The second pass has the
    series and the mask from the last step to the first, the steps that do not count included, and what it gives is
    turned round. Vector: all parameters of the first pass, their names with an f before them, then all of the second,
    with a b. Penalties, updaters and gradient normalisation are the layer's, the latter with both directions as one
    layer. Java draws the weights twice, and so does this library. As both directions see all of the series, truncated
    backprop and going step by step are refused. Source: DL4J ``Bidirectional``. Differs: constraints of the network
    hold here too, in Java only those of the layer itself; layers that are not recurrent, that give rows, or are
    bidirectional themselves may stand inside.

    Examples
    --------
    >>> from nn import Convolution1DLayer
    >>> layer = Convolution1DLayer(n_in=4, n_out=8, kernel_size=3)
    >>> Bidirectional(layer, "add").param_shapes()
    {'fb': (1, 8), 'fW': (3, 4, 8), 'bb': (1, 8), 'bW': (3, 4, 8)}
    """

    class Mode(JavaEnum):
        """Ways to make one of both directions."""

        ADD = "add"
        AVERAGE = "average"
        CONCAT = "concat"
        MUL = "mul"

    mode: str = field(default="concat", kw_only=False)
    bwd: LayerConf | None = field(default=None, repr=False)
    runtime: ClassVar = BidirectionalRuntime
    positional: ClassVar[tuple[str, ...]] = ("layer", "mode")
    reads_ahead: ClassVar[bool] = True
    builder_names: ClassVar[dict[str, str]] = {**WrappingConf.builder_names, "fwd": "layer", "rnn_layer": "layer"}
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {"fwd": ("layer", "layer"), "bwd": ("bwd", "layer"), "mode": ("mode", "upper")},
        {"constraints": None},
        package="recurrent.",
        derived={
            **WrappingConf.form.derived,
            "nin": lambda conf: conf.inside.n_in or 0,
            "nout": lambda conf: conf.inside.n_out or 0,
            "rnndataFormat": lambda conf: conf.said_format or "NCW",
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        object.__setattr__(self, "mode", self.Mode(check_choice(who, "mode", self.mode, JOININGS)))
        if self.bwd not in (None, self.layer):
            raise nd.ConfigurationError(
                f"{who}: bwd must be as layer, the layer of both directions, got {self.bwd!r} and {self.layer!r}. "
                "Leave bwd out."
            )
        object.__setattr__(self, "bwd", self.layer)

    def around(self, layer: LayerConf) -> Self:
        return replace(self, layer=layer, bwd=layer)

    @property
    def _factor(self) -> int:
        return JOININGS[self.mode].factor

    @property
    def n_out(self) -> int | None:
        """Channels that go out."""
        inside = super().n_out
        return None if inside is None else inside * self._factor

    @property
    def drawings(self) -> int:  # type: ignore[override]
        """Once more than the other layer."""
        return self.inside.drawings + 1

    @property
    def constraints(self) -> tuple[LayerConstraint, ...] | None:
        """Those of the other layer, on the parameters of both directions."""
        inside = super().constraints
        return inside and tuple(
            replace(constraint, params=tuple(side + name for side in _SIDES for name in constraint.params or ()))
            for constraint in inside
        )

    def param_specs(self) -> tuple[ParamSpec, ...]:
        inside = super().param_specs()
        return tuple(replace(spec, name=side + spec.name) for side in _SIDES for spec in inside)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        inside = super().output_type(label, input_type)
        if isinstance(inside, RecurrentType):
            return replace(inside, n=inside.n * self._factor)
        if isinstance(inside, FeedForwardType):
            return FeedForwardType(inside.size * self._factor)
        raise nd.ConfigurationError(
            f"{label}: the layer inside must give time series, got {type(self.layer).__name__}, which gives "
            f"{inside!r}. Put an LSTM there, say."
        )

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer, after = super().following(label, before)
        return layer, None if after is None else (after[0], after[1] * self._factor)
