"""GravesBidirectionalLSTM: an LSTM with peepholes for each direction of time, added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import nd
from nd.recurrent.lstm import LstmPass, WholePass
from nd.typing import Array

from ...terms.params import ParamSpec
from ..runtime import Context, Params
from .lstm import LstmConf, LstmUnits, weights_of

_DIRECTIONS = {"F": False, "B": True}
"""Suffix of the parameters' names -> whether the series is read from its end."""


class Cache(NamedTuple):
    """Results of forward that backward needs."""

    forwards: LstmPass | WholePass
    backwards: LstmPass | WholePass


class GravesBidirectionalRuntime(LstmUnits):
    """Forward and backward of both LSTMs, which begin with zeros at their ends of a series."""

    pure = splits = True
    takes_dropout = False
    noised = ()
    state_names = ()

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        self.check_series(x)
        start = nd.zeros(x.shape[0], self.conf.n_out, dtype=self.dtype)
        forwards, backwards = (
            self.lstm.forward(
                x, weights_of(params, suffix), (start, start), ctx.mask, ctx.inner(suffix).buffer, ctx.training, reverse
            )
            for suffix, reverse in _DIRECTIONS.items()
        )
        a = ctx.buffer("a", (x.shape[0], self.conf.n_out, x.shape[2]))
        return nd.add(forwards.outputs, backwards.outputs, a), Cache(forwards, backwards)

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        belows = [
            self.lstm.backward(
                epsilon,
                passed,
                weights_of(params, suffix),
                weights_of(grads, suffix),
                ctx.inner(suffix).buffer,
                ctx.needs_epsilon,
            )
            for suffix, passed in zip(_DIRECTIONS, cache, strict=True)
        ]
        below, more = belows
        return None if below is None or more is None else nd.addi(below, more)


@dataclass(frozen=True, kw_only=True)
class GravesBidirectionalLSTM(LstmConf):
    """Two LSTMs with peepholes, one from the start of a series and one from its end, whose outputs are added.

    Parameters
    ----------
    n_in, n_out, activation, gate_activation, forget_gate_bias_init, weight_init_recurrent, data_format
        As `LSTM`, of both.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]``. Vector: WF, RWF, bF, WB, RWB, bB, each as of a `GravesLSTM`; F is
    the one that begins with the first step. A mask ``[N, T]`` multiplies outputs and memories of both. As activations
    depend on later steps there is no truncated backprop and no `rnn_time_step`. Dropout of the input and weight noise
    have no effect, as in Java. Source: DL4J
    ``GravesBidirectionalLSTM``. Differs: behind a gap in the mask the gradient is that of the score; in Java errors go
    through it by way of the memory.

    Examples
    --------
    >>> list(GravesBidirectionalLSTM(n_in=3, n_out=2).param_shapes())
    ['WF', 'RWF', 'bF', 'WB', 'RWB', 'bB']
    """

    peepholes: ClassVar[int] = 3
    reads_ahead: ClassVar[bool] = True
    runtime: ClassVar = GravesBidirectionalRuntime

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(spec for suffix in _DIRECTIONS for spec in self.lstm_specs(suffix))
