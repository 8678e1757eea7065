"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .capsules import CapsuleLayer, CapsuleStrengthLayer
from .center_loss import CenterLossOutputLayer
from .convolution import ConvolutionLayer
from .dense import DenseLayer
from .dropout import DropoutLayer
from .frozen import FrozenLayer, FrozenLayerWithBackprop
from .losses_of_places import Cnn3DLossLayer, CnnLossLayer, RnnLossLayer
from .ocnn import OCNNOutputLayer
from .output import LossLayer, OutputLayer
from .primary_capsules import PrimaryCapsules
from .rnn_output import RnnOutputLayer
from .same_diff import SameDiffConf
from .subsampling import SubsamplingLayer

__all__ = [
    "LAYERS",
    "ActivationLayer",
    "BaseLayerConf",
    "CapsuleLayer",
    "CapsuleStrengthLayer",
    "CenterLossOutputLayer",
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
    "OCNNOutputLayer",
    "OutputLayer",
    "PrimaryCapsules",
    "RnnLossLayer",
    "RnnOutputLayer",
    "SameDiffConf",
    "SubsamplingLayer",
]

LAYERS: dict[str, type[LayerConf]] = {
    "activation": ActivationLayer,
    "capsule": CapsuleLayer,
    "capsule_strength": CapsuleStrengthLayer,
    "center_loss_output": CenterLossOutputLayer,
    "cnn3d_loss": Cnn3DLossLayer,
    "cnn_loss": CnnLossLayer,
    "convolution": ConvolutionLayer,
    "dense": DenseLayer,
    "dropout": DropoutLayer,
    "frozen": FrozenLayer,
    "frozen_with_backprop": FrozenLayerWithBackprop,
    "loss": LossLayer,
    "ocnn_output": OCNNOutputLayer,
    "output": OutputLayer,
    "primary_capsules": PrimaryCapsules,
    "rnn_loss": RnnLossLayer,
    "rnn_output": RnnOutputLayer,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""
