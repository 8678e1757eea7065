"""AttentionVertex: of the values of other series, for every query those whose keys are like it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Count
from nd.checks import check_choice, check_shape
from nd.typing import Array
from optimize import Regularization, Updater, get_updater
from optimize.gradient_normalization import check_gradient_normalization

from ..conf.input_type import InputType, RecurrentType, series_of
from ..conf.java_form import JavaForm
from ..conf.penalties import regularization_of
from ..layers.runtime import Params
from ..networks.weights import WEIGHT_INITS
from ..step.params import ParamSpec
from .base import VertexConf
from .runtime import VertexContext, VertexRuntime

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration

INPUTS = ("queries", "keys", "values")
_FAR = 1e9
"""Taken off the scores of keys that do not count."""


class Attended(NamedTuple):
    """Results of forward that backward needs; B is examples, with projections times heads."""

    columns: tuple[Array, ...]
    """Queries, keys and values ``[n_in, N * T]``, where they are projected."""
    heads: tuple[Array, ...]
    """Queries, keys and values ``[B, size, T]``."""
    weights: Array
    """``[B, Tk, Tq]``."""
    joined: Array | None
    """What all heads have taken ``[N * Tq, heads * size]``, where it is projected."""


def _memory(ctx: VertexContext, name: str, *shape: int) -> Array:
    """Return memory in c order, whose axes can be joined and parted."""
    return nd.reshape_view(ctx.buffer(name, (math.prod(shape),)), shape)


def _turned(x: Array) -> Array:
    """View every matrix of ``[B, m, n]`` as ``[B, n, m]``."""
    return nd.permute(x, (0, 2, 1))


class AttentionRuntime(VertexRuntime):
    """Scaled dot product attention, with projections before and after it or without."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Attended]:
        self._check(xs, ctx)
        heads, columns = tuple(xs), []
        if self.conf.project_input:
            columns = [self._columns(name, x, ctx) for name, x in zip(INPUTS, xs, strict=True)]
            lengths = [x.shape[2] for x in xs]
            rows = zip(INPUTS, columns, lengths, strict=True)
            heads = tuple(self._heads(name, of_input, steps, params, ctx) for name, of_input, steps in rows)
        weights = self._weights(heads[0], heads[1], ctx)
        values = heads[2]
        out = nd.batched_gemm(values, weights, _memory(ctx, "taken", *values.shape[:2], weights.shape[2]))
        joined = None
        if self.conf.project_input:
            out, joined = self._joined(out, xs[0].shape[0], params, ctx)
        if ctx.masks[0] is not None:
            nd.muli(out, nd.reshape(ctx.masks[0], (out.shape[0], 1, out.shape[2])))
        return out, Attended(tuple(columns), heads, weights, joined)

    def backward(
        self, epsilon: Array, cache: Attended, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        n, _, steps = epsilon.shape
        if ctx.masks[0] is not None:
            nd.muli(epsilon, nd.reshape(ctx.masks[0], (n, 1, steps)))
        projects = self.conf.project_input
        delta = self._parted(epsilon, cache, params, grads, ctx) if projects else epsilon
        queries, keys, values = cache.heads
        of_scores = self._of_scores(delta, cache, ctx)
        products = (
            (keys, of_scores, queries),
            (queries, _turned(of_scores), keys),
            (delta, _turned(cache.weights), values),
        )
        below: list[Array | None] = []
        for at, (x, y, like) in enumerate(products):
            if projects or ctx.needs_epsilons[at]:
                of_heads = nd.batched_gemm(x, y, _memory(ctx, f"{INPUTS[at]}.epsilon", *like.shape))
                below.append(self._below(at, of_heads, cache, params, grads, ctx) if projects else of_heads)
            else:
                below.append(None)
        return below

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return masks[0]

    def _check(self, xs: Sequence[Array], ctx: VertexContext) -> None:
        n, steps = xs[0].shape[0], xs[1].shape[2] if xs[1].ndim == 3 else "Tk"
        for name, x, mask, length in zip(INPUTS, xs, ctx.masks, ("Tq", steps, steps), strict=True):
            check_shape(f"{self.label}: {name}", x.shape, (n, getattr(self.conf, f"n_in_{name}"), length))
            if mask is not None:
                check_shape(f"{self.label}: mask of the {name}", mask.shape, (n, x.shape[2]))

    # ---- projections

    def _columns(self, name: str, x: Array, ctx: VertexContext) -> Array:
        """Return ``x [N, n_in, T]`` as ``[n_in, N * T]``."""
        n, n_in, steps = x.shape
        columns = nd.assign(_memory(ctx, f"{name}.columns", n_in, n, steps), nd.permute(x, (1, 0, 2)))
        return nd.reshape_view(columns, (n_in, n * steps))

    def _matrix(self, name: str, params: Params) -> Array:
        """View a projection ``[heads, size, n_in]`` as ``[heads * size, n_in]``."""
        weight = params[f"W{name[0]}"]
        return nd.reshape_view(weight, (weight.shape[0] * weight.shape[1], weight.shape[2]))

    def _heads(self, name: str, columns: Array, steps: int, params: Params, ctx: VertexContext) -> Array:
        """Return the projection of an input ``[N * heads, size, T]``."""
        matrix, count = self._matrix(name, params), self.conf.n_heads
        size, n = matrix.shape[0] // count, columns.shape[1] // steps
        product = nd.gemm(matrix, columns, _memory(ctx, f"{name}.product", matrix.shape[0], n * steps))
        heads = _memory(ctx, f"{name}.heads", n, count, size, steps)
        nd.assign(heads, nd.permute(nd.reshape_view(product, (count, size, n, steps)), (2, 0, 1, 3)))
        return nd.reshape_view(heads, (n * count, size, steps))

    def _joined(self, taken: Array, n: int, params: Params, ctx: VertexContext) -> tuple[Array, Array]:
        """Return the projection ``[N, n_out, Tq]`` of what the heads have taken, and that in rows."""
        count, (_, size, steps) = self.conf.n_heads, taken.shape
        joined = _memory(ctx, "joined", n, steps, count, size)
        nd.assign(joined, nd.permute(nd.reshape_view(taken, (n, count, size, steps)), (0, 3, 1, 2)))
        joined = nd.reshape_view(joined, (n * steps, count * size))
        rows = nd.gemm(joined, params["Wo"], _memory(ctx, "out", n * steps, params["Wo"].shape[1]))
        return _turned(nd.reshape_view(rows, (n, steps, rows.shape[1]))), joined

    def _parted(self, epsilon: Array, cache: Attended, params: Params, grads: Params, ctx: VertexContext) -> Array:
        """Write dL/dWo; return dL/d(what the heads have taken) ``[N * heads, size, Tq]``."""
        n, n_out, steps = epsilon.shape
        count, size = self.conf.n_heads, cache.heads[2].shape[1]
        rows = nd.assign(_memory(ctx, "out.epsilon", n, steps, n_out), _turned(epsilon))
        rows = nd.reshape_view(rows, (n * steps, n_out))
        nd.gemm(cache.joined, rows, grads["Wo"], transpose_a=True)  # type: ignore[arg-type]
        joined = _memory(ctx, "joined.epsilon", n * steps, count * size)
        nd.gemm(rows, params["Wo"], joined, transpose_b=True)
        taken = _memory(ctx, "taken.epsilon", n, count, size, steps)
        nd.assign(taken, nd.permute(nd.reshape_view(joined, (n, steps, count, size)), (0, 2, 3, 1)))
        return nd.reshape_view(taken, (n * count, size, steps))

    def _below(
        self, at: int, of_heads: Array, cache: Attended, params: Params, grads: Params, ctx: VertexContext
    ) -> Array | None:
        """Write the gradient of a projection; return dL/dx ``[N, n_in, T]`` of its input."""
        name, columns, count = INPUTS[at], cache.columns[at], self.conf.n_heads
        matrix = self._matrix(name, params)
        batch, size, steps = of_heads.shape
        delta = _memory(ctx, f"{name}.delta", count, size, batch // count, steps)
        nd.assign(delta, nd.permute(nd.reshape_view(of_heads, (batch // count, count, size, steps)), (1, 2, 0, 3)))
        delta = nd.reshape_view(delta, (count * size, columns.shape[1]))
        nd.gemm(delta, columns, self._matrix(name, grads), transpose_b=True)
        if not ctx.needs_epsilons[at]:
            return None
        below = nd.gemm(matrix, delta, _memory(ctx, f"{name}.below", *columns.shape), transpose_a=True)
        return nd.permute(nd.reshape_view(below, (columns.shape[0], batch // count, steps)), (1, 0, 2))

    # ---- attention itself

    def _weights(self, queries: Array, keys: Array, ctx: VertexContext) -> Array:
        """Return the softmax over the keys of every query's scores."""
        batch, size, steps = queries.shape
        weights = _memory(ctx, "weights", batch, keys.shape[2], steps)
        nd.divi(nd.batched_gemm(_turned(keys), queries, weights), math.sqrt(size))
        masks = [mask for mask in ctx.masks[1:] if mask is not None]
        if masks:
            n, length = masks[0].shape
            away = nd.assign(ctx.buffer("away", (n, length)), masks[0])
            if len(masks) == 2:
                nd.minimum(away, masks[1], away)
            nd.muli(nd.subi(away, 1.0), _FAR)
            apart = nd.reshape_view(weights, (n, batch // n, length, steps))
            nd.addi(apart, nd.reshape(away, (n, 1, length, 1)))
        nd.exp(nd.subi(weights, nd.max(weights, 1, keepdims=True)), weights)
        return nd.divi(weights, nd.sum(weights, 1, keepdims=True))

    def _of_scores(self, delta: Array, cache: Attended, ctx: VertexContext) -> Array:
        """Return dL/d(scores), before their division by the root of the size."""
        weights, values = cache.weights, cache.heads[2]
        scores = _memory(ctx, "weights.epsilon", *weights.shape)
        nd.batched_gemm(_turned(values), delta, scores)
        product = nd.multiply(scores, weights, _memory(ctx, "weights.product", *weights.shape))
        nd.muli(nd.subi(scores, nd.sum(product, 1, keepdims=True)), weights)
        return nd.divi(scores, math.sqrt(values.shape[1] if self.conf.project_input else cache.heads[1].shape[1]))


@dataclass(frozen=True, kw_only=True)
class AttentionVertex(VertexConf):
    """Scaled dot product attention, over one or several heads.

    Parameters
    ----------
    n_in_keys, n_in_values, n_in_queries : int, optional
        Sizes of the inputs; set from the network's input types when not given.
    n_out : int, optional
        By default that of the values, where nothing is projected.
    head_size : int, optional
        By default n_out / n_heads.
    n_heads : int
    project_input : bool
        Whether the inputs are projected before, and what the heads take after it. Without that there is one head, and
        all sizes are the same.
    weight_init : str
        A name from `nn.networks.weights`.
    updater, bias_updater : str or Updater, optional
    regularization, regularization_bias : sequence of Regularization, optional
    gradient_normalization : str, optional
    gradient_normalization_threshold : float, optional
        As those of layers with parameters; by default the network's.

    Raises
    ------
    ConfigurationError
        The sizes do not go together.

    Notes
    -----
    Inputs, in this order: queries ``[N, n_in_queries, Tq]``, keys ``[N, n_in_keys, Tk]``, values
    ``[N, n_in_values, Tk]``; output ``[N, n_out, Tq]``. In every head softmax(K.T Q / sqrt(size)), over the
    keys, says how much of each value is taken. Keys and values that their masks leave out are not taken, queries give
    zeros; the mask of the queries goes on. Parameters, with `project_input`: Wq, Wk, Wv
    ``[n_heads, head_size, n_in]`` and Wo ``[n_heads * head_size, n_out]``. Source: DL4J ``AttentionVertex``, libnd4j
    ``multi_head_dot_product_attention``. Differs: sizes of inputs need not be given.
    """

    n_in_keys: Count | None = None
    n_in_values: Count | None = None
    n_in_queries: Count | None = None
    n_out: Count | None = None
    head_size: Count | None = None
    n_heads: Count = 1
    project_input: bool = False
    weight_init: str = "xavier"
    updater: str | Updater | None = None
    bias_updater: str | Updater | None = None
    regularization: Sequence[Regularization] | None = None
    regularization_bias: Sequence[Regularization] | None = None
    gradient_normalization: str | None = None
    gradient_normalization_threshold: float | None = None
    runtime: ClassVar = AttentionRuntime
    fewest_inputs: ClassVar[int] = 3
    most_inputs: ClassVar[int | None] = 3
    form: ClassVar[JavaForm] = VertexConf.form.more(
        {
            "biasUpdater": ("bias_updater", "updater"),
            "gradientNormalization": ("gradient_normalization", "normalization"),
            "gradientNormalizationThreshold": ("gradient_normalization_threshold", "number or none"),
            "headSize": ("head_size", "size"),
            "nheads": ("n_heads", "plain"),
            "ninKeys": ("n_in_keys", "size"),
            "ninQueries": ("n_in_queries", "size"),
            "ninValues": ("n_in_values", "size"),
            "nout": ("n_out", "size"),
            "projectInput": ("project_input", "plain"),
            "regularization": ("regularization", "penalties"),
            "regularizationBias": ("regularization_bias", "penalties"),
            "updater": ("updater", "updater"),
            "weightInit": ("weight_init", "init name"),
        },
        {"dataType": None, "layerName": None, "name": None},
        derived={"vertexParams": lambda conf: conf.vertex_params()},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        init = check_choice("AttentionVertex", "weight_init", str(self.weight_init).lower(), WEIGHT_INITS)
        object.__setattr__(self, "weight_init", init)
        for name in ("updater", "bias_updater"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, get_updater(getattr(self, name)))
        for name in ("regularization", "regularization_bias"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))
        normalization = (self.gradient_normalization, self.gradient_normalization_threshold)
        name_of_it = check_gradient_normalization("AttentionVertex", *normalization)
        object.__setattr__(self, "gradient_normalization", name_of_it)
        self._check_heads()

    def _check_heads(self) -> None:
        if not self.project_input and self.n_heads != 1:
            raise nd.ConfigurationError(
                f"AttentionVertex: n_heads must be 1 where project_input is False, got {self.n_heads}. Set "
                "project_input."
            )
        if self.head_size is None and self.n_out is not None:
            if self.n_out % self.n_heads:
                raise nd.ConfigurationError(
                    f"AttentionVertex: n_out must be a multiple of n_heads {self.n_heads} where there is no head_size, "
                    f"got {self.n_out}. Give head_size."
                )
            object.__setattr__(self, "head_size", self.n_out // self.n_heads)

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        unset = ("updater", "bias_updater", "gradient_normalization", "gradient_normalization_threshold")
        taken = {name: getattr(defaults, name) for name in unset if getattr(self, name) is None}
        if not self.regularization:
            taken["regularization"] = regularization_of(defaults, "") or None
        if not self.regularization_bias:
            taken["regularization_bias"] = regularization_of(defaults, "_bias") or None
        return replace(self, **taken)

    def with_inputs(self, label: str, input_types: Sequence[InputType]) -> Self:
        sizes: dict[str, Any] = {
            f"n_in_{name}": series_of(label, given).n for name, given in zip(INPUTS, input_types, strict=True)
        }
        for name, size in sizes.items():
            if getattr(self, name) not in (None, size):
                raise nd.ConfigurationError(
                    f"{label}: {name} must be {size}, the size of what comes in, got {getattr(self, name)}. Leave it "
                    "out, or mend it."
                )
        n_out = self.n_out if self.project_input or self.n_out is not None else sizes["n_in_values"]
        return replace(self, **sizes, n_out=n_out)

    def output_type(self, label: str, input_types: Sequence[InputType]) -> InputType:
        self.check(label)
        return RecurrentType(self.n_out, series_of(label, input_types[0]).time_series_length)  # type: ignore[arg-type]

    def check(self, label: str) -> None:
        sizes = {name: getattr(self, name) for name in ("n_in_keys", "n_in_values", "n_in_queries", "n_out")}
        for name, size in sizes.items():
            if size is None:
                raise nd.ConfigurationError(f"{label}: {name} is missing. Give it, or the network's input types.")
        if not self.project_input and len(set(sizes.values())) > 1:
            raise nd.ConfigurationError(
                f"{label}: sizes must all be the same where project_input is False, got {sizes}. Set project_input."
            )

    def param_specs(self) -> tuple[ParamSpec, ...]:
        if not self.project_input:
            return ()
        heads, size, n_out = self.n_heads, self.head_size or 0, self.n_out or 0
        fans = {f"W{name[0]}": getattr(self, f"n_in_{name}") or 0 for name in INPUTS}
        specs = [ParamSpec(name, (heads, size, n_in), "c", fan_in=n_in, fan_out=size) for name, n_in in fans.items()]
        return *specs, ParamSpec("Wo", (heads * size, n_out), "c", fan_in=heads * size, fan_out=n_out)

    def vertex_params(self) -> dict[str, Any]:
        """Return names and shapes of inputs and parameters, as Java writes them."""
        shapes = {name: list(shape) for name, shape in self.param_shapes().items()}
        return {"biasParams": {}, "inputs": list(INPUTS), "weightParams": shapes}

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return the penalties on weights, or on biases, in the order in which they are applied."""
        return tuple((self.regularization_bias if bias else self.regularization) or ())

    def updater_of(self, bias: bool) -> Updater:
        """Return the updater; there are no biases, for which another one would be."""
        return self.updater  # type: ignore[return-value]
