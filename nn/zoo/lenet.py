"""LeNet: two convolutions for small images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from nd.arguments import Count
from optimize import AdaDelta, Updater

from ..conf.multilayer import MultiLayerConfiguration
from ..layers import DenseLayer, OutputLayer, SubsamplingLayer
from ..networks.multilayer import MultiLayerNetwork
from .zoo_model import Network, Pretrained, ZooModel

_UPDATER = AdaDelta()


@dataclass(frozen=True, kw_only=True)
class LeNet(ZooModel):
    """LeNet for images of digits.

    Parameters as `ZooModel`; the images are rows of numbers, ``[N, channels * height * width]``, or images.

    Notes
    -----
    LeCun et al. 1998, with rectifiers. Source: ``org.deeplearning4j.zoo.model.LeNet``.
    """

    input_shape: Sequence[Count] = (1, 28, 28)
    updater: str | Updater = _UPDATER
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "mnist": Pretrained("lenet_dl4j_mnist_inference.zip", 1906861161),
    }
    network: ClassVar[type[Network]] = MultiLayerNetwork

    def conf(self) -> MultiLayerConfiguration:
        settings = self._settings(activation="identity", convolution_mode="same")
        return settings.list(
            self._convolution(5, 20, name="cnn1", n_in=self.input_shape[0], activation="relu"),
            SubsamplingLayer("max", name="maxpool1", kernel_size=2),
            self._convolution(5, 50, name="cnn2", activation="relu"),
            SubsamplingLayer("max", name="maxpool2", kernel_size=2),
            DenseLayer(name="ffn1", n_out=500, activation="relu"),
            OutputLayer(loss="mcxent", name="output", n_out=self._classes(), activation="softmax"),
            input_type=self._flat_images(),
        )
