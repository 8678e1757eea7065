"""Two networks of DL4J's zoo as configurations: graphs of many nodes, with branches.

Source: DL4J 1.0.0-M2.1, ``org.deeplearning4j.zoo.model.ResNet50`` and ``InceptionResNetV1``.
"""

from nn import (
    ActivationLayer,
    BatchNormalization,
    CenterLossOutputLayer,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    L2NormalizeVertex,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    ScaleVertex,
    SubsamplingLayer,
    TruncatedNormalDistribution,
    ZeroPaddingLayer,
)
from optimize import RmsProp

TRUNCATED_NORMAL = TruncatedNormalDistribution(0.0, 0.5)
A, B, C = "resnetA", "resnetB", "resnetC"
BLOCKS = {
    A: ([[(1, 32)], [(1, 32), (3, 32)], [(1, 32), (3, 32), (3, 32)]], 3, 0.17),
    B: ([[(1, 128)], [(1, 128), ((1, 3), 128), ((3, 1), 128)]], 1, 0.10),
    C: ([[(1, 192)], [(1, 192), ((1, 3), 192), ((3, 1), 192)]], 1, 0.20),
}
"""Blocks of Inception-ResNet V1: branches of convolutions (kernel, channels), the kernel behind them, their weight."""


class _Graph(dict):
    """Nodes by name, as `NeuralNetConfiguration.graph` takes them; every verb returns the name of what it added."""

    def add(self, name, node, *inputs):
        self[name] = (node, *inputs)
        return name


def resnet50(classes=1000, size=224, **settings):
    """ResNet50 for images of that size and three channels."""
    graph = _Graph()

    def convolution(place, kernel, n_out, below, stride=1, same=False):
        """Add a convolution and a batch normalization behind it."""
        stage, branch = place
        conv = ConvolutionLayer(
            kernel_size=kernel, stride=stride, n_out=n_out, convolution_mode="same" if same else "truncate"
        )
        return graph.add(
            f"bn{stage}_branch{branch}", BatchNormalization(), graph.add(f"res{stage}_branch{branch}", conv, below)
        )

    def relu(name, below):
        return graph.add(name, ActivationLayer(activation="relu"), below)

    def block(stage, filters, below, stride=None):
        """Add three convolutions beside a shortcut, which has one of its own where there is a stride."""
        narrow, wide = filters
        first = convolution((stage, "2a"), 1, narrow, below, stride or 1)
        second = convolution((stage, "2b"), 3, narrow, relu(f"act{stage}_branch2a", first), same=True)
        third = convolution((stage, "2c"), 1, wide, relu(f"act{stage}_branch2b", second))
        shortcut = below if stride is None else convolution((stage, "1"), 1, wide, below, stride)
        return relu(f"res{stage}_branch", graph.add(f"short{stage}_branch", ElementWiseVertex("add"), third, shortcut))

    padded = graph.add("stem-zero", ZeroPaddingLayer(padding=(3, 3)), "input")
    stem = graph.add("stem-cnn1", ConvolutionLayer(kernel_size=7, stride=2, n_out=64), padded)
    stem = relu("stem-act1", graph.add("stem-batch1", BatchNormalization(), stem))
    last = graph.add("stem-maxpool1", SubsamplingLayer("max", kernel_size=3, stride=2), stem)
    for stage, letters in ((2, "abc"), (3, "abcd"), (4, "abcdef"), (5, "abc")):
        narrow = 16 * 2**stage
        for letter in letters:
            last = block(f"{stage}{letter}", (narrow, 4 * narrow), last, 2 if letter == "a" else None)
    graph.add("avgpool", SubsamplingLayer("max", kernel_size=3, stride=2), last)
    graph.add("output", OutputLayer(n_out=classes, activation="softmax"), "avgpool")
    return _settings("identity", l1=1e-7, **settings).graph(
        {"input": InputType.convolutional(size, size, 3)}, graph, ["output"]
    )


