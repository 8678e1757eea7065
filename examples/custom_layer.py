"""A layer of one's own: gated linear units, trained, saved and loaded.

The layer computes (x W + b) * sigmoid(x V + c) (Dauphin et al. 2017). One of them tells whether two numbers have the
same sign, which no dense layer without a second one can.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
from dataclasses import dataclass, replace
from typing import ClassVar

import nd
from nd.typing import Array
from nn import InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, register
from nn.layers import FeedForwardConf, LayerRuntime, ParamSpec
from nn.layers.runtime import Context, Params
from optimize import Adam

Cache = tuple[Array, Array, Array]


class GatedRuntime(LayerRuntime):
    """The layer at work: the way there, and the way back."""

    pure = splits = True  # it only calls functions of nd, and examples do not meet: steps are recorded, and split

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        self.check_rows(x, self.conf.n_in)
        value = nd.gemm(x, params["W"]) + params["b"]
        gate = 1.0 / (1.0 + nd.exp(-self.conf.sharpness * (nd.gemm(x, params["V"]) + params["c"])))
        return value * gate, (x, value, gate)

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        x, value, gate = cache
        deltas = {"W": epsilon * gate, "V": epsilon * value * self.conf.sharpness * gate * (1.0 - gate)}
        for weight, bias in (("W", "b"), ("V", "c")):
            nd.affine_gradients(x, deltas[weight], grads[weight], nd.reshape_view(grads[bias], (self.conf.n_out,)))
        if not ctx.needs_epsilon:
            return None
        of_value, of_gate = (nd.gemm(delta, params[weight], transpose_b=True) for weight, delta in deltas.items())
        return of_value + of_gate


@register  # files call it by its name
@dataclass(frozen=True, kw_only=True)
class GatedLayer(FeedForwardConf):
    """Its configuration: what the network's defaults do not say is a field of its own."""

    sharpness: float = 1.0
    runtime: ClassVar = GatedRuntime

    def param_specs(self) -> tuple[ParamSpec, ...]:
        W, b = self.matrix_specs(has_bias=True)
        return W, b, replace(W, name="V"), replace(b, name="c")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300, help="training steps over all points, default: 300")
    parser.add_argument("--sharpness", type=float, default=2.0, help="of the gates, default: 2")
    parser.add_argument("--seed", type=int, default=7, help="of weights and points, default: 7")
    arguments = parser.parse_args()

    nd.random.set_seed(arguments.seed)
    points = nd.randn(400, 2)
    same = nd.greater(points[:, :1] * points[:, 1:], 0.0, nd.zeros(400, 1))
    labels = nd.concat([same, 1.0 - same], 1)
    conf = NeuralNetConfiguration(seed=arguments.seed, updater=Adam(0.05)).list(
        GatedLayer(n_out=8, sharpness=arguments.sharpness),
        OutputLayer(n_out=2, loss="mcxent", activation="softmax"),
        input_type=InputType.feed_forward(2),
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(points[:300, :], labels[:300, :], epochs=arguments.steps)
    print(net.summary())

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gated.zip"
        net.save(path)
        again = MultiLayerNetwork.load(path)
    right = nd.mean(1.0 * (again.predict(points[300:, :]) == nd.argmax(labels[300:, :], 1)))
    layer = again.conf.layers[0]
    assert isinstance(layer, GatedLayer)
    print(f"read back with {type(layer).__name__}, sharpness {layer.sharpness}")
    print(f"accuracy on 100 held-out points: {nd.item(right):.2f}")


if __name__ == "__main__":
    main()
