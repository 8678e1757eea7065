"""VGG16 and VGG19."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from optimize import Nesterovs, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import DenseLayer, OutputLayer, SubsamplingLayer
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_CHANNELS = (64, 128, 256, 512, 512)
_UPDATER = Nesterovs()


@dataclass(frozen=True, kw_only=True)
class _VGG(ZooModel):
    """Blocks of convolutions of 3 by 3, a pooling behind each."""

    updater: str | Updater = _UPDATER

    def _chain(self, counts: Sequence[int], dense: Sequence[Any]) -> ComputationGraphConfiguration:
        """Return the graph of as many convolutions in each block, and the dense layers; names are numbers."""
        layers: list[Any] = []
        for count, channels in zip(counts, _CHANNELS, strict=True):
            layers += [self._convolution(3, channels, padding=1)] * count
            layers.append(SubsamplingLayer("max", kernel_size=2))
        layers += [*dense, OutputLayer(loss="negativeloglikelihood", n_out=self._classes(), activation="softmax")]
        nodes, last = Nodes(), "in"
        for number, layer in enumerate(layers):
            last = nodes.add(str(number), layer, last)
        return self._settings(activation="relu").graph({"in": self._flat_images()}, nodes, [last])


@dataclass(frozen=True, kw_only=True)
class VGG16(_VGG):
    """VGG with sixteen layers that have weights.

    Parameters as `ZooModel`; the images are rows of numbers, ``[N, channels * height * width]``, or images.

    Notes
    -----
    Simonyan and Zisserman 2014. Source: ``org.deeplearning4j.zoo.model.VGG16``.
    """

    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "cifar10": Pretrained("vgg16_dl4j_cifar10_inference.v1.zip", 2192260131),
        "imagenet": Pretrained("vgg16_dl4j_inference.zip", 3501732770),
        "vggface": Pretrained("vgg16_dl4j_vggface_inference.v1.zip", 2706403553),
    }

    def conf(self) -> ComputationGraphConfiguration:
        return self._chain((2, 2, 3, 3, 3), [DenseLayer(n_out=4096, drop_out=0.5)] * 2)


@dataclass(frozen=True, kw_only=True)
class VGG19(_VGG):
    """VGG with nineteen layers that have weights in the paper; as Java's, one dense layer less.

    Parameters as `ZooModel`; the images are rows of numbers, ``[N, channels * height * width]``, or images.

    Notes
    -----
    Simonyan and Zisserman 2014. Source: ``org.deeplearning4j.zoo.model.VGG19``, which has one dense layer of 4096 where
    the paper and the file of weights have two.
    """

    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("vgg19_dl4j_inference.zip", 2782932419),
    }
    algorithm: ClassVar[str] = "NO_WORKSPACE"

    def conf(self) -> ComputationGraphConfiguration:
        return self._chain((2, 2, 4, 4, 4), [DenseLayer(n_out=4096)])
