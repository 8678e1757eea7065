"""Graphs drawn at random: rows and images, branches that meet again, views of what came in, several outputs."""

import random

import numpy as np

from nd.dataset import MultiDataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    CenterLossOutputLayer,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    ElementWiseVertex,
    InputType,
    L2NormalizeVertex,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    ReshapeVertex,
    ScaleVertex,
    ShiftVertex,
    StackVertex,
    SubsamplingLayer,
    SubsetVertex,
    UnstackVertex,
)
from optimize import Adam

COLUMNS, SIDE, CHANNELS = 6, 6, 2
ACTIVATIONS = ["identity", "tanh", "relu", "softmax"]
ELEMENT_WISE = ["add", "subtract", "product", "average", "max"]
ONE_INPUT = [
    lambda rng, width: (
        DenseLayer(n_out=rng.choice([3, 6]), activation=rng.choice(ACTIVATIONS)),
        None,
    ),
    lambda rng, width: (ActivationLayer(activation=rng.choice(ACTIVATIONS)), width),
    lambda rng, width: (BatchNormalization(), width),
    lambda rng, width: (DropoutLayer(0.7), width),
    lambda rng, width: (ScaleVertex(rng.choice([0.5, -1.0])), width),
    lambda rng, width: (ShiftVertex(0.25), width),
    lambda rng, width: (SubsetVertex(0, width - 2), width - 1),
    lambda rng, width: (L2NormalizeVertex(), width),
    lambda rng, width: (ReshapeVertex(-1, width), width),
]
"""Return a node of one input of rows, and how many columns there are behind it; None: the layer's n_out."""


def rows_graph(number, nodes=14):
    """Return a graph of that number, of rows of two inputs, with two or three outputs."""
    rng = random.Random(number)
    graph, widths, unread = {}, {"a": COLUMNS, "b": COLUMNS}, ["a", "b"]

    def pick():
        """Return what nobody has read yet, or anything."""
        name = rng.choice(unread) if unread and rng.random() < 0.5 else rng.choice(list(widths))
        if name in unread:
            unread.remove(name)
        return name

    def add(node, width, *inputs):
        name = f"n{len(graph)}"
        graph[name], widths[name] = (node, *inputs), width
        unread.append(name)
        return name

    for _ in range(nodes):
        first, kind = pick(), rng.random()
        alike = [name for name in widths if widths[name] == widths[first]]
        if kind < 0.2:
            second = rng.choice(alike)
            unread[:] = [name for name in unread if name != second]
            add(
                ElementWiseVertex(rng.choice(ELEMENT_WISE)),
                widths[first],
                first,
                second,
            )
        elif kind < 0.35:
            second = pick()
            add(MergeVertex(), widths[first] + widths[second], first, second)
        elif kind < 0.4:
            stacked = add(StackVertex(), widths[first], first, rng.choice(alike))
            unread.remove(stacked)
            widths.pop(stacked)  # twice as many rows as there are examples
            add(UnstackVertex(rng.choice([0, 1]), 2), widths[first], stacked)
        else:
            node, width = rng.choice(ONE_INPUT)(rng, widths[first])
            add(node, width or node.n_out, first)
    return _closed(number, graph, unread, {name: InputType.feed_forward(COLUMNS) for name in "ab"}, rng)


def images_graph(number, nodes=8):
    """Return a graph of that number, of images of one input: as in ResNet and Inception."""
    rng = random.Random(number)
    graph, channels = {}, {"a": CHANNELS}
    unread = ["a"]

    def add(node, wide, *inputs):
        name = f"n{len(graph)}"
        graph[name], channels[name] = (node, *inputs), wide
        unread[:] = [each for each in unread if each not in inputs] + [name]

    for _ in range(nodes):
        first, kind = rng.choice(unread if rng.random() < 0.6 else list(channels)), rng.random()
        alike = [name for name in channels if channels[name] == channels[first]]
        if kind < 0.25:
            add(ElementWiseVertex("add"), channels[first], first, rng.choice(alike))
        elif kind < 0.4:
            second = rng.choice(list(channels))
            add(MergeVertex(), channels[first] + channels[second], first, second)
        elif kind < 0.7:
            kernel, n_out = rng.choice([1, 3]), rng.choice([2, 4])
            layer = ConvolutionLayer(kernel_size=kernel, n_out=n_out, convolution_mode="same", activation="relu")
            add(layer, n_out, first)
        elif kind < 0.85:
            pooling = SubsamplingLayer(rng.choice(["max", "avg"]), kernel_size=3, stride=1, convolution_mode="same")
            add(pooling, channels[first], first)
        else:
            add(rng.choice([BatchNormalization(), ActivationLayer(activation="identity")]), channels[first], first)
    return _closed(number, graph, unread, {"a": InputType.convolutional(SIDE, SIDE, CHANNELS)}, rng)


def _closed(number, graph, unread, inputs, rng):
    """Put losses behind a merge of all that nobody reads, and behind something in the middle."""
    loose = [name for name in unread if name in graph]
    merged = loose[0] if len(loose) == 1 else "all"
    if merged == "all":
        graph["all"] = (MergeVertex(), *loose)
    middle = rng.choice([name for name in graph if name != merged])
    graph["out"] = (OutputLayer(n_out=3, activation="softmax"), merged)
    graph["side"] = (CenterLossOutputLayer(n_out=2, activation="softmax", lambda_=0.1), middle)
    graph["sum"] = (OutputLayer(n_out=4, loss="mse", activation="identity"), "side")
    outputs = ["out", "side", "sum"][: rng.choice([2, 3])]
    if "sum" not in outputs:
        del graph["sum"]
    base = NeuralNetConfiguration(seed=number + 1, dtype="float64", updater=Adam(0.01), l2=1e-3)
    used = {name for node in graph.values() for name in node[1:]}
    inputs = {name: kind for name, kind in inputs.items() if name in used}
    return ComputationGraph(base.graph(inputs, graph, outputs)).init()


def batch_for(net, n, seed=0):
    """Return n examples for such a graph."""
    rng = np.random.default_rng([seed, n])
    shape = (CHANNELS, SIDE, SIDE) if net.conf.input_types[0].sizes[1:] else (COLUMNS,)
    classes = [net.conf.vertices[name].n_out for name in net.conf.outputs]
    labels = [np.eye(count)[rng.integers(0, count, n)] for count in classes]
    return MultiDataSet([rng.normal(size=(n, *shape)) for _ in net.conf.inputs], labels)
