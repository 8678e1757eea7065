"""Time a LeNet training step on the CPU against PyTorch: forward, backward, Nesterovs with L2, one minibatch."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Callable

import numpy as np
import torch
from interleaved import interleave, machine, table

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
from lenet_mnist import lenet

import nd
from nd.dataset import DataSet
from nn import MultiLayerNetwork

LOSS_TOLERANCE = 1e-5


def random_batch(batch: int) -> DataSet:
    """Return images of noise with random labels: the arithmetic does not depend on what they show."""
    rng = np.random.default_rng(0)
    labels = np.eye(10, dtype=np.float32)[rng.integers(0, 10, batch)]
    return DataSet(np.asfortranarray(rng.random((batch, 784), np.float32)), np.asfortranarray(labels))


def torch_step(
    net: MultiLayerNetwork, data: DataSet, memory_format: torch.memory_format
) -> tuple[Callable[[], float], Callable[[], float]]:
    """Return PyTorch's loss and training step on the network's weights and the same minibatch."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 20, 5), torch.nn.MaxPool2d(2), torch.nn.Conv2d(20, 50, 5), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(800, 500), torch.nn.ReLU(), torch.nn.Linear(500, 10),
    )  # fmt: skip
    weights = {key: np.ascontiguousarray(nd.to_host(view)) for key, view in net.param_table().items()}
    for ours, theirs in (("0", "0"), ("2", "2"), ("4", "5"), ("5", "7")):
        W = weights[f"{ours}_W"] if ours in "02" else np.ascontiguousarray(weights[f"{ours}_W"].T)
        model.get_parameter(f"{theirs}.weight").data = torch.tensor(W)
        model.get_parameter(f"{theirs}.bias").data = torch.tensor(weights[f"{ours}_b"][0])
    model = model.to(memory_format=memory_format)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, nesterov=True, weight_decay=5e-4)
    images = torch.tensor(np.ascontiguousarray(data.features).reshape(-1, 1, 28, 28)).to(memory_format=memory_format)
    classes = torch.tensor(data.labels.argmax(1))
    cross_entropy = torch.nn.CrossEntropyLoss()

    def step() -> float:
        optimizer.zero_grad()
        loss = cross_entropy(model(images), classes)
        loss.backward()
        optimizer.step()
        return loss.item()

    return lambda: cross_entropy(model(images), classes).item(), step


def unregularised_loss(net: MultiLayerNetwork, data: DataSet) -> float:
    """Return the mean loss without the penalty on the weights, which PyTorch's does not contain."""
    penalty = sum(
        2.5e-4 * float((nd.to_host(view) ** 2).sum()) for key, view in net.param_table().items() if "W" in key
    )
    return net.score(data) - penalty


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64, help="images per step, default: 64")
    parser.add_argument("--rounds", type=int, default=30, help="default: 30")
    arguments = parser.parse_args()
    data = random_batch(arguments.batch)
    net = MultiLayerNetwork(lenet(123)).init()
    loss = unregularised_loss(net, data)
    contenders: dict[str, Callable[[], object]] = {"ndwright": lambda: net.fit_batch(data)}
    formats = {"PyTorch": torch.contiguous_format, "PyTorch channels_last": torch.channels_last}
    for name, memory_format in formats.items():
        their_loss, step = torch_step(net, data, memory_format)
        if abs(their_loss() / loss - 1) > LOSS_TOLERANCE:
            raise SystemExit(f"{name} computes loss {their_loss()} on the same weights, we {loss}: nothing to compare")
        contenders[name] = step
    print(
        f"LeNet training step, batch {arguments.batch}; {machine()}; numpy {np.__version__}, torch {torch.__version__}"
    )
    print(table(interleave(contenders, arguments.rounds), arguments.batch))


if __name__ == "__main__":
    main()
