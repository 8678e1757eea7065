"""AlexNet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from optimize import Nesterovs, Updater

from ..conf.multilayer import MultiLayerConfiguration
from ..layers import ConvolutionLayer, DenseLayer, LocalResponseNormalization, OutputLayer, SubsamplingLayer
from ..networks.multilayer import MultiLayerNetwork
from ..terms.distributions import NormalDistribution
from .zoo_model import Network, ZooModel

_UPDATER = Nesterovs(1e-2, 0.9)


@dataclass(frozen=True, kw_only=True)
class AlexNet(ZooModel):
    """AlexNet in one column.

    Parameters as `ZooModel`.

    Notes
    -----
    Krizhevsky et al. 2012. The gradient is not divided by the number of examples, as in Java's configuration.
    Source: ``org.deeplearning4j.zoo.model.AlexNet``.
    """

    updater: str | Updater = _UPDATER
    network: ClassVar[type[Network]] = MultiLayerNetwork

    def conf(self) -> MultiLayerConfiguration:
        settings = self._settings(
            activation="relu",
            weight_init=NormalDistribution(0.0, 0.01),
            bias_updater=Nesterovs(2e-2, 0.9),
            convolution_mode="same",
            gradient_normalization="renormalize_l2_per_layer",
            l2=5e-4,
            mini_batch=False,
        )
        return settings.list(*self._of_images(), *self._of_rows(), input_type=self._images())

    def _of_images(self) -> list[Any]:
        wide: dict[str, Any] = {"kernel_size": 3, "bias_init": 1.0}
        pool: dict[str, Any] = {"kernel_size": 3, "convolution_mode": "truncate"}
        return [
            ConvolutionLayer(name="cnn1", n_out=96, kernel_size=11, stride=4, convolution_mode="truncate"),
            LocalResponseNormalization(),
            SubsamplingLayer("max", name="maxpool1", kernel_size=3, padding=1),
            ConvolutionLayer(
                name="cnn2", n_out=256, kernel_size=5, padding=2, bias_init=1.0, convolution_mode="truncate"
            ),
            SubsamplingLayer("max", name="maxpool2", **pool),
            LocalResponseNormalization(),
            ConvolutionLayer(name="cnn3", n_out=384, kernel_size=3),
            ConvolutionLayer(name="cnn4", n_out=384, **wide),
            ConvolutionLayer(name="cnn5", n_out=256, **wide),
            SubsamplingLayer("max", name="maxpool3", **pool),
        ]

    def _of_rows(self) -> list[Any]:
        narrow = NormalDistribution(0.0, 0.005)
        return [
            DenseLayer(name="ffn1", n_out=4096, weight_init=narrow, bias_init=1.0),
            DenseLayer(name="ffn2", n_out=4096, weight_init=narrow, bias_init=1.0, drop_out=0.5),
            OutputLayer(
                loss="negativeloglikelihood",
                name="output",
                n_out=self._classes(),
                activation="softmax",
                weight_init=narrow,
                bias_init=0.1,
            ),
        ]
