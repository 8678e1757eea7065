"""SimpleRnn: units that see their own output of the step before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import nd
from nd.recurrent.simple import SimplePass, SimpleRnnLoop, SimpleWeights
from nd.typing import Array

from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, Params, State
from .base import RecurrentConf, RecurrentRuntime


class Cache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    passed: SimplePass


def _weights_of(params: Params) -> SimpleWeights:
    gains, width = params.get("g"), params["RW"].shape[0]
    parts = None if gains is None else (gains[:, :width], gains[:, width:])
    return SimpleWeights(params["W"], params["RW"], params["b"], parts)


class SimpleRnnRuntime(RecurrentRuntime):
    """Forward and backward of a simple recurrent layer."""

    pure = splits = True
    state_names = ("prevAct",)

    def setup(self) -> None:
        self.loop = SimpleRnnLoop(self.conf.activation)

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, object, State]:
        self.check_series(x)
        passed = self.loop.forward(x, _weights_of(params), state, ctx.mask, ctx.buffer, ctx.training)
        return passed.outputs, Cache(x, passed), passed.state

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        x, passed = cache
        if ctx.restarts:
            start, buffer = self.initial_state(x.shape[0]), ctx.inner("again").buffer
            passed = self.loop.forward(x, _weights_of(params), start, ctx.mask, buffer, True)
        weights, gradients = _weights_of(params), _weights_of(grads)
        return self.loop.backward(epsilon, passed, weights, gradients, ctx.buffer, ctx.needs_epsilon, ctx.back_length)


@dataclass(frozen=True, kw_only=True)
class SimpleRnn(RecurrentConf):
    """Recurrent layer without gates: h_t = activation(x_t W + h_(t-1) RW + b).

    Parameters
    ----------
    n_in, n_out : int
        Numbers in and out per time step; n_in is inferred when the network has an input type.
    activation : str or Activation
    weight_init_recurrent : str or Distribution, optional
        Of the recurrent weights; without it they start as the others.
    has_layer_norm : bool
        Normalise x_t W and h_(t-1) RW of each example to mean 0 and variance 1, and multiply them by gains.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]``. A mask ``[N, T]`` multiplies h_t, and the errors on their way
    back. Vector: W ``[n_in, n_out]``, RW ``[n_out, n_out]``, both in f order, b ``[1, n_out]``, with layer
    normalisation g ``[1, 2 n_out]``, for x_t W and for h_(t-1) RW. State: h ``[N, n_out]``. Source: DL4J ``SimpleRnn``;
    Ba, Kiros and Hinton 2016.

    Examples
    --------
    >>> SimpleRnn(n_in=3, n_out=2, activation="tanh").param_shapes()
    {'W': (3, 2), 'RW': (2, 2), 'b': (1, 2)}
    """

    has_layer_norm: bool = False
    runtime: ClassVar = SimpleRnnRuntime
    form: ClassVar[JavaForm] = RecurrentConf.form.more(
        {"hasLayerNorm": ("has_layer_norm", "plain")}, package="recurrent."
    )
    shape_fields: ClassVar[Mapping[str, object]] = {"has_layer_norm": False, **RecurrentConf.shape_fields}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation is not None and self.activation.over_rows:  # type: ignore[union-attr]
            raise nd.ConfigurationError(
                f"SimpleRnn: activation must work number by number, got {type(self.activation).__name__}. Take "
                "another, 'tanh', say."
            )

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, width = self.n_in or 0, self.n_out or 0
        specs = (
            ParamSpec("W", (n_in, width), "f", fan_in=n_in, fan_out=width),
            ParamSpec("RW", (width, width), "f", fan_in=width, fan_out=width, recurrent=True),
            ParamSpec("b", (1, width), "c", bias=True),
        )
        return (*specs, ParamSpec("g", (1, 2 * width), "c", initial=1.0)) if self.has_layer_norm else specs
