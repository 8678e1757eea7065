"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .convolution import ConvolutionLayer
from .dense import DenseLayer
from .dropout import DropoutLayer
from .frozen import FrozenLayer, FrozenLayerWithBackprop
from .losses_of_places import Cnn3DLossLayer, CnnLossLayer, RnnLossLayer
from .output import LossLayer, OutputLayer
from .rnn_output import RnnOutputLayer
from .subsampling import SubsamplingLayer

__all__ = [
    "LAYERS",
    "ActivationLayer",
    "BaseLayerConf",
    "Cnn3DLossLayer",
    "CnnLossLayer",
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
    "RnnLossLayer",
    "RnnOutputLayer",
    "SubsamplingLayer",
]

LAYERS: dict[str, type[LayerConf]] = {
    "activation": ActivationLayer,
    "cnn3d_loss": Cnn3DLossLayer,
    "cnn_loss": CnnLossLayer,
    "convolution": ConvolutionLayer,
    "dense": DenseLayer,
    "dropout": DropoutLayer,
    "frozen": FrozenLayer,
    "frozen_with_backprop": FrozenLayerWithBackprop,
    "loss": LossLayer,
    "output": OutputLayer,
    "rnn_loss": RnnLossLayer,
    "rnn_output": RnnOutputLayer,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""
