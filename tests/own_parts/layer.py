"""A dense layer with a gain for each of its outputs: g * a(x W + b)."""

from dataclasses import dataclass

import nd
from nn import FeedForwardConf, LayerRuntime, ParamSpec, register


class GainRuntime(LayerRuntime):
    pure = splits = True

    def forward(self, x, params, ctx):
        z = self.product(x, params["W"], ctx)
        a = self.activate_sum(z, ctx, params["b"])
        return nd.multiply(a, params["g"], ctx.buffer("out", a.shape)), (x, z, a)

    def backward(self, epsilon, cache, params, grads, ctx):
        x, z, a = cache
        nd.assign(grads["g"], nd.channel_sums(epsilon, a))
        delta = self.activation_gradient(nd.muli(epsilon, params["g"]), z, a, ctx)
        return self.backward_product(x, delta, params, grads, ctx)


@register
@dataclass(frozen=True, kw_only=True)
class GainLayer(FeedForwardConf):
    gain: float = 1.0
    runtime = GainRuntime

    def param_specs(self):
        return *self.matrix_specs(has_bias=True), ParamSpec("g", (1, self.n_out or 0), initial=self.gain)
