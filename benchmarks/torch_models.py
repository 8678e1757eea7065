"""PyTorch's networks of the same weights, made from our configurations node by node. Importing this imports PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from networks import Network

import nd
from nn import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
    SubsamplingLayer,
)
from nn.conf.preprocessors import CnnToFeedForwardPreProcessor
from optimize import Adam

Modules = list[torch.nn.Module]
OUR_GATES, THEIR_GATES = (2, 1, 3, 0), (3, 1, 0, 2)
"""Places of candidate, forget, output and input gate of an LSTM among PyTorch's, and of PyTorch's among them."""


class Sum(torch.nn.Module):
    """The sum of two activations, in the memory of the first: nobody else reads that."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.add_(y)


class Series(torch.nn.Module):
    """A recurrent layer over ``[T, N, C]``.

    Parameters
    ----------
    core : LSTM or RNN

    Attributes
    ----------
    goes_on : bool
        Whether it begins with the state that the call before has left.
    """

    def __init__(self, core: torch.nn.RNNBase) -> None:
        super().__init__()
        self.core, self.goes_on = core, False
        self._state: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found, state = self.core(x, self._state)
        if self.goes_on:
            self._state = state
        return found


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


def model_of(net: Network) -> torch.nn.Module:
    """Return PyTorch's network with the same weights, on the host; without the softmax, which its loss contains.

    Raises
    ------
    SystemExit
        It has another number of parameters, running statistics among them.
    """
    types = net.conf.node_types([None]) or [None] * len(net.conf.nodes)
    steps = [_modules_of(net, node, known) for node, known in zip(net.conf.nodes, types, strict=True)]
    sources = [node.inputs for node in net.conf.nodes]
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
    return model


