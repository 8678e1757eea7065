"""SelfAttentionLayer and LearnedSelfAttentionLayer: of all time steps those that are like a query."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import nd
from nd.arguments import Count
from nd.recurrent.attention import (
    Attended,
    Projected,
    as_heads,
    as_matrices,
    attend,
    attend_back,
    left_out,
    project,
    project_back,
    project_out,
    project_out_back,
    settled_head_size,
)
from nd.recurrent.series import in_c_order
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import InputType, RecurrentType, series_of
from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, LayerRuntime, Params
from ..same_diff import SameDiffConf
from ..series import SeriesConf, check_series


class AttentionCache(NamedTuple):
    """Results of forward that backward needs."""

    attended: Attended
    projected: Projected | None
    """Of the input, where it is projected."""
    joined: Array | None
    """What all heads have taken ``[N * Tq, heads * size]``, where it is projected."""


class SelfAttentionRuntime(LayerRuntime):
    """Attention of every time step to all of them; the projections of the input are one product."""

    pure = splits = True
    takes_dropout = False
    of_input: ClassVar[tuple[str, ...]] = ("Wq", "Wk", "Wv")
    """The projections of the input: those of the other heads are a subclass's own."""

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, AttentionCache]:
        check_series(self.label, x, self.conf.n_in, ctx.mask)
        n, count, projected, joined = x.shape[0], self.conf.n_heads, None, None
        heads = [x] * len(self.of_input)
        if self.conf.project_input:
            products, projected = project(x, as_matrices(params, *self.of_input), "x", ctx.buffer)
            named = zip(self.of_input, products, strict=True)
            heads = [as_heads(product, n, count, name, ctx.buffer) for name, product in named]
        heads = [*self.own_heads(n, params, ctx), *heads]
        out, attended = attend(heads, left_out((ctx.mask,), ctx.buffer), ctx.buffer)
        if projected is not None:
            out, joined = project_out(out, n, params["Wo"], ctx.buffer)
        return out, AttentionCache(attended, projected, joined)

    def backward(
        self, epsilon: Array, cache: AttentionCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        if not (grads or ctx.needs_epsilon):
            return None
        n, own, delta = epsilon.shape[0], 3 - len(self.of_input), epsilon
        needs = [True] * own + [ctx.needs_epsilon or cache.projected is not None] * len(self.of_input)
        if cache.joined is not None:
            heads = self.conf.n_heads
            delta = project_out_back(epsilon, cache.joined, params["Wo"], grads["Wo"], heads, ctx.buffer)
        below: list[Any] = attend_back(delta, cache.attended, ctx.buffer, needs)
        self.own_heads_back(below[:own], n, params, grads, ctx)
        if cache.projected is not None:
            gradients, needed = as_matrices(grads, *self.of_input), ctx.needs_epsilon
            return project_back(below[own:], cache.projected, gradients, n, "x", ctx.buffer, needed)
        return functools.reduce(nd.addi, below[own:]) if ctx.needs_epsilon else None

    def own_heads(self, n: int, params: Params, ctx: Context) -> list[Array]:
        """Return the heads that are not made of the input: none."""
        return []

    def own_heads_back(self, deltas: Sequence[Array], n: int, params: Params, grads: Params, ctx: Context) -> None:
        """Write the gradients of what the own heads are made of."""


class LearnedSelfAttentionRuntime(SelfAttentionRuntime):
    """Attention of queries that are parameters, the same for every example."""

    pure = splits = True
    of_input = ("Wk", "Wv")

    def own_heads(self, n: int, params: Params, ctx: Context) -> list[Array]:
        count, queries = self.conf.n_heads, _queries(params)
        if self.conf.project_input:
            (matrix,) = as_matrices(params, "Wq")
            shape = (matrix.shape[0], queries.shape[1])
            queries = nd.gemm(matrix, queries, in_c_order(ctx.buffer, "queries.product", shape))
        size, steps = queries.shape[0] // count, queries.shape[1]
        heads = in_c_order(ctx.buffer, "queries", (n, count, size, steps))
        nd.assign(heads, nd.reshape(queries, (1, count, size, steps)))
        return [nd.reshape_view(heads, (n * count, size, steps))]

    def own_heads_back(self, deltas: Sequence[Array], n: int, params: Params, grads: Params, ctx: Context) -> None:
        queries, gradient, steps = _queries(params), _queries(grads), self.conf.n_queries
        of_examples = nd.reshape_view(deltas[0], (n, deltas[0].shape[0] // n * deltas[0].shape[1], steps))
        if not self.conf.project_input:
            nd.sum_into(of_examples, 0, gradient)
            return
        delta = nd.sum_into(of_examples, 0, in_c_order(ctx.buffer, "queries.delta", (of_examples.shape[1], steps)))
        nd.gemm(delta, queries, as_matrices(grads, "Wq")[0], transpose_b=True)
        nd.gemm(as_matrices(params, "Wq")[0], delta, gradient, transpose_a=True)

    def feed_forward_mask(self, mask: Array) -> None:
        """Return no mask: what comes out are no time steps."""
        return


def _queries(params: Params) -> Array:
    """View ``Q [1, n_in, n_queries]`` as a matrix."""
    return nd.reshape_view(params["Q"], tuple(params["Q"].shape[1:]))


@dataclass(frozen=True, kw_only=True)
class AttentionConf(SameDiffConf, SeriesConf):
    """Shared by layers with attention.

    Parameters
    ----------
    n_in, n_out : int, optional
        n_in is inferred when the network has an input type; without project_input both are the same.
    n_heads : int
        More than one with project_input alone.
    head_size : int, optional
        By default n_out / n_heads.
    project_input : bool
        Whether the input is projected before, and what the heads take after it.

    Raises
    ------
    ConfigurationError
        The sizes do not go together.
    """

    n_heads: Count = 1
    head_size: Count | None = None
    project_input: bool = False
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES[:1]
    form: ClassVar[JavaForm] = SameDiffConf.form.more(
        {
            "headSize": ("head_size", "size"),
            "nheads": ("n_heads", "plain"),
            "nin": ("n_in", "size"),
            "nout": ("n_out", "size"),
            "projectInput": ("project_input", "plain"),
        },
        {"paramWeightInit": None},
    )
    shape_fields: ClassVar[Mapping[str, object]] = {
        "n_in": None, "n_out": None, "n_heads": 1, "head_size": 0, "project_input": False,
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        if not self.project_input:
            if None not in (self.n_in, self.n_out) and self.n_in != self.n_out:
                raise nd.ConfigurationError(
                    f"{who}: n_in and n_out must be the same where project_input is False, got {self.n_in} and "
                    f"{self.n_out}. Set project_input."
                )
            object.__setattr__(self, "n_in", self.n_in or self.n_out)
            object.__setattr__(self, "n_out", self.n_in)
        size = settled_head_size(who, self.n_out, self.n_heads, self.head_size, self.project_input)
        object.__setattr__(self, "head_size", size)

    def check(self, label: str) -> None:
        SameDiffConf.check(self, label)
        SeriesConf.check(self, label)

    def looks_at(self, types: Sequence[InputType]) -> int:
        """Return how many weights of time steps there are for an example: of every step for each query, by head."""
        steps = series_of("", types[0]).time_series_length or 0
        return self.n_heads * (getattr(self, "n_queries", None) or steps) * steps

    def projections(self, n_queries: int) -> tuple[ParamSpec, ...]:
        """Return the specs of Wq, for queries of that height, Wk, Wv and Wo; none where nothing is projected."""
        if not self.project_input:
            return ()
        heads, size, n_in, n_out = self.n_heads, self.head_size or 0, self.n_in or 0, self.n_out or 0
        rows = heads * size
        heights = {"Wq": n_queries, "Wk": n_in, "Wv": n_in}
        specs = [ParamSpec(name, (heads, size, n), "c", fan_in=rows, fan_out=n_out) for name, n in heights.items()]
        return *specs, ParamSpec("Wo", (rows, n_out), "c", fan_in=n_in, fan_out=size)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.projections(self.n_in or 0)


@dataclass(frozen=True, kw_only=True)
class SelfAttentionLayer(AttentionConf):
    """Scaled dot product attention of every time step to all time steps, over one or several heads.

    Parameters
    ----------
    n_in, n_out : int, optional
        n_in is inferred when the network has an input type; without project_input both are the same.
    n_heads : int
        More than one with project_input alone.
    head_size : int, optional
        By default n_out / n_heads.
    project_input : bool
        Whether the input is projected before, and what the heads take after it.
    weight_init : str
        Xavier's unless given: not taken from the network's defaults.

    Raises
    ------
    ConfigurationError
        The sizes do not go together.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]``. In every head ``V softmax(K.T Q / sqrt(size))``, the softmax over
    the keys, with Q, K and V the projections Wq x, Wk x and Wv x; ``Wo`` joins the heads. Without projections Q = K = V
    = x, and there are no parameters. Steps that the mask ``[N, T]`` leaves out are not taken, but take; the mask goes
    on. In truncated backprop, and in steps of prediction, a segment's steps attend to that segment alone, as in Java.
    Vector: Wq, Wk, Wv ``[n_heads, head_size, n_in]``, then Wo ``[n_heads * head_size, n_out]``, in c order. As in Java
    fans are n_heads * head_size and n_out, those of Wo n_in and head_size. Source: DL4J ``SelfAttentionLayer``, libnd4j
    ``multi_head_dot_product_attention``. Differs: gradients of Java's release 1.0.0-M2.1 are twice as large.

    Examples
    --------
    >>> SelfAttentionLayer(n_in=4, n_out=6, n_heads=2, project_input=True).param_shapes()
    {'Wq': (2, 3, 4), 'Wk': (2, 3, 4), 'Wv': (2, 3, 4), 'Wo': (6, 6)}
    """

    runtime: ClassVar = SelfAttentionRuntime


@dataclass(frozen=True, kw_only=True)
class LearnedSelfAttentionLayer(AttentionConf):
    """Scaled dot product attention of learned queries to all time steps: any number of steps becomes n_queries.

    Parameters
    ----------
    n_in, n_out, n_heads, head_size, project_input, weight_init
        As `SelfAttentionLayer`.
    n_queries : int

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, n_queries]``: as `SelfAttentionLayer`, with the parameter Q in the place
    of x where queries are made. The mask ends here. Vector: Q ``[1, n_in, n_queries]``, then as there. Source: DL4J
    ``LearnedSelfAttentionLayer``. Differs: Java's fails when it runs.

    Examples
    --------
    >>> LearnedSelfAttentionLayer(n_in=4, n_out=4, n_queries=2).param_shapes()
    {'Q': (1, 4, 2)}
    """

    n_queries: Count | None = None
    runtime: ClassVar = LearnedSelfAttentionRuntime
    form: ClassVar[JavaForm] = AttentionConf.form.more({"nqueries": ("n_queries", "size")})
    shape_fields: ClassVar[Mapping[str, object]] = {**AttentionConf.shape_fields, "n_queries": None}

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return RecurrentType(self.n_out, self.n_queries)  # type: ignore[arg-type]

    def check(self, label: str) -> None:
        super().check(label)
        self.check_given(label, ("n_queries",), "Give it.")

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, count = self.n_in or 0, self.n_queries or 0
        return ParamSpec("Q", (1, n_in, count), "c", fan_in=n_in, fan_out=count), *self.projections(n_in)
