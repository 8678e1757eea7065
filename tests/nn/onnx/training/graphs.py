"""Graphs with one vertex between layers that are trained."""

import numpy as np

from nn import (
    ComputationGraph,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
)

CLASSES = 3
POINTS = {3: Convolution1DLayer, 4: ConvolutionLayer, 5: Convolution3D}


def _before(shape):
    """Return a layer of the same size, and the type of its input."""
    channels, *places = shape[1:]
    if not places:
        return DenseLayer(n_out=channels, activation="tanh"), InputType.feed_forward(channels)
    layer = POINTS[len(shape)](n_out=channels, kernel_size=1, stride=1, activation="tanh")
    if len(places) == 1:
        return layer, InputType.recurrent(channels, *places)
    kinds = {2: InputType.convolutional, 3: InputType.convolutional3d}
    return layer, kinds[len(places)](*places, channels)


def graph_of(case, outputs, **settings):
    """Return a graph of a row of tests/cases/vertices.py; `outputs` is the shape of the vertex' activations."""
    names = [f"in{number}" for number in range(len(case.shapes))]
    pairs = [_before(shape) for shape in case.shapes]
    nodes = {f"{name}_before": (layer, name) for name, (layer, _) in zip(names, pairs, strict=True)}
    nodes["vertex"] = (case.vertex, *nodes)
    if len(outputs) > 2:
        nodes["pool"] = (GlobalPoolingLayer("avg"), "vertex")
    nodes["out"] = (OutputLayer(n_out=CLASSES), "pool" if len(outputs) > 2 else "vertex")
    types = {name: kind for name, (_, kind) in zip(names, pairs, strict=True)}
    conf = NeuralNetConfiguration(seed=5, updater="nesterovs", **settings).graph(types, nodes, "out")
    return ComputationGraph(conf).init()


def labels_of(examples):
    """Return one-hot labels."""
    return np.eye(CLASSES)[np.arange(examples) % CLASSES]
