"""AttentionVertex: of the values of other series, for every query those whose keys are like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import nd
from nd.arguments import Count
from nd.checks import check_shape
from nd.recurrent.attention import (
    INPUTS,
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
from nd.typing import Array

from ..layers.runtime import Params
from ..terms.input_type import InputType, RecurrentType, series_of
from ..terms.java_form import JavaForm
from ..terms.params import ParamSpec
from .runtime import VertexContext, VertexRuntime
from .trained import TrainedVertexConf


class AttentionCache(NamedTuple):
    """Results of forward that backward needs."""

    projected: list[Projected]
    """Of queries, keys and values, where they are projected."""
    attended: Attended
    joined: Array | None
    """What all heads have taken ``[N * Tq, heads * size]``, where it is projected."""


class AttentionRuntime(VertexRuntime):
    """Scaled dot product attention, with projections before and after it or without."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, AttentionCache]:
        self._check(xs, ctx)
        n, heads, projected, joined = xs[0].shape[0], list(xs), [], None
        if self.conf.project_input:
            for at, (name, x) in enumerate(zip(INPUTS, xs, strict=True)):
                (product,), of_input = project(x, as_matrices(params, f"W{name[0]}"), name, ctx.buffer)
                heads[at] = as_heads(product, n, self.conf.n_heads, name, ctx.buffer)
                projected.append(of_input)
        out, attended = attend(heads, left_out(ctx.masks[1:], ctx.buffer), ctx.buffer)
        if self.conf.project_input:
            out, joined = project_out(out, n, params["Wo"], ctx.buffer)
        if ctx.masks[0] is not None:
            nd.muli(out, nd.reshape(ctx.masks[0], (n, 1, out.shape[2])))
        return out, AttentionCache(projected, attended, joined)

    def backward(
        self, epsilon: Array, cache: AttentionCache, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        n, _, steps = epsilon.shape
        if ctx.masks[0] is not None:
            nd.muli(epsilon, nd.reshape(ctx.masks[0], (n, 1, steps)))
        if cache.joined is None:
            return attend_back(epsilon, cache.attended, ctx.buffer, ctx.needs_epsilons)
        count = self.conf.n_heads
        delta = project_out_back(epsilon, cache.joined, params["Wo"], grads["Wo"], count, ctx.buffer)
        below: list[Array | None] = []
        for at, of_heads in enumerate(attend_back(delta, cache.attended, ctx.buffer)):
            name, needs = INPUTS[at], ctx.needs_epsilons[at]
            gradients = as_matrices(grads, f"W{name[0]}")
            below.append(project_back([of_heads], cache.projected[at], gradients, n, name, ctx.buffer, needs))  # type: ignore[list-item]
        return below

    def feed_forward_mask(self, masks: Sequence[Array | None], ctx: VertexContext) -> Array | None:
        return masks[0]

    def _check(self, xs: Sequence[Array], ctx: VertexContext) -> None:
        n, steps = xs[0].shape[0], xs[1].shape[2] if xs[1].ndim == 3 else "Tk"
        for name, x, mask, length in zip(INPUTS, xs, ctx.masks, ("Tq", steps, steps), strict=True):
            check_shape(f"{self.label}: {name}", x.shape, (n, getattr(self.conf, f"n_in_{name}"), length))
            if mask is not None:
                check_shape(f"{self.label}: mask of the {name}", mask.shape, (n, x.shape[2]))


@dataclass(frozen=True, kw_only=True)
class AttentionVertex(TrainedVertexConf):
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

    Further ones are those of every vertex with parameters, see `TrainedVertexConf`.

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
    runtime: ClassVar = AttentionRuntime
    fewest_inputs: ClassVar[int] = 3
    most_inputs: ClassVar[int | None] = 3
    form: ClassVar[JavaForm] = TrainedVertexConf.form.more(
        {
            "headSize": ("head_size", "size"),
            "nheads": ("n_heads", "plain"),
            "ninKeys": ("n_in_keys", "size"),
            "ninQueries": ("n_in_queries", "size"),
            "ninValues": ("n_in_values", "size"),
            "nout": ("n_out", "size"),
            "projectInput": ("project_input", "plain"),
        },
        {"dataType": None, "layerName": None, "name": None},
        derived={"vertexParams": lambda conf: conf.vertex_params()},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = (self.n_out, self.n_heads, self.head_size, self.project_input)
        object.__setattr__(self, "head_size", settled_head_size("AttentionVertex", *sizes))

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

    def looks_at(self, types: Sequence[InputType]) -> int:
        """Return how many weights of time steps there are for an example: of every key for each query, by head."""
        queries, keys = (series_of("", kind).time_series_length or 0 for kind in (types[0], types[1 % len(types)]))
        return self.n_heads * queries * keys

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
