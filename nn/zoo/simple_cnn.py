"""SimpleCNN: ten convolutions for small images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nd.arguments import Count
from optimize import AdaDelta, Updater

from ..conf.multilayer import MultiLayerConfiguration
from ..layers import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DropoutLayer,
    GlobalPoolingLayer,
    SubsamplingLayer,
)
from ..networks.multilayer import MultiLayerNetwork
from .zoo_model import Network, ZooModel

_BLOCKS = ((7, 16), (5, 32), (3, 64), (3, 128))
"""Kernel and channels of both convolutions of a block."""
_UPDATER = AdaDelta()


@dataclass(frozen=True, kw_only=True)
class SimpleCNN(ZooModel):
    """Ten convolutions with batch normalization and dropout.

    Parameters as `ZooModel`.

    Notes
    -----
    The last layer is a softmax without a loss, as in Java: to train, replace it by an output layer, see
    `TransferLearning`. Arriaga et al. 2017. Source: ``org.deeplearning4j.zoo.model.SimpleCNN``.
    """

    input_shape: Sequence[Count] = (3, 48, 48)
    updater: str | Updater = _UPDATER
    network: ClassVar[type[Network]] = MultiLayerNetwork

    def conf(self) -> MultiLayerConfiguration:
        layers: list[Any] = []
        for kernel, channels in _BLOCKS:
            for _ in range(2):
                layers += [ConvolutionLayer(kernel_size=kernel, n_out=channels), BatchNormalization()]
            layers += [ActivationLayer(activation="relu"), SubsamplingLayer("avg", kernel_size=2), DropoutLayer(0.5)]
        layers[0] = ConvolutionLayer(kernel_size=7, n_out=16, name="image_array")
        layers += [ConvolutionLayer(kernel_size=3, n_out=256), BatchNormalization()]
        layers += [ConvolutionLayer(kernel_size=3, n_out=self._classes())]
        layers += [GlobalPoolingLayer("avg"), ActivationLayer(activation="softmax")]
        settings = self._settings(activation="identity", weight_init="relu", convolution_mode="same")
        return settings.list(*layers, input_type=self._images())
