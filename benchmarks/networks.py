"""The networks that are timed, and the same in PyTorch."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
from lenet_mnist import lenet

import nd
from nd.dataset import DataSet
from nn import (
    ConvolutionLayer,
    DenseLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Nesterovs

if TYPE_CHECKING:
    import torch

LEARNING_RATE, MOMENTUM, L2 = 0.01, 0.9, 5e-4
LOSS_TOLERANCE = 1e-5
PEERS = ("torch", "torch-channels-last", "torch-compile")


class Peer(NamedTuple):
    """The same network and minibatch in PyTorch."""

    loss: Callable[[], float]
    step: Callable[[], object]
    output: Callable[[], object]


def mlp(*sizes: int, l2: float = L2) -> MultiLayerConfiguration:
    """Return a perceptron with ReLU between and softmax at the end."""
    hidden = [DenseLayer(n_in=n_in, n_out=n_out, activation="relu") for n_in, n_out in pairwise(sizes[:-1])]
    out = OutputLayer(n_in=sizes[-2], n_out=sizes[-1], activation="softmax", loss="mcxent")
    updater = Nesterovs(LEARNING_RATE, momentum=MOMENTUM)
    return NeuralNetConfiguration(seed=123, l2=l2, weight_init="xavier", updater=updater).list(*hidden, out)


CONFIGURATIONS: dict[str, Callable[[], MultiLayerConfiguration]] = {
    "2-20-2": lambda: mlp(2, 20, 2, l2=0.0),
    "784-1000-10": lambda: mlp(784, 1000, 10),
    "784-64-10": lambda: mlp(784, 64, 10),
    "lenet": lambda: lenet(123),
}
"""Name -> configuration, sorted."""


def make(name: str, batch: int) -> tuple[MultiLayerNetwork, DataSet]:
    """Return a network and a minibatch of noise: the arithmetic does not depend on what it shows."""
    net = MultiLayerNetwork(CONFIGURATIONS[name]()).init()
    n_in, n_out = 784 if name == "lenet" else net.conf.layers[0].n_in, net.conf.layers[-1].n_out
    rng = np.random.default_rng(0)
    labels = np.eye(n_out, dtype=np.float32)[rng.integers(0, n_out, batch)]
    return net, DataSet(np.asfortranarray(rng.random((batch, n_in), np.float32)), np.asfortranarray(labels))


def make_peer(net: MultiLayerNetwork, data: DataSet, peer: str) -> Peer:
    """Return PyTorch's network with the same weights, and its training step with the same updater.

    Raises
    ------
    SystemExit
        It computes another loss: then there is nothing to compare.
    """
    import torch

    model = model_of(net)
    images = torch.tensor(np.ascontiguousarray(data.features))
    if isinstance(net.conf.layers[0], ConvolutionLayer):
        images = images.reshape(-1, 1, 28, 28)
        if peer == "torch-channels-last":
            model, images = model.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)
    optimizer = optimizer_of(net, model)
    classes, cross_entropy = torch.tensor(data.labels.argmax(1)), torch.nn.CrossEntropyLoss()
    run = torch.compile(model) if peer == "torch-compile" else model

    def step() -> None:
        optimizer.zero_grad()
        cross_entropy(run(images), classes).backward()
        optimizer.step()

    def output() -> None:
        with torch.inference_mode():
            torch.softmax(run(images), 1)

    found = Peer(lambda: cross_entropy(run(images), classes).item(), step, output)
    check_loss(loss_of(net, data), found.loss(), peer)
    return found


def model_of(net: MultiLayerNetwork) -> torch.nn.Module:
    """Return PyTorch's network with the same weights, on the host."""
    import torch

    layers: list[torch.nn.Module] = []
    for index, layer in enumerate(net.conf.layers):
        if isinstance(layer, ConvolutionLayer):
            ours = torch.nn.Conv2d(layer.n_in, layer.n_out, layer.kernel_size)
        elif isinstance(layer, (DenseLayer, OutputLayer)):
            if layers and isinstance(layers[-1], torch.nn.MaxPool2d):
                layers.append(torch.nn.Flatten())
            ours = torch.nn.Linear(layer.n_in, layer.n_out)
        else:
            layers.append(torch.nn.MaxPool2d(layer.kernel_size, layer.stride))
            continue
        W, b = (np.ascontiguousarray(nd.to_host(net.get_param(f"{index}_{name}"))) for name in "Wb")
        ours.weight.data = torch.tensor(W if W.ndim == 4 else np.ascontiguousarray(W.T))
        ours.bias.data = torch.tensor(b[0])
        layers.append(ours)
        if isinstance(layer, DenseLayer):
            layers.append(torch.nn.ReLU())
    return torch.nn.Sequential(*layers)


def optimizer_of(net: MultiLayerNetwork, model: torch.nn.Module, **options: bool) -> torch.optim.Optimizer:
    """Return PyTorch's updater of the same arithmetic: Nesterovs, and L2 on weights alone."""
    import torch

    weights = [each for name, each in model.named_parameters() if name.endswith("weight")]
    biases = [each for name, each in model.named_parameters() if name.endswith("bias")]
    groups = [{"params": weights, "weight_decay": net.conf.base.l2}, {"params": biases}]
    return torch.optim.SGD(groups, LEARNING_RATE, momentum=MOMENTUM, nesterov=True, **options)


def loss_of(net: MultiLayerNetwork, data: DataSet) -> float:
    """Return our loss without the penalty on the weights, which PyTorch's does not contain."""
    weights = [nd.to_host(view) for key, view in net.param_table().items() if "W" in key]
    return net.score(data) - net.conf.base.l2 / 2 * sum(float((W**2).sum()) for W in weights)


def check_loss(ours: float, theirs: float, name: str, tolerance: float = LOSS_TOLERANCE) -> None:
    """Raise SystemExit if the losses differ."""
    if not abs(theirs / ours - 1) <= tolerance:
        raise SystemExit(f"{name} computes loss {theirs} on the same weights, we {ours}: nothing to compare")
