"""EmbeddingLayer and EmbeddingSequenceLayer: rows of a table, named by their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import nd
from nd.activations import Activation
from nd.arguments import Count
from nd.arrays.rows import NO_ROW
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import FeedForwardType, InputType, RecurrentType
from ...terms.java_form import BIAS, TIMED, JavaForm
from ...terms.params import ParamSpec
from ...terms.preprocessors import InputPreProcessor
from ..base import FeedForwardConf
from ..runtime import Context, LayerRuntime, Params

LARGEST = 2.0**62  # number of a row


class EmbeddingCache(NamedTuple):
    """Results of forward that backward needs."""

    indices: Array
    """``[n]``, of the rows that were looked up."""
    z: Array
    a: Array


class EmbeddingRuntime(LayerRuntime):
    """Looks rows up, and adds to their gradients."""

    pure = splits = True
    takes_dropout = False
    noised = ()
    ends_backprop = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, EmbeddingCache]:
        z, indices = self._looked_up(x, params["W"], ctx)
        b = self._across(params["b"]) if "b" in params else None
        a = self.activate_sum(z, ctx, b)
        return a, EmbeddingCache(indices, z, a)

    def backward(self, epsilon: Array, cache: EmbeddingCache, params: Params, grads: Params, ctx: Context) -> None:
        delta = self.activation_gradient(epsilon, cache.z, cache.a, ctx)
        W_gradient = nd.fill(grads["W"], 0.0)
        nd.scatter_add(W_gradient, cache.indices, self._rows_of(delta))
        if "b" in grads:
            nd.assign(grads["b"], nd.channel_sums(delta))

    def _looked_up(self, x: Array, W: Array, ctx: Context) -> tuple[Array, Array]:
        """Return z without the bias, and the numbers of the rows."""
        self._check(x)
        indices = self._numbers(x[:, 0])
        z = ctx.buffer("z", (x.shape[0], self.conf.n_out))
        return nd.pull_rows(W, indices, self.label, z), indices

    def _numbers(self, x: Array) -> Array:
        """Return indices as integers; a fraction becomes an index that no table has, also in a recording."""
        # NaN, and numbers beyond all integers, become a fraction first: as integers they might name a row.
        x = nd.where(nd.greater(LARGEST, nd.absolute(x)), x, 0.5)
        indices = nd.astype(x, "int64")
        return nd.where(nd.equal(nd.astype(indices, nd.dtype_name(x)), x), indices, NO_ROW)

    def _check(self, x: Array) -> None:
        if not nd.is_array(x) or x.ndim != 2 or x.shape[1] != 1:
            self._refuse(x, "[N, 1]")

    def _refuse(self, x: Array, expected: str) -> None:
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        raise nd.ShapeError(
            f"{self.label}: expected input {expected}, the numbers of rows, got {describe_shape(x.shape)}. "
            "For one-hot rows use a DenseLayer."
        )

    def _across(self, b: Array) -> Array:
        return b

    def _rows_of(self, delta: Array) -> Array:
        return delta


class EmbeddingSequenceRuntime(EmbeddingRuntime):
    """The same for every time step; rows are in the order of time, the examples of a step side by side."""

    pure = splits = True

    def _looked_up(self, x: Array, W: Array, ctx: Context) -> tuple[Array, Array]:
        self._check(x)
        steps = x if x.ndim == 2 else x[:, 0, :]
        examples, length = steps.shape
        indices = self._numbers(nd.reshape(nd.permute(steps, (1, 0)), (-1,)))
        rows = nd.pull_rows(W, indices, self.label, ctx.buffer("z", (length * examples, self.conf.n_out)))
        return nd.permute(nd.reshape_view(rows, (length, examples, self.conf.n_out)), (1, 2, 0)), indices

    def _check(self, x: Array) -> None:
        length = "T" if self.conf.infer_input_length else self.conf.input_length
        if not nd.is_array(x) or x.ndim not in (2, 3) or (x.ndim == 3 and x.shape[1] != 1):
            self._refuse(x, f"[N, {length}] or [N, 1, {length}]")
        if length not in ("T", x.shape[-1]):
            raise nd.ShapeError(
                f"{self.label}: expected series of {length} time steps, got {x.shape[-1]}. Set input_length, or "
                "infer_input_length=True for any length."
            )

    def _across(self, b: Array) -> Array:
        return nd.reshape_view(b, (1, self.conf.n_out, 1))

    def mask_over(self, mask: Array) -> Array:
        return mask[:, None, :]

    def _rows_of(self, delta: Array) -> Array:
        return nd.reshape(nd.permute(delta, (2, 0, 1)), (-1, self.conf.n_out))


@dataclass(frozen=True, kw_only=True)
class EmbeddingLayer(FeedForwardConf):
    """Row of a table for every example: activation(W[index] + b).

    Parameters
    ----------
    n_in : int
        Rows of the table. Indices are 0 to n_in - 1.
    n_out : int
        Numbers of a row.
    activation : str or Activation
        Identity unless the layer is given another; None takes the network's.
    has_bias : bool

    Notes
    -----
    Input ``[N, 1]``, output ``[N, n_out]``. It is the first layer: nothing below gets a gradient, and neither dropout
    nor weight noise has an effect, as in Java. An input type ``feed_forward(1)`` says that indices come in, any other
    size is taken for n_in, as by DL4J. An index outside of the table, or a fraction, raises DataError; on a GPU, which
    would have to wait to be asked, the score is NaN. Vector: W ``[n_in, n_out]`` in f order, b ``[1, n_out]``. Weights
    are drawn as if n_in were 1. Source: DL4J ``EmbeddingLayer``.

    Examples
    --------
    >>> EmbeddingLayer(n_in=1000, n_out=8).param_shapes()
    {'W': (1000, 8)}
    """

    activation: str | Activation | None = "identity"
    has_bias: bool = False
    runtime: ClassVar = EmbeddingRuntime
    takes_indices: ClassVar[bool] = True
    """Inputs are rows of the table, whatever the network's input type counts."""
    form: ClassVar[JavaForm] = FeedForwardConf.form.more(BIAS, TIMED)
    shape_fields: ClassVar[Mapping[str, object]] = {**FeedForwardConf.shape_fields, "has_bias": True}

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self if input_type.size == 1 else self.with_n_in(label, input_type.size)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, None if self.n_out is None else (self.takes, self.n_out)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out = self.n_in or 0, self.n_out or 0
        W = ParamSpec("W", (n_in, n_out), "f", fan_in=1, fan_out=n_out)
        return (W, ParamSpec("b", (1, n_out), "c", bias=True)) if self.has_bias else (W,)


