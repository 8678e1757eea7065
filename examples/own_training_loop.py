"""Write the loop below `fit` out: gradients added over several minibatches, clipped, two learning rates.

Everything is public, and it is all that fit does for a step: compute the gradient, change it at will, update, count.
The network learns the bundled digits; --accumulate 1 --clip inf is what fit itself would do.
"""

from __future__ import annotations

import argparse
import math

import nd
from nd.dataset import DigitsDataSetIterator
from nn import DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam


def network(seed: int) -> MultiLayerNetwork:
    """Return a network whose last layer learns five times as fast as the others."""
    base = NeuralNetConfiguration(seed=seed, updater=Adam(0.002), l2=1e-4)
    layers = (
        DenseLayer(n_out=128, activation="relu"),
        DenseLayer(n_out=64, activation="relu"),
        OutputLayer(n_out=10, activation="softmax", updater=Adam(0.01)),
    )
    return MultiLayerNetwork(base.list(*layers, input_type=InputType.feed_forward(784))).init()


def step(net: MultiLayerNetwork, minibatches: list[nd.dataset.DataSet], clip: float) -> float:
    """Take one step on all minibatches; return the score before it."""
    result = net.compute_gradient_and_score([net.step_input(data) for data in minibatches])
    gradient = result.gradient()  # the network's vector [n]: sums over the examples, which the update divides
    norm = math.sqrt(nd.item(nd.dot(gradient, gradient))) / result.divisor
    if norm > clip:
        nd.muli(gradient, clip / norm)
    outcome = net.updater.update(result, net.iteration_count, net.epoch_count)
    if outcome.error is not None:  # score or gradient were not finite: nothing has changed
        raise outcome.error
    net.iteration_count += 1
    return result.score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accumulate", type=int, default=4, help="minibatches of a step, default: 4")
    parser.add_argument("--clip", type=float, default=0.5, help="largest norm of a mean gradient, default: 0.5")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=42)
    arguments = parser.parse_args()
    net = network(arguments.seed)
    training = DigitsDataSetIterator(arguments.batch, train=True)
    for epoch in range(arguments.epochs):
        minibatches = list(training)
        starts = range(0, len(minibatches), arguments.accumulate)
        scores = [step(net, minibatches[start : start + arguments.accumulate], arguments.clip) for start in starts]
        net.end_epoch()  # tells the listeners, and counts
        print(f"epoch {epoch + 1:2}: score {sum(scores) / len(scores):.4f}")
    print(net.evaluate(DigitsDataSetIterator(256, train=False)).stats())


if __name__ == "__main__":
    main()
