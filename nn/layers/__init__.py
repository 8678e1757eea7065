"""Layers: one file per family, configuration and runtime together.

A layer has its line in LAYERS, and for type checkers its import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .activation import ActivationLayer as ActivationLayer
    from .base import BaseLayerConf as BaseLayerConf
    from .base import FeedForwardConf as FeedForwardConf
    from .base import LayerConf as LayerConf
    from .batch_normalization import BatchNormalization as BatchNormalization
    from .capsules import CapsuleLayer as CapsuleLayer
    from .capsules import CapsuleStrengthLayer as CapsuleStrengthLayer
    from .center_loss import CenterLossOutputLayer as CenterLossOutputLayer
    from .convolution import ConvolutionLayer as ConvolutionLayer
    from .convolution1d import Convolution1D as Convolution1D
    from .convolution1d import Convolution1DLayer as Convolution1DLayer
    from .convolution3d import Convolution3D as Convolution3D
    from .cropping import Cropping1D as Cropping1D
    from .cropping import Cropping2D as Cropping2D
    from .cropping import Cropping3D as Cropping3D
    from .deconvolution import Deconvolution2D as Deconvolution2D
    from .deconvolution import Deconvolution3D as Deconvolution3D
    from .dense import DenseLayer as DenseLayer
    from .depthwise import DepthwiseConvolution2D as DepthwiseConvolution2D
    from .depthwise import SeparableConvolution2D as SeparableConvolution2D
    from .dropout import DropoutLayer as DropoutLayer
    from .element_wise_multiplication import ElementWiseMultiplicationLayer as ElementWiseMultiplicationLayer
    from .embedding import EmbeddingLayer as EmbeddingLayer
    from .embedding import EmbeddingSequenceLayer as EmbeddingSequenceLayer
    from .frozen import FrozenLayer as FrozenLayer
    from .frozen import FrozenLayerWithBackprop as FrozenLayerWithBackprop
    from .global_pooling import GlobalPoolingLayer as GlobalPoolingLayer
    from .local_response_normalization import LocalResponseNormalization as LocalResponseNormalization
    from .locally_connected import LocallyConnected1D as LocallyConnected1D
    from .locally_connected import LocallyConnected2D as LocallyConnected2D
    from .losses_of_places import Cnn3DLossLayer as Cnn3DLossLayer
    from .losses_of_places import CnnLossLayer as CnnLossLayer
    from .losses_of_places import RnnLossLayer as RnnLossLayer
    from .ocnn import OCNNOutputLayer as OCNNOutputLayer
    from .output import LossLayer as LossLayer
    from .output import OutputLayer as OutputLayer
    from .prelu import PReLULayer as PReLULayer
    from .primary_capsules import PrimaryCapsules as PrimaryCapsules
    from .repeat_vector import RepeatVector as RepeatVector
    from .rnn_output import RnnOutputLayer as RnnOutputLayer
    from .runtime import LayerRuntime as LayerRuntime
    from .same_diff import SameDiffConf as SameDiffConf
    from .space_to_batch import SpaceToBatchLayer as SpaceToBatchLayer
    from .space_to_depth import SpaceToDepthLayer as SpaceToDepthLayer
    from .subsampling import Pooling2D as Pooling2D
    from .subsampling import SubsamplingLayer as SubsamplingLayer
    from .subsampling1d import Pooling1D as Pooling1D
    from .subsampling1d import Subsampling1DLayer as Subsampling1DLayer
    from .subsampling3d import Subsampling3DLayer as Subsampling3DLayer
    from .upsampling import Upsampling1D as Upsampling1D
    from .upsampling import Upsampling2D as Upsampling2D
    from .upsampling import Upsampling3D as Upsampling3D
    from .zero_padding import ZeroPadding1DLayer as ZeroPadding1DLayer
    from .zero_padding import ZeroPadding3DLayer as ZeroPadding3DLayer
    from .zero_padding import ZeroPaddingLayer as ZeroPaddingLayer

LAYERS: ClassTable[type[LayerConf]] = ClassTable(
    __name__,
    {
        "activation": "activation:ActivationLayer",
        "batch_normalization": "batch_normalization:BatchNormalization",
        "capsule": "capsules:CapsuleLayer",
        "capsule_strength": "capsules:CapsuleStrengthLayer",
        "center_loss_output": "center_loss:CenterLossOutputLayer",
        "cnn3d_loss": "losses_of_places:Cnn3DLossLayer",
        "cnn_loss": "losses_of_places:CnnLossLayer",
        "convolution": "convolution:ConvolutionLayer",
        "convolution1d": "convolution1d:Convolution1DLayer",
        "convolution3d": "convolution3d:Convolution3D",
        "cropping1d": "cropping:Cropping1D",
        "cropping2d": "cropping:Cropping2D",
        "cropping3d": "cropping:Cropping3D",
        "deconvolution2d": "deconvolution:Deconvolution2D",
        "deconvolution3d": "deconvolution:Deconvolution3D",
        "dense": "dense:DenseLayer",
        "depthwise_convolution2d": "depthwise:DepthwiseConvolution2D",
        "dropout": "dropout:DropoutLayer",
        "element_wise_multiplication": "element_wise_multiplication:ElementWiseMultiplicationLayer",
        "embedding": "embedding:EmbeddingLayer",
        "embedding_sequence": "embedding:EmbeddingSequenceLayer",
        "frozen": "frozen:FrozenLayer",
        "frozen_with_backprop": "frozen:FrozenLayerWithBackprop",
        "global_pooling": "global_pooling:GlobalPoolingLayer",
        "local_response_normalization": "local_response_normalization:LocalResponseNormalization",
        "locally_connected1d": "locally_connected:LocallyConnected1D",
        "locally_connected2d": "locally_connected:LocallyConnected2D",
        "loss": "output:LossLayer",
        "ocnn_output": "ocnn:OCNNOutputLayer",
        "output": "output:OutputLayer",
        "prelu": "prelu:PReLULayer",
        "primary_capsules": "primary_capsules:PrimaryCapsules",
        "repeat_vector": "repeat_vector:RepeatVector",
        "rnn_loss": "losses_of_places:RnnLossLayer",
        "rnn_output": "rnn_output:RnnOutputLayer",
        "separable_convolution2d": "depthwise:SeparableConvolution2D",
        "space_to_batch": "space_to_batch:SpaceToBatchLayer",
        "space_to_depth": "space_to_depth:SpaceToDepthLayer",
        "subsampling": "subsampling:SubsamplingLayer",
        "subsampling1d": "subsampling1d:Subsampling1DLayer",
        "subsampling3d": "subsampling3d:Subsampling3DLayer",
        "upsampling1d": "upsampling:Upsampling1D",
        "upsampling2d": "upsampling:Upsampling2D",
        "upsampling3d": "upsampling:Upsampling3D",
        "zero_padding": "zero_padding:ZeroPaddingLayer",
        "zero_padding1d": "zero_padding:ZeroPadding1DLayer",
        "zero_padding3d": "zero_padding:ZeroPadding3DLayer",
    },
)
"""Name -> module and configuration class, sorted."""

if not TYPE_CHECKING:
    _NAMES = LAYERS.modules({
        "base": "BaseLayerConf FeedForwardConf LayerConf",
        "convolution1d": "Convolution1D",
        "runtime": "LayerRuntime",
        "same_diff": "SameDiffConf",
        "subsampling": "Pooling2D",
        "subsampling1d": "Pooling1D",
    })  # fmt: skip
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["LAYERS", *" ".join(_NAMES.values()).split()])
