"""nn: layers, their configuration, and networks of them, written against `nd`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from nd.on_demand import names_on_demand
    from optimize import __distribution__
except Exception:
    from ndwright.origins import check_origins

    check_origins()  # says which package is another's
    raise

if TYPE_CHECKING:
    from .conf.distributions import BinomialDistribution as BinomialDistribution
    from .conf.distributions import ConstantDistribution as ConstantDistribution
    from .conf.distributions import GaussianDistribution as GaussianDistribution
    from .conf.distributions import LogNormalDistribution as LogNormalDistribution
    from .conf.distributions import NormalDistribution as NormalDistribution
    from .conf.distributions import OrthogonalDistribution as OrthogonalDistribution
    from .conf.distributions import TruncatedNormalDistribution as TruncatedNormalDistribution
    from .conf.distributions import UniformDistribution as UniformDistribution
    from .conf.dropout import AlphaDropout as AlphaDropout
    from .conf.dropout import Dropout as Dropout
    from .conf.dropout import GaussianDropout as GaussianDropout
    from .conf.dropout import GaussianNoise as GaussianNoise
    from .conf.dropout import IDropout as IDropout
    from .conf.dropout import SpatialDropout as SpatialDropout
    from .conf.enums import Activation as Activation
    from .conf.enums import ConvolutionMode as ConvolutionMode
    from .conf.enums import GradientNormalization as GradientNormalization
    from .conf.enums import LossFunction as LossFunction
    from .conf.enums import OptimizationAlgorithm as OptimizationAlgorithm
    from .conf.enums import PoolingType as PoolingType
    from .conf.enums import Updater as Updater
    from .conf.enums import WeightInit as WeightInit
    from .conf.graph import ComputationGraphConfiguration as ComputationGraphConfiguration
    from .conf.input_type import InputType as InputType
    from .conf.multilayer import MultiLayerConfiguration as MultiLayerConfiguration
    from .conf.network import NeuralNetConfiguration as NeuralNetConfiguration
    from .conf.parts import register as register
    from .conf.parts import unregister as unregister
    from .conf.preprocessors import Cnn3DToFeedForwardPreProcessor as Cnn3DToFeedForwardPreProcessor
    from .conf.preprocessors import CnnToFeedForwardPreProcessor as CnnToFeedForwardPreProcessor
    from .conf.preprocessors import FeedForwardToCnn3DPreProcessor as FeedForwardToCnn3DPreProcessor
    from .conf.preprocessors import FeedForwardToCnnPreProcessor as FeedForwardToCnnPreProcessor
    from .conf.preprocessors import InputPreProcessor as InputPreProcessor
    from .conf.series_preprocessors import CnnToRnnPreProcessor as CnnToRnnPreProcessor
    from .conf.series_preprocessors import FeedForwardToRnnPreProcessor as FeedForwardToRnnPreProcessor
    from .conf.series_preprocessors import RnnToCnnPreProcessor as RnnToCnnPreProcessor
    from .conf.series_preprocessors import RnnToFeedForwardPreProcessor as RnnToFeedForwardPreProcessor
    from .conf.weight_noise import DropConnect as DropConnect
    from .conf.weight_noise import IWeightNoise as IWeightNoise
    from .conf.weight_noise import WeightNoise as WeightNoise
    from .files.findings import JavaLimitWarning as JavaLimitWarning
    from .files.findings import ModelFileWarning as ModelFileWarning
    from .files.model_file import LayerDescription as LayerDescription
    from .files.model_file import ModelFile as ModelFile
    from .files.serializer import add_normalizer_to_model as add_normalizer_to_model
    from .files.serializer import load as load
    from .files.serializer import restore_normalizer as restore_normalizer
    from .layers import *  # noqa: F403
    from .networks.graph import ComputationGraph as ComputationGraph
    from .networks.multilayer import MultiLayerNetwork as MultiLayerNetwork
    from .networks.weights import ScaledWeightInit as ScaledWeightInit
    from .step.gradient import DefaultGradient as DefaultGradient
    from .step.gradient import Gradient as Gradient
    from .transferlearning import FineTuneConfiguration as FineTuneConfiguration
    from .transferlearning import TransferLearning as TransferLearning
    from .transferlearning import TransferLearningHelper as TransferLearningHelper
    from .vertices import *  # noqa: F403
else:
    from . import layers, vertices

    _NAMES = {
        "conf.distributions": (
            "BinomialDistribution ConstantDistribution GaussianDistribution LogNormalDistribution "
            "NormalDistribution OrthogonalDistribution TruncatedNormalDistribution UniformDistribution"
        ),
        "conf.dropout": "AlphaDropout Dropout GaussianDropout GaussianNoise IDropout SpatialDropout",
        "conf.enums": (
            "Activation ConvolutionMode GradientNormalization LossFunction OptimizationAlgorithm PoolingType "
            "Updater WeightInit"
        ),
        "conf.graph": "ComputationGraphConfiguration",
        "conf.input_type": "InputType",
        "conf.multilayer": "MultiLayerConfiguration",
        "conf.network": "NeuralNetConfiguration",
        "conf.parts": "register unregister",
        "conf.preprocessors": (
            "Cnn3DToFeedForwardPreProcessor CnnToFeedForwardPreProcessor FeedForwardToCnn3DPreProcessor "
            "FeedForwardToCnnPreProcessor InputPreProcessor"
        ),
        "conf.series_preprocessors": (
            "CnnToRnnPreProcessor FeedForwardToRnnPreProcessor RnnToCnnPreProcessor RnnToFeedForwardPreProcessor"
        ),
        "conf.weight_noise": "DropConnect IWeightNoise WeightNoise",
        "files.findings": "JavaLimitWarning ModelFileWarning",
        "files.model_file": "LayerDescription ModelFile",
        "files.serializer": "add_normalizer_to_model load restore_normalizer",
        "layers": " ".join(layers.__all__),
        "networks.graph": "ComputationGraph",
        "networks.multilayer": "MultiLayerNetwork",
        "networks.weights": "ScaledWeightInit",
        "step.gradient": "DefaultGradient Gradient",
        "transferlearning": "FineTuneConfiguration TransferLearning TransferLearningHelper",
        "vertices": " ".join(vertices.__all__),
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES, modules="conf layers transferlearning vertices")
    __all__ = sorted(" ".join((*_NAMES.values(), "layers transferlearning vertices")).split())
