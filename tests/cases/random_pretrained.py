"""Networks drawn at random with layers that are pretrained: chains and graphs, of rows and of flattened images."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from nd.dataset import DataSet
from nn import (
    AutoEncoder,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    ComputationGraphConfiguration,
    DenseLayer,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    InputType,
    LossFunctionWrapper,
    MultiLayerConfiguration,
    NeuralNetConfiguration,
    OutputLayer,
    ReconstructionDistribution,
    VariationalAutoencoder,
)
from optimize import AdaDelta, AdaGrad, Adam, AMSGrad, Nadam, Nesterovs, RmsProp, Sgd
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS

EXAMPLES, CLASSES, WIDTH, SIDE = 5, 3, 6, 3
ACTIVATIONS = ("tanh", "sigmoid", "identity", "softplus", "softsign", "elu", "hardtanh", "relu")
LOSSES = ("mse", "l1", "l2", "mean_absolute_error", "squared_loss", "cosine_proximity", "hinge", "xent")
UPDATERS = (
    Sgd(0.1), Nesterovs(0.05, momentum=0.8), Adam(0.01), AMSGrad(0.01), Nadam(0.01), AdaGrad(0.05), RmsProp(0.01),
    AdaDelta(),
)  # fmt: skip
NORMALIZATIONS = tuple(name for name in GRADIENT_NORMALIZATIONS if name != "none")


class RandomPretrained(NamedTuple):
    """A configuration, its data, and the names of its layers that are pretrained: in a chain their numbers."""

    conf: MultiLayerConfiguration | ComputationGraphConfiguration
    data: DataSet
    layers: tuple[str, ...]
    is_labelled: bool
    """Whether it is trained on labels too: Java's AutoEncoder has dropout on the way back alone."""
    has_losses: bool
    """Whether Java's scores of pretraining are those of the input."""


class _Draw:
    def __init__(self, number: int) -> None:
        self.rng = random.Random(number)
        self.drops = False
        self.has_losses = True

    def chance(self, probability: float = 0.25) -> bool:
        return self.rng.random() < probability

    def settings(self) -> dict[str, Any]:
        """Return settings of a layer with parameters."""
        settings: dict[str, Any] = {"activation": self.rng.choice(ACTIVATIONS)}
        if self.chance():
            settings["updater"] = self.rng.choice(UPDATERS)
        if self.chance(0.15):
            settings["bias_updater"] = self.rng.choice(UPDATERS)
        if self.chance():
            settings |= {"l2": 0.05, "l1_bias": 0.01}
        return settings

    def network(self) -> NeuralNetConfiguration:
        """Return the settings of the network."""
        settings: dict[str, Any] = {"updater": self.rng.choice(UPDATERS)}
        if self.chance():
            settings |= {"l1": 0.01, "l2": 0.02}
        elif self.chance(0.15):
            settings["weight_decay"] = 0.02
        if self.chance():
            settings["weight_decay_bias" if self.chance() else "l2_bias"] = 0.03
        if self.chance():
            settings |= {
                "gradient_normalization": self.rng.choice(NORMALIZATIONS), "gradient_normalization_threshold": 0.2,
            }  # fmt: skip
        mini_batch = not self.chance(0.1)
        self.has_losses, self.unbiased = mini_batch, settings.keys().isdisjoint(("l2_bias", "weight_decay_bias"))
        return NeuralNetConfiguration(
            seed=self.rng.randrange(1, 10**6), dtype="float64", bias_init=0.1, weight_init="xavier",
            mini_batch=mini_batch, **settings,
        )  # fmt: skip

    def autoencoder(self, size: int) -> AutoEncoder:
        settings = self.settings()
        if self.chance(0.1):
            settings["drop_out"] = 0.7
            self.drops = True
        corruption = self.rng.choice((0.0, 0.0, 0.3, 0.6))
        self.has_losses = self.has_losses and not corruption and self.unbiased and "l1_bias" not in settings
        return AutoEncoder(
            n_out=size,
            corruption_level=corruption,
            sparsity=self.rng.choice((0.0, 0.0, 0.1)),
            reconstruction_loss=self.rng.choice(LOSSES),
            visible_bias_init=self.rng.choice((0.0, 0.2)),
            **settings,
        )

    def distribution(self, width: int) -> ReconstructionDistribution:
        kind = self.rng.randrange(5)
        if kind == 0 and width > 1:
            first = self.rng.randrange(1, width)
            parts = self.distribution(first), self.distribution(width - first)
            if len({part.has_loss_function for part in parts}) == 1:
                return CompositeReconstructionDistribution((first, width - first), parts)
        if kind == 1:
            return BernoulliReconstructionDistribution("sigmoid")
        if kind == 2:
            return ExponentialReconstructionDistribution(self.rng.choice(("tanh", "identity", "sigmoid")))
        if kind == 3:
            return LossFunctionWrapper(self.rng.choice(("identity", "tanh")), self.rng.choice(("mse", "l1", "l2")))
        return GaussianReconstructionDistribution(self.rng.choice(("identity", "tanh")))

    def variational(self, size: int, width: int) -> VariationalAutoencoder:
        sizes = [tuple(self.rng.randrange(2, 6) for _ in range(self.rng.randrange(1, 3))) for _ in range(2)]
        return VariationalAutoencoder(
            n_out=size,
            encoder_layer_sizes=sizes[0],
            decoder_layer_sizes=sizes[1],
            reconstruction_distribution=self.distribution(width),
            pzx_activation=self.rng.choice(("identity", "tanh", "softsign")),
            num_samples=self.rng.choice((1, 1, 3)),
            **self.settings(),
        )


