"""PyTorch's modules for our nodes, with the same weights. Importing this imports PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from networks import Network

import nd
from nn import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    Bidirectional,
    CnnLossLayer,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    DenseLayer,
    DepthwiseConvolution2D,
    ElementWiseVertex,
    EmbeddingSequenceLayer,
    GlobalPoolingLayer,
    MergeVertex,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
    Subsampling3DLayer,
    SubsamplingLayer,
)
from nn.terms.preprocessors import Cnn3DToFeedForwardPreProcessor, CnnToFeedForwardPreProcessor

Modules = list[torch.nn.Module]
Weights = Callable[[np.ndarray], np.ndarray]
FLATTENING = CnnToFeedForwardPreProcessor, Cnn3DToFeedForwardPreProcessor
CONVOLUTIONS = {1: torch.nn.Conv1d, 2: torch.nn.Conv2d, 3: torch.nn.Conv3d}
POOLINGS = {2: torch.nn.AdaptiveAvgPool2d, 3: torch.nn.AdaptiveAvgPool3d}
OUR_GATES, THEIR_GATES = (2, 1, 3, 0), (3, 1, 0, 2)
"""Places of candidate, forget, output and input gate of an LSTM among PyTorch's, and of PyTorch's among them."""


class Way(NamedTuple):
    """How the numbers of a parameter lie with PyTorch, and how with us."""

    theirs: Weights
    ours: Weights


class Tie(NamedTuple):
    """A parameter of ours, by name, and PyTorch's."""

    key: str
    parameter: torch.nn.Parameter
    way: Way
    shape: tuple[int, ...]
    """Of ours."""

    def ours(self, theirs: torch.Tensor) -> np.ndarray:
        """Return the numbers of their parameter, or of its gradient, as ours lie."""
        return self.way.ours(theirs.detach().numpy()).reshape(self.shape)


SAME = Way(lambda ours: ours, lambda theirs: theirs)
TRANSPOSED = Way(lambda ours: ours.T, lambda theirs: theirs.T)
BACKWARDS = Way(lambda ours: ours.transpose(2, 1, 0), lambda theirs: theirs.transpose(2, 1, 0))
OF_CELLS = Way(lambda ours: ours.T[..., None], lambda theirs: theirs[..., 0].T)


class Sum(torch.nn.Module):
    """The sum of two activations, in the memory of the first: nobody else reads that."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.add_(y)


class Merged(torch.nn.Module):
    """The channels of several activations side by side."""

    def forward(self, *xs: torch.Tensor) -> torch.Tensor:
        return torch.cat(xs, 1)


class MeanOverTime(torch.nn.Module):
    """The mean of ``[N, T, C]`` over time, the order in which PyTorch looks rows of a table up."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(1)


class Series(torch.nn.Module):
    """A recurrent layer over ``[T, N, C]``.

    Parameters
    ----------
    core : LSTM or RNN
    """

    def __init__(self, core: torch.nn.RNNBase) -> None:
        super().__init__()
        self.core, self._goes_on = core, False
        self._state: Any = None

    def go_on(self, goes_on: bool) -> None:
        """Begin every series with the state that the call before has left, or none."""
        self._goes_on, self._state = goes_on, self._state if goes_on else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found, state = self.core(x, self._state)
        if self._goes_on:
            self._state = state
        return found


