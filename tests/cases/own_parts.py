"""A part of a user's own of every kind, as a user's module has them: importing it makes them known."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import nd
from nd.activations import Activation, Tanh
from nd.losses import LossMSE
from nn import DenseLayer, Dropout, InputType, MultiLayerConfiguration, NeuralNetConfiguration, OutputLayer, register
from nn.layers import LayerConf
from nn.terms.distributions import Distribution
from nn.terms.preprocessors import InputPreProcessor
from nn.terms.weight_noise import IWeightNoise
from nn.vertices import VertexConf, VertexRuntime
from optimize import Adam, LayerConstraint, Schedule, Updater
from optimize.schedules import StepSchedule
from optimize.terminations import TerminationCondition


@dataclass(frozen=True, kw_only=True)
class Wavy(Activation):
    """x + depth tanh x."""

    depth: float = 0.5
    inner: Activation | None = None

    def value(self, z, out=None, training=False):
        return nd.assign(z if out is None else out, z + self.depth * nd.tanh(z))

    def backprop(self, z, a, epsilon, out=None):
        return nd.multiply(epsilon, 1.0 + self.depth * (1.0 - nd.square(nd.tanh(z))), out)


@dataclass(frozen=True, kw_only=True)
class Stretched(LossMSE):
    """A mean square times a factor."""

    factor: float = 2.0

    def score(self, labels, z, p, activation, mask=None):
        return self.factor * super().score(labels, z, p, activation, mask)

    def gradient(self, labels, z, p, activation, mask=None, out=None):
        return nd.muli(super().gradient(labels, z, p, activation, mask, out), self.factor)


@dataclass(frozen=True)
class Halving(Schedule):
    """Halves whenever a number of iterations is over."""

    initial: float
    every: int = 2

    def value_at(self, iteration, epoch):
        return self.initial * 0.5 ** (iteration // self.every)


@dataclass(frozen=True)
class Heavy(Updater):
    """v' = momentum v + rate g; the update is v'."""

    learning_rate: float | Schedule = 0.1
    momentum: float = 0.5
    state_names = ("V",)

    def coefficients(self, iteration, epoch):
        return (self.learning_rate_at(iteration, epoch),)

    def apply(self, gradient, states, scratch, coefficients):
        (v,) = states
        nd.addi(nd.muli(v, self.momentum), nd.muli(gradient, coefficients[0]))
        nd.assign(gradient, v)


@dataclass(frozen=True)
class Blocks(Dropout):
    """Drops with the same probability whole rows."""

    name: str = "rows"

    def mask(self, shape, dtype):
        kept = nd.random.get_random().retained(shape[0], dtype, self.p)
        return nd.multiply(nd.reshape(kept, (shape[0], 1)), nd.ones(*shape, dtype=dtype)) / self.p


@dataclass(frozen=True)
class Shrinking(IWeightNoise):
    """Weights a little smaller."""

    by: float = 0.9

    def get_parameter(self, param, numbers, out):
        return nd.multiply(param, self.by, out)


@dataclass(frozen=True, kw_only=True)
class AtMost(LayerConstraint):
    """Holds every parameter below a limit."""

    limit: float = 1.0

    def constrained(self, param, iteration, epoch):
        return nd.minimum(param, self.limit)


@dataclass(frozen=True)
class Twice(InputPreProcessor):
    """x times a factor."""

    factor: float = 2.0

    def pre_process(self, x, examples, buffers):
        return x * self.factor

    def backprop(self, epsilon, examples, buffers):
        return epsilon * self.factor

    def output_type(self, input_type):
        return input_type


@dataclass(frozen=True)
class TwoPoints(Distribution):
    """Plus or minus a number, in turn."""

    size: float = 0.3

    def draw(self, rng, shape, dtype):
        count = 1
        for axis in shape:
            count *= axis
        return (2.0 * rng.bernoulli(count, dtype) - 1.0) * self.size


@dataclass(frozen=True)
class Enough(TerminationCondition):
    """The score is below a limit."""

    limit: float = 1e-9

    def terminate(self, score, old_score, gradient):
        return score < self.limit


@dataclass(frozen=True, kw_only=True)
class ScaledDense(DenseLayer):
    """A dense layer with a number of its own."""

    scale: float = 1.5
    schedule: Schedule | None = None
    sizes: tuple[int, ...] = ()


class TiltedRuntime(VertexRuntime):
    """A weighted sum each way."""

    def forward(self, xs, params, ctx):
        return nd.add(nd.multiply(xs[0], self.conf.share), nd.multiply(xs[1], 1.0 - self.conf.share)), None

    def backward(self, epsilon, cache, params, grads, ctx):
        return [nd.multiply(epsilon, self.conf.share), nd.multiply(epsilon, 1.0 - self.conf.share)]


@dataclass(frozen=True)
class Tilted(VertexConf):
    """A weighted mean of two inputs."""

    share: float = 0.5
    half_life: Schedule | None = None
    runtime = TiltedRuntime
    fewest_inputs = most_inputs = 2


PARTS: tuple[type, ...] = (
    Wavy, Stretched, Halving, Heavy, Blocks, Shrinking, AtMost, Twice, TwoPoints, Enough, ScaledDense, Tilted,
)  # fmt: skip
OF_GRAPHS = (Tilted,)
"""Those that a chain of layers cannot have."""
OF_CHAINS = tuple(part for part in PARTS if part not in OF_GRAPHS)
for part in PARTS:
    register(part)


def configuration(**settings: Any) -> MultiLayerConfiguration:
    """Return a network with all of them."""
    first: LayerConf = ScaledDense(
        n_in=4, n_out=5, activation=Wavy(depth=0.25, inner=Tanh()), weight_init=TwoPoints(0.2),
        weight_noise=Shrinking(0.8), drop_out=Blocks(0.75), constraints=AtMost(limit=0.9),
        updater=Heavy(Halving(0.2, every=3), 0.25), scale=2.5, schedule=StepSchedule("epoch", 0.1, 0.5, 2.0),
        sizes=(1, 2),
    )  # fmt: skip
    last = OutputLayer(n_in=5, n_out=2, loss=Stretched(factor=1.5, weights=(1.0, 2.0)), activation=Wavy())
    base = NeuralNetConfiguration(seed=3, dtype="float64", **settings)
    made = base.list(first, last, input_type=InputType.feed_forward(4))
    return replace(made, preprocessors={1: Twice(0.5)})


def drawn(seed: int) -> MultiLayerConfiguration:
    """Return a network with some of them, and with what a generator of that seed chooses of the library's."""
    rng = random.Random(seed)

    def maybe(*choices: Any) -> Any:
        return rng.choice([None, *choices])

    rate = rng.uniform(0.01, 0.2)
    layers = [
        rng.choice([DenseLayer, ScaledDense])(
            n_in=4 if index == 0 else 5,
            n_out=5,
            activation=rng.choice([Wavy(depth=rng.random()), "tanh", Wavy(inner=Tanh())]),
            weight_init=rng.choice([TwoPoints(rng.random()), "xavier"]),
            weight_noise=maybe(Shrinking(rng.uniform(0.5, 1.0))),
            drop_out=maybe(Blocks(rng.uniform(0.5, 1.0)), rng.uniform(0.5, 1.0)),
            constraints=maybe(AtMost(limit=rng.uniform(0.1, 1.0))),
            updater=rng.choice(
                [Heavy(Halving(rate, every=rng.randint(1, 4)), rng.random()), Adam(Halving(rate)), None]
            ),
            l2=maybe(Halving(0.1), 0.01),
        )
        for index in range(rng.randint(1, 3))
    ]
    loss = rng.choice([Stretched(factor=rng.uniform(0.5, 2.0)), "mse"])
    layers.append(OutputLayer(n_in=5, n_out=2, loss=loss, activation=rng.choice([Wavy(), "identity"])))
    base = NeuralNetConfiguration(seed=seed + 1, dtype=rng.choice(["float32", "float64"]), updater=Heavy(rate))
    made = base.list(*layers, input_type=InputType.feed_forward(4))
    return replace(made, preprocessors={rng.randrange(len(layers)): Twice(rng.uniform(0.5, 2.0))})
