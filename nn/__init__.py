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
from .conf.dropout import Dropout
from .conf.enums import (
    Activation,
    ConvolutionMode,
    LossFunction,
    OptimizationAlgorithm,
    PoolingType,
    Updater,
    WeightInit,
)
from .conf.input_type import InputType
from .conf.network import MultiLayerConfiguration, NeuralNetConfiguration
from .gradient import DefaultGradient, Gradient
from .layers import (
    ActivationLayer,
    ConvolutionLayer,
    DenseLayer,
    DropoutLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    LossLayer,
    OutputLayer,
    SubsamplingLayer,
)
from .multilayer import MultiLayerNetwork
from .preprocessors import CnnToFeedForwardPreProcessor, FeedForwardToCnnPreProcessor
from .transferlearning import FineTuneConfiguration, TransferLearning, TransferLearningHelper