class Layers:
    """Makes PyTorch's modules of our nodes.

    Parameters
    ----------
    net : Network
    by_time : bool
        Whether activations are ``[T, N, C]``, as PyTorch's recurrent layers have them; else ours.

    Attributes
    ----------
    ties : list of Tie
        Of all modules made so far.
    """

    def __init__(self, net: Network, by_time: bool) -> None:
        self.net, self.by_time = net, by_time
        self.ties: list[Tie] = []

    def of_node(self, node: Any, types: Any) -> Modules:
        """Return the modules that do together what a node does, without a softmax, which PyTorch's loss contains."""
        make = next((make for kind, make in MAKERS.items() if isinstance(node.conf, kind)), None)
        if make is None:
            raise SystemExit(f"{type(node.conf).__name__}: PyTorch's is not written here")
        flat: Modules = [torch.nn.Flatten()] if isinstance(node.preprocessor, FLATTENING) else []
        return [*flat, *make(self, node, types)]

    def host(self, node: Any, part: str) -> np.ndarray:
        """Return a parameter of a node."""
        return _host(self.net, f"{node.name}_{part}")

    def tie(self, node: Any, part: str, parameter: Any, way: Way = SAME) -> None:
        """Give PyTorch's parameter the numbers of ours, and keep in mind that they belong together."""
        ours = self.host(node, part)
        theirs = torch.tensor(np.ascontiguousarray(way.theirs(ours)))
        fits = theirs.numel() == parameter.numel()  # else the number of parameters is refused at the end
        parameter.data = theirs.reshape(parameter.shape) if fits else theirs
        self.ties.append(Tie(f"{node.name}_{part}", parameter, way, ours.shape))

    def linear(self, node: Any, types: Any) -> Modules:
        ours = torch.nn.Linear(node.conf.n_in, node.conf.n_out)
        self.tie(node, "W", ours.weight, TRANSPOSED)
        self.tie(node, "b", ours.bias)
        return [ours, *_activation(node.conf)]

    def of_steps(self, node: Any, types: Any) -> Modules:
        """Return the output layer of series, a convolution of single steps where these lie side by side."""
        if self.by_time:
            return [*self.linear(node, types), torch.nn.Flatten(0, 1)]
        ours = torch.nn.Conv1d(node.conf.n_in, node.conf.n_out, 1)
        self.tie(node, "W", ours.weight, OF_CELLS)
        self.tie(node, "b", ours.bias)
        return [ours]

    def convolution(self, node: Any, types: Any, way: Way = SAME, groups: int = 1) -> Modules:
        """Return a convolution; where one side is padded more than the other, zeros come from a module before it."""
        conf, n_out = node.conf, types.output.sizes[0]
        before, after = _padding(conf, types)
        uneven = before != after
        ours = CONVOLUTIONS[conf.axes](
            conf.n_in, n_out, conf.kernel_size, conf.stride, 0 if uneven else before, conf.dilation, groups,
            conf.has_bias,
        )  # fmt: skip
        self.tie(node, "W", ours.weight, way)
        if conf.has_bias:
            self.tie(node, "b", ours.bias)
        sides = tuple(side for pair in zip(before[::-1], after[::-1], strict=True) for side in pair)
        return [*([torch.nn.ConstantPad3d(sides, 0.0)] if uneven else []), ours, *_activation(conf)]

    def depthwise(self, node: Any, types: Any) -> Modules:
        conf = node.conf
        shape = (*conf.kernel_size, conf.n_in, conf.depth_multiplier)
        way = Way(
            lambda ours: ours.transpose(2, 3, 0, 1).reshape(-1, 1, *conf.kernel_size),
            lambda theirs: theirs.reshape(*shape[2:], *shape[:2]).transpose(2, 3, 0, 1),
        )
        return self.convolution(node, types, way, conf.n_in)

    def deconvolution(self, node: Any, types: Any) -> Modules:
        conf = node.conf
        if conf.convolution_mode == "same" or any(conf.padding):
            raise SystemExit("Deconvolution2D: only without padding is PyTorch's written here")
        ours = torch.nn.ConvTranspose2d(conf.n_in, conf.n_out, conf.kernel_size, conf.stride, bias=conf.has_bias)
        self.tie(node, "W", ours.weight)
        if conf.has_bias:
            self.tie(node, "b", ours.bias)
        return [ours, *_activation(conf)]

    def embedding(self, node: Any, types: Any) -> Modules:
        ours = torch.nn.Embedding(node.conf.n_in, node.conf.n_out)
        self.tie(node, "W", ours.weight)
        return [ours]

    def normalisation(self, node: Any, types: Any) -> Modules:
        conf = node.conf
        ours = torch.nn.BatchNorm2d(conf.n_out, conf.eps, 1.0 - conf.decay)
        self.tie(node, "gamma", ours.weight)
        self.tie(node, "beta", ours.bias)
        mean, log10_stdev = (torch.tensor(self.host(node, part)[0]) for part in ("mean", "log10stdev"))
        ours.running_mean, ours.running_var = mean, 10.0 ** (2.0 * log10_stdev)
        return [ours]

    def series(self, node: Any, types: Any) -> Modules:
        """Return a recurrent layer; the second vector of biases that PyTorch has stays 0."""
        both = isinstance(node.conf, Bidirectional)
        conf = node.conf.layer if both else node.conf
        core = (torch.nn.LSTM if isinstance(conf, LSTM) else torch.nn.RNN)(conf.n_in, conf.n_out, bidirectional=both)
        way = GATES if isinstance(conf, LSTM) else TRANSPOSED
        parts = {"W": "weight_ih_l0", "RW": "weight_hh_l0", "b": "bias_ih_l0"}
        for side, end in (("f", ""), ("b", "_reverse")) if both else (("", ""),):
            for part, theirs in parts.items():
                self.tie(node, f"{side}{part}", getattr(core, f"{theirs}{end}"), way)
            unused = getattr(core, f"bias_hh_l0{end}")
            unused.data = torch.zeros_like(getattr(core, f"bias_ih_l0{end}"))
            unused.requires_grad_(False)
        return [Series(core)]


