"""SqueezeNet: few parameters, by convolutions of 1 by 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from nd.arguments import Count
from optimize import AdaDelta, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import DropoutLayer, GlobalPoolingLayer, LossLayer
from ..networks.graph import ComputationGraph
from ..terms.distributions import Distribution
from ..vertices import MergeVertex
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_POOL_OF_FILE = "global_average_pooling2d_5"
_UPDATER = AdaDelta()


@dataclass(frozen=True, kw_only=True)
class SqueezeNet(ZooModel):
    """SqueezeNet 1.1.

    Parameters
    ----------
    weight_init : str or Distribution

    Notes
    -----
    The other parameters are those of `ZooModel`. Iandola et al. 2016.
    Source: ``org.deeplearning4j.zoo.model.SqueezeNet``.
    """

    input_shape: Sequence[Count] = (3, 227, 227)
    weight_init: str | Distribution = "relu"
    updater: str | Updater = _UPDATER
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("squeezenet_dl4j_inference.v2.zip", 3711411239),
    }

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        nodes.add("conv1", self._convolution(3, 64, stride=2), "input")
        nodes.activation("conv1_act", "relu", "conv1")
        last = nodes.pool("pool1", "max", 3, "conv1_act")
        for number, squeezed in enumerate((16, 16, 32, 32, 48, 48, 64, 64), 2):
            last = self._fire(nodes, f"fire{number}", squeezed, last)
            if number in (3, 5):
                last = nodes.pool(f"pool{number}", "max", 3, last)
        nodes.add("drop9", DropoutLayer(0.5), last)
        nodes.add("conv10", self._convolution(1, self._classes()), "drop9")
        nodes.activation("conv10_act", "relu", "conv10")
        nodes.add("avg_pool", GlobalPoolingLayer("avg"), "conv10_act")
        nodes.activation("softmax", "softmax", "avg_pool")
        nodes.add("loss", LossLayer(loss="mcxent"), "softmax")
        settings = self._settings(weight_init=self.weight_init, l2=5e-5)
        return settings.graph({"input": self._images()}, nodes, ["loss"])

    def as_restored(self, network: Any) -> Any:
        """Return a network whose output is ``[N, classes]``, as Java does: its file says ``[N, classes, 1, 1]``."""
        vertices = network.conf.vertices
        pool = vertices.get(_POOL_OF_FILE)
        if not isinstance(pool, GlobalPoolingLayer) or pool.collapse_dimensions:
            return network
        collapsed = {**vertices, _POOL_OF_FILE: replace(pool, collapse_dimensions=True)}
        return ComputationGraph(replace(network.conf, vertices=collapsed)).init(network.params())

    def _fire(self, nodes: Nodes, name: str, squeezed: int, below: str) -> str:
        """Add a narrow convolution, and two side by side behind it."""

        def convolution(part: str, kernel: int, n_out: int, below: str, mode: str = "truncate") -> str:
            nodes.add(f"{name}_{part}", self._convolution(kernel, n_out, convolution_mode=mode), below)
            return nodes.activation(f"{name}_relu_{part}", "relu", f"{name}_{part}")

        narrow = convolution("sq1x1", 1, squeezed, below)
        wide = convolution("exp1x1", 1, 4 * squeezed, narrow), convolution("exp3x3", 3, 4 * squeezed, narrow, "same")
        return nodes.add(name, MergeVertex(), *wide)
