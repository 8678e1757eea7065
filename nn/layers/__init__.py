"""Layers: one file per family, configuration and runtime together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .activation import ActivationLayer
    from .base import BaseLayerConf, FeedForwardConf, LayerConf
    from .batch_normalization import BatchNormalization
    from .capsules import CapsuleLayer, CapsuleStrengthLayer
    from .center_loss import CenterLossOutputLayer
    from .convolution import ConvolutionLayer
    from .convolution1d import Convolution1D, Convolution1DLayer
    from .convolution3d import Convolution3D
    from .cropping import Cropping1D, Cropping2D, Cropping3D
    from .deconvolution import Deconvolution2D, Deconvolution3D
    from .dense import DenseLayer
    from .depthwise import DepthwiseConvolution2D, SeparableConvolution2D
    from .dropout import DropoutLayer
    from .element_wise_multiplication import ElementWiseMultiplicationLayer
    from .embedding import EmbeddingLayer, EmbeddingSequenceLayer
    from .frozen import FrozenLayer, FrozenLayerWithBackprop
    from .global_pooling import GlobalPoolingLayer
    from .local_response_normalization import LocalResponseNormalization
    from .locally_connected import LocallyConnected1D, LocallyConnected2D
    from .losses_of_places import Cnn3DLossLayer, CnnLossLayer, RnnLossLayer
    from .ocnn import OCNNOutputLayer
    from .output import LossLayer, OutputLayer
    from .prelu import PReLULayer
    from .primary_capsules import PrimaryCapsules
    from .repeat_vector import RepeatVector
    from .rnn_output import RnnOutputLayer
    from .runtime import LayerRuntime
    from .same_diff import SameDiffConf
    from .space_to_batch import SpaceToBatchLayer
    from .space_to_depth import SpaceToDepthLayer
    from .subsampling import Pooling2D, SubsamplingLayer
    from .subsampling1d import Pooling1D, Subsampling1DLayer
    from .subsampling3d import Subsampling3DLayer
    from .upsampling import Upsampling1D, Upsampling2D, Upsampling3D
    from .zero_padding import ZeroPadding1DLayer, ZeroPadding3DLayer, ZeroPaddingLayer
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "activation": "ActivationLayer",
            "base": "BaseLayerConf FeedForwardConf LayerConf",
            "batch_normalization": "BatchNormalization",
            "capsules": "CapsuleLayer CapsuleStrengthLayer",
            "center_loss": "CenterLossOutputLayer",
            "convolution": "ConvolutionLayer",
            "convolution1d": "Convolution1D Convolution1DLayer",
            "convolution3d": "Convolution3D",
            "cropping": "Cropping1D Cropping2D Cropping3D",
            "deconvolution": "Deconvolution2D Deconvolution3D",
            "dense": "DenseLayer",
            "depthwise": "DepthwiseConvolution2D SeparableConvolution2D",
            "dropout": "DropoutLayer",
            "element_wise_multiplication": "ElementWiseMultiplicationLayer",
            "embedding": "EmbeddingLayer EmbeddingSequenceLayer",
            "frozen": "FrozenLayer FrozenLayerWithBackprop",
            "global_pooling": "GlobalPoolingLayer",
            "local_response_normalization": "LocalResponseNormalization",
            "locally_connected": "LocallyConnected1D LocallyConnected2D",
            "losses_of_places": "Cnn3DLossLayer CnnLossLayer RnnLossLayer",
            "ocnn": "OCNNOutputLayer",
            "output": "LossLayer OutputLayer",
            "prelu": "PReLULayer",
            "primary_capsules": "PrimaryCapsules",
            "repeat_vector": "RepeatVector",
            "rnn_output": "RnnOutputLayer",
            "runtime": "LayerRuntime",
            "same_diff": "SameDiffConf",
            "space_to_batch": "SpaceToBatchLayer",
            "space_to_depth": "SpaceToDepthLayer",
            "subsampling": "Pooling2D SubsamplingLayer",
            "subsampling1d": "Pooling1D Subsampling1DLayer",
            "subsampling3d": "Subsampling3DLayer",
            "upsampling": "Upsampling1D Upsampling2D Upsampling3D",
            "zero_padding": "ZeroPadding1DLayer ZeroPadding3DLayer ZeroPaddingLayer",
        },
    )

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
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
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
    "GlobalPoolingLayer",
    "LayerConf",
    "LayerRuntime",
    "LocalResponseNormalization",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "LossLayer",
    "OCNNOutputLayer",
    "OutputLayer",
    "PReLULayer",
    "Pooling1D",
    "Pooling2D",
    "PrimaryCapsules",
    "RepeatVector",
    "RnnLossLayer",
    "RnnOutputLayer",
    "SameDiffConf",
    "SeparableConvolution2D",
    "SpaceToBatchLayer",
    "SpaceToDepthLayer",
    "Subsampling1DLayer",
    "Subsampling3DLayer",
    "SubsamplingLayer",
    "Upsampling1D",
    "Upsampling2D",
    "Upsampling3D",
    "ZeroPadding1DLayer",
    "ZeroPadding3DLayer",
    "ZeroPaddingLayer",
]

LAYERS: ClassTable[type[LayerConf]] = ClassTable(
    __name__,
    {
        "activation": "ActivationLayer",
        "batch_normalization": "BatchNormalization",
        "capsule": "CapsuleLayer",
        "capsule_strength": "CapsuleStrengthLayer",
        "center_loss_output": "CenterLossOutputLayer",
        "cnn3d_loss": "Cnn3DLossLayer",
        "cnn_loss": "CnnLossLayer",
        "convolution": "ConvolutionLayer",
        "convolution1d": "Convolution1DLayer",
        "convolution3d": "Convolution3D",
        "cropping1d": "Cropping1D",
        "cropping2d": "Cropping2D",
        "cropping3d": "Cropping3D",
        "deconvolution2d": "Deconvolution2D",
        "deconvolution3d": "Deconvolution3D",
        "dense": "DenseLayer",
        "depthwise_convolution2d": "DepthwiseConvolution2D",
        "dropout": "DropoutLayer",
        "element_wise_multiplication": "ElementWiseMultiplicationLayer",
        "embedding": "EmbeddingLayer",
        "embedding_sequence": "EmbeddingSequenceLayer",
        "frozen": "FrozenLayer",
        "frozen_with_backprop": "FrozenLayerWithBackprop",
        "global_pooling": "GlobalPoolingLayer",
        "local_response_normalization": "LocalResponseNormalization",
        "locally_connected1d": "LocallyConnected1D",
        "locally_connected2d": "LocallyConnected2D",
        "loss": "LossLayer",
        "ocnn_output": "OCNNOutputLayer",
        "output": "OutputLayer",
        "prelu": "PReLULayer",
        "primary_capsules": "PrimaryCapsules",
        "repeat_vector": "RepeatVector",
        "rnn_loss": "RnnLossLayer",
        "rnn_output": "RnnOutputLayer",
        "separable_convolution2d": "SeparableConvolution2D",
        "space_to_batch": "SpaceToBatchLayer",
        "space_to_depth": "SpaceToDepthLayer",
        "subsampling": "SubsamplingLayer",
        "subsampling1d": "Subsampling1DLayer",
        "subsampling3d": "Subsampling3DLayer",
        "upsampling1d": "Upsampling1D",
        "upsampling2d": "Upsampling2D",
        "upsampling3d": "Upsampling3D",
        "zero_padding": "ZeroPaddingLayer",
        "zero_padding1d": "ZeroPadding1DLayer",
        "zero_padding3d": "ZeroPadding3DLayer",
    },
)
"""Name -> configuration class, sorted."""
