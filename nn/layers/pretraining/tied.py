"""A dense layer whose weights also lead back: what autoencoders and restricted Boltzmann machines share."""

from __future__ import annotations

import nd
from nd.activations.base import value_of
from nd.typing import Array

from ..core.dense import DenseRuntime
from ..runtime import Context, Params
from .base import PretrainedRuntime


class TiedRuntime(DenseRuntime, PretrainedRuntime):
    """A dense layer W, b with a way back by the same weights and a visible bias vb."""

    pure = splits = True

    def backward_delta(self, delta: Array, cache: object, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Continue from ``delta = dL/dz [N, n_out]``; the visible bias is no part of it."""
        nd.fill(grads["vb"], 0.0)
        return super().backward_delta(delta, cache, params, grads, ctx)  # type: ignore[arg-type]

    def up(self, v: Array, params: Params, ctx: Context, name: str) -> Array:
        """Return v W + b ``[N, n_out]``, in memory of that name."""
        z = nd.gemm(v, params["W"], ctx.buffer(name, (v.shape[0], self.conf.n_out)))
        return nd.addi(z, params["b"])

    def down(self, h: Array, params: Params, ctx: Context, name: str) -> Array:
        """Return h Wᵀ + vb ``[N, n_in]``, in memory of that name."""
        z = nd.gemm(h, params["W"], ctx.buffer(name, (h.shape[0], self.conf.n_in)), transpose_b=True)
        return nd.addi(z, params["vb"])

    def loss_of(self, x: Array, output: Array) -> Array:
        """Return the loss of a reconstruction, summed; the activation is applied to it once more, as in Java."""
        conf = self.conf
        activated = value_of(conf.activation, output, nd.create_uninitialized(*output.shape, dtype=self.dtype))
        return conf.reconstruction_loss.score(x, output, activated, conf.activation)
