"""AutoEncoder: a dense layer that learns to restore its input from damaged one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import nd
from nd.arguments import Fraction, checked
from nd.typing import Array

from ...terms.java_form import JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, Params
from .base import BasePretrainNetwork
from .tied import TiedRuntime


class Reconstruction(NamedTuple):
    """Results of `AutoEncoderRuntime.reconstruct`."""

    x: Array
    seen: Array
    """x, damaged."""
    hidden: Array
    output: Array


class AutoEncoderRuntime(TiedRuntime):
    """Forward and backward of a dense layer, and of its reconstruction."""

    pure = splits = True
    takes_dropout = False

    def setup(self) -> None:
        self.samples = self.conf.corruption_level > 0.0

    def reconstruct(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Reconstruction]:
        seen = x
        if self.samples:
            drawn = nd.random.get_random().binomial(math.prod(x.shape), self.dtype, 1, 1.0 - self.conf.corruption_level)
            rows, columns = x.shape
            kept = nd.transpose(nd.reshape(drawn, (columns, rows))) if self.by_columns else nd.reshape(drawn, x.shape)
            seen = nd.multiply(x, kept, ctx.buffer("seen", x.shape))
        hidden = self._activated(self.up(seen, params, ctx, "hidden"), ctx, "hidden_a")
        output = self._activated(self.down(hidden, params, ctx, "output"), ctx, "output_a")
        return output, Reconstruction(x, seen, hidden, output)

    @checked
    def encode(self, v: Array) -> Array:
        """Return the hidden units ``[N, n_out]`` for ``v [N, n_in]``, new, nothing of it damaged."""
        ctx = self.outside()
        return self._activated(self.up(self.rows_of(v, self.conf.n_in), self.params, ctx, "hidden"), ctx, "hidden_a")

    @checked
    def decode(self, h: Array) -> Array:
        """Return the reconstruction ``[N, n_in]`` for hidden units ``[N, n_out]``, new."""
        ctx = self.outside()
        return self._activated(self.down(self.rows_of(h, self.conf.n_out), self.params, ctx, "output"), ctx, "output_a")

    def _activated(self, z: Array, ctx: Context, name: str) -> Array:
        a = z if self.activation.overwrites else ctx.buffer(name, z.shape)
        return self.activating.value(z, a, ctx.training)

    def reconstruction_loss(self, cache: Reconstruction, params: Params, ctx: Context) -> Array:
        return self.loss_of(cache.x, cache.output)

    def reconstruction_gradients(self, cache: Reconstruction, params: Params, grads: Params, ctx: Context) -> None:
        x, seen, hidden, output = cache
        visible = nd.subtract(output, x, ctx.buffer("visible", x.shape))
        delta = nd.gemm(visible, params["W"], ctx.buffer("delta", hidden.shape))
        nd.muli(delta, hidden)
        sparsity, factor = self.conf.sparsity, ctx.buffer("factor", hidden.shape)
        nd.muli(delta, nd.subtract(hidden, sparsity, factor) if sparsity else nd.subtract(1.0, hidden, factor))
        nd.affine_gradients(seen, delta, grads["W"], grads["b"][0, ...])
        nd.addi(grads["W"], nd.gemm(visible, hidden, transpose_a=True))
        nd.sum_into(visible, 0, grads["vb"][0, ...])


@dataclass(frozen=True, kw_only=True)
class AutoEncoder(BasePretrainNetwork):
    """Denoising autoencoder: h = activation(x W + b), and in pretraining x' = activation(h Wᵀ + vb).

    Parameters
    ----------
    corruption_level : float
        Part of the input that is set to 0 in pretraining.
    sparsity : float
        Where not 0, what the factor 1 - h of the hidden units' slope gives way to: h - sparsity.
    reconstruction_loss : str or Loss
        Java's ``lossFunction``, for the score of pretraining alone: the gradient is that of the squared error.
    visible_bias_init : float
    n_in, n_out : int
    drop_out : float or IDropout, optional
        Of the input in pretraining, where what is left is to be restored; not when the network is trained on labels.

    Notes
    -----
    Input ``[N, n_in]``, output ``[N, n_out]``. Vector: W ``[n_in, n_out]`` in f order, b ``[1, n_out]``, vb
    ``[1, n_in]``, which training on labels leaves alone. Pretraining, with a damaged input y and v = x' - x, has the
    gradients d = v W h (1 - h), dW = yᵀd + vᵀh, db = Σd and dvb = Σv: those of the squared error, but for the slope of
    the output. The score is the loss of x and x', to which the activation is applied a second time. Source: DL4J
    ``AutoEncoder``; Vincent et al. 2008.

    Differs: the score of pretraining is about the input, Java's about the damaged one. Java's score has penalties on
    vb, whose gradient has none. In training on labels Java has dropout on the way back alone. With
    ``mini_batch=False`` the score is the sum, as that of training on labels; Java's is the mean.

    Java's release 1.0 has lost a minus sign: its pretraining moves away from the input. `MultiLayerNetwork.pretrain`
    follows it, and says so on the log, unless the configuration says ``pretrain=True``, as those of 0.9 did: then the
    sign is 0.9.1's.
    """

    corruption_level: Fraction = 0.3
    sparsity: float = 0.0
    runtime: ClassVar = AutoEncoderRuntime
    positional: ClassVar[tuple[str, ...]] = ("corruption_level",)
    ascends_since_1: ClassVar[bool] = True
    form: ClassVar[JavaForm] = BasePretrainNetwork.form.more(
        {"corruptionLevel": ("corruption_level", "number"), "sparsity": ("sparsity", "number")}
    )

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.tied_specs(bias=False)
