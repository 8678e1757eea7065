"""A dense layer with layer normalisation at work."""

from __future__ import annotations

from typing import Any, NamedTuple

import nd
from nd.arrays.layer_norm import normalize_rows, normalize_rows_back
from nd.typing import Array

from ..runtime import Context, Params
from .dense import DenseRuntime


class LayerNormCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    z: Array
    a: Array
    normal: Array
    """x W to mean 0 and variance 1 ``[N, n_out]``."""
    inverse: Array
    """1 / standard deviation ``[N, 1]``, 0 where all of x W are equal."""


class LayerNormalizedRuntime(DenseRuntime):
    """A dense layer whose x W is normalised over the layer, example by example."""

    pure = splits = True
    noised = ("W", "b")

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Any]:
        product = self.product(x, params["W"], ctx)
        normal, z = ctx.buffer("normal", product.shape), product  # z lies in the memory of x W
        inverse = ctx.buffer("inverse", (product.shape[0], 1))
        normalize_rows(product, normal, inverse)
        nd.multiply(normal, params["g"], z)
        if "b" in params:
            nd.addi(z, params["b"])
        a = self.activate_sum(z, ctx)
        return a, LayerNormCache(x, z, a, normal, inverse)

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        delta, normal = self.activation_gradient(epsilon, cache.z, cache.a, ctx), cache.normal
        if "b" in grads:
            nd.sum_into(delta, 0, nd.reshape_view(grads["b"], (self.conf.n_out,)))
        nd.assign(grads["g"], nd.channel_sums(delta, normal))
        nd.muli(delta, params["g"])
        normalize_rows_back(delta, normal, cache.inverse, normal)
        nd.affine_gradients(cache.x, delta, grads["W"], None)
        if not ctx.needs_epsilon:
            return None
        return nd.gemm(delta, params["W"], ctx.buffer("epsilon", cache.x.shape), transpose_b=True)
