"""DenseLayer: z = x W + b."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from nd.typing import Array

from ...terms.java_form import BIAS, TIMED, JavaForm
from ...terms.params import ParamSpec
from ..base import FeedForwardConf
from ..runtime import Context, LayerRuntime, Params


class Cache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    z: Array
    a: Array


class DenseRuntime(LayerRuntime):
    """Forward and backward of a fully connected layer."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        z = self.product(x, params["W"], ctx)
        a = self.activate_sum(z, ctx, params.get("b"))
        return a, Cache(x, z, a)

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        delta = self.activation_gradient(epsilon, cache.z, cache.a, ctx)
        return self.backward_delta(delta, cache, params, grads, ctx)

    def backward_delta(self, delta: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Continue from ``delta = dL/dz [N, n_out]``."""
        return self.backward_product(cache.x, delta, params, grads, ctx)


@dataclass(frozen=True, kw_only=True)
class DenseLayer(FeedForwardConf):
    """Fully connected layer: activation(x W + b), or with layer normalisation activation(g normal(x W) + b).

    Parameters
    ----------
    n_in, n_out : int
        Numbers in and out per example; n_in is inferred when the network has an input type.
    has_bias : bool
    has_layer_norm : bool
        Normalise the n_out numbers of each example to mean 0 and variance 1, and multiply them by the gains g.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, n_in]``, output ``[N, n_out]``. Vector: W ``[n_in, n_out]`` in f order, b ``[1, n_out]``, with layer
    normalisation g ``[1, n_out]``, weights as W, which start at 1. Source: DL4J ``DenseLayer``; Ba, Kiros and Hinton
    2016, without an epsilon, as Java.

    Examples
    --------
    >>> DenseLayer(n_in=3, n_out=4, activation="relu").param_shapes()
    {'W': (3, 4), 'b': (1, 4)}
    """

    has_bias: bool = True
    has_layer_norm: bool = False
    runtime: ClassVar = DenseRuntime
    form: ClassVar[JavaForm] = FeedForwardConf.form.more({**BIAS, "hasLayerNorm": ("has_layer_norm", "plain")}, TIMED)
    shape_fields: ClassVar[Mapping[str, object]] = {
        "has_layer_norm": False, **FeedForwardConf.shape_fields, "has_bias": True,
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.has_layer_norm and self.runtime is DenseRuntime:
            from .normalized_dense import LayerNormalizedRuntime  # which few programs need

            object.__setattr__(self, "runtime", LayerNormalizedRuntime)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        gains = (ParamSpec("g", (1, self.n_out or 0), "c", initial=1.0),) if self.has_layer_norm else ()
        return (*self.matrix_specs(self.has_bias), *gains)