@dataclass(frozen=True, kw_only=True)
class EmbeddingSequenceLayer(EmbeddingLayer):
    """Row of a table for every time step: activation(W[index] + b).

    Parameters
    ----------
    n_in, n_out, activation, has_bias
        As `EmbeddingLayer`.
    infer_input_length : bool
        Take series of any length.
    input_length : int
        Time steps, where the length is not inferred.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Notes
    -----
    Input ``[N, T]`` or ``[N, 1, T]``, output ``[N, n_out, T]``; a mask ``[N, T]`` makes the steps that do not count 0.
    An input type ``feed_forward(T)`` gives the length, ``recurrent(1, T)`` too; ``recurrent(n, T)`` with another n is
    taken for n_in. The rest as `EmbeddingLayer`. Source: DL4J ``EmbeddingSequenceLayer``. Differs: Java takes
    ``feed_forward(n)`` for n_in.

    Examples
    --------
    >>> EmbeddingSequenceLayer(n_in=1000, n_out=8).output_type("layer 0", InputType.feed_forward(20))
    recurrent(8x20)
    """

    infer_input_length: bool = True
    input_length: Count = 1
    data_format: str | None = None
    runtime: ClassVar = EmbeddingSequenceRuntime
    takes: ClassVar[str] = "series"
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    form: ClassVar[JavaForm] = EmbeddingLayer.form.more(
        {"inputLength": ("input_length", "plain"), "inferInputLength": ("infer_input_length", "plain")},
        absent={"inputLength": 1, "inferInputLength": False},
    ).formatted("outputFormat")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return None

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        length = self._length_of(label, input_type)
        if not self.infer_input_length and length not in (None, self.input_length):
            raise nd.ConfigurationError(
                f"{label}: input_length must be {length}, the length of what comes in, got {self.input_length}. "
                "Mend it, or set infer_input_length=True."
            )
        return super().with_inputs(label, input_type) if isinstance(input_type, RecurrentType) else self

    def _length_of(self, label: str, input_type: InputType) -> int | None:
        if isinstance(input_type, FeedForwardType):
            return input_type.n
        if isinstance(input_type, RecurrentType):
            return input_type.time_series_length
        raise nd.ConfigurationError(
            f"{label}: expected series of indices, got {input_type!r}. Use InputType.recurrent(1, length) or "
            "InputType.feed_forward(length)."
        )

    @property
    def said_format(self) -> str | None:
        return None  # its data_format is that of the output

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        series = incoming if incoming in self.formats else None
        chosen = self.data_format or series or self.formats[0]
        return replace(self, data_format=chosen), chosen

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, None

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        length = self._length_of(label, input_type)
        return RecurrentType(self.n_out, length if self.infer_input_length else self.input_length)  # type: ignore[arg-type]