def inception_resnet_v1(classes=1000, size=160, **settings):
    """Inception-ResNet V1 for images of that size and three channels, with a loss that has centers."""
    graph = _Graph()

    def convolution(name, kernel, n_out, below, stride=1, same=True):
        """Add a convolution and a batch normalization behind it; the latter's activation is none, as in Java."""
        mode = "same" if same else "truncate"
        conv = ConvolutionLayer(kernel_size=kernel, stride=stride, n_out=n_out, convolution_mode=mode)
        normalization = BatchNormalization(decay=0.995, eps=0.001)
        return graph.add(f"{name}-batch", normalization, graph.add(f"{name}-cnn", conv, below))

    def pool(name, below):
        return graph.add(name, SubsamplingLayer("max", kernel_size=3, stride=2), below)

    def branch(name, convolutions, below, **ends):
        """Add convolutions one after the other; `ends` holds of the last."""
        for number, (kernel, n_out) in enumerate(convolutions, 1):
            settings = ends if number == len(convolutions) else {}
            below = convolution(f"{name}-{number}", kernel, n_out, below, **settings)
        return below

    def blocks(kind, count, n_out, below):
        """Add blocks of one kind; each adds what its branches make of what comes in, times a weight, to that."""
        branches, kernel, weight = BLOCKS[kind]
        for number in range(1, count + 1):
            name = f"{kind}-{number}"
            parts = [branch(f"{name}-{part}", convs, below) for part, convs in enumerate(branches, 1)]
            merged = graph.add(f"{name}-merge", MergeVertex(), *parts)
            wide = convolution(f"{name}-wide", kernel, n_out, merged)
            scaled = graph.add(f"{name}-scaling", ScaleVertex(weight), wide)
            same = graph.add(f"{name}-identity", ActivationLayer(activation="identity"), below)
            below = graph.add(f"{name}-shortcut", ElementWiseVertex("add"), scaled, same)
            below = graph.add(f"{name}-activation", ActivationLayer(activation="tanh"), below)
        return below

    def reduced(name, branches, below):
        """Add branches that halve height and width, one of them a pooling."""
        parts = [branch(f"{name}-{part}", convs, below, stride=2, same=False) for part, convs in enumerate(branches, 1)]
        return graph.add(name, MergeVertex(), *parts, pool(f"{name}-pool", below))

    last = convolution("stem-1", 3, 32, "input", 2, same=False)
    last = convolution("stem-3", 3, 64, convolution("stem-2", 3, 32, last, same=False))
    last = convolution("stem-5", 1, 80, pool("stem-4", last))
    last = convolution("stem-7", 3, 192, convolution("stem-6", 3, 128, last, same=False), 2, same=False)
    last = blocks(A, 5, 192, last)
    last = reduced("reduceA", [[(3, 192)], [(1, 128), (3, 128), (3, 192)]], last)
    last = graph.add("resnetB-activation", ActivationLayer(activation="tanh"), last)
    last = blocks(B, 10, 576, last)
    by_three = [(1, 256), (3, 256)]
    last = reduced("reduceB", [by_three, by_three, [*by_three, (3, 256)]], last)
    last = blocks(C, 5, 1344, last)
    last = graph.add("avgpool", SubsamplingLayer("avg", kernel_size=1, stride=2), last)
    last = graph.add("bottleneck", DenseLayer(n_out=128), last)
    last = graph.add("embeddings", L2NormalizeVertex((1,), 1e-10), last)
    output = CenterLossOutputLayer(n_out=classes, activation="softmax", alpha=0.9, lambda_=1e-4)
    graph.add("outputLayer", output, last)
    kind = {"input": InputType.convolutional(size, size, 3)}
    return _settings("relu", **settings).graph(kind, graph, ["outputLayer"])


def _settings(activation, **settings):
    defaults = {"seed": 1234, "updater": RmsProp(0.1, 0.96, 0.001), "weight_init": TRUNCATED_NORMAL, "l2": 5e-5}
    return NeuralNetConfiguration(**{**defaults, "activation": activation, **settings})
