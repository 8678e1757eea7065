"""LastTimeStep: the last step of what another layer makes of time series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import nd
from nd.checks import describe_shape
from nd.typing import Array

from ...terms.data_formats import rows_of
from ...terms.input_type import FeedForwardType, InputType, RecurrentType
from ...terms.java_form import JavaForm
from ..runtime import Context, Kept, Params, State
from ..wrapping import WrappingConf, WrappingRuntime


class LastSteps:
    """The last steps of series ``[N, C, T]``: a view; with a mask a sum over time in which one step counts.

    Parameters
    ----------
    shape : tuple of int
        Of the series.
    mask : array ``[N, T]`` or None
        1 for the steps that count. Where none does, the first is taken.
    buffer : callable (name, shape) -> array
    """

    def __init__(self, shape: tuple[int, ...], mask: Array | None, buffer: Callable[..., Array]) -> None:
        self.shape, self._buffer, self._chosen = shape, buffer, None
        if mask is not None:
            n, _, steps = shape
            numbers = nd.arange(steps, dtype=nd.dtype_name(mask))
            last = nd.argmax(nd.multiply(mask, numbers, buffer("numbered", (n, steps))), 1)
            chosen = buffer("chosen", (n, 1, steps))
            last = nd.reshape(nd.astype(last, nd.dtype_name(mask)), (n, 1, 1))
            self._chosen = nd.equal(last, nd.reshape(numbers, (1, 1, steps)), chosen)

    def of(self, x: Array) -> Array:
        """Return the last steps ``[N, C]``."""
        if self._chosen is None:
            return x[:, :, -1]
        product = nd.multiply(x, self._chosen, self._buffer("product", self.shape))
        return nd.sum_into(product, 2, self._buffer("a", self.shape[:2]))

    def back(self, epsilon: Array) -> Array:
        """Return the gradient ``[N, C, T]`` for that of the last steps."""
        below = self._buffer("epsilon", self.shape)
        if self._chosen is None:
            nd.assign(nd.fill(below, 0.0)[:, :, -1], epsilon)
            return below
        return nd.multiply(nd.reshape(epsilon, (*self.shape[:2], 1)), self._chosen, below)


class Cache(NamedTuple):
    """Results of forward that backward needs."""

    kept: Kept
    """Of the layer inside."""
    last: LastSteps


class LastTimeStepRuntime(WrappingRuntime):
    """The other layer, and the last steps of its activations."""

    pure = splits = True

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Cache, State]:
        inner = ctx.inner("wrapped")
        inner.masks_steps = True
        a, kept, state = self.layer.propagate(x, state, params, inner)
        if a.ndim != 3:
            raise nd.ShapeError(
                f"{self.label}: expected time series [N, C, T] from the layer inside, got {describe_shape(a.shape)}. "
                "Use a layer over series there."
            )
        last = LastSteps(tuple(a.shape), self.layer.mask_behind(kept), ctx.buffer)
        return last.of(a), Cache(kept, last), state

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        return self.back_through(cache.last.back(epsilon), cache.kept, grads, ctx)

    def feed_forward_mask(self, mask: Array) -> None:
        return None

    def mask_behind(self, kept: Kept) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class LastTimeStep(WrappingConf):
    """The last time step of another layer's activations.

    Parameters
    ----------
    layer : LayerConf
        A layer that gives time series. Its own dropout is applied, a `drop_out` of this one has no effect, as in Java.

    Raises
    ------
    ConfigurationError
        `layer` is no layer, or has a loss.

    Notes
    -----
    Input as the layer's, output ``[N, C]``, without a mask: with a mask of the input the last step that counts, without
    one the last of all. Of a series in which no step counts it is the first; Java raises an error. Parameters and
    updaters are the layer's, and so is a state: series can come in pieces, each of which gives its last step; in
    truncated backprop only with ``validate_tbptt_config=False``. Source: DL4J ``LastTimeStep``. Differs: with a mask
    the gradient through an `LSTM`, or both directions of one, is that of the score, in Java it is not; layers that are
    not recurrent may stand inside, where Java fails; step by step it gives the step alone, in Java the series, which
    the next layer refuses.

    Examples
    --------
    >>> from nn import LSTM, InputType
    >>> layer = LastTimeStep(LSTM(n_in=3, n_out=8))
    >>> layer.output_type("layer 0", InputType.recurrent(3, 10))
    feed_forward(8)
    """

    of_whole_series: ClassVar[bool] = True
    gives_steps: ClassVar[bool] = False
    runtime: ClassVar = LastTimeStepRuntime
    form: ClassVar[JavaForm] = WrappingConf.form.more(package="recurrent.")

    def output_type(self, label: str, input_type: InputType) -> InputType:
        inside = super().output_type(label, input_type)
        if not isinstance(inside, RecurrentType):
            raise nd.ConfigurationError(
                f"{label}: the layer inside must give time series, got {type(self.layer).__name__}, which gives "
                f"{inside!r}. Put an LSTM there, say, or leave LastTimeStep out."
            )
        return FeedForwardType(inside.n)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer, after = super().following(label, before)
        return layer, None if after is None else ("rows", after[1])

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        layer, behind = super().in_format(label, incoming)
        return layer, rows_of(behind)
