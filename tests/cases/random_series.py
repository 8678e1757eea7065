"""Networks over series drawn at random: one to three layers out of all recurrent ones and those around them."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from nd.dataset import DataSet
from nn import (
    LSTM,
    Bidirectional,
    DenseLayer,
    GlobalPoolingLayer,
    GravesBidirectionalLSTM,
    GravesLSTM,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    MultiLayerConfiguration,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    RecurrentAttentionLayer,
    RnnLossLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
    SimpleRnn,
    TimeDistributed,
)
from optimize import MaxNormConstraint
from tests.cases.random_graphs import ACTIVATIONS, NORMALIZATIONS, UPDATERS

EXAMPLES, CHANNELS, LENGTH, CLASSES = 4, 3, 7, 3
GATES = ("sigmoid", "hardsigmoid", "tanh", "softsign")
WEIGHTS = ("xavier", "xavier_uniform", "relu", "lecun_normal", "sigmoid_uniform", NormalDistribution(0.0, 0.4))
OF_NUMBERS, OF_CLASSES = {"loss": "mse", "activation": "tanh"}, {"loss": "mcxent", "activation": "softmax"}


class RandomSeries(NamedTuple):
    """A configuration and its data; `in_steps` tells whether it goes step by step in Java too."""

    conf: MultiLayerConfiguration
    data: DataSet
    in_steps: bool


class _Drawing:
    """A network, from the generator of its number."""

    def __init__(self, number: int) -> None:
        self.rng = random.Random(f"series {number}")
        self.numbers = np.random.default_rng([number, 23])
        self.end = self.rng.choice(["last", "loss", "pool", "series", "series", "series"])
        self.truncated = self.end in ("loss", "series") and self.chance(0.4)
        self.format = "NWC" if not self.truncated and self.chance(0.15) else "NCW"
        self.masked = self.rng.choice(["", "ends", "gaps"])
        self.layers: list[Any] = []

    def chance(self, probability: float = 0.2) -> bool:
        return self.rng.random() < probability

    # ---- layers

    def settings(self) -> dict[str, Any]:
        """Return settings of a layer with parameters."""
        settings: dict[str, Any] = {"activation": self.rng.choice(ACTIVATIONS)}
        if self.chance(0.15):
            settings["updater"] = self.rng.choice(UPDATERS)
        if self.chance(0.15):
            settings["bias_updater"] = self.rng.choice(UPDATERS)
        if self.chance(0.15):
            settings |= self.rng.choice([{"l2": 0.05, "l1_bias": 0.01}, {"weight_decay": 0.02}])
        if self.chance(0.15):
            settings["weight_init"] = self.rng.choice(WEIGHTS)
        if self.format == "NCW" and self.chance(0.1):  # Java forgets the order of the axes on the way back
            settings["drop_out"] = 1.0  # of which nothing is drawn
        return settings

    def unit(self, **settings: Any) -> Any:
        """Return a layer that goes forward through time."""
        settings = {"n_out": self.rng.randrange(2, 6), **self.settings(), **settings}
        if self.chance(0.25):
            settings["weight_init_recurrent"] = self.rng.choice(WEIGHTS)
        if self.chance(0.1):
            settings["constraints"] = MaxNormConstraint(0.4, params=("RW",))
        kind = self.rng.choice([LSTM, LSTM, GravesLSTM, SimpleRnn])
        return kind(**settings, **(self.gates() if kind is not SimpleRnn else {}))

    def gates(self) -> dict[str, Any]:
        gates: dict[str, Any] = {"gate_activation": self.rng.choice(GATES)} if self.chance(0.4) else {}
        return gates | ({"forget_gate_bias_init": 2.0} if self.chance(0.2) else {})

    def both_ways(self) -> Any:
        """Return a layer that goes in both directions."""
        if self.chance(0.3):
            return GravesBidirectionalLSTM(n_out=self.rng.randrange(2, 6), **self.settings(), **self.gates())
        return Bidirectional(self.unit(), self.rng.choice(["add", "average", "concat", "mul"]))

    def attention(self) -> Any:
        kind = self.rng.choice([SelfAttentionLayer, RecurrentAttentionLayer])
        return kind(n_out=4, n_heads=2, project_input=True, weight_init="xavier")

    def of_rows(self) -> Any:
        dense = DenseLayer(n_out=self.rng.randrange(2, 6), **self.settings())
        return TimeDistributed(dense) if self.chance(0.4) else dense

    def layer(self) -> Any:
        """Return any layer over series."""
        makers = [self.unit, self.unit, self.unit, self.of_rows, lambda: MaskZeroLayer(self.unit())]
        if not self.truncated:
            makers += [self.both_ways, self.both_ways, *([self.attention] if self.format == "NCW" else [])]
        return self.rng.choice(makers)()

    def network(self) -> NeuralNetConfiguration:
        """Return the settings of the network."""
        settings: dict[str, Any] = {"updater": self.rng.choice(UPDATERS)}
        if self.chance():
            settings |= {"l1": 0.01, "l2": 0.02}
        if self.chance():
            settings["weight_decay_bias" if self.chance() else "l2_bias"] = 0.03
        if self.chance():
            settings |= {
                "gradient_normalization": self.rng.choice(NORMALIZATIONS), "gradient_normalization_threshold": 0.2,
            }  # fmt: skip
        seed = self.rng.randrange(1, 10**6)
        return NeuralNetConfiguration(seed=seed, dtype="float64", weight_init="xavier", **settings)

    # ---- ends and data

    def ends(self) -> None:
        """Put an end on the layers: the last step, a mean of the steps, or something at every step."""
        loss = self.rng.choice([OF_NUMBERS, OF_CLASSES])
        if self.end == "loss":
            self.layers += [self.unit(n_out=CLASSES), RnnLossLayer(**loss)]
        elif self.end == "series":
            self.layers.append(RnnOutputLayer(n_out=CLASSES, **loss))
        else:
            pooling = GlobalPoolingLayer(self.rng.choice(["avg", "max", "sum"]))
            inside = self.both_ways() if self.chance(0.4) else self.unit()
            self.layers.append(LastTimeStep(inside) if self.end == "last" else pooling)
            self.layers.append(OutputLayer(n_out=CLASSES, **loss))

    def mask(self) -> np.ndarray | None:
        """Return a mask of time steps."""
        if not self.masked:
            return None
        mask = np.arange(LENGTH) < self.numbers.permutation([LENGTH, 3, 5, 2])[:, None]
        if self.masked == "gaps":
            mask &= self.numbers.random((EXAMPLES, LENGTH)) < 0.7
            mask[:, self.numbers.integers(0, 2)] = True  # no series is empty
        return mask.astype(float)

    def data(self) -> DataSet:
        """Return features with blank steps, labels of rows or of steps, and masks of both."""
        features = self.numbers.normal(size=(EXAMPLES, CHANNELS, LENGTH))
        if any(isinstance(layer, MaskZeroLayer) for layer in self.layers):
            features *= self.numbers.random((EXAMPLES, 1, LENGTH)) < 0.8
        over_time, mask = self.end in ("loss", "series"), self.mask()
        shape = (EXAMPLES, LENGTH) if over_time else (EXAMPLES,)
        labels = np.eye(CLASSES)[self.numbers.integers(0, CLASSES, shape)]
        if over_time and self.format == "NCW":
            labels = np.swapaxes(labels, 1, 2)
        if self.format == "NWC":
            features = np.swapaxes(features, 1, 2)
        # where features alone are masked, Java counts masked steps in the loss
        return DataSet(features, labels, mask, mask if over_time else None)

    def finished(self) -> RandomSeries:
        self.layers += [self.layer() for _ in range(self.rng.choice([0, 1, 1, 2]))]
        if self.end == "pool" and (not self.layers or isinstance(self.layers[-1], DenseLayer)):  # rows behind it
            self.layers.append(self.unit())
        self.ends()
        if len(self.layers) < 2:
            self.layers.insert(0, self.unit())
        series: dict[str, Any] = {}
        if self.truncated:
            length = self.rng.choice([2, 3, 4, LENGTH])
            series = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": length, "tbptt_back_length": length}
        input_type = InputType.recurrent(CHANNELS, LENGTH, self.format)
        conf = self.network().list(*self.layers, input_type=input_type, **series)
        steady = not any(layer.reads_ahead or layer.of_whole_series for layer in conf.layers)
        failing = (SelfAttentionLayer, RecurrentAttentionLayer, TimeDistributed)  # of one step, in Java
        steady = steady and not any(isinstance(layer, failing) for layer in conf.layers)
        return RandomSeries(conf, self.data(), steady and self.format == "NCW")


def draw_series(number: int) -> RandomSeries:
    """Return the network of that number."""
    return _Drawing(number).finished()