def draw_pretrained(number: int) -> RandomPretrained:
    """Return the network of a number."""
    draw = _Draw(number)
    rng, numbers = draw.rng, np.random.default_rng(number)
    is_graph, of_images = rng.random() < 0.6, rng.random() < 0.3
    base, width = draw.network(), SIDE * SIDE if of_images else WIDTH
    input_type = InputType.convolutional(SIDE, SIDE, 1) if of_images else InputType.feed_forward(width)
    layers: list[Any] = []
    depth = rng.randrange(1, 4) if is_graph else rng.randrange(1, 3)
    trained = []
    for place in range(depth):
        size, kind = rng.randrange(2, 6), rng.randrange(5)
        if not is_graph:  # in Java layers above the first one are handed the raw input
            kind = kind % 4 if place == 0 else 4
        if place == depth - 1 and not trained:
            kind %= 4
        if kind < 2:
            layers.append(draw.autoencoder(size))
        elif kind < 4:
            layers.append(draw.variational(size, width))
        else:
            layers.append(DenseLayer(n_out=size, activation="tanh"))
        if kind < 4:
            trained.append(place)
        width = size
    classes = rng.random() < 0.5
    loss, last = ("mcxent", "softmax") if classes else ("mse", "tanh")
    layers.append(OutputLayer(n_out=CLASSES, loss=loss, activation=last))
    x = numbers.uniform(0.0, 1.0, (EXAMPLES, 1, SIDE, SIDE) if of_images else (EXAMPLES, WIDTH))
    y = np.eye(CLASSES)[numbers.integers(0, CLASSES, EXAMPLES)] if classes else numbers.normal(size=(EXAMPLES, CLASSES))
    data = DataSet(x, y)
    told = not draw.drops, draw.has_losses
    if not is_graph:
        return RandomPretrained(base.list(*layers, input_type=input_type), data, ("0",), *told)
    names = [f"l{place}" for place in range(len(layers))]
    nodes = dict(zip(names, zip(layers, ["in", *names], strict=False), strict=True))
    conf = base.graph(inputs={"in": input_type}, nodes=nodes, outputs=names[-1])
    return RandomPretrained(conf, data, tuple(names[place] for place in trained), *told)
