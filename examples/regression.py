"""Train the small network of the Deeplearning4j source-reading articles on a straight line.

The configuration is theirs, call by call; the data are y = 0.5 x + 0.1 on 0..1. Their dropout of 0.5 is on the only
input, so half of the time the network does not see x and learns a line that is much too flat; try --retain 1.
"""

from __future__ import annotations

import argparse

import nd
from nn import (
    Activation,
    DenseLayer,
    LossFunction,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OptimizationAlgorithm,
    OutputLayer,
    Updater,
    WeightInit,
)
from optimize import CollectScoresListener


def articles_network(seed: int, learning_rate: float, retain: float) -> MultiLayerConfiguration:
    """Return the network of the articles: 1 - 2 - 1, with dropout on the first layer's input."""
    conf: MultiLayerConfiguration = (
        NeuralNetConfiguration.Builder()
        .seed(seed).iterations(1)
        .optimizationAlgo(OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT)
        .learningRate(learning_rate).weightInit(WeightInit.XAVIER).updater(Updater.SGD)
        .list()
        .layer(0, DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).dropOut(retain).build())
        .layer(1, OutputLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).nIn(2).nOut(1).build())
        .pretrain(False).backprop(True).build()
    )  # fmt: skip
    return conf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000, help="training steps over all points, default: 2000")
    parser.add_argument("--points", type=int, default=64, help="points on the line, default: 64")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="per step, default: 0.01")
    parser.add_argument("--seed", type=int, default=12345, help="of weights and dropout, default: 12345")
    parser.add_argument("--retain", type=float, default=0.5, help="probability to keep an input, default: 0.5")
    arguments = parser.parse_args()

    x = nd.reshape(nd.arange(arguments.points), (arguments.points, 1)) / arguments.points
    y = 0.5 * x + 0.1
    net = MultiLayerNetwork(articles_network(arguments.seed, arguments.learning_rate, arguments.retain)).init()
    scores = CollectScoresListener(frequency=max(arguments.steps // 10, 1))
    net.set_listeners(scores)
    net.fit(x, y, epochs=arguments.steps)

    print(net.summary())
    for iteration, score in zip(scores.iterations, scores.scores, strict=True):
        print(f"iteration {iteration:5d}  score {score:.5f}")
    prediction = nd.to_host(net.output([[0.0], [0.5], [1.0]]))[:, 0]
    for at, value in zip((0.0, 0.5, 1.0), prediction, strict=True):
        print(f"x = {at:.1f}  predicted {value:.3f}  true {0.5 * at + 0.1:.3f}")


if __name__ == "__main__":
    main()
