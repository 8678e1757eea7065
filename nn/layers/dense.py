"""DenseLayer: z = x W + b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import nd

from ..params import ParamSpec
from .base import FeedForwardConf
from .runtime import Cache, LayerRuntime

Array = Any


class DenseRuntime(LayerRuntime):
    """Forward and backward of a fully connected layer."""

    pure = splits = True

    def setup(self) -> None:
        self.W_gradient, self.b_gradient = self.gradient_views["W"], self.gradient_views.get("b")
        self.activation = self.conf.activation
        if self.b_gradient is not None:
            self.b_gradient = nd.reshape_view(self.b_gradient, (self.conf.n_out,))

    def pre_output(self, x: Array, training: bool = False) -> Array:
        x, weights = self.drop_input(x, training)[0], self.weights(training)
        z = self._product(x, weights["W"])
        return z if "b" not in weights else nd.addi(z, weights["b"])

    def _product(self, x: Array, W: Array) -> Array:
        self.check_rows(x, self.conf.n_in)
        return nd.gemm(x, W, self.buffers("z", (x.shape[0], self.conf.n_out)))

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Cache]:
        x, drop_mask = self.drop_input(x, training)
        weights = self.weights(training)
        z = self._product(x, weights["W"])
        a = self.activated(z, training, weights.get("b"))
        if mask is not None:
            nd.muli(a, mask)
        return a, Cache(x, z, a, drop_mask, mask, weights)

    def backprop_gradient(self, epsilon: Array, cache: Cache, need_epsilon: bool = True) -> Array | None:
        delta = self.activating.backprop(cache.z, cache.a, epsilon)
        if cache.mask is not None:
            nd.muli(delta, cache.mask)
        return self.backprop_delta(delta, cache, need_epsilon)

    def backprop_delta(self, delta: Array, cache: Cache, need_epsilon: bool) -> Array | None:
        """Continue from ``delta = dL/dz [N, n_out]``."""
        nd.affine_gradients(cache.x, delta, self.W_gradient, self.b_gradient)
        if not need_epsilon:
            return None
        epsilon = nd.gemm(delta, cache.weights["W"], self.buffers("epsilon", cache.x.shape), transpose_b=True)
        return epsilon if cache.drop_mask is None else self.undropped(epsilon, cache.drop_mask)


class LayerNormCache(NamedTuple):
    """What forward keeps for backprop, beside a dense layer's."""

    dense: Cache
    normal: Array
    """x W to mean 0 and variance 1 ``[N, n_out]``."""
    inverse: Array
    """1 / standard deviation ``[N, 1]``, 0 where all of x W are equal."""


class LayerNormalizedRuntime(DenseRuntime):
    """A dense layer whose x W is normalised over the layer, example by example."""

    pure = splits = True

    def pre_output(self, x: Array, training: bool = False) -> Array:
        x, weights = self.drop_input(x, training)[0], self.weights(training)
        return self._normalised(x, weights)[0]

    def _normalised(self, x: Array, weights: dict[str, Array]) -> tuple[Array, Array, Array]:
        """Return z ``[N, n_out]``, x W normalised, and what it was multiplied by for that."""
        product = self._product(x, weights["W"])
        normal, z = self.buffers("normal", product.shape), product
        nd.subtract(product, nd.mean(product, 1, keepdims=True), normal)
        variance = nd.mean(nd.square(normal), 1, keepdims=True)
        inverse = nd.where(variance > 0, 1.0 / nd.sqrt(nd.where(variance > 0, variance, 1.0)), 0.0)
        nd.muli(normal, inverse)
        nd.multiply(normal, weights["g"], z)
        return (z if "b" not in weights else nd.addi(z, weights["b"])), normal, inverse

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Any]:
        x, drop_mask = self.drop_input(x, training)
        weights = self.weights(training)
        z, normal, inverse = self._normalised(x, weights)
        a = self.activated(z, training)
        if mask is not None:
            nd.muli(a, mask)
        return a, LayerNormCache(Cache(x, z, a, drop_mask, mask, weights), normal, inverse)

    def backprop_gradient(self, epsilon: Array, cache: Any, need_epsilon: bool = True) -> Array | None:
        dense, normal, inverse = cache
        delta = self.activating.backprop(dense.z, dense.a, epsilon)
        if dense.mask is not None:
            nd.muli(delta, dense.mask)
        if self.b_gradient is not None:
            nd.sum_into(delta, 0, self.b_gradient)
        nd.assign(self.gradient_views["g"], nd.channel_sums(delta, normal))
        nd.muli(delta, dense.weights["g"])
        along = nd.mean(nd.multiply(delta, normal), 1, keepdims=True)
        nd.subi(delta, nd.mean(delta, 1, keepdims=True))
        nd.subi(delta, nd.multiply(normal, along, normal))
        nd.muli(delta, inverse)
        nd.affine_gradients(dense.x, delta, self.W_gradient, None)
        if not need_epsilon:
            return None
        below = nd.gemm(delta, dense.weights["W"], self.buffers("epsilon", dense.x.shape), transpose_b=True)
        return self.undropped(below, dense.drop_mask)


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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.has_layer_norm and self.runtime is DenseRuntime:
            object.__setattr__(self, "runtime", LayerNormalizedRuntime)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        gains = (ParamSpec("g", (1, self.n_out or 0), "c", initial=1.0),) if self.has_layer_norm else ()
        return (*self.matrix_specs(self.has_bias), *gains)
