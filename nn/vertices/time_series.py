"""Vertices over time: the last step of series, rows at every step, and series the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import nd
from nd.arrays import standard
from nd.checks import check_shape, describe_shape
from nd.typing import Array

from ..layers.recurrent.last_time_step import LastSteps
from ..layers.runtime import Params
from ..terms.data_formats import ROWS, SERIES, format_of_axes, rows_of
from ..terms.input_type import ConvolutionalFlatType, FeedForwardType, InputType, RecurrentType, series_of
from ..terms.java_form import JavaForm
from .base import VertexConf
from .runtime import NetworkInput, VertexContext, VertexRuntime

_PACKAGE = "org.deeplearning4j.nn.conf.graph.rnn."
_INSTEAD = "a recurrent layer before it, or InputType.recurrent(n, t)"


class _OverTime(VertexRuntime):
    """Shared by the vertices that look at one of the network's inputs."""

    def look_up(self, ctx: VertexContext) -> NetworkInput:
        """Return the network's input that the configuration names."""
        (name,) = self.conf.network_inputs
        if name not in ctx.network_inputs:
            raise nd.ConfigurationError(
                f"{self.label}: the network must have an input {name!r}, got {sorted(ctx.network_inputs)}. Name "
                "another one."
            )
        return ctx.network_inputs[name]

    def mask_for(self, x: Array, ctx: VertexContext) -> Array | None:
        """Return the mask ``[N, T]`` by which the steps of ``x [N, C, T]`` count."""
        if x.ndim != 3:
            raise nd.ShapeError(
                f"{self.label}: expected time series [N, C, T], got {describe_shape(x.shape)}. Use {_INSTEAD}."
            )
        mask = self.look_up(ctx).mask if self.conf.network_inputs else None
        if mask is not None:
            check_shape(f"{self.label}: mask", mask.shape, (x.shape[0], x.shape[2]))
        return mask


class LastTimeStepRuntime(_OverTime):
    """A view of the last step; with a mask a sum over time in which one step counts."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, LastSteps]:
        (x,) = xs
        last = LastSteps(tuple(x.shape), self.mask_for(x, ctx), ctx.buffer)
        return last.of(x), last

    def backward(
        self, epsilon: Array, cache: LastSteps, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        return [cache.back(epsilon) if ctx.needs_epsilons[0] else None]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> None:
        return None


@dataclass(frozen=True)
class LastTimeStepVertex(VertexConf):
    """The last step of time series: the last that counts, by the mask of one of the network's inputs.

    Parameters
    ----------
    mask_array_input : str
        Name of that input. Without a mask there the last step of all is taken.

    Notes
    -----
    Input ``[N, C, T]``, output ``[N, C]``, without a mask. A series of which nothing counts gives its first step.
    Source: DL4J ``LastTimeStepVertex``. Differs: of series NWC it is the last step, in Java the last channel.
    """

    mask_array_input: str
    of_whole_series: ClassVar[bool] = True
    runtime: ClassVar = LastTimeStepRuntime
    builder_names: ClassVar[dict[str, str]] = {"mask_array_input_name": "mask_array_input"}
    form: ClassVar[JavaForm] = VertexConf.form.more(
        {"maskArrayInputName": ("mask_array_input", "plain")}, package=_PACKAGE
    )

    @property
    def network_inputs(self) -> tuple[str, ...]:
        return (self.mask_array_input,)

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        return self, rows_of(incoming)

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        return FeedForwardType(series_of(label, input_types[0], _INSTEAD).n)


class DuplicateToTimeSeriesRuntime(_OverTime):
    """One copy forward, a sum over time backward."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        (x,) = xs
        like = self.look_up(ctx).x
        if x.ndim != 2 or like.ndim != 3:
            raise nd.ShapeError(
                f"{self.label}: expected rows [N, C], and time series [N, C, T] as the network's input "
                f"{self.conf.input_name!r}, got {describe_shape(x.shape)} and {describe_shape(like.shape)}. Name "
                "another input."
            )
        return nd.assign(ctx.buffer("a", (*x.shape, like.shape[2])), nd.reshape(x, (*x.shape, 1))), None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        return [nd.sum_into(epsilon, 2, ctx.buffer("epsilon", tuple(epsilon.shape[:2])))]

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return self.look_up(ctx).mask


