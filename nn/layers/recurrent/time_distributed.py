"""TimeDistributed: a layer of rows at every time step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import nd
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import FeedForwardType, InputType, RecurrentType, series_of
from ...terms.java_form import JavaForm
from ...terms.preprocessors import InputPreProcessor, to_series
from ..base import LayerConf
from ..runtime import Context, Kept, LayerRuntime, Params, State
from ..wrapping import WrappingConf, WrappingRuntime

_INSTEAD = "InputType.recurrent(n, t), or the layer inside alone"


class TimeDistributedRuntime(WrappingRuntime):
    """The other layer over the rows that the time steps of all examples are."""

    pure = splits = True

    def setup(self) -> None:
        super().setup()
        if self.layer.initial_state(1):
            raise nd.ConfigurationError(
                f"{self.label}: the layer inside must be one without a state, as it sees time steps as examples, got "
                f"{type(self.conf.layer).__name__}. Use it alone."
            )
        # Examples fastest is a view of activations. What draws a number for every row does so in Java's order.
        draws = self.layer.has_noise or not self.layer.may_split(True)
        self._first = (0, 2) if draws else (2, 0)

    @property
    def readers(self) -> tuple[LayerRuntime, ...]:
        return ()  # it makes rows of its own

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Kept, State]:
        if x.ndim != 3:
            raise nd.ShapeError(
                f"{self.label}: expected time series [N, C, T], got {describe_shape(x.shape)}. Use {_INSTEAD}."
            )
        inner = ctx.inner("wrapped")
        if ctx.mask is not None:
            inner.mask = self._rows(nd.reshape(ctx.mask, (x.shape[0], 1, x.shape[2])))
        if ctx.shard is not None:
            inner.shard = ctx.shard._replace(by_step=False)
        rows, kept, _ = self.layer.propagate(self._rows(x), (), params, inner)
        return self._series(rows, x.shape[0]), kept, state

    def backward(self, epsilon: Array, cache: Kept, params: Params, grads: Params, ctx: Context) -> Array | None:
        below = self.back_through(self._rows(epsilon), cache, grads, ctx)
        return None if below is None else self._series(below, epsilon.shape[0])

    def _rows(self, x: Array) -> Array:
        """Return ``[N, C, T]`` as rows ``[N * T, C]``."""
        return nd.reshape(nd.permute(x, (*self._first, 1)), (-1, x.shape[1]))

    def _series(self, rows: Array, examples: int) -> Array:
        """Return rows as a view ``[N, C, T]``."""
        steps = rows.shape[0] // examples
        split = (steps, examples) if self._first[0] else (examples, steps)
        axes = (1, 2, 0) if self._first[0] else (0, 2, 1)
        return nd.permute(nd.reshape(rows, (*split, rows.shape[1])), axes)

    def feed_forward_mask(self, mask: Array) -> Array | None:
        return mask

    def mask_behind(self, kept: Kept) -> Array | None:
        return LayerRuntime.mask_behind(self, kept)  # not that of the rows inside


@dataclass(frozen=True, kw_only=True)
class TimeDistributed(WrappingConf):
    """A layer of rows at every time step, with the same parameters at all of them.

    Parameters
    ----------
    layer : LayerConf
        A layer of rows, a DenseLayer, say. Its own dropout is applied, a `drop_out` of this one has no effect, as in
        Java.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Raises
    ------
    ConfigurationError
        `layer` is no layer, has a loss or a state, or does not give rows.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]`` with the input's mask, which the layer inside has as that of its
    rows. Parameters and updaters are the layer's. Source: DL4J ``TimeDistributed``. Differs: with a mask the steps that
    do not count are those of the mask; Java reads it in another order than the rows. A layer LastTimeStep around it
    can be trained, where Java fails.

    Examples
    --------
    >>> from nn import DenseLayer, InputType
    >>> TimeDistributed(DenseLayer(n_in=3, n_out=8)).output_type("layer 0", InputType.recurrent(3, 10))
    recurrent(8x10)
    """

    data_format: str | None = field(default=None, kw_only=False)
    runtime: ClassVar = TimeDistributedRuntime
    takes: ClassVar[str] = "series"
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    positional: ClassVar[tuple[str, ...]] = ("layer", "data_format")
    form: ClassVar[JavaForm] = WrappingConf.form.more(package="recurrent.").formatted("rnnDataFormat")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_series(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return super().with_inputs(label, _rows_of_steps(label, input_type))

    def output_type(self, label: str, input_type: InputType) -> InputType:
        inside = super().output_type(label, _rows_of_steps(label, input_type))
        if not isinstance(inside, FeedForwardType):
            raise nd.ConfigurationError(
                f"{label}: the layer inside must give rows, got {type(self.layer).__name__}, which gives {inside!r}. "
                "Put a DenseLayer there, say, or leave TimeDistributed out."
            )
        return RecurrentType(inside.size, series_of(label, input_type).time_series_length)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer, after = super().following(label, None if before is None else ("rows", before[1]))
        return layer, None if after is None else ("series", after[1])

    @property
    def said_format(self) -> str | None:
        return self.data_format

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        conf, behind = LayerConf.in_format(self, label, incoming)
        layer, _ = conf.inside.in_format(label, data_formats.rows_of(behind))
        return conf.around(layer), behind


def _rows_of_steps(label: str, input_type: InputType) -> InputType:
    return FeedForwardType(series_of(label, input_type, _INSTEAD).n)
