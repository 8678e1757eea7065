"""Layers: one file per family, configuration and runtime together."""

from .activation import ActivationLayer
from .base import BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime
from .batch_normalization import BatchNormalization
from .capsules import CapsuleLayer, CapsuleStrengthLayer
from .center_loss import CenterLossOutputLayer
from .convolution import ConvolutionLayer
from .convolution1d import Convolution1DLayer
from .convolution3d import Convolution3D
from .deconvolution import Deconvolution2D, Deconvolution3D
from .dense import DenseLayer
from .depthwise import DepthwiseConvolution2D, SeparableConvolution2D
from .dropout import DropoutLayer
from .element_wise_multiplication import ElementWiseMultiplicationLayer
from .embedding import EmbeddingLayer, EmbeddingSequenceLayer
from .frozen import FrozenLayer, FrozenLayerWithBackprop
from .local_response_normalization import LocalResponseNormalization
from .locally_connected import LocallyConnected1D, LocallyConnected2D
from .losses_of_places import Cnn3DLossLayer, CnnLossLayer, RnnLossLayer
from .ocnn import OCNNOutputLayer
from .output import LossLayer, OutputLayer
from .prelu import PReLULayer
from .primary_capsules import PrimaryCapsules
from .rnn_output import RnnOutputLayer
from .same_diff import SameDiffConf
from .subsampling import SubsamplingLayer

__all__ = [
    "LAYERS",
    "ActivationLayer",
    "BaseLayerConf",
    "BatchNormalization",
    "CapsuleLayer",
    "CapsuleStrengthLayer",
    "CenterLossOutputLayer",
    "Cnn3DLossLayer",
    "CnnLossLayer",
    "Convolution1D",
    "Convolution1DLayer",
    "Convolution3D",
    "ConvolutionLayer",
    "Deconvolution2D",
    "Deconvolution3D",
    "DenseLayer",
    "DepthwiseConvolution2D",
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
    "LocallyConnected1D",
    "LocallyConnected2D",
    "LossLayer",
    "OCNNOutputLayer",
    "OutputLayer",
    "PReLULayer",
    "PrimaryCapsules",
    "RnnLossLayer",
    "RnnOutputLayer",
    "SameDiffConf",
    "SeparableConvolution2D",
    "SubsamplingLayer",
]

LAYERS: dict[str, type[LayerConf]] = {
    "activation": ActivationLayer,
    "batch_normalization": BatchNormalization,
    "capsule": CapsuleLayer,
    "capsule_strength": CapsuleStrengthLayer,
    "center_loss_output": CenterLossOutputLayer,
    "cnn3d_loss": Cnn3DLossLayer,
    "cnn_loss": CnnLossLayer,
    "convolution": ConvolutionLayer,
    "convolution1d": Convolution1DLayer,
    "convolution3d": Convolution3D,
    "deconvolution2d": Deconvolution2D,
    "deconvolution3d": Deconvolution3D,
    "dense": DenseLayer,
    "depthwise_convolution2d": DepthwiseConvolution2D,
    "dropout": DropoutLayer,
    "element_wise_multiplication": ElementWiseMultiplicationLayer,
    "embedding": EmbeddingLayer,
    "embedding_sequence": EmbeddingSequenceLayer,
    "frozen": FrozenLayer,
    "frozen_with_backprop": FrozenLayerWithBackprop,
    "local_response_normalization": LocalResponseNormalization,
    "locally_connected1d": LocallyConnected1D,
    "locally_connected2d": LocallyConnected2D,
    "loss": LossLayer,
    "ocnn_output": OCNNOutputLayer,
    "output": OutputLayer,
    "prelu": PReLULayer,
    "primary_capsules": PrimaryCapsules,
    "rnn_loss": RnnLossLayer,
    "rnn_output": RnnOutputLayer,
    "separable_convolution2d": SeparableConvolution2D,
    "subsampling": SubsamplingLayer,
}
"""Name -> configuration class, sorted."""

Convolution1D = Convolution1DLayer
"""DL4J's other name."""