@dataclass(frozen=True)
class DuplicateToTimeSeriesVertex(VertexConf):
    """Time series of rows: the row at every step, for as many as one of the network's inputs has.

    Parameters
    ----------
    input_name : str
        Name of that input, of time series.

    Notes
    -----
    Input ``[N, C]``, output ``[N, C, T]``, with the mask of the network's input. Source: DL4J
    ``DuplicateToTimeSeriesVertex``. Differs: the length in the output type is not known, in Java it is 1; where a layer
    behind it says NWC, or the rows come from such series, the output is ``[N, T, C]``, which Java cannot make.
    """

    input_name: str
    makes_axes: ClassVar[bool] = True
    runtime: ClassVar = DuplicateToTimeSeriesRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({"inputName": ("input_name", "plain")}, package=_PACKAGE)

    @property
    def network_inputs(self) -> tuple[str, ...]:
        return (self.input_name,)

    def in_format(self, label: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        return self, format_of_axes(3, wanted, SERIES[incoming == ROWS[1]])

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        (given,) = input_types
        if not isinstance(given, (FeedForwardType, ConvolutionalFlatType)):
            raise nd.ConfigurationError(
                f"{label}: expected rows, got {given!r}. Put a LastTimeStepVertex or a GlobalPoolingLayer before it."
            )
        return RecurrentType(given.size)


class ReverseTimeSeriesRuntime(_OverTime):
    """A copy; with a mask a product with the permutation that keeps what does not count apart."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Array | None]:
        (x,) = xs
        mask = self.mask_for(x, ctx)
        turn = None if mask is None else self._permutation(mask, ctx)
        return _turned(x, turn, ctx.buffer("a", tuple(x.shape))), turn

    def backward(
        self, epsilon: Array, cache: Array | None, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        return [_turned(epsilon, cache, ctx.buffer("epsilon", tuple(epsilon.shape)))]

    def _permutation(self, mask: Array, ctx: VertexContext) -> Array:
        """Return ``[N, T, T]``: 1 where one step comes in the place of the other, which is so both ways."""
        n, steps = mask.shape
        counts = nd.greater(mask, 0.0, ctx.buffer("counts", (n, steps)))
        numbers = nd.arange(steps, dtype=self.dtype)
        upto = ctx.buffer("upto", (steps, steps))
        nd.greater_equal(nd.reshape(numbers, (1, steps)), nd.reshape(numbers, (steps, 1)), upto)
        place = nd.gemm(counts, upto, ctx.buffer("place", (n, steps)))  # 1 for the first that counts, 2, ...
        total = nd.sum(counts, 1, keepdims=True)
        turn = ctx.buffer("turn", (n, steps, steps))
        nd.add(nd.reshape(place, (n, steps, 1)), nd.reshape(place, (n, 1, steps)), turn)
        nd.equal(turn, nd.reshape(nd.add(total, 1.0), (n, 1, 1)), turn)
        nd.muli(turn, nd.reshape(counts, (n, steps, 1)))
        return nd.muli(turn, nd.reshape(counts, (n, 1, steps)))


def _turned(x: Array, turn: Array | None, out: Array) -> Array:
    return nd.assign(out, standard.flip(x, axis=2)) if turn is None else nd.batched_gemm(x, turn, out)


@dataclass(frozen=True)
class ReverseTimeSeriesVertex(VertexConf):
    """Time series from their last step to their first.

    Parameters
    ----------
    mask_array_input : str, optional
        Name of the network's input by whose mask steps count: those change places among themselves, the others are
        zeros. Without it all steps count.

    Notes
    -----
    Input and output ``[N, C, T]``; the mask stays. Source: DL4J ``ReverseTimeSeriesVertex``. Differs: steps that do
    not count may lie before and behind those that do; Java then writes into another example's steps. Series NWC are
    reversed in time; in Java their channels change places.
    """

    mask_array_input: str | None = None
    runtime: ClassVar = ReverseTimeSeriesRuntime
    builder_names: ClassVar[dict[str, str]] = {"mask_array_input_name": "mask_array_input"}
    form: ClassVar[JavaForm] = LastTimeStepVertex.form

    @property
    def network_inputs(self) -> tuple[str, ...]:
        return () if self.mask_array_input is None else (self.mask_array_input,)

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        return series_of(label, input_types[0], _INSTEAD)
