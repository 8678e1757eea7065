"""InceptionResNetV1: an embedding of faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nd.arguments import Count
from optimize import RmsProp, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import BatchNormalization, CenterLossOutputLayer, ConvolutionLayer, DenseLayer
from ..terms.distributions import TruncatedNormalDistribution
from ..vertices import ElementWiseVertex, L2NormalizeVertex, MergeVertex, ScaleVertex
from .nodes import Nodes
from .zoo_model import ZooModel

_Kernel = int | tuple[int, int]
_Branches = Sequence[Sequence[tuple[_Kernel, int]]]


class _Kind(NamedTuple):
    """Blocks of one kind."""

    name: str
    blocks: int
    channels: int
    """Of what goes in and comes out."""
    scale: float
    branches: _Branches
    """Kernel and channels of every convolution."""
    wide_kernel: int
    """Of the convolution behind the branches."""
    last_activation: str | None = None
    """Of the normalizations at the end of the branches, and of the whole."""


_A = _Kind("resnetA", 5, 192, 0.17, ([(1, 32)], [(1, 32), (3, 32)], [(1, 32), (3, 32), (3, 32)]), 3)
_B = _Kind("resnetB", 10, 576, 0.10, ([(1, 128)], [(1, 128), ((1, 3), 128), ((3, 1), 128)]), 1)
_C = _Kind("resnetC", 5, 1344, 0.20, ([(1, 192)], [(1, 192), ((1, 3), 192), ((3, 1), 192)]), 1, "tanh")
_UPDATER = RmsProp(0.1, 0.96, 0.001)


@dataclass(frozen=True, kw_only=True)
class InceptionResNetV1(ZooModel):
    """Inception-ResNet V1, whose loss has centers of the classes.

    Parameters as `ZooModel`.

    Notes
    -----
    The vertex "embeddings" has 128 numbers of norm 1 for every image. Szegedy et al. 2016; Schroff et al. 2015.
    Source: ``org.deeplearning4j.zoo.model.InceptionResNetV1``.
    """

    input_shape: Sequence[Count] = (3, 160, 160)
    updater: str | Updater = _UPDATER

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        last = self._blocks(nodes, _A, self._stem(nodes))
        branches: _Branches = ([(3, 192)], [(1, 128), (3, 128), (3, 192)])
        last = self._reduced(nodes, "reduceA", branches, last, pool=5)
        last = self._blocks(nodes, _B, nodes.activation("resnetB-activation1-0", "tanh", last))
        by_three: list[tuple[_Kernel, int]] = [(1, 256), (3, 256)]
        last = self._reduced(nodes, "reduceB", (by_three, by_three, [*by_three, (3, 256)]), last, pool=1)
        last = self._blocks(nodes, _C, last)
        nodes.pool("avgpool", "avg", 1, last)
        nodes.add("bottleneck", DenseLayer(n_out=128), "avgpool")
        nodes.add("embeddings", L2NormalizeVertex((1,), 1e-10), "bottleneck")
        output = CenterLossOutputLayer(
            loss="negativeloglikelihood", n_out=self._classes(), activation="softmax", alpha=0.9, lambda_=1e-4
        )
        nodes.add("outputLayer", output, "embeddings")
        settings = self._settings(activation="relu", weight_init=TruncatedNormalDistribution(0.0, 0.5), l2=5e-5)
        return settings.graph({"input1": self._images()}, nodes, ["outputLayer"])

    def _stem(self, nodes: Nodes) -> str:
        def normalized(number: int, kernel: int, n_out: int, below: str, **settings: Any) -> str:
            layer = self._convolution(kernel, n_out, **settings)
            return _normalized(nodes, layer, f"stem-cnn{number}", f"stem-batch{number}", below)

        last = normalized(2, 3, 32, normalized(1, 3, 32, "input1", stride=2))
        last = normalized(3, 3, 64, last, convolution_mode="same")
        last = nodes.pool("stem-pool4", "max", 3, last)
        return normalized(7, 3, 192, normalized(6, 3, 128, normalized(5, 1, 80, last)), stride=2)

    def _reduced(self, nodes: Nodes, name: str, branches: _Branches, below: str, pool: int) -> str:
        """Add branches that halve height and width, and a pooling: the first of all where its number is 1."""
        first = [nodes.pool(f"{name}-pool1", "max", 3, below)] if pool == 1 else []
        ends, conv, batch = [], 1 + len(first), 0
        for branch in branches:
            last = below
            for position, (kernel, n_out) in enumerate(branch, 1):
                stride, mode = (2, "truncate") if position == len(branch) else (1, "same")
                layer = self._convolution(kernel, n_out, stride=stride, convolution_mode=mode)
                batch += 1
                last = _normalized(nodes, layer, f"{name}-cnn{conv}", f"{name}-batch{batch}", last)
                conv += 1
            ends.append(last)
        end = [] if first else [nodes.pool(f"{name}-pool{pool}", "max", 3, below)]
        return nodes.add(name, MergeVertex(), *first, *ends, *end)

    def _blocks(self, nodes: Nodes, kind: _Kind, below: str) -> str:
        for number in range(1, kind.blocks + 1):
            last = kind.name if number == kind.blocks else f"{kind.name}-activation-{number}"
            below = _block(nodes, kind, number, below, last)
        return below


def _block(nodes: Nodes, kind: _Kind, number: int, below: str, last: str) -> str:
    """Add one block: what its branches make of what comes in, times a weight, is added to that."""
    place, ends, count = kind.name, [], 0

    def normalized(kernel: _Kernel, n_out: int, below: str, activation: str | None) -> str:
        mode = {"cudnnAlgoMode": "NO_WORKSPACE"}
        layer = ConvolutionLayer(kernel_size=kernel, n_out=n_out, convolution_mode="same", unused=mode)
        names = f"{place}-cnn{count}-{number}", f"{place}-batch{count}-{number}"
        return _normalized(nodes, layer, *names, below, activation)

    for branch in kind.branches:
        end = below
        for position, (kernel, n_out) in enumerate(branch, 1):
            count += 1
            closes = position == len(branch) > 1
            end = normalized(kernel, n_out, end, kind.last_activation if closes else None)
        ends.append(end)
    merged = nodes.add(f"{place}-merge1-{number}", MergeVertex(), *ends)
    count += 1
    wide = normalized(kind.wide_kernel, kind.channels, merged, kind.last_activation)
    scaled = nodes.add(f"{place}-scaling-{number}", ScaleVertex(kind.scale), wide)
    same = nodes.activation(f"{place}-shortcut-identity-{number}", "identity", below)
    shortcut = nodes.add(f"{place}-shortcut-{number}", ElementWiseVertex("add"), scaled, same)
    return nodes.activation(last, "tanh", shortcut)


def _normalized(
    nodes: Nodes, convolution: ConvolutionLayer, name: str, batch: str, below: str, activation: str | None = None
) -> str:
    normalization = BatchNormalization(decay=0.995, eps=0.001, activation=activation)
    return nodes.add(batch, normalization, nodes.add(name, convolution, below))
