"""The networks that are timed, and the same in PyTorch."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
from lenet_mnist import lenet
from residual_digits import residual
from series_networks import SERIES

import nd
from nd.dataset import DataSet
from nn import (
    ComputationGraph,
    ComputationGraphConfiguration,
    ConvolutionLayer,
    DenseLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Nesterovs

LEARNING_RATE, MOMENTUM, L2 = 0.01, 0.9, 5e-4
LOSS_TOLERANCE, GRADIENT_TOLERANCE = 1e-5, 2e-5
ALIKE = 1_000_000
"""Iterations in which the residual network's learning rate would fall: the steps that are timed have one rate."""
PEERS = ("torch", "torch-channels-last", "torch-compile")


Network = MultiLayerNetwork | ComputationGraph


class Peer(NamedTuple):
    """The same network and minibatch in PyTorch."""

    loss: Callable[[], float]
    step: Callable[[], object]
    output: Callable[[], np.ndarray]


def mlp(*sizes: int, l2: float = L2) -> MultiLayerConfiguration:
    """Return a perceptron with ReLU between and softmax at the end."""
    hidden = [DenseLayer(n_in=n_in, n_out=n_out, activation="relu") for n_in, n_out in pairwise(sizes[:-1])]
    out = OutputLayer(n_in=sizes[-2], n_out=sizes[-1], activation="softmax", loss="mcxent")
    updater = Nesterovs(LEARNING_RATE, momentum=MOMENTUM)
    return NeuralNetConfiguration(seed=123, l2=l2, weight_init="xavier", updater=updater).list(*hidden, out)


CONFIGURATIONS: dict[str, Callable[[], MultiLayerConfiguration | ComputationGraphConfiguration]] = {
    "2-20-2": lambda: mlp(2, 20, 2, l2=0.0),
    "784-1000-10": lambda: mlp(784, 1000, 10),
    "784-64-10": lambda: mlp(784, 64, 10),
    "lenet": lambda: lenet(123),
    "lenet-graph": lambda: ComputationGraphConfiguration.of_chain(lenet(123)),
    "residual": lambda: residual(123, ALIKE),
    **{name: case.conf for name, case in SERIES.items()},
}
"""Name -> configuration."""


def of_images(name: str) -> bool:
    """Tell whether a network begins with a convolution over images of 28x28 in one channel."""
    return isinstance(CONFIGURATIONS[name]().nodes[0].conf, ConvolutionLayer)


def make(name: str, batch: int) -> tuple[Network, DataSet]:
    """Return a network and a minibatch of noise: the arithmetic does not depend on what it shows."""
    conf = CONFIGURATIONS[name]()
    net: Network
    net = (MultiLayerNetwork if isinstance(conf, MultiLayerConfiguration) else ComputationGraph)(conf).init()
    if name in SERIES:
        return net, SERIES[name].minibatch(batch)
    n_in, n_out = 784 if of_images(name) else conf.nodes[0].conf.n_in, conf.nodes[-1].conf.n_out
    rng = np.random.default_rng(0)
    labels = np.eye(n_out, dtype=np.float32)[rng.integers(0, n_out, batch)]
    return net, DataSet(np.asfortranarray(rng.random((batch, n_in), np.float32)), np.asfortranarray(labels))


def make_peer(net: Network, data: DataSet, peer: str, training: bool = True) -> Peer:
    """Return PyTorch's network with the same weights, and its training step with the same updater.

    Without `training` its batch normalisation has the running statistics, as predictions have.

    Raises
    ------
    SystemExit
        It computes another loss: then there is nothing to compare.
    """
    import torch
    from torch_models import gradients_of_series, model_of, optimizer_of

    torch.set_num_threads(nd.backend().workers)
    model, series = model_of(net).train(training), data.features.ndim == 3
    inputs, classes = tensors(net, data)
    if peer == "torch-channels-last":
        model, inputs = model.to(memory_format=torch.channels_last), inputs.to(memory_format=torch.channels_last)
    optimizer = optimizer_of(net, model)
    cross_entropy = torch.nn.CrossEntropyLoss(reduction="sum" if series else "mean")
    run = torch.compile(model) if peer == "torch-compile" else model

    def loss() -> Any:
        found = cross_entropy(run(inputs), classes)
        return found / len(data.features) if series else found

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    def output() -> np.ndarray:
        with torch.inference_mode():
            return torch.softmax(run(inputs), 1).numpy()

    found = Peer(lambda: loss().item(), step, output)
    check_loss(loss_of(net, data, training), found.loss(), peer)
    if series:
        loss().backward()
        check_gradients(net, data, gradients_of_series(net, model), peer)
    return found


def check_gradients(
    net: Network, data: DataSet, theirs: dict[str, np.ndarray], name: str, tolerance: float = GRADIENT_TOLERANCE
) -> None:
    """Raise SystemExit if their gradients of a minibatch, the mean over its examples, are not ours."""
    net.set_input(data.features)
    net.set_labels(data.labels)
    net.compute_gradient_and_score()
    for key, gradient in net.gradient().gradient_for_variable().items():
        ours = nd.to_host(gradient) / len(data.features)
        far = float(abs(ours - theirs[key]).max() / abs(ours).max())
        if not far <= tolerance:
            raise SystemExit(f"{name} has another gradient of {key}, by {far} of its largest: nothing to compare")


def tensors(net: Network, data: DataSet) -> tuple[Any, Any]:
    """Return what PyTorch takes of a minibatch, and the classes; series step by step ``[T, N, C]``."""
    import torch

    if data.features.ndim == 3:
        series, classes = data.features.transpose(2, 0, 1), data.labels.argmax(1).T.ravel()
        return torch.tensor(np.ascontiguousarray(series)), torch.tensor(classes)
    inputs = torch.tensor(np.ascontiguousarray(data.features))
    if isinstance(net.conf.nodes[0].conf, ConvolutionLayer):
        inputs = inputs.reshape(-1, 1, 28, 28)
    return inputs, torch.tensor(data.labels.argmax(1))


def loss_of(net: Network, data: DataSet, training: bool = False) -> float:
    """Return our loss without the penalty on the weights, which PyTorch's does not contain."""
    weights = [nd.to_host(view) for key, view in net.param_table().items() if key.endswith("_W")]
    return net.score(data, training) - (net.conf.base.l2 or 0.0) / 2 * sum(float((W**2).sum()) for W in weights)


def check_loss(ours: float, theirs: float, name: str, tolerance: float = LOSS_TOLERANCE) -> None:
    """Raise SystemExit if the losses differ."""
    if not abs(theirs / ours - 1) <= tolerance:
        raise SystemExit(f"{name} computes loss {theirs} on the same weights, we {ours}: nothing to compare")
