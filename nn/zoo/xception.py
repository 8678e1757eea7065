"""Xception: separable convolutions beside shortcuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from nd.arguments import Count
from optimize import AdaDelta, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import BatchNormalization, GlobalPoolingLayer, OutputLayer, SeparableConvolution2D
from ..terms.distributions import Distribution
from ..vertices import ElementWiseVertex
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_UPDATER = AdaDelta()


@dataclass(frozen=True, kw_only=True)
class Xception(ZooModel):
    """Xception.

    Parameters
    ----------
    weight_init : str or Distribution

    Notes
    -----
    The other parameters are those of `ZooModel`. Chollet 2016. Source: ``org.deeplearning4j.zoo.model.Xception``.
    """

    input_shape: Sequence[Count] = (3, 299, 299)
    weight_init: str | Distribution = "relu"
    updater: str | Updater = _UPDATER
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("xception_dl4j_inference.v2.zip", 3277876097),
    }

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        last = self._stem(nodes)
        last = self._shrinking(nodes, 2, (128, 128), "residual1", last, "add1", activates_first=False)
        last = self._shrinking(nodes, 3, (256, 256), "residual2", last, "add2")
        last = self._shrinking(nodes, 4, (728, 728), "residual3", last, "add3")
        for number in range(5, 13):
            inner = last
            for part in (1, 2, 3):
                inner = nodes.activation(f"block{number}_sepconv{part}_act", "relu", inner)
                inner = self._separable(nodes, f"block{number}_sepconv{part}", 728, inner)
            last = nodes.add(f"add{number - 1}", ElementWiseVertex("add"), inner, last)
        last = self._shrinking(nodes, 13, (728, 1024), "residual12", last, "add12")
        for part, n_out in ((1, 1536), (2, 2048)):
            last = self._separable(nodes, f"block14_sepconv{part}", n_out, last)
            last = nodes.activation(f"block14_sepconv{part}_act", "relu", last)
        nodes.add("avg_pool", GlobalPoolingLayer("avg"), last)
        output = OutputLayer(loss="mcxent", n_out=self._classes(), activation="softmax")
        nodes.add("predictions", output, "avg_pool")
        settings = self._settings(weight_init=self.weight_init, l2=4e-5)
        return settings.graph({"input": self._images()}, nodes, ["predictions"])

    def _stem(self, nodes: Nodes) -> str:
        last = "input"
        for part, n_out, stride in ((1, 32, 2), (2, 64, 1)):
            name = f"block1_conv{part}"
            nodes.add(name, self._convolution(3, n_out, stride=stride, has_bias=False), last)
            nodes.add(f"{name}_bn", BatchNormalization(), name)
            last = nodes.activation(f"{name}_act", "relu", f"{name}_bn")
        return last

    def _shrinking(
        self,
        nodes: Nodes,
        number: int,
        channels: tuple[int, int],
        residual: str,
        below: str,
        name: str,
        activates_first: bool = True,
    ) -> str:
        """Add two separable convolutions and a pooling, beside a convolution of 1 by 1."""
        shortcut = self._convolution(1, channels[1], stride=2, has_bias=False, convolution_mode="same")
        nodes.add(residual, BatchNormalization(), nodes.add(f"{residual}_conv", shortcut, below))
        last = below
        for part, n_out in enumerate(channels, 1):
            place = f"block{number}_sepconv{part}"
            if activates_first:
                last = nodes.activation(f"{place}_act", "relu", last)
            last = self._separable(nodes, place, n_out, last)
            if not activates_first and part == 1:
                last = nodes.activation(f"{place}_act", "relu", last)
        nodes.pool(f"block{number}_pool", "max", 3, last, convolution_mode="same")
        return nodes.add(name, ElementWiseVertex("add"), f"block{number}_pool", residual)

    def _separable(self, nodes: Nodes, name: str, n_out: int, below: str) -> str:
        layer = SeparableConvolution2D(
            kernel_size=3, n_out=n_out, has_bias=False, convolution_mode="same", unused=self._algorithm()
        )
        return nodes.add(f"{name}_bn", BatchNormalization(), nodes.add(name, layer, below))
