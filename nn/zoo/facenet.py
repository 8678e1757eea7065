"""FaceNetNN4Small2: a small embedding of faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nd.activations import Activation
from nd.arguments import Count
from optimize import Adam, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import (
    BatchNormalization,
    CenterLossOutputLayer,
    ConvolutionLayer,
    DenseLayer,
    LocalResponseNormalization,
    SubsamplingLayer,
)
from ..vertices import L2NormalizeVertex, MergeVertex
from .nodes import Nodes
from .zoo_model import ZooModel

_LRN = LocalResponseNormalization(k=1.0, n=5.0, alpha=1e-4, beta=0.75)
_MAX = SubsamplingLayer("max", kernel_size=3, stride=1, padding=1)
_NORM = SubsamplingLayer("pnorm", kernel_size=3, stride=1, pnorm=2)
_UPDATER = Adam(0.1, 0.9, 0.999, 0.01)


@dataclass(frozen=True, kw_only=True)
class FaceNetNN4Small2(ZooModel):
    """FaceNet's network NN4, small, whose loss has centers of the classes.

    Parameters
    ----------
    transfer_function : str or Activation
        Of the inception modules.
    embedding_size : int
        Numbers of norm 1 that the vertex "embeddings" has for every image.

    Notes
    -----
    The other parameters are those of `ZooModel`. Schroff et al. 2015; the variant is OpenFace's.
    Source: ``org.deeplearning4j.zoo.model.FaceNetNN4Small2``.
    """

    input_shape: Sequence[Count] = (3, 96, 96)
    updater: str | Updater = _UPDATER
    transfer_function: str | Activation = "relu"
    embedding_size: Count = 128

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        last = self._stem(nodes)
        last = self._module(nodes, "3a", (128, 32), (96, 16, 32, 64), _MAX, last)
        last = self._module(nodes, "3b", (128, 64), (96, 32, 64, 64), _NORM, last)
        last = self._reduced(nodes, "3c", ((128, 256), (32, 64)), last)
        last = self._module(nodes, "4a", (192, 64), (96, 32, 128, 256), _NORM, last)
        last = self._reduced(nodes, "4e", ((160, 256), (64, 128)), last)
        last = self._fifth(nodes, "5a", ("5a-transfer3", "5a-3-transfer4"), _NORM, last, "relu")
        last = self._fifth(nodes, "5b", ("5b-2-transfer3", "5b-3-transfer4"), _MAX, last, self.transfer_function)
        nodes.pool("avgpool", "avg", 3, last, stride=3)
        nodes.add("bottleneck", DenseLayer(n_out=self.embedding_size, activation="identity"), "avgpool")
        nodes.add("embeddings", L2NormalizeVertex((), 1e-6), "bottleneck")
        output = CenterLossOutputLayer(
            loss="squared_loss",
            n_out=self._classes(),
            activation="softmax",
            alpha=0.9,
            lambda_=1e-4,
            gradient_normalization="renormalize_l2_per_layer",
        )
        nodes.add("lossLayer", output, "embeddings")
        settings = self._settings(activation="identity", weight_init="relu", l2=5e-5, convolution_mode="same")
        return settings.graph({"input1": self._images()}, nodes, ["lossLayer"])

    def _stem(self, nodes: Nodes) -> str:
        last = _normalized(nodes, "stem-cnn1", "stem-batch1", _convolution(7, 64, stride=2, padding=3), "input1")
        last = nodes.activation("stem-activation1", "relu", last)
        last = nodes.pool("stem-pool1", "max", 3, last, padding=1)
        last = nodes.add("stem-lrn1", _LRN, last)
        for number, layer in ((1, _convolution(1, 64)), (2, _convolution(3, 192, padding=1))):
            place = "inception-2"
            last = _normalized(nodes, f"{place}-cnn{number}", f"{place}-batch{number}", layer, last)
            last = nodes.activation(f"{place}-activation{number}", "relu", last)
        last = nodes.add("inception-2-lrn1", _LRN, last)
        return nodes.pool("inception-2-pool1", "max", 3, last, padding=1)

    def _module(
        self, nodes: Nodes, name: str, wide: Sequence[int], narrow: Sequence[int], pool: Any, below: str
    ) -> str:
        """Add convolutions of 3 and 5 behind narrow ones, a pooling with a convolution, and a convolution alone."""
        place, ends = f"inception-{name}", []

        def normalized(part: str, batch: str, transfer: str, layer: ConvolutionLayer, below: str) -> str:
            last = _normalized(nodes, f"{place}-{part}", f"{place}-{batch}", layer, below)
            return nodes.activation(f"{place}-{transfer}", self.transfer_function, last)

        for i, kernel in enumerate((3, 5)):
            last = normalized(f"cnn1-{i}", f"batch1-{i}", f"transfer1-{i}", _biased(1, narrow[i]), below)
            layer = _biased(kernel, wide[i])
            ends.append(normalized(f"reduce1-{i}", f"batch2-{i}", f"transfer2-{i}", layer, last))
        pooled = nodes.add(f"{place}-pool1", pool, below)
        ends.append(normalized("cnn2", "batch3", "transfer3", _biased(1, narrow[2]), pooled))
        ends.append(normalized("reduce2", "batch4", "transfer4", _biased(1, narrow[3]), below))
        return nodes.add(place, MergeVertex(), *ends)

    def _reduced(self, nodes: Nodes, name: str, branches: Sequence[tuple[int, int]], below: str) -> str:
        """Add two branches and a pooling that halve height and width; both kernels are of 3, whatever their names."""
        ends = []
        for prefix, kernel, first, (narrow, wide) in zip((name, f"{name}-2"), (3, 5), (1, 3), branches, strict=True):
            last = self._in_order(nodes, f"{prefix}-1x1", f"{prefix}-transfer{first}", _convolution(1, narrow), below)
            layer = _convolution(3, wide, stride=2)
            named = f"{prefix}-{kernel}x{kernel}", f"{prefix}-transfer{first + 1}"
            ends.append(self._in_order(nodes, *named, layer, last))
        ends.append(nodes.pool(f"{name}-pool", "max", 3, below, padding=1))
        return nodes.add(f"inception-{name}", MergeVertex(), *ends)

    def _fifth(
        self, nodes: Nodes, name: str, transfers: tuple[str, str], pool: Any, below: str, last_activation: Any
    ) -> str:
        """Add three branches; the names of their last activations are Java's."""
        one = self._in_order(nodes, f"{name}-1x1", f"{name}-transfer1", _convolution(1, 256), below)
        two = self._in_order(nodes, f"{name}-2-1x1", f"{name}-2-transfer2", _convolution(1, 96), below)
        two = self._in_order(nodes, f"{name}-2-3x3", transfers[0], _convolution(3, 384), two)
        pooled = nodes.add(f"{name}-3-pool", pool, below)
        reduced = f"{name}-3-1x1reduce"
        three = _normalized(nodes, reduced, f"{reduced}-norm", _convolution(1, 96), pooled)
        three = nodes.activation(transfers[1], last_activation, three)
        return nodes.add(f"inception-{name}", MergeVertex(), one, two, three)

    def _in_order(self, nodes: Nodes, name: str, transfer: str, layer: ConvolutionLayer, below: str) -> str:
        last = _normalized(nodes, name, f"{name}-norm", layer, below)
        return nodes.activation(transfer, self.transfer_function, last)


def _convolution(kernel_size: int, n_out: int, **settings: Any) -> ConvolutionLayer:
    mode = {"cudnnAlgoMode": "NO_WORKSPACE"}
    return ConvolutionLayer(kernel_size=kernel_size, n_out=n_out, unused=mode, **settings)


def _biased(kernel_size: int, n_out: int) -> ConvolutionLayer:
    return _convolution(kernel_size, n_out, bias_init=0.2)


def _normalized(nodes: Nodes, name: str, batch: str, layer: ConvolutionLayer, below: str) -> str:
    return nodes.add(batch, BatchNormalization(), nodes.add(name, layer, below))
