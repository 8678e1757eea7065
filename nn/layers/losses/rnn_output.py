"""RnnOutputLayer: a dense layer with a loss at every time step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import nd
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import InputType, RecurrentType, series_of
from ...terms.java_form import JavaForm
from ...terms.preprocessors import InputPreProcessor, to_series
from ..core.dense import Cache
from ..runtime import Context, Params
from .losses_of_places import OfPlacesMixin, from_rows_of_places, rows_of_places
from .output import OutputLayer, OutputRuntime

_OF_ROWS = "Set the network's input type, or use an OutputLayer for rows."

_INSTEAD = "InputType.recurrent, or an OutputLayer"


class RnnOutputRuntime(OfPlacesMixin, OutputRuntime):
    """A dense layer over the rows that the time steps are.

    In the cache x is ``[T * N, n_in]``, z and a are ``[N, n_out, T]``.
    """

    pure = splits = True
    masks_activations = False  # those of rows of places: what leaves the layer is masked
    axes = ("T",)
    draw_axes = (1, 2, 0)  # of the input's dropout: Java's rows of steps lie column by column

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        n_in = self.conf.n_in
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 3 or x.shape[1] != n_in:
            from ...terms.axis_order import remedy  # which data that fit do not need

            raise nd.ShapeError(
                f"{self.label}: expected input {describe_shape(('N', n_in, 'T'))}, got {describe_shape(x.shape)}. "
                f"{remedy('x', x.shape, (n_in, None)) or _OF_ROWS}"
            )
        rows, shape = rows_of_places(x), tuple(x.shape)
        z = self.product(rows, params["W"], ctx)
        a = from_rows_of_places(self.activate_sum(z, ctx, params.get("b")), shape)
        cache = Cache(rows, from_rows_of_places(z, shape), a)
        if ctx.mask is not None and ctx.activates:
            a = nd.multiply(a, self.over_places(ctx.mask, tuple(a.shape)), ctx.buffer("masked", tuple(a.shape)))
        return a, cache

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        delta = self.delta_of(epsilon, cache, ctx)
        return self.backward_delta(rows_of_places(delta), cache, params, grads, ctx)

    def delta_of(self, epsilon: Array, cache: Cache, ctx: Context) -> Array:
        delta = super().delta_of(epsilon, cache, ctx)
        return delta if ctx.mask is None else nd.muli(delta, self.over_places(ctx.mask, tuple(delta.shape)))

    def backward_delta(self, delta: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Continue from ``delta = dL/dz [T * N, n_out]``."""
        below = super().backward_delta(delta, cache, params, grads, ctx)
        return None if below is None else from_rows_of_places(below, tuple(cache.a.shape))


@dataclass(frozen=True, kw_only=True)
class RnnOutputLayer(OutputLayer):
    """Fully connected layer with a loss at every time step: the last layer of a network over time series.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Softmax unless the layer is given another; None takes the network's.
    n_in, n_out : int
    has_bias : bool
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in, T]``, output and labels ``[N, n_out, T]``; labels' masks ``[N, T]``, or ``[N, n_out, T]`` for
    single outputs. Vector as `DenseLayer`. The score is the sum over all time steps divided by N, not by T. A mask of
    the features multiplies the activations, and stands in for one of the labels where there is none. Source: DL4J
    ``RnnOutputLayer``.
    """

    data_format: str | None = None
    runtime: ClassVar = RnnOutputRuntime
    takes: ClassVar[str] = "series"
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    form: ClassVar[JavaForm] = OutputLayer.form.formatted("rnnDataFormat")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_series(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, series_of(label, input_type, _INSTEAD).n)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return RecurrentType(self.n_out, series_of(label, input_type, _INSTEAD).time_series_length)  # type: ignore[arg-type]
