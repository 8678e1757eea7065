"""Convolutional networks that are timed: over images, along time, over volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nd.dataset import DataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    CnnLossLayer,
    ComputationGraphConfiguration,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    DenseLayer,
    DepthwiseConvolution2D,
    GlobalPoolingLayer,
    InputType,
    MergeVertex,
    MultiLayerConfiguration,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    Subsampling3DLayer,
    SubsamplingLayer,
)
from optimize import Nesterovs

CLASSES = 10
OF_PIXELS = 4
"""Classes that the network over pixels tells apart."""
RATE = 1e-6
"""Small, so that thousands of steps leave a network as it begins: what they cost is that of the first ones."""


class ImageCase(NamedTuple):
    """A network of convolutions."""

    conf: Callable[[], MultiLayerConfiguration | ComputationGraphConfiguration]
    shape: tuple[int, ...]
    """Of an example, channels first."""
    classes: int = CLASSES
    everywhere: bool = False
    """Whether there is a class for every place, not for the example."""

    def minibatch(self, batch: int) -> DataSet:
        """Return noise with classes."""
        rng = np.random.default_rng(0)
        features = rng.standard_normal((batch, *self.shape), np.float32)
        places = self.shape[1:] if self.everywhere else ()
        labels = np.eye(self.classes, dtype=np.float32)[rng.integers(0, self.classes, (batch, *places))]
        return DataSet(features, np.ascontiguousarray(np.moveaxis(labels, -1, 1)))


def settings() -> NeuralNetConfiguration:
    """Return what these networks share."""
    return NeuralNetConfiguration(seed=123, weight_init="relu", updater=Nesterovs(RATE, momentum=0.9))


def conv(n_out: int, size: int = 3, activation: str = "relu", **options: Any) -> ConvolutionLayer:
    """Return a square convolution whose outputs are as large as its inputs."""
    kernel = (size, size)
    return ConvolutionLayer(n_out=n_out, kernel_size=kernel, convolution_mode="same", activation=activation, **options)


def pool() -> SubsamplingLayer:
    """Return max pooling over 2x2."""
    return SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2))


def softmax() -> OutputLayer:
    """Return the layer that tells the classes of examples apart."""
    return OutputLayer(n_out=CLASSES, activation="softmax", loss="mcxent")


def vgg() -> MultiLayerConfiguration:
    layers = conv(32), conv(32), pool(), conv(64), conv(64), pool(), DenseLayer(n_out=128, activation="relu")
    return settings().list(*layers, softmax(), input_type=InputType.convolutional(32, 32, 3))


def batch_norm() -> MultiLayerConfiguration:
    def block() -> list[Any]:
        return [conv(16, activation="identity", has_bias=False), BatchNormalization(), ActivationLayer("relu")]

    return settings().list(*block(), *block(), pool(), softmax(), input_type=InputType.convolutional(28, 28, 1))


def depthwise() -> MultiLayerConfiguration:
    def block() -> list[Any]:
        cells = DepthwiseConvolution2D(
            depth_multiplier=1, kernel_size=(3, 3), convolution_mode="same", activation="identity"
        )
        return [cells, conv(32, 1)]

    layers = *block(), *block(), GlobalPoolingLayer("avg")
    return settings().list(*layers, softmax(), input_type=InputType.convolutional(28, 28, 16))


def unet() -> ComputationGraphConfiguration:
    """Return a network that halves images twice, doubles them again, and joins what is of the same size."""
    nodes: dict[str, tuple[Any, ...]] = {}

    def twice(name: str, source: str, channels: int) -> str:
        nodes[f"{name}-first"] = conv(channels), source
        nodes[name] = conv(channels), f"{name}-first"
        return name

    def up(name: str, source: str, beside: str, channels: int) -> str:
        nodes[f"{name}-up"] = (
            Deconvolution2D(n_out=channels, kernel_size=(2, 2), stride=(2, 2), activation="identity"),
            source,
        )
        nodes[f"{name}-joined"] = MergeVertex(), beside, f"{name}-up"
        return twice(name, f"{name}-joined", channels)

    large = twice("down-16", "image", 16)
    nodes["half"] = pool(), large
    middle = twice("down-32", "half", 32)
    nodes["quarter"] = pool(), middle
    last = up("up-16", up("up-32", twice("bottom-64", "quarter", 64), middle, 32), large, 16)
    nodes["logits"] = conv(OF_PIXELS, 1, "identity"), last
    nodes["pixels"] = CnnLossLayer(activation="softmax", loss="mcxent"), "logits"
    return settings().graph(inputs={"image": InputType.convolutional(32, 32, 1)}, nodes=nodes, outputs="pixels")


def causal() -> MultiLayerConfiguration:
    layers = [
        Convolution1DLayer(n_out=32, kernel_size=3, dilation=dilation, convolution_mode="causal", activation="relu")
        for dilation in (1, 2, 4, 8)
    ]
    out = RnnOutputLayer(n_out=CLASSES, activation="softmax", loss="mcxent")
    return settings().list(*layers, out, input_type=InputType.recurrent(32, 128))


def volumes() -> MultiLayerConfiguration:
    def block(n_out: int) -> list[Any]:
        cells = Convolution3D(n_out=n_out, kernel_size=3, convolution_mode="same", activation="relu")
        return [cells, Subsampling3DLayer("max", kernel_size=2, stride=2)]

    dense = DenseLayer(n_out=64, activation="relu")
    return settings().list(
        *block(16), *block(32), dense, softmax(), input_type=InputType.convolutional3d(16, 16, 16, 1)
    )


IMAGES: dict[str, ImageCase] = {
    "vgg": ImageCase(vgg, (3, 32, 32)),
    "batch-norm": ImageCase(batch_norm, (1, 28, 28)),
    "depthwise": ImageCase(depthwise, (16, 28, 28)),
    "unet": ImageCase(unet, (1, 32, 32), OF_PIXELS, everywhere=True),
    "causal-1d": ImageCase(causal, (32, 128), everywhere=True),
    "conv-3d": ImageCase(volumes, (1, 16, 16, 16)),
}
"""Name -> network."""
