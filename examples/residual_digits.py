"""Train and evaluate a residual network on the 1,797 handwritten digits that come with the library.

21 convolutions with batch normalisation in three stages of 16, 32 and 64 channels: one to begin with, three blocks of
two convolutions in every stage, and one in the shortcut where a stage halves the images and doubles the channels.
"""

from __future__ import annotations

import argparse
import pathlib
import time
from typing import Any

import nd
from nd.dataset import DigitsDataSetIterator
from nn import (
    ActivationLayer,
    BatchNormalization,
    ComputationGraph,
    ComputationGraphConfiguration,
    ConvolutionLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam, MapSchedule, PerformanceListener, ScoreIterationListener

CHANNELS = (16, 32, 64)
BLOCKS = 3
TEST_BATCH = 256

Nodes = dict[str, tuple[Any, ...]]


def convolution(nodes: Nodes, name: str, source: str, channels: int, size: int, stride: int) -> str:
    """Add a convolution without biases and its batch normalisation; return the name of the latter."""
    nodes[name] = (
        ConvolutionLayer(
            n_out=channels,
            kernel_size=(size, size),
            stride=(stride, stride),
            convolution_mode="same",
            has_bias=False,
            activation="identity",
        ),
        source,
    )
    nodes[f"{name}-norm"] = BatchNormalization(), name
    return f"{name}-norm"


def block(nodes: Nodes, name: str, source: str, channels: int, stride: int) -> str:
    """Add two convolutions and what goes around them; return the name of the sum's activations."""
    first = convolution(nodes, f"{name}-first", source, channels, 3, stride)
    nodes[f"{name}-relu"] = ActivationLayer("relu"), first
    second = convolution(nodes, f"{name}-second", f"{name}-relu", channels, 3, 1)
    around = convolution(nodes, f"{name}-shortcut", source, channels, 1, stride) if stride > 1 else source
    nodes[f"{name}-sum"] = ElementWiseVertex("add"), second, around
    nodes[name] = ActivationLayer("relu"), f"{name}-sum"
    return name


def residual(seed: int, iterations: int) -> ComputationGraphConfiguration:
    """Return the network for 28x28 images in one channel, whose learning rate falls twice in so many iterations."""
    nodes: Nodes = {}
    first = convolution(nodes, "begin", "image", CHANNELS[0], 3, 2)
    nodes["begin-relu"] = ActivationLayer("relu"), first
    last = "begin-relu"
    for stage, channels in enumerate(CHANNELS):
        for number in range(BLOCKS):
            halves = stage > 0 and number == 0
            last = block(nodes, f"stage{stage}-block{number}", last, channels, 2 if halves else 1)
    nodes["pool"] = GlobalPoolingLayer("avg"), last
    nodes["digit"] = OutputLayer(n_out=10, activation="softmax"), "pool"
    rate = MapSchedule("iteration", {0: 3e-3, iterations // 2: 1e-3, iterations * 4 // 5: 2e-4})
    return NeuralNetConfiguration(seed=seed, weight_init="relu", updater=Adam(rate), l2=1e-4).graph(
        inputs={"image": InputType.convolutional_flat(28, 28, 1)}, nodes=nodes, outputs="digit"
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=["auto", "numpy", "cupy"], help="default: the environment's ND_BACKEND")
    parser.add_argument("--epochs", type=int, default=12, help="default: 12")
    parser.add_argument("--batch", type=int, default=32, help="images per training step, default: 32")
    parser.add_argument("--seed", type=int, default=123, help="of weights and order, default: 123")
    parser.add_argument("--save", metavar="FILE", help="write the trained network as a Deeplearning4j zip")
    parser.add_argument("--picture", metavar="FILE", help="draw the network: ends in .svg, or in .dot for Graphviz")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    for option in ("save", "picture"):
        path = getattr(arguments, option)
        if path and not pathlib.Path(path).absolute().parent.is_dir():
            raise SystemExit(f"--{option}: the folder of {path} must exist, got none")
    if arguments.backend:
        nd.set_backend(arguments.backend)
    train = DigitsDataSetIterator(arguments.batch, train=True, seed=arguments.seed)
    graph = ComputationGraph(residual(arguments.seed, arguments.epochs * len(train))).init()
    print(f"backend: {nd.backend().name}")
    print(graph.summary())
    if arguments.picture:
        graph.picture(arguments.picture)
    graph.set_listeners(ScoreIterationListener(50), PerformanceListener())
    started = time.perf_counter()
    try:
        graph.fit(train, epochs=arguments.epochs)
    except KeyboardInterrupt:
        print(f"interrupted at iteration {graph.iteration_count}: going on with what is learnt so far")
    print(f"trained for {time.perf_counter() - started:.1f} s")
    evaluation = graph.evaluate(DigitsDataSetIterator(TEST_BATCH, train=False))
    print(evaluation.stats())
    print(f"accuracy on {evaluation.num_row_counter:,} held-out images: {evaluation.accuracy():.4f}")
    if arguments.save:
        graph.save(arguments.save)
        print(f"saved {arguments.save}")


if __name__ == "__main__":
    try:
        main()
    except nd.NdError as error:
        raise SystemExit(f"residual_digits: {error}") from None
