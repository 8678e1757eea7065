"""Darknet19, and the detectors of objects that are built on it: TinyYOLO and YOLO2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.activations import LeakyReLU
from nd.arguments import Count
from optimize import Adam, Nesterovs, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import (
    ActivationLayer,
    BatchNormalization,
    GlobalPoolingLayer,
    LossLayer,
    SpaceToDepthLayer,
    Yolo2OutputLayer,
)
from ..layers.objdetect.boxes import Priors
from ..terms.distributions import Distribution
from ..vertices import MergeVertex
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_DARKNET = (
    (3, 32, 2), (3, 64, 2), (3, 128), (1, 64), (3, 128, 2), (3, 256), (1, 128), (3, 256, 2), (3, 512), (1, 256),
    (3, 512), (1, 256), (3, 512, 2), (3, 1024), (1, 512), (3, 1024), (1, 512), (3, 1024),
)  # fmt: skip
"""Kernel, channels, and the size of the pooling behind, where there is one."""
_NESTEROVS = Nesterovs(1e-3, 0.9)
_ADAM = Adam(1e-3)


@dataclass(frozen=True, kw_only=True)
class _Darknet(ZooModel):
    """Blocks that the three networks are made of."""

    def _block(self, nodes: Nodes, number: int, below: str, kernel: int, n_out: int, *pool: int) -> str:
        """Add a convolution, a normalization, a leaky rectifier, and a pooling of ``(size, stride)``."""
        convolution = self._convolution(
            kernel, n_out, has_bias=False, convolution_mode="same", weight_init="xavier", activation="identity"
        )
        last = nodes.add(f"convolution2d_{number}", convolution, below)
        normalization = BatchNormalization(activation="identity", weight_init="xavier")
        last = nodes.add(f"batchnormalization_{number}", normalization, last)
        last = nodes.activation(f"activation_{number}", LeakyReLU(0.1), last)
        if not pool:
            return last
        return nodes.pool(f"maxpooling2d_{number}", "max", pool[0], last, stride=pool[-1], convolution_mode="same")

    def _darknet(self, nodes: Nodes) -> str:
        """Add the first eighteen blocks."""
        last = "input"
        for number, (kernel, n_out, *pool) in enumerate(_DARKNET, 1):
            last = self._block(nodes, number, last, kernel, n_out, *pool)
        return last

    def _last_convolution(self, nodes: Nodes, number: int, n_out: int, below: str) -> str:
        last = self._convolution(1, n_out, convolution_mode="same", weight_init="relu", activation="identity")
        return nodes.add(f"convolution2d_{number}", last, below)


@dataclass(frozen=True, kw_only=True)
class Darknet19(_Darknet):
    """Darknet19: nineteen convolutions, and no dense layer.

    Parameters
    ----------
    weight_init : str or Distribution
        Default of the network; all convolutions have their own.

    Notes
    -----
    The other parameters are those of `ZooModel`. For images of 448 by 448 Deeplearning4j has weights of their own.
    Redmon and Farhadi 2016. Source: ``org.deeplearning4j.zoo.model.Darknet19``.
    """

    weight_init: str | Distribution = "relu"
    updater: str | Updater = _NESTEROVS
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("darknet19_dl4j_inference.v2.zip", 691100891),
    }
    of_large_images: ClassVar[Pretrained] = Pretrained("darknet19_448_dl4j_inference.v2.zip", 1054319943)

    def pretrained_file(self, pretrained_type: str) -> Pretrained | None:
        known = super().pretrained_file(pretrained_type)
        return self.of_large_images if known is not None and tuple(self.input_shape[1:]) == (448, 448) else known

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        last = self._last_convolution(nodes, 19, self._classes(), self._darknet(nodes))
        nodes.add("globalpooling", GlobalPoolingLayer("avg"), last)
        nodes.add("softmax", ActivationLayer(activation="softmax"), "globalpooling")
        nodes.add("loss", LossLayer(loss="negativeloglikelihood"), "softmax")
        settings = self._settings(activation="identity", weight_init=self.weight_init, l2=1e-5)
        return settings.graph({"input": self._images()}, nodes, ["loss"])


@dataclass(frozen=True, kw_only=True)
class _Yolo(_Darknet):
    """Settings of the detectors.

    Parameters
    ----------
    n_boxes : int
        Boxes that every cell of the grid predicts.
    prior_boxes : array ``[n_boxes, 2]``
        Their usual widths and heights, in cells.
    """

    n_boxes: Count = 5
    prior_boxes: Priors = ()
    updater: str | Updater = _ADAM

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.prior_boxes) != self.n_boxes:
            raise nd.ShapeError(
                f"{type(self).__name__}: prior_boxes must be [{self.n_boxes}, 2], as n_boxes is {self.n_boxes}, got "
                f"{len(self.prior_boxes)} boxes. Give two numbers for every box."
            )

    def _classes_of(self, n_out: int) -> int:
        return max(n_out // self.n_boxes - 5, 1)  # 1 for what is no detector, so that its shapes are compared

    def _detector(self, nodes: Nodes, number: int, below: str) -> ComputationGraphConfiguration:
        last = self._last_convolution(nodes, number, self.n_boxes * (5 + self._classes()), below)
        nodes.add("outputs", Yolo2OutputLayer(bounding_boxes=self.prior_boxes), last)
        settings = self._settings(activation="identity", l2=1e-5, gradient_normalization="renormalize_l2_per_layer")
        return settings.graph({"input": self._images()}, nodes, ["outputs"])


@dataclass(frozen=True, kw_only=True)
class TinyYOLO(_Yolo):
    """Tiny YOLO: a small detector of objects.

    Parameters
    ----------
    n_boxes : int
        Boxes that every cell of the grid predicts.
    prior_boxes : array ``[n_boxes, 2]``
        Their usual widths and heights, in cells.

    Notes
    -----
    The other parameters are those of `ZooModel`; width and height are multiples of 32. See `Yolo2OutputLayer` for
    labels and predictions. Redmon and Farhadi 2016. Source: ``org.deeplearning4j.zoo.model.TinyYOLO``.
    """

    input_shape: Sequence[Count] = (3, 416, 416)
    prior_boxes: Priors = ((1.08, 1.19), (3.42, 4.41), (6.63, 11.38), (9.42, 5.11), (16.62, 10.52))
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("tiny-yolo-voc_dl4j_inference.v2.zip", 1256226465),
    }

    def conf(self) -> ComputationGraphConfiguration:
        nodes, last = Nodes(), "input"
        pools = ((2,), (2,), (2,), (2,), (2,), (2, 1), (), ())
        for number, pool in enumerate(pools, 1):
            last = self._block(nodes, number, last, 3, min(8 * 2**number, 1024), *pool)
        return self._detector(nodes, 9, last)


@dataclass(frozen=True, kw_only=True)
class YOLO2(_Yolo):
    """YOLO version 2: a detector of objects.

    Parameters
    ----------
    n_boxes : int
        Boxes that every cell of the grid predicts.
    prior_boxes : array ``[n_boxes, 2]``
        Their usual widths and heights, in cells.

    Notes
    -----
    The other parameters are those of `ZooModel`; width and height are multiples of 32. See `Yolo2OutputLayer` for
    labels and predictions. Redmon and Farhadi 2016. Source: ``org.deeplearning4j.zoo.model.YOLO2``.
    """

    input_shape: Sequence[Count] = (3, 608, 608)
    prior_boxes: Priors = (
        (0.57273, 0.677385), (1.87446, 2.06253), (3.33843, 5.47434), (7.88282, 3.52778), (9.77052, 9.16828)
    )  # fmt: skip
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("yolo2_dl4j_inference.v3.zip", 3658373840),
    }

    def conf(self) -> ComputationGraphConfiguration:
        nodes = Nodes()
        last = self._block(nodes, 19, self._darknet(nodes), 3, 1024)
        last = self._block(nodes, 20, last, 3, 1024)
        early = self._block(nodes, 21, "activation_13", 1, 64)
        early = nodes.add("rearrange_21", SpaceToDepthLayer(2), early)
        last = nodes.add("concatenate_21", MergeVertex(), early, last)
        return self._detector(nodes, 23, self._block(nodes, 22, last, 3, 1024))
