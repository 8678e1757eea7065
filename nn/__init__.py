"""nn: layers, their configuration, and networks of them, written against `nd`."""

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
from .conf.registration import register_layer, unregister_layer
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
