"""ResNet50."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from optimize import RmsProp, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import BatchNormalization, OutputLayer, ZeroPaddingLayer
from ..terms.distributions import Distribution, TruncatedNormalDistribution
from ..vertices import ElementWiseVertex
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_WEIGHTS = TruncatedNormalDistribution(0.0, 0.5)
_UPDATER = RmsProp(0.1, 0.96, 0.001)


@dataclass(frozen=True, kw_only=True)
class ResNet50(ZooModel):
    """ResNet50: sixteen blocks of three convolutions, beside shortcuts.

    Parameters
    ----------
    weight_init : str or Distribution

    Notes
    -----
    The other parameters are those of `ZooModel`. The last pooling, "avgpool", takes maxima, as Java's does.
    He et al. 2015. Source: ``org.deeplearning4j.zoo.model.ResNet50``.
    """

    weight_init: str | Distribution = _WEIGHTS
    updater: str | Updater = _UPDATER
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("resnet50_dl4j_inference.v3.zip", 3914447815),
    }

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        nodes.add("stem-zero", ZeroPaddingLayer((3, 3)), "input")
        nodes.add("stem-cnn1", self._convolution(7, 64, stride=2), "stem-zero")
        nodes.add("stem-batch1", BatchNormalization(), "stem-cnn1")
        nodes.activation("stem-act1", "relu", "stem-batch1")
        last = nodes.pool("stem-maxpool1", "max", 3, "stem-act1")
        for stage, letters in ((2, "abc"), (3, "abcd"), (4, "abcdef"), (5, "abc")):
            for letter in letters:
                last = self._block(nodes, f"{stage}{letter}", 16 * 2**stage, last, shrinks=letter == "a")
        nodes.pool("avgpool", "max", 3, last)
        nodes.add(
            "output", OutputLayer(loss="negativeloglikelihood", n_out=self._classes(), activation="softmax"), "avgpool"
        )
        settings = self._settings(activation="identity", weight_init=self.weight_init, l1=1e-7, l2=5e-5)
        return settings.graph({"input": self._images()}, nodes, ["output"])

    def _block(self, nodes: Nodes, place: str, n_out: int, below: str, shrinks: bool) -> str:
        """Add three convolutions beside a shortcut, which is a convolution where height and width shrink."""
        stride, wide = 2 if shrinks else 1, 4 * n_out
        convolutions = ((1, n_out, stride, "truncate"), (3, n_out, 1, "same"), (1, wide, 1, "truncate"))
        last = below
        for letter, (kernel, channels, step, mode) in zip("abc", convolutions, strict=True):
            last = self._normalized(nodes, f"{place}_branch2{letter}", last, kernel, channels, step, mode)
            if letter != "c":
                last = nodes.activation(f"act{place}_branch2{letter}", "relu", last)
        shortcut = below
        if shrinks:
            shortcut = self._normalized(nodes, f"{place}_branch1", below, 1, wide, stride, "truncate")
        last = nodes.add(f"short{place}_branch", ElementWiseVertex("add"), last, shortcut)
        return nodes.activation(f"res{place}_branch", "relu", last)

    def _normalized(self, nodes: Nodes, place: str, below: str, kernel: int, n_out: int, stride: int, mode: str) -> str:
        convolution = self._convolution(kernel, n_out, stride=stride, convolution_mode=mode)
        return nodes.add(f"bn{place}", BatchNormalization(), nodes.add(f"res{place}", convolution, below))
