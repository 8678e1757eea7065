"""DenseLayer: z = x W + b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import nd

from ..params import ParamSpec
from .base import Cache, FeedForwardConf, LayerRuntime

Array = Any


class DenseRuntime(LayerRuntime):
    """Forward and backward of a fully connected layer."""

    splits = True

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
        a = self.activate(z, training, weights.get("b"))
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


@dataclass(frozen=True, kw_only=True)
class DenseLayer(FeedForwardConf):
    """Fully connected layer: activation(x W + b).

    Parameters
    ----------
    n_in, n_out : int
        Numbers in and out per example; n_in is inferred when the network has an input type.
    has_bias : bool

    Notes
    -----
    Input ``[N, n_in]``, output ``[N, n_out]``. Vector: W ``[n_in, n_out]`` in f order, b ``[1, n_out]``. Source: DL4J
    ``DenseLayer``.

    Examples
    --------
    >>> DenseLayer(n_in=3, n_out=4, activation="relu").param_shapes()
    {'W': (3, 4), 'b': (1, 4)}
    """

    has_bias: bool = True
    runtime: ClassVar = DenseRuntime

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.matrix_specs(self.has_bias)
