"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .convolution import ConvolutionLayer
from .dense import DenseLayer
from .dropout import DropoutLayer
from .frozen import FrozenLayer, FrozenLayerWithBackprop
from .output import LossLayer, OutputLayer
from .subsampling import SubsamplingLayer

__all__ = [
    "LAYERS",
    "ActivationLayer",
    "BaseLayerConf",
    "ConvolutionLayer",
    "DenseLayer",
    "DropoutLayer",
    "FeedForwardConf",
    "FrozenLayer",
    "FrozenLayerWithBackprop",
    "LayerConf",
    "LayerRuntime",
    "LossLayer",
    "OutputLayer",
    "SubsamplingLayer",
]

LAYERS: dict[str, type[LayerConf]] = {
    "activation": ActivationLayer,
    "convolution": ConvolutionLayer,
    "dense": DenseLayer,
    "dropout": DropoutLayer,
    "frozen": FrozenLayer,
    "frozen_with_backprop": FrozenLayerWithBackprop,
    "loss": LossLayer,
    "output": OutputLayer,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""
