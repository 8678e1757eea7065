"""ElementWiseMultiplicationLayer: every number by a weight of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import nd

from ..params import ParamSpec
from .runtime import Cache, LayerRuntime
from .same_size import SameSizeConf

Array = Any


class ElementWiseMultiplicationRuntime(LayerRuntime):
    """Forward and backward of weights for single numbers."""

    pure = splits = True

    def pre_output(self, x: Array, training: bool = False) -> Array:
        x, weights = self.drop_input(x, training)[0], self.weights(training)
        return nd.addi(self._product(x, weights["W"]), weights["b"])

    def _product(self, x: Array, W: Array) -> Array:
        self.check_rows(x, self.conf.n_in)
        return nd.multiply(x, W, self.buffers("z", x.shape))

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Cache]:
        x, drop_mask = self.drop_input(x, training)
        weights = self.weights(training)
        z = self._product(x, weights["W"])
        a = self.activated(z, training, weights["b"])
        if mask is not None:
            nd.muli(a, mask)
        return a, Cache(x, z, a, drop_mask, mask, weights)

    def backprop_gradient(self, epsilon: Array, cache: Cache, need_epsilon: bool = True) -> Array | None:
        delta = self.activating.backprop(cache.z, cache.a, epsilon)
        if cache.mask is not None:
            nd.muli(delta, cache.mask)
        nd.assign(self.gradient_views["W"], nd.channel_sums(delta, cache.x))
        nd.assign(self.gradient_views["b"], nd.channel_sums(delta))
        if not need_epsilon:
            return None
        return self.undropped(nd.muli(delta, cache.weights["W"]), cache.drop_mask)


@dataclass(frozen=True, kw_only=True)
class ElementWiseMultiplicationLayer(SameSizeConf):
    """A weight and a bias for every number of a row: activation(x * W + b).

    Parameters
    ----------
    n_in, n_out : int, optional
        The same; inferred when the network has an input type.

    Raises
    ------
    ConfigurationError
        n_in and n_out differ.

    Notes
    -----
    Input and output ``[N, n_in]``. Vector: W ``[1, n_in]``, b ``[1, n_in]``. Source: DL4J
    ``ElementWiseMultiplicationLayer``.

    Examples
    --------
    >>> ElementWiseMultiplicationLayer(n_in=3).param_shapes()
    {'W': (1, 3), 'b': (1, 3)}
    """

    runtime: ClassVar = ElementWiseMultiplicationRuntime

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n = self.n_in or 0
        return ParamSpec("W", (1, n), "c", fan_in=n, fan_out=n), ParamSpec("b", (1, n), "c", bias=True)
