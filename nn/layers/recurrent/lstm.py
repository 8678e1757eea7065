"""LSTM and GravesLSTM: long short-term memory, without and with peepholes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import nd
from nd.activations import Activation, Sigmoid, Tanh, get_activation
from nd.recurrent.lstm import Lstm, LstmPass, LstmWeights, WholePass
from nd.typing import Array

from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, Params, State
from .base import RecurrentConf, RecurrentRuntime


class Cache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    passed: LstmPass | WholePass


def weights_of(params: Params, suffix: str = "") -> LstmWeights:
    """View the parameters of an LSTM, or their gradients, gate by gate; `suffix` behind their names."""
    W, RW, b = (params[name + suffix] for name in ("W", "RW", "b"))
    columns, width = W.shape[1], RW.shape[0]
    peepholes = None
    if RW.shape[1] > columns:
        forget, output, entry = (nd.transpose(RW[:, k : k + 1]) for k in range(columns, columns + 3))
        peepholes = (forget, output, entry)
    return LstmWeights(_by_gates(W), _by_gates(RW[:, :columns]), nd.reshape_view(b, (4, 1, width)), peepholes)


def _by_gates(weights: Array) -> Array:
    """View weights ``[n, 4 H]``, which lie in f order, as ``[4, n, H]``."""
    rows = nd.reshape_view(nd.transpose(weights), (4, -1, weights.shape[0]))
    return nd.permute(rows, (0, 2, 1))


def _mask_inside(ctx: Context) -> Array | None:
    """Return the mask of outputs and memories: as in Java the network's goes past the layer, to those behind it."""
    return ctx.mask if ctx.masks_steps else None


class LstmUnits(RecurrentRuntime):
    """Shared by layers of LSTM units."""

    noised: ClassVar[tuple[str, ...] | None] = ("RW", "W", "b")

    def setup(self) -> None:
        self.lstm = Lstm(self.conf.activation, self.conf.gate_activation)


class LstmRuntime(LstmUnits):
    """Forward and backward of LSTM layers."""

    pure = splits = True
    state_names = ("prevAct", "prevMem")

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, object, State]:
        self.check_series(x)
        passed = self.lstm.forward(x, weights_of(params), state, _mask_inside(ctx), ctx.buffer, ctx.training)
        return passed.outputs, Cache(x, passed), passed.state

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        x, passed = cache
        if ctx.restarts:
            start, buffer = self.initial_state(x.shape[0]), ctx.inner("again").buffer
            passed = self.lstm.forward(x, weights_of(params), start, _mask_inside(ctx), buffer, True)
        return self.lstm.backward(
            epsilon,
            passed,
            weights_of(params),
            weights_of(grads),
            ctx.buffer,
            ctx.needs_epsilon,
            ctx.back_length,
        )


@dataclass(frozen=True, kw_only=True)
class LstmConf(RecurrentConf):
    """Shared by LSTM layers.

    Parameters
    ----------
    gate_activation : str or Activation
    forget_gate_bias_init : float
        Start of the forget gate's biases; the others start at 0, whatever bias_init says, as in Java.
    """

    gate_activation: str | Activation = "sigmoid"
    forget_gate_bias_init: float = 1.0
    form: ClassVar[JavaForm] = RecurrentConf.form.more(
        {
            "forgetGateBiasInit": ("forget_gate_bias_init", "number"),
            "gateActivationFn": ("gate_activation", "activation"),
        },
        {"helperAllowFallback": True},
        absent={"forgetGateBiasInit": 0.0},
    )
    shape_fields: ClassVar[Mapping[str, object]] = RecurrentConf.shape_fields
    peepholes: ClassVar[int] = 0
    """Columns of them behind the recurrent weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gate_activation", get_activation(self.gate_activation))
        for name in ("activation", "gate_activation"):
            function = getattr(self, name)
            if function is not None and function.over_rows:
                raise nd.ConfigurationError(
                    f"{type(self).__name__}: {name} must work number by number, got {type(function).__name__}. Take "
                    "another, 'tanh' or 'sigmoid'."
                )

    def lstm_specs(self, suffix: str = "") -> tuple[ParamSpec, ...]:
        """Return W, RW and b of one direction, with `suffix` behind their names."""
        n_in, width = self.n_in or 0, self.n_out or 0
        usual = type(self.activation) is Tanh and type(self.gate_activation) is Sigmoid
        starts = (0.0, self.forget_gate_bias_init, 0.0, 0.0)
        specs = (
            ParamSpec(f"W{suffix}", (n_in, 4 * width), "f"),
            ParamSpec(f"RW{suffix}", (width, 4 * width + self.peepholes), "f", recurrent=True, lstm=usual),
            ParamSpec(f"b{suffix}", (1, 4 * width), "c", bias=True, initial=starts),
        )
        return tuple(replace(spec, fan_in=width, fan_out=n_in + width) for spec in specs)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.lstm_specs()


@dataclass(frozen=True, kw_only=True)
class LSTM(LstmConf):
    """Long short-term memory without peepholes.

    Parameters
    ----------
    n_in, n_out : int
        Numbers in and out per time step; n_in is inferred when the network has an input type.
    activation : str or Activation
        Of the candidate and of the memory: "tanh" as a rule. Like everywhere the network's unless given.
    gate_activation : str or Activation
    forget_gate_bias_init : float
        Start of the forget gate's biases; the others start at 0.
    weight_init_recurrent : str or Distribution, optional
        Of the recurrent weights; without it they start as the others.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]``::

        z = x_t W + h_(t-1) RW + b              # columns i, f, o, g
        c_t = gate(f) c_(t-1) + gate(g) act(i)
        h_t = gate(o) act(c_t)

    A mask ``[N, T]`` goes on to the layers behind. Inside of `LastTimeStep` and `MaskZeroLayer`, as in Java nowhere
    else, it multiplies h_t and c_t, too, so that a series starts anew behind a gap. Vector: W ``[n_in, 4 n_out]``, RW
    ``[n_out, 4 n_out]``, both in f order, b ``[1, 4 n_out]``. State: h and c, each ``[N, n_out]``. Source: DL4J
    ``LSTM``; Gers, Schmidhuber and Cummins 2000. Differs: where a mask multiplies them the gradient is that of the
    score; in Java errors go past the mask.

    Examples
    --------
    >>> LSTM(n_in=3, n_out=2, activation="tanh").param_shapes()
    {'W': (3, 8), 'RW': (2, 8), 'b': (1, 8)}
    """

    runtime: ClassVar = LstmRuntime


@dataclass(frozen=True, kw_only=True)
class GravesLSTM(LstmConf):
    """Long short-term memory with peepholes: the gates see the memory.

    Parameters
    ----------
    n_in, n_out, activation, gate_activation, forget_gate_bias_init, weight_init_recurrent, data_format
        As `LSTM`.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    As `LSTM`, but p c_(t-1) is added to the sums of forget and input gate, p c_t to that of the output gate; RW is
    ``[n_out, 4 n_out + 3]``, its last columns are the p of forget, output and input gate. Source: DL4J
    ``GravesLSTM``; Graves 2013.
    """

    peepholes: ClassVar[int] = 3
    runtime: ClassVar = LstmRuntime
