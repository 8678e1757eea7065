"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .batch_normalization import BatchNormalization
from .convolution import ConvolutionLayer
from .dense import DenseLayer
from .dropout import DropoutLayer
from .element_wise_multiplication import ElementWiseMultiplicationLayer
from .embedding import EmbeddingLayer, EmbeddingSequenceLayer
from .frozen import FrozenLayer, FrozenLayerWithBackprop
from .local_response_normalization import LocalResponseNormalization
from .output import LossLayer, OutputLayer
from .prelu import PReLULayer
from .subsampling import SubsamplingLayer

__all__ = [
    "LAYERS",
    "ActivationLayer",
    "BaseLayerConf",
    "BatchNormalization",
    "ConvolutionLayer",
    "DenseLayer",
    "DropoutLayer",
    "ElementWiseMultiplicationLayer",
    "EmbeddingLayer",
    "EmbeddingSequenceLayer",
    "FeedForwardConf",
    "FrozenLayer",
    "FrozenLayerWithBackprop",
    "LayerConf",
    "LayerRuntime",
    "LocalResponseNormalization",
    "LossLayer",
    "OutputLayer",
    "PReLULayer",
    "SubsamplingLayer",
]

LAYERS: dict[str, type[LayerConf]] = {
    "activation": ActivationLayer,
    "batch_normalization": BatchNormalization,
    "convolution": ConvolutionLayer,
    "dense": DenseLayer,
    "dropout": DropoutLayer,
    "element_wise_multiplication": ElementWiseMultiplicationLayer,
    "embedding": EmbeddingLayer,
    "embedding_sequence": EmbeddingSequenceLayer,
    "frozen": FrozenLayer,
    "frozen_with_backprop": FrozenLayerWithBackprop,
    "local_response_normalization": LocalResponseNormalization,
    "loss": LossLayer,
    "output": OutputLayer,
    "prelu": PReLULayer,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""
