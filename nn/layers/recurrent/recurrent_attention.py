"""RecurrentAttentionLayer: a recurrent network whose every step looks at all of its input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import nd
from nd.activations import Activation
from nd.recurrent.attention import (
    Projected,
    as_heads,
    as_matrices,
    left_out,
    project,
    project_back,
    weigh,
    weigh_back,
)
from nd.recurrent.series import in_c_order, series_of
from nd.typing import Array

from ...terms.java_form import BIAS, JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, LayerRuntime, Params
from ..same_diff import ACTIVATION_NAME, SameDiffConf, check_has_name
from ..series import check_series
from .attention import AttentionConf


class Steps(NamedTuple):
    """All time steps, one after the other; in row 0 nothing is looked at, and all but z is 0. B is examples * heads."""

    z: Array
    """``[T, N, n_out]``."""
    hidden: Array
    """``[T + 1, N, n_out]``: in row t what step t has from the step before, its own activations one row on."""
    queries: Array
    """``[T, B, size]``."""
    weights: Array
    """``[T, B, T]``."""
    taken: Array
    """``[T, B, size]``."""
    attention: Array
    """``[T, N, n_out]``: what all heads have taken, joined."""


class RecurrentCache(NamedTuple):
    """Results of forward that backward needs."""

    steps: Steps
    keys: Array
    """``[B, size, T]``."""
    values: Array
    projected: Projected


class Deltas(NamedTuple):
    """Gradients of what `Steps` has."""

    z: Array
    queries: Array
    scores: Array
    taken: Array
    attention: Array


def _column(x: Array, t: int) -> Array:
    """View row t of ``[T, B, m]`` as ``[B, m, 1]``."""
    return nd.reshape_view(x[t, ...], (*x.shape[1:], 1))


def _rows(x: Array, width: int, t: int | None = None) -> Array:
    """View the examples of all steps, or of one, as rows of that width."""
    rows = x if t is None else x[t, ...]
    return nd.reshape_view(rows, (math.prod(rows.shape) // width, width))


class RecurrentAttentionRuntime(LayerRuntime):
    """A loop over the time steps. Keys and values are made before it, gradients of parameters behind it, at once."""

    pure = splits = True
    takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, RecurrentCache]:
        check_series(self.label, x, self.conf.n_in, ctx.mask)
        (n, _, length), count = x.shape, self.conf.n_heads
        products, projected = project(x, self._input_matrices(params), "x", ctx.buffer)
        keys = values = x
        if self.conf.project_input:
            keys, values = (
                as_heads(product, n, count, name, ctx.buffer)
                for name, product in zip(("keys", "values"), products[1:], strict=True)
            )
        steps = self._steps(n, length, ctx)
        nd.assign(steps.z, nd.permute(nd.reshape_view(products[0], (self.conf.n_out, n, length)), (2, 1, 0)))
        cache, away = RecurrentCache(steps, keys, values, projected), left_out((ctx.mask,), ctx.buffer)
        for t in range(length):
            if t:
                nd.addi(steps.z[t, ...], self._look(t, cache, away, params, ctx))
            self.activating.value(steps.z[t, ...], steps.hidden[t + 1, ...], ctx.training, params.get("b"))
        out = steps.hidden[1:, ...] if ctx.activates else steps.z
        return series_of(out), cache

    def backward(
        self, epsilon: Array, cache: RecurrentCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        steps, below = cache.steps, None
        deltas = self._deltas(steps, ctx)
        nd.assign(deltas.z, nd.permute(epsilon, (2, 0, 1)))
        for t in reversed(range(steps.z.shape[0])):
            delta = deltas.z[t, ...]
            if below is not None:
                nd.addi(delta, below)
            self.activating.backprop(steps.z[t, ...], steps.hidden[t + 1, ...], delta)
            if t:
                below = self._look_back(t, cache, deltas, params, ctx)
        self._write_gradients(steps, deltas, grads)
        return self._below(cache, deltas, grads, ctx)

    # ---- one step

    def _look(self, t: int, cache: RecurrentCache, away: Array | None, params: Params, ctx: Context) -> Array:
        """Return what is added to z of a step: what the activations of the step before find in the input."""
        steps, projects = cache.steps, self.conf.project_input
        if projects:
            matrix = as_matrices(params, "Wq")[0]
            nd.gemm(steps.hidden[t, ...], matrix, _rows(steps.queries, matrix.shape[0], t), transpose_b=True)
        weights = weigh(_column(steps.queries, t), cache.keys, away, _column(steps.weights, t))
        nd.batched_gemm(cache.values, weights, _column(steps.taken, t))
        attention = steps.attention[t, ...]
        if projects:
            nd.gemm(_rows(steps.taken, params["Wo"].shape[0], t), params["Wo"], attention)
        return nd.gemm(attention, params["RW"], ctx.buffer("looked", tuple(attention.shape)))

    def _look_back(self, t: int, cache: RecurrentCache, deltas: Deltas, params: Params, ctx: Context) -> Array:
        """Return dL/d(activations of the step before)."""
        steps, attention, projects = cache.steps, deltas.attention[t, ...], self.conf.project_input
        nd.gemm(deltas.z[t, ...], params["RW"], attention, transpose_b=True)
        if projects:
            nd.gemm(attention, params["Wo"], _rows(deltas.taken, params["Wo"].shape[0], t), transpose_b=True)
        scores, weights = _column(deltas.scores, t), _column(steps.weights, t)
        product = in_c_order(ctx.buffer, "scores.product", scores.shape)
        weigh_back(_column(deltas.taken, t), cache.values, weights, scores, product)
        nd.batched_gemm(cache.keys, scores, _column(deltas.queries, t))
        if not projects:
            return deltas.queries[t, ...]
        matrix = as_matrices(params, "Wq")[0]
        below = ctx.buffer("below", tuple(attention.shape))
        return nd.gemm(_rows(deltas.queries, matrix.shape[0], t), matrix, below)

    # ---- all steps

    def _input_matrices(self, params: Params) -> list[Array]:
        """View what the input is multiplied by as matrices ``[rows, n_in]``."""
        names = ("Wk", "Wv") if self.conf.project_input else ()
        return [nd.transpose(params["W"]), *as_matrices(params, *names)]

    def _steps(self, n: int, length: int, ctx: Context) -> Steps:
        """Return memory for the steps, with 0 where the first one does not write."""
        n_out, heads = self.conf.n_out, n * self.conf.n_heads
        hidden = in_c_order(ctx.buffer, "hidden", (length + 1, n, n_out))
        kept = ctx.activates and self.activation.overwrites
        z = hidden[1:, ...] if kept else in_c_order(ctx.buffer, "z", (length, n, n_out))
        weights = in_c_order(ctx.buffer, "weights", (length, heads, length))
        queries, attention = hidden[:-1, ...], in_c_order(ctx.buffer, "attention", (length, n, n_out))
        taken = attention
        if self.conf.project_input:
            shape = (length, heads, self.conf.head_size)
            queries, taken = (in_c_order(ctx.buffer, name, shape) for name in ("queries", "taken"))
        for array in (hidden, weights, queries, attention, taken):
            nd.fill(array[0, ...], 0.0)
        return Steps(z, hidden, queries, weights, taken, attention)

    def _deltas(self, steps: Steps, ctx: Context) -> Deltas:
        """Return memory for the gradients of the steps, likewise."""
        like = {"z": steps.z, "queries": steps.queries, "scores": steps.weights, "attention": steps.attention}
        if self.conf.project_input:
            like["taken"] = steps.taken
        arrays = {name: in_c_order(ctx.buffer, f"{name}.delta", array.shape) for name, array in like.items()}
        for name in like.keys() - {"z"}:
            nd.fill(arrays[name][0, ...], 0.0)
        return Deltas(**{"taken": arrays["attention"], **arrays})

    def _write_gradients(self, steps: Steps, deltas: Deltas, grads: Params) -> None:
        """Write the gradients of what is not multiplied by the input."""
        n_out = self.conf.n_out
        nd.affine_gradients(_rows(steps.attention, n_out), _rows(deltas.z, n_out), grads["RW"], grads.get("b"))
        if not self.conf.project_input:
            return
        rows = grads["Wo"].shape[0]
        nd.gemm(_rows(steps.taken, rows), _rows(deltas.attention, n_out), grads["Wo"], transpose_a=True)
        gradient, hidden = as_matrices(grads, "Wq")[0], _rows(steps.hidden[:-1, ...], n_out)
        nd.gemm(_rows(deltas.queries, rows), hidden, gradient, transpose_a=True)

    def _below(self, cache: RecurrentCache, deltas: Deltas, grads: Params, ctx: Context) -> Array | None:
        """Write the gradients of what is multiplied by the input; return dL/dx."""
        steps, projects = cache.steps, self.conf.project_input
        of_keys_and_values: list[Array] = []
        if projects or ctx.needs_epsilon:
            products = {"keys": (steps.queries, deltas.scores), "values": (deltas.taken, steps.weights)}
            for name, (x, y) in products.items():
                below = in_c_order(ctx.buffer, f"{name}.delta", cache.keys.shape)
                of_keys_and_values.append(nd.batched_gemm(nd.permute(x, (1, 2, 0)), nd.permute(y, (1, 0, 2)), below))
        of_input, gradients = [series_of(deltas.z)], self._input_matrices(grads)
        of_input += of_keys_and_values if projects else []
        n, needs = steps.z.shape[1], ctx.needs_epsilon
        epsilon = project_back(of_input, cache.projected, gradients, n, "x", ctx.buffer, needs)
        if epsilon is not None and not projects:
            for below in of_keys_and_values:
                nd.addi(epsilon, below)
        return epsilon


@dataclass(frozen=True, kw_only=True)
class RecurrentAttentionLayer(AttentionConf):
    """Recurrent layer whose steps have, of the step before, what its activations find in the input by attention.

    Parameters
    ----------
    n_in, n_out, n_heads, head_size, weight_init
        As `SelfAttentionLayer`.
    project_input : bool
        Whether queries, keys and values are projected, and what the heads take after it.
    activation : str or Activation
        "tanh" unless given: not taken from the network's defaults.
    has_bias : bool

    Raises
    ------
    ConfigurationError
        The sizes do not go together, or the activation is none that its name alone tells.

    Notes
    -----
    Input ``[N, n_in, T]``, output ``[N, n_out, T]``: ``a_t = activation(x_t W + b + attention(a_{t-1}) RW)``, without
    the attention at the first step. It is that of `SelfAttentionLayer`, the only query being a_{t-1}, keys and values
    all steps of x, also those to come. Steps that the mask ``[N, T]`` leaves out are not looked at, but look; the mask
    goes on. Every call starts anew: no state goes from one segment of truncated backprop, or of steps of prediction, to
    the next. Vector: W ``[n_in, n_out]``, RW ``[n_out, n_out]``, Wq ``[n_heads, head_size, n_out]``, Wk, Wv ``[n_heads,
    head_size, n_in]``, Wo ``[n_heads * head_size, n_out]``, then b ``[n_out]``, in c order. Source: DL4J
    ``RecurrentAttentionLayer``. Differs: series of any length, where Java takes those of its first and cannot train on
    single steps; all activations, and a leaky ReLU has its slope, 0 in Java; gradients of Java's release 1.0.0-M2.1 are
    twice as large.

    Examples
    --------
    >>> list(RecurrentAttentionLayer(n_in=4, n_out=6, n_heads=2).param_shapes())
    ['W', 'RW', 'Wq', 'Wk', 'Wv', 'Wo', 'b']
    """

    project_input: bool = True
    activation: str | Activation | None = "tanh"
    has_bias: bool = True
    refused: ClassVar[tuple[str, ...]] = tuple(name for name in SameDiffConf.refused if name != "activation")
    runtime: ClassVar = RecurrentAttentionRuntime
    form: ClassVar[JavaForm] = AttentionConf.form.more(
        {"activation": ("activation", ACTIVATION_NAME), **BIAS}, derived={"timeSteps": lambda conf: 0}
    )
    shape_fields: ClassVar[Mapping[str, object]] = {**AttentionConf.shape_fields, "has_bias": True}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_has_name("RecurrentAttentionLayer", self.activation)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, n_out = self.n_in or 0, self.n_out or 0
        W = ParamSpec("W", (n_in, n_out), "c", fan_in=n_in, fan_out=n_out)
        RW = ParamSpec("RW", (n_out, n_out), "c", fan_in=n_out, fan_out=n_out)
        bias = (ParamSpec("b", (n_out,), "c", bias=True),) if self.has_bias else ()
        return W, RW, *self.projections(n_out), *bias