def _modules_of(net: Network, node: Any, types: Any) -> Modules:
    conf = node.conf
    if isinstance(conf, ConvolutionLayer):
        return _convolution(net, node.name, conf, types)
    if isinstance(conf, RnnOutputLayer):
        return [_linear(net, node.name, conf), torch.nn.Flatten(0, 1)]
    if isinstance(conf, (DenseLayer, OutputLayer)):
        flat: Modules = [torch.nn.Flatten()] if isinstance(node.preprocessor, CnnToFeedForwardPreProcessor) else []
        linear = _linear(net, node.name, conf)
        return [*flat, linear, torch.nn.ReLU()] if isinstance(conf, DenseLayer) else [*flat, linear]
    if isinstance(conf, (LSTM, SimpleRnn)):
        return [_series(net, node.name, conf)]
    if isinstance(conf, BatchNormalization):
        return [_normalisation(net, node.name, conf)]
    if isinstance(conf, SubsamplingLayer):
        return [torch.nn.MaxPool2d(conf.kernel_size, conf.stride)]
    if isinstance(conf, ActivationLayer):
        return [torch.nn.ReLU(inplace=True)]
    if isinstance(conf, GlobalPoolingLayer):
        return [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
    if isinstance(conf, ElementWiseVertex):
        return [Sum()]
    raise SystemExit(f"{type(conf).__name__}: PyTorch's is not written here")


def _linear(net: Network, name: str, conf: Any) -> torch.nn.Module:
    ours = torch.nn.Linear(conf.n_in, conf.n_out)
    W, b = (_host(net, f"{name}_{part}") for part in "Wb")
    ours.weight.data, ours.bias.data = torch.tensor(np.ascontiguousarray(W.T)), torch.tensor(b[0])
    return ours


def _series(net: Network, name: str, conf: Any) -> torch.nn.Module:
    """Return a recurrent layer; the second vector of biases that PyTorch has stays 0."""
    core = (torch.nn.LSTM if isinstance(conf, LSTM) else torch.nn.RNN)(conf.n_in, conf.n_out)
    for part, theirs in (("W", core.weight_ih_l0), ("RW", core.weight_hh_l0), ("b", core.bias_ih_l0)):
        ours = _reordered(_host(net, f"{name}_{part}").T, THEIR_GATES if isinstance(conf, LSTM) else (0,))
        theirs.data = torch.tensor(ours).reshape(theirs.shape)
    core.bias_hh_l0.data = torch.zeros_like(core.bias_ih_l0)
    core.bias_hh_l0.requires_grad_(False)
    return Series(core)


def _reordered(weights: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Return the blocks of rows in another order."""
    blocks = np.split(weights, len(order))
    return np.concatenate([blocks[k] for k in order])


def gradients_of_series(net: Network, model: torch.nn.Module) -> dict[str, np.ndarray]:
    """Return the gradients of PyTorch's chain of recurrent layers and an output by our names, in our order."""
    found: dict[str, np.ndarray] = {}
    modules = [each for each in model.children() if not isinstance(each, torch.nn.Flatten)]
    for node, module in zip(net.conf.nodes, modules, strict=True):
        order: Sequence[int] = OUR_GATES if isinstance(node.conf, LSTM) else (0,)
        parts: dict[str, Any] = {"W": module.weight, "b": module.bias} if isinstance(module, torch.nn.Linear) else {}
        if isinstance(module, Series):
            core: Any = module.core
            parts = {"W": core.weight_ih_l0, "RW": core.weight_hh_l0, "b": core.bias_ih_l0}
        for part, theirs in parts.items():
            gradient = theirs.grad.numpy()
            found[f"{node.name}_{part}"] = _reordered(gradient.reshape(len(gradient), -1), order).T
    return found


def _convolution(net: Network, name: str, conf: ConvolutionLayer, types: Any) -> Modules:
    """Return a convolution; where Java pads one side more than the other, the zeros come from a module before it."""
    before, after = (0, 0), (0, 0)
    if conf.convolution_mode == "same":
        sizes = zip(types.inputs[0].sizes[1:], types.output.sizes[1:], conf.kernel_size, conf.stride, strict=True)
        total = [max((out - 1) * stride + kernel - size, 0) for size, out, kernel, stride in sizes]
        before, after = tuple(each // 2 for each in total), tuple(-(-each // 2) for each in total)
    uneven = before != after
    ours = torch.nn.Conv2d(
        conf.n_in, conf.n_out, conf.kernel_size, conf.stride, 0 if uneven else before, bias=conf.has_bias
    )
    ours.weight.data = torch.tensor(_host(net, f"{name}_W"))
    if conf.has_bias:
        ours.bias.data = torch.tensor(_host(net, f"{name}_b")[0])
    return [torch.nn.ZeroPad2d((before[1], after[1], before[0], after[0])), ours] if uneven else [ours]


def _normalisation(net: Network, name: str, conf: BatchNormalization) -> torch.nn.Module:
    ours = torch.nn.BatchNorm2d(conf.n_out, conf.eps, 1.0 - conf.decay)
    parts = (_host(net, f"{name}_{part}")[0] for part in ("gamma", "beta", "mean", "log10stdev"))
    ours.weight.data, ours.bias.data, ours.running_mean, log10_stdev = map(torch.tensor, parts)
    ours.running_var = 10.0 ** (2.0 * log10_stdev)
    return ours


def _host(net: Network, key: str) -> np.ndarray:
    return np.ascontiguousarray(nd.to_host(net.get_param(key)))


def optimizer_of(net: Network, model: torch.nn.Module, **options: bool) -> torch.optim.Optimizer:
    """Return PyTorch's updater of the same arithmetic, with L2 on weights alone: Adam as it begins, or Nesterovs."""
    trained = [each for each in model.parameters() if each.requires_grad]
    weights = [each for each in trained if each.ndim > 1]
    others = [each for each in trained if each.ndim == 1]
    groups = [{"params": weights, "weight_decay": net.conf.base.l2 or 0.0}, {"params": others}]
    updater = net.conf.base.updater
    rate = updater.at(updater.learning_rate, 0, 0)
    if isinstance(updater, Adam):
        return torch.optim.Adam(groups, rate, (updater.beta1, updater.beta2), updater.epsilon, **options)
    return torch.optim.SGD(groups, rate, momentum=updater.momentum, nesterov=True, **options)
