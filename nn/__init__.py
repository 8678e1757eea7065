"""nn: layers, their configuration, and networks of them, written against `nd`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .conf.distributions import (
        BinomialDistribution,
        ConstantDistribution,
        GaussianDistribution,
        LogNormalDistribution,
        NormalDistribution,
        OrthogonalDistribution,
        TruncatedNormalDistribution,
        UniformDistribution,
    )
    from .conf.dropout import AlphaDropout, Dropout, GaussianDropout, GaussianNoise, IDropout, SpatialDropout
    from .conf.enums import (
        Activation,
        ConvolutionMode,
        GradientNormalization,
        LossFunction,
        OptimizationAlgorithm,
        PoolingType,
        Updater,
        WeightInit,
    )
    from .conf.findings import ModelFileWarning
    from .conf.input_type import InputType
    from .conf.network import MultiLayerConfiguration, NeuralNetConfiguration
    from .conf.parts import register, unregister
    from .conf.weight_noise import DropConnect, IWeightNoise, WeightNoise
    from .gradient import DefaultGradient, Gradient
    from .layers import (
        ActivationLayer,
        BatchNormalization,
        CapsuleLayer,
        CapsuleStrengthLayer,
        CenterLossOutputLayer,
        Cnn3DLossLayer,
        CnnLossLayer,
        Convolution1D,
        Convolution1DLayer,
        Convolution3D,
        ConvolutionLayer,
        Cropping1D,
        Cropping2D,
        Cropping3D,
        Deconvolution2D,
        Deconvolution3D,
        DenseLayer,
        DepthwiseConvolution2D,
        DropoutLayer,
        ElementWiseMultiplicationLayer,
        EmbeddingLayer,
        EmbeddingSequenceLayer,
        FrozenLayer,
        FrozenLayerWithBackprop,
        GlobalPoolingLayer,
        LocallyConnected1D,
        LocallyConnected2D,
        LocalResponseNormalization,
        LossLayer,
        OCNNOutputLayer,
        OutputLayer,
        Pooling1D,
        Pooling2D,
        PReLULayer,
        PrimaryCapsules,
        RepeatVector,
        RnnLossLayer,
        RnnOutputLayer,
        SeparableConvolution2D,
        SpaceToBatchLayer,
        SpaceToDepthLayer,
        Subsampling1DLayer,
        Subsampling3DLayer,
        SubsamplingLayer,
        Upsampling1D,
        Upsampling2D,
        Upsampling3D,
        ZeroPadding1DLayer,
        ZeroPadding3DLayer,
        ZeroPaddingLayer,
    )
    from .model_file import LayerDescription, ModelFile
    from .multilayer import MultiLayerNetwork
    from .preprocessors import (
        Cnn3DToFeedForwardPreProcessor,
        CnnToFeedForwardPreProcessor,
        CnnToRnnPreProcessor,
        FeedForwardToCnn3DPreProcessor,
        FeedForwardToCnnPreProcessor,
        FeedForwardToRnnPreProcessor,
        InputPreProcessor,
        RnnToCnnPreProcessor,
        RnnToFeedForwardPreProcessor,
    )
    from .serializer import add_normalizer_to_model, restore_normalizer
    from .transferlearning import FineTuneConfiguration, TransferLearning, TransferLearningHelper
    from .weights import ScaledWeightInit
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "conf.distributions": (
                "BinomialDistribution ConstantDistribution GaussianDistribution LogNormalDistribution "
                "NormalDistribution OrthogonalDistribution TruncatedNormalDistribution UniformDistribution"
            ),
            "conf.dropout": "AlphaDropout Dropout GaussianDropout GaussianNoise IDropout SpatialDropout",
            "conf.enums": (
                "Activation ConvolutionMode GradientNormalization LossFunction OptimizationAlgorithm PoolingType "
                "Updater WeightInit"
            ),
            "conf.findings": "ModelFileWarning",
            "conf.input_type": "InputType",
            "conf.network": "MultiLayerConfiguration NeuralNetConfiguration",
            "conf.parts": "register unregister",
            "conf.weight_noise": "DropConnect IWeightNoise WeightNoise",
            "gradient": "DefaultGradient Gradient",
            "layers": (
                "ActivationLayer BatchNormalization CapsuleLayer CapsuleStrengthLayer CenterLossOutputLayer "
                "Cnn3DLossLayer CnnLossLayer Convolution1D Convolution1DLayer Convolution3D ConvolutionLayer "
                "Cropping1D Cropping2D Cropping3D Deconvolution2D Deconvolution3D DenseLayer DepthwiseConvolution2D "
                "DropoutLayer ElementWiseMultiplicationLayer EmbeddingLayer EmbeddingSequenceLayer FrozenLayer "
                "FrozenLayerWithBackprop GlobalPoolingLayer LocalResponseNormalization LocallyConnected1D "
                "LocallyConnected2D LossLayer OCNNOutputLayer OutputLayer PReLULayer Pooling1D Pooling2D "
                "PrimaryCapsules RepeatVector RnnLossLayer RnnOutputLayer SeparableConvolution2D SpaceToBatchLayer "
                "SpaceToDepthLayer Subsampling1DLayer Subsampling3DLayer SubsamplingLayer Upsampling1D Upsampling2D "
                "Upsampling3D ZeroPadding1DLayer ZeroPadding3DLayer ZeroPaddingLayer"
            ),
            "model_file": "LayerDescription ModelFile",
            "multilayer": "MultiLayerNetwork",
            "preprocessors": (
                "Cnn3DToFeedForwardPreProcessor CnnToFeedForwardPreProcessor CnnToRnnPreProcessor "
                "FeedForwardToCnn3DPreProcessor FeedForwardToCnnPreProcessor FeedForwardToRnnPreProcessor "
                "InputPreProcessor RnnToCnnPreProcessor RnnToFeedForwardPreProcessor"
            ),
            "serializer": "add_normalizer_to_model restore_normalizer",
            "transferlearning": "FineTuneConfiguration TransferLearning TransferLearningHelper",
            "weights": "ScaledWeightInit",
        },
        modules="conf layers transferlearning",
    )

__all__ = [
    "Activation",
    "ActivationLayer",
    "AlphaDropout",
    "BatchNormalization",
    "BinomialDistribution",
    "CapsuleLayer",
    "CapsuleStrengthLayer",
    "CenterLossOutputLayer",
    "Cnn3DLossLayer",
    "Cnn3DToFeedForwardPreProcessor",
    "CnnLossLayer",
    "CnnToFeedForwardPreProcessor",
    "CnnToRnnPreProcessor",
    "ConstantDistribution",
    "Convolution1D",
    "Convolution1DLayer",
    "Convolution3D",
    "ConvolutionLayer",
    "ConvolutionMode",
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "Deconvolution2D",
    "Deconvolution3D",
    "DefaultGradient",
    "DenseLayer",
    "DepthwiseConvolution2D",
    "DropConnect",
    "Dropout",
    "DropoutLayer",
    "ElementWiseMultiplicationLayer",
    "EmbeddingLayer",
    "EmbeddingSequenceLayer",
    "FeedForwardToCnn3DPreProcessor",
    "FeedForwardToCnnPreProcessor",
    "FeedForwardToRnnPreProcessor",
    "FineTuneConfiguration",
    "FrozenLayer",
    "FrozenLayerWithBackprop",
    "GaussianDistribution",
    "GaussianDropout",
    "GaussianNoise",
    "GlobalPoolingLayer",
    "Gradient",
    "GradientNormalization",
    "IDropout",
    "IWeightNoise",
    "InputPreProcessor",
    "InputType",
    "LayerDescription",
    "LocalResponseNormalization",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "LogNormalDistribution",
    "LossFunction",
    "LossLayer",
    "ModelFile",
    "ModelFileWarning",
    "MultiLayerConfiguration",
    "MultiLayerNetwork",
    "NeuralNetConfiguration",
    "NormalDistribution",
    "OCNNOutputLayer",
    "OptimizationAlgorithm",
    "OrthogonalDistribution",
    "OutputLayer",
    "PReLULayer",
    "Pooling1D",
    "Pooling2D",
    "PoolingType",
    "PrimaryCapsules",
    "RepeatVector",
    "RnnLossLayer",
    "RnnOutputLayer",
    "RnnToCnnPreProcessor",
    "RnnToFeedForwardPreProcessor",
    "ScaledWeightInit",
    "SeparableConvolution2D",
    "SpaceToBatchLayer",
    "SpaceToDepthLayer",
    "SpatialDropout",
    "Subsampling1DLayer",
    "Subsampling3DLayer",
    "SubsamplingLayer",
    "TransferLearning",
    "TransferLearningHelper",
    "TruncatedNormalDistribution",
    "UniformDistribution",
    "Updater",
    "Upsampling1D",
    "Upsampling2D",
    "Upsampling3D",
    "WeightInit",
    "WeightNoise",
    "ZeroPadding1DLayer",
    "ZeroPadding3DLayer",
    "ZeroPaddingLayer",
    "add_normalizer_to_model",
    "layers",
    "register",
    "restore_normalizer",
    "transferlearning",
    "unregister",
]
