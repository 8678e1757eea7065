"""UNet: a class for every pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nd.arguments import Count
from optimize import AdaDelta, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import CnnLossLayer, DropoutLayer, Upsampling2D
from ..terms.distributions import Distribution
from ..vertices import MergeVertex
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_UPDATER = AdaDelta()


@dataclass(frozen=True, kw_only=True)
class UNet(ZooModel):
    """UNet for the segmentation of images into two classes.

    Parameters
    ----------
    weight_init : str or Distribution

    Notes
    -----
    The other parameters are those of `ZooModel`; `num_classes` has no effect, as in Java: the output
    ``[N, 1, height, width]`` is a probability. Width and height are multiples of 16. Ronneberger et al. 2015.
    Source: ``org.deeplearning4j.zoo.model.UNet``.
    """

    input_shape: Sequence[Count] = (3, 512, 512)
    weight_init: str | Distribution = "relu"
    updater: str | Updater = _UPDATER
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "segment": Pretrained("unet_dl4j_segment_inference.v1.zip", 712347958),
    }

    def conf(self) -> ComputationGraphConfiguration:
        nodes, last, beside = Nodes(), "input", {}
        for number in range(1, 6):
            last = beside[number] = self._two(nodes, number, 32 * 2**number, last)
            if number > 3:
                last = beside[number] = nodes.add(f"drop{number}", DropoutLayer(0.5), last)
            if number < 5:
                last = nodes.pool(f"pool{number}", "max", 2, last)
        for number in range(6, 10):
            channels = 32 * 2 ** (10 - number)
            nodes.add(f"up{number}-1", Upsampling2D(2), last)
            nodes.add(f"up{number}-2", self._same(2, channels), f"up{number}-1")
            nodes.add(f"merge{number}", MergeVertex(), beside[10 - number], f"up{number}-2")
            last = self._two(nodes, number, channels, f"merge{number}")
        nodes.add("conv9-3", self._same(3, 2), last)
        nodes.add("conv10", self._same(1, 1, activation="identity"), "conv9-3")
        nodes.add("output", CnnLossLayer(loss="xent", activation="sigmoid"), "conv10")
        settings = self._settings(weight_init=self.weight_init, l2=5e-5)
        return settings.graph({"input": self._images()}, nodes, ["output"])

    def _two(self, nodes: Nodes, number: int, n_out: int, below: str) -> str:
        """Add two convolutions."""
        first = nodes.add(f"conv{number}-1", self._same(3, n_out), below)
        return nodes.add(f"conv{number}-2", self._same(3, n_out), first)

    def _same(self, kernel: int, n_out: int, activation: str = "relu") -> Any:
        return self._convolution(kernel, n_out, convolution_mode="same", activation=activation)
