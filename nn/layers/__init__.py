"""Layers: one file per family, configuration and runtime together.

A layer has its line in LAYERS, from which the imports for type checkers are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import ClassTable, names_on_demand

if TYPE_CHECKING:
    from .base import BaseLayerConf as BaseLayerConf
    from .base import FeedForwardConf as FeedForwardConf
    from .base import LayerConf as LayerConf
    from .base import ParamSpec as ParamSpec
    from .capsules.capsules import CapsuleLayer as CapsuleLayer
    from .capsules.capsules import CapsuleStrengthLayer as CapsuleStrengthLayer
    from .capsules.primary_capsules import PrimaryCapsules as PrimaryCapsules
    from .convolution.convolution import ConvolutionLayer as ConvolutionLayer
    from .convolution.convolution1d import Convolution1D as Convolution1D
    from .convolution.convolution1d import Convolution1DLayer as Convolution1DLayer
    from .convolution.convolution3d import Convolution3D as Convolution3D
    from .convolution.cropping import Cropping1D as Cropping1D
    from .convolution.cropping import Cropping2D as Cropping2D
    from .convolution.cropping import Cropping3D as Cropping3D
    from .convolution.deconvolution import Deconvolution2D as Deconvolution2D
    from .convolution.deconvolution import Deconvolution3D as Deconvolution3D
    from .convolution.depthwise import DepthwiseConvolution2D as DepthwiseConvolution2D
    from .convolution.depthwise import SeparableConvolution2D as SeparableConvolution2D
    from .convolution.locally_connected import LocallyConnected1D as LocallyConnected1D
    from .convolution.locally_connected import LocallyConnected2D as LocallyConnected2D
    from .convolution.space_to_batch import SpaceToBatchLayer as SpaceToBatchLayer
    from .convolution.space_to_depth import SpaceToDepthLayer as SpaceToDepthLayer
    from .convolution.upsampling import Upsampling1D as Upsampling1D
    from .convolution.upsampling import Upsampling2D as Upsampling2D
    from .convolution.upsampling import Upsampling3D as Upsampling3D
    from .convolution.zero_padding import ZeroPadding1DLayer as ZeroPadding1DLayer
    from .convolution.zero_padding import ZeroPadding3DLayer as ZeroPadding3DLayer
    from .convolution.zero_padding import ZeroPaddingLayer as ZeroPaddingLayer
    from .core.activation import ActivationLayer as ActivationLayer
    from .core.dense import DenseLayer as DenseLayer
    from .core.dropout import DropoutLayer as DropoutLayer
    from .core.element_wise_multiplication import ElementWiseMultiplicationLayer as ElementWiseMultiplicationLayer
    from .core.embedding import EmbeddingLayer as EmbeddingLayer
    from .core.embedding import EmbeddingSequenceLayer as EmbeddingSequenceLayer
    from .core.frozen import FrozenLayer as FrozenLayer
    from .core.frozen import FrozenLayerWithBackprop as FrozenLayerWithBackprop
    from .core.identity import IdentityLayer as IdentityLayer
    from .core.mask import MaskLayer as MaskLayer
    from .core.prelu import PReLULayer as PReLULayer
    from .core.repeat_vector import RepeatVector as RepeatVector
    from .losses.center_loss import CenterLossOutputLayer as CenterLossOutputLayer
    from .losses.losses_of_places import Cnn3DLossLayer as Cnn3DLossLayer
    from .losses.losses_of_places import CnnLossLayer as CnnLossLayer
    from .losses.losses_of_places import RnnLossLayer as RnnLossLayer
    from .losses.ocnn import OCNNOutputLayer as OCNNOutputLayer
    from .losses.output import LossLayer as LossLayer
    from .losses.output import OutputLayer as OutputLayer
    from .losses.rnn_output import RnnOutputLayer as RnnOutputLayer
    from .normalization.batch_normalization import BatchNormalization as BatchNormalization
    from .normalization.local_response_normalization import LocalResponseNormalization as LocalResponseNormalization
    from .objdetect.detected import DetectedObject as DetectedObject
    from .objdetect.detected import YoloUtils as YoloUtils
    from .objdetect.yolo import Yolo2OutputLayer as Yolo2OutputLayer
    from .pooling.global_pooling import GlobalPoolingLayer as GlobalPoolingLayer
    from .pooling.subsampling import Pooling2D as Pooling2D
    from .pooling.subsampling import SubsamplingLayer as SubsamplingLayer
    from .pooling.subsampling1d import Pooling1D as Pooling1D
    from .pooling.subsampling1d import Subsampling1DLayer as Subsampling1DLayer
    from .pooling.subsampling3d import Subsampling3DLayer as Subsampling3DLayer
    from .pretraining.autoencoder import AutoEncoder as AutoEncoder
    from .pretraining.base import BasePretrainNetwork as BasePretrainNetwork
    from .pretraining.distributions import BernoulliReconstructionDistribution as BernoulliReconstructionDistribution
    from .pretraining.distributions import CompositeReconstructionDistribution as CompositeReconstructionDistribution
    from .pretraining.distributions import (
        ExponentialReconstructionDistribution as ExponentialReconstructionDistribution,
    )
    from .pretraining.distributions import GaussianReconstructionDistribution as GaussianReconstructionDistribution
    from .pretraining.distributions import LossFunctionWrapper as LossFunctionWrapper
    from .pretraining.distributions import ReconstructionDistribution as ReconstructionDistribution
    from .pretraining.rbm import RBM as RBM
    from .pretraining.variational import VariationalAutoencoder as VariationalAutoencoder
    from .recurrent.attention import LearnedSelfAttentionLayer as LearnedSelfAttentionLayer
    from .recurrent.attention import SelfAttentionLayer as SelfAttentionLayer
    from .recurrent.bidirectional import Bidirectional as Bidirectional
    from .recurrent.graves_bidirectional import GravesBidirectionalLSTM as GravesBidirectionalLSTM
    from .recurrent.last_time_step import LastTimeStep as LastTimeStep
    from .recurrent.lstm import LSTM as LSTM
    from .recurrent.lstm import GravesLSTM as GravesLSTM
    from .recurrent.mask_zero import MaskZeroLayer as MaskZeroLayer
    from .recurrent.recurrent_attention import RecurrentAttentionLayer as RecurrentAttentionLayer
    from .recurrent.simple_rnn import SimpleRnn as SimpleRnn
    from .recurrent.time_distributed import TimeDistributed as TimeDistributed
    from .runtime import LayerRuntime as LayerRuntime
    from .same_diff import SameDiffConf as SameDiffConf

LAYERS: ClassTable[type[LayerConf]] = ClassTable(
    __name__,
    {
        "activation": "core.activation:ActivationLayer",
        "auto_encoder": "pretraining.autoencoder:AutoEncoder",
        "batch_normalization": "normalization.batch_normalization:BatchNormalization",
        "bidirectional": "recurrent.bidirectional:Bidirectional",
        "capsule": "capsules.capsules:CapsuleLayer",
        "capsule_strength": "capsules.capsules:CapsuleStrengthLayer",
        "center_loss_output": "losses.center_loss:CenterLossOutputLayer",
        "cnn3d_loss": "losses.losses_of_places:Cnn3DLossLayer",
        "cnn_loss": "losses.losses_of_places:CnnLossLayer",
        "convolution": "convolution.convolution:ConvolutionLayer",
        "convolution1d": "convolution.convolution1d:Convolution1DLayer",
        "convolution3d": "convolution.convolution3d:Convolution3D",
        "cropping1d": "convolution.cropping:Cropping1D",
        "cropping2d": "convolution.cropping:Cropping2D",
        "cropping3d": "convolution.cropping:Cropping3D",
        "deconvolution2d": "convolution.deconvolution:Deconvolution2D",
        "deconvolution3d": "convolution.deconvolution:Deconvolution3D",
        "dense": "core.dense:DenseLayer",
        "depthwise_convolution2d": "convolution.depthwise:DepthwiseConvolution2D",
        "dropout": "core.dropout:DropoutLayer",
        "element_wise_multiplication": "core.element_wise_multiplication:ElementWiseMultiplicationLayer",
        "embedding": "core.embedding:EmbeddingLayer",
        "embedding_sequence": "core.embedding:EmbeddingSequenceLayer",
        "frozen": "core.frozen:FrozenLayer",
        "frozen_with_backprop": "core.frozen:FrozenLayerWithBackprop",
        "global_pooling": "pooling.global_pooling:GlobalPoolingLayer",
        "graves_bidirectional_lstm": "recurrent.graves_bidirectional:GravesBidirectionalLSTM",
        "graves_lstm": "recurrent.lstm:GravesLSTM",
        "identity": "core.identity:IdentityLayer",
        "last_time_step": "recurrent.last_time_step:LastTimeStep",
        "learned_self_attention": "recurrent.attention:LearnedSelfAttentionLayer",
        "local_response_normalization": "normalization.local_response_normalization:LocalResponseNormalization",
        "locally_connected1d": "convolution.locally_connected:LocallyConnected1D",
        "locally_connected2d": "convolution.locally_connected:LocallyConnected2D",
        "loss": "losses.output:LossLayer",
        "lstm": "recurrent.lstm:LSTM",
        "mask": "core.mask:MaskLayer",
        "mask_zero": "recurrent.mask_zero:MaskZeroLayer",
        "ocnn_output": "losses.ocnn:OCNNOutputLayer",
        "output": "losses.output:OutputLayer",
        "prelu": "core.prelu:PReLULayer",
        "primary_capsules": "capsules.primary_capsules:PrimaryCapsules",
        "rbm": "pretraining.rbm:RBM",
        "recurrent_attention": "recurrent.recurrent_attention:RecurrentAttentionLayer",
        "repeat_vector": "core.repeat_vector:RepeatVector",
        "rnn_loss": "losses.losses_of_places:RnnLossLayer",
        "rnn_output": "losses.rnn_output:RnnOutputLayer",
        "self_attention": "recurrent.attention:SelfAttentionLayer",
        "separable_convolution2d": "convolution.depthwise:SeparableConvolution2D",
        "simple_rnn": "recurrent.simple_rnn:SimpleRnn",
        "space_to_batch": "convolution.space_to_batch:SpaceToBatchLayer",
        "space_to_depth": "convolution.space_to_depth:SpaceToDepthLayer",
        "subsampling": "pooling.subsampling:SubsamplingLayer",
        "subsampling1d": "pooling.subsampling1d:Subsampling1DLayer",
        "subsampling3d": "pooling.subsampling3d:Subsampling3DLayer",
        "time_distributed": "recurrent.time_distributed:TimeDistributed",
        "upsampling1d": "convolution.upsampling:Upsampling1D",
        "upsampling2d": "convolution.upsampling:Upsampling2D",
        "upsampling3d": "convolution.upsampling:Upsampling3D",
        "variational_autoencoder": "pretraining.variational:VariationalAutoencoder",
        "yolo2_output": "objdetect.yolo:Yolo2OutputLayer",
        "zero_padding": "convolution.zero_padding:ZeroPaddingLayer",
        "zero_padding1d": "convolution.zero_padding:ZeroPadding1DLayer",
        "zero_padding3d": "convolution.zero_padding:ZeroPadding3DLayer",
    },
)
"""Name -> module and configuration class, sorted."""

if not TYPE_CHECKING:
    _NAMES = LAYERS.modules({
        "base": "BaseLayerConf FeedForwardConf LayerConf ParamSpec",
        "convolution.convolution1d": "Convolution1D",
        "objdetect.detected": "DetectedObject YoloUtils",
        "pretraining.base": "BasePretrainNetwork",
        "pretraining.distributions": (
            "BernoulliReconstructionDistribution CompositeReconstructionDistribution "
            "ExponentialReconstructionDistribution GaussianReconstructionDistribution LossFunctionWrapper "
            "ReconstructionDistribution"
        ),
        "runtime": "LayerRuntime",
        "same_diff": "SameDiffConf",
        "pooling.subsampling": "Pooling2D",
        "pooling.subsampling1d": "Pooling1D",
    })  # fmt: skip
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(["LAYERS", *" ".join(_NAMES.values()).split()])
