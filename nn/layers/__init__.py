"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .convolution import ConvolutionLayer
from .convolution1d import Convolution1DLayer
from .convolution3d import Convolution3D
from .deconvolution import Deconvolution2D, Deconvolution3D
from .dense import DenseLayer
from .depthwise import DepthwiseConvolution2D, SeparableConvolution2D
from .dropout import DropoutLayer
from .frozen import FrozenLayer, FrozenLayerWithBackprop
from .locally_connected import LocallyConnected1D, LocallyConnected2D
from .output import LossLayer, OutputLayer
from .subsampling import SubsamplingLayer

__all__ = [
    "LAYERS",
    "ActivationLayer",
    "BaseLayerConf",
    "Convolution1D",
    "Convolution1DLayer",
    "Convolution3D",
    "ConvolutionLayer",
    "Deconvolution2D",
    "Deconvolution3D",
    "DenseLayer",
    "DepthwiseConvolution2D",
    "DropoutLayer",
    "FeedForwardConf",
    "FrozenLayer",
    "FrozenLayerWithBackprop",
    "LayerConf",
    "LayerRuntime",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "LossLayer",
    "OutputLayer",
    "SeparableConvolution2D",
    "SubsamplingLayer",
]

LAYERS: dict[str, type[LayerConf]] = {
    "activation": ActivationLayer,
    "convolution": ConvolutionLayer,
    "convolution1d": Convolution1DLayer,
    "convolution3d": Convolution3D,
    "deconvolution2d": Deconvolution2D,
    "deconvolution3d": Deconvolution3D,
    "dense": DenseLayer,
    "depthwise_convolution2d": DepthwiseConvolution2D,
    "dropout": DropoutLayer,
    "frozen": FrozenLayer,
    "frozen_with_backprop": FrozenLayerWithBackprop,
    "locally_connected1d": LocallyConnected1D,
    "locally_connected2d": LocallyConnected2D,
    "loss": LossLayer,
    "output": OutputLayer,
    "separable_convolution2d": SeparableConvolution2D,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""

Convolution1D = Convolution1DLayer
"""DL4J's other name."""
