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
from .conf.input_type import InputType
from .conf.network import MultiLayerConfiguration, NeuralNetConfiguration
from .conf.weight_noise import DropConnect, IWeightNoise, WeightNoise
from .gradient import DefaultGradient, Gradient
from .layers import (
    ActivationLayer,
    Convolution1D,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DenseLayer,
    DepthwiseConvolution2D,
    DropoutLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    LocallyConnected1D,
    LocallyConnected2D,
    LossLayer,
    OutputLayer,
    SeparableConvolution2D,
    SubsamplingLayer,
)
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
from .transferlearning import FineTuneConfiguration, TransferLearning, TransferLearningHelper