def _reordered(weights: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Return the blocks of rows in another order."""
    blocks = np.split(weights, len(order))
    return np.concatenate([blocks[k] for k in order])


GATES = Way(
    lambda ours: _reordered(ours.T, THEIR_GATES),
    lambda theirs: _reordered(theirs.reshape(len(theirs), -1), OUR_GATES).T,
)


def _padding(conf: Any, types: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the zeros before and after, for every axis."""
    if conf.convolution_mode == "causal":
        return ((conf.kernel_size[0] - 1) * conf.dilation[0],), (0,)
    if conf.convolution_mode != "same":
        return tuple(conf.padding), tuple(conf.padding)
    geometry = zip(
        types.inputs[0].sizes[1:], types.output.sizes[1:], conf.kernel_size, conf.stride, conf.dilation, strict=True
    )
    total = [max((out - 1) * stride + (kernel - 1) * gap + 1 - n, 0) for n, out, kernel, stride, gap in geometry]
    return tuple(each // 2 for each in total), tuple(-(-each // 2) for each in total)


def _activation(conf: Any) -> Modules:
    """Return a layer's activation; that of an output with a softmax is in PyTorch's loss."""
    name = type(conf.activation).__name__
    if name in ("Identity", "Softmax"):
        return []
    return [torch.nn.Sigmoid()] if name == "Sigmoid" else [torch.nn.ReLU(inplace=True)]


def _global_pooling(layers: Layers, node: Any, types: Any) -> Modules:
    axes = len(types.inputs[0].sizes) - 1
    return [MeanOverTime()] if axes == 1 else [POOLINGS[axes](1), torch.nn.Flatten()]


def _host(net: Network, key: str) -> np.ndarray:
    return np.ascontiguousarray(nd.to_host(net.get_param(key)))


MAKERS: dict[type, Callable[[Layers, Any, Any], Modules]] = {
    Deconvolution2D: Layers.deconvolution,
    DepthwiseConvolution2D: Layers.depthwise,
    Convolution1DLayer: partial(Layers.convolution, way=BACKWARDS),
    ConvolutionLayer: Layers.convolution,
    Convolution3D: Layers.convolution,
    RnnOutputLayer: Layers.of_steps,
    DenseLayer: Layers.linear,
    OutputLayer: Layers.linear,
    EmbeddingSequenceLayer: Layers.embedding,
    BatchNormalization: Layers.normalisation,
    LSTM: Layers.series,
    SimpleRnn: Layers.series,
    Bidirectional: Layers.series,
    SubsamplingLayer: lambda layers, node, types: [torch.nn.MaxPool2d(node.conf.kernel_size, node.conf.stride)],
    Subsampling3DLayer: lambda layers, node, types: [torch.nn.MaxPool3d(node.conf.kernel_size, node.conf.stride)],
    GlobalPoolingLayer: _global_pooling,
    ActivationLayer: lambda layers, node, types: _activation(node.conf),
    CnnLossLayer: lambda layers, node, types: [torch.nn.Identity()],
    ElementWiseVertex: lambda layers, node, types: [Sum()],
    MergeVertex: lambda layers, node, types: [Merged()],
}
"""Kind of node -> modules; the first that fits."""
