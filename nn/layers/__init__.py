"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .convolution import ConvolutionLayer
from .dense import DenseLayer
from .dropout import DropoutLayer
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
    "loss": LossLayer,
    "output": OutputLayer,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""
