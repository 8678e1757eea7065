"""PyTorch's networks of the same weights, made from our configurations node by node. Importing this imports PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from networks import Network
from torch_layers import Layers, Modules, Tie

from nd.dataset import DataSet
from nn import LSTM, Bidirectional, EmbeddingSequenceLayer, FeedForwardToCnnPreProcessor, SimpleRnn


class Graph(torch.nn.Module):
    """Modules whose activations are forgotten when the last that reads them has run, as those of Python's names are.

    Parameters
    ----------
    modules : list of Module
    sources : list of tuple of int
        Numbers of the modules whose activations each of them takes; -1 for the images.
    """

    def __init__(self, modules: Modules, sources: Sequence[tuple[int, ...]]) -> None:
        super().__init__()
        self.steps = torch.nn.ModuleList(modules)
        last = {source: number for number, each in enumerate(sources) for source in each}
        ended = [[source for source in each if last[source] == number] for number, each in enumerate(sources)]
        self._reads = list(zip(sources, ended, strict=True))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        activations = {-1: images}
        for number, (module, (sources, ended)) in enumerate(zip(self.steps, self._reads, strict=True)):
            inputs = [activations[source] for source in sources]
            for source in ended:
                del activations[source]
            activations[number] = module(*inputs)
            del inputs
        return activations[number]


class Translation(NamedTuple):
    """PyTorch's network of ours."""

    model: torch.nn.Module
    ties: list[Tie]

    def gradients(self) -> dict[str, np.ndarray]:
        """Return PyTorch's gradients by our names, in our order."""
        return {tie.key: tie.ours(tie.parameter.grad) for tie in self.ties}  # type: ignore[arg-type]


def translate(net: Network) -> Translation:
    """Return PyTorch's network with the same weights, on the host; without the softmax, which its loss contains.

    Raises
    ------
    SystemExit
        It has another number of parameters, running statistics among them.
    """
    types = net.conf.node_types([None]) or [None] * len(net.conf.nodes)
    layers = Layers(net, by_time(net))
    steps = [layers.of_node(node, known) for node, known in zip(net.conf.nodes, types, strict=True)]
    sources = [tuple(source.node for source in node.inputs) for node in net.conf.nodes]
    model: torch.nn.Module
    if sources == [(number - 1,) for number in range(len(sources))]:
        model = torch.nn.Sequential(*(each for modules in steps for each in modules))
    else:
        joined = [modules[0] if len(modules) == 1 else torch.nn.Sequential(*modules) for modules in steps]
        model = Graph(joined, sources)
    frozen = {name for name, each in model.named_parameters() if not each.requires_grad}
    counted = [each for name, each in model.state_dict().items() if name not in frozen and each.is_floating_point()]
    theirs = sum(each.numel() for each in counted)
    if theirs != net.num_params():
        raise SystemExit(f"torch has {theirs} parameters, we have {net.num_params()}: nothing to compare")
    return Translation(model, layers.ties)


def by_time(net: Network) -> bool:
    """Tell whether PyTorch's network takes series step by step, ``[T, N, C]``."""
    return isinstance(net.conf.nodes[0].conf, (LSTM, SimpleRnn, Bidirectional))


class Minibatch(NamedTuple):
    """What PyTorch takes of a minibatch."""

    inputs: torch.Tensor
    targets: torch.Tensor
    """Classes, or numbers."""
    examples: int

    def loss(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of the examples, summed over places and steps."""
        if self.targets.is_floating_point():
            return torch.nn.functional.mse_loss(outputs, self.targets)
        if len(self.targets) == self.targets.numel() == self.examples:
            return torch.nn.functional.cross_entropy(outputs, self.targets)
        return torch.nn.functional.cross_entropy(outputs, self.targets, reduction="sum") / self.examples


def tensors(net: Network, data: DataSet) -> Minibatch:
    """Return what PyTorch takes of a minibatch."""
    dtype = net.conf.base.dtype
    features, labels = (np.ascontiguousarray(each, dtype) for each in (data.features, data.labels))
    first, inputs = net.conf.nodes[0], torch.tensor(features)
    targets = torch.tensor(labels.argmax(1) if classifies(net) else labels)
    if by_time(net):
        inputs, targets = inputs.permute(2, 0, 1).contiguous(), targets.T.flatten()
    elif isinstance(first.conf, EmbeddingSequenceLayer):
        inputs = inputs.long()
    elif isinstance(first.preprocessor, FeedForwardToCnnPreProcessor):
        inputs = inputs.reshape(len(features), *first.preprocessor.image)
    return Minibatch(inputs, targets, len(features))


def predictions(net: Network, outputs: torch.Tensor, data: DataSet) -> np.ndarray:
    """Return PyTorch's predictions as ours lie."""
    if not by_time(net):
        return outputs.numpy()
    return outputs.reshape(-1, len(data.features), outputs.shape[1]).permute(1, 2, 0).numpy()


def classifies(net: Network) -> bool:
    """Tell whether a softmax ends the network."""
    return type(net.conf.nodes[-1].conf.activation).__name__ == "Softmax"
