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
    from .conf.graph import ComputationGraphConfiguration as ComputationGraphConfiguration
    from .conf.multilayer import MultiLayerConfiguration as MultiLayerConfiguration
    from .conf.network import NeuralNetConfiguration as NeuralNetConfiguration
    from .conf.parts import register as register
    from .conf.parts import unregister as unregister
    from .files.findings import JavaLimitWarning as JavaLimitWarning
    from .files.findings import ModelFileWarning as ModelFileWarning
    from .files.model_file import LayerDescription as LayerDescription
    from .files.model_file import ModelFile as ModelFile
    from .files.serializer import add_normalizer_to_model as add_normalizer_to_model
    from .files.serializer import load as load
    from .files.serializer import restore_normalizer as restore_normalizer
    from .layers import *  # noqa: F403
    from .layers.kinds import LayerType as LayerType
    from .networks.gradient import DefaultGradient as DefaultGradient
    from .networks.gradient import Gradient as Gradient
    from .networks.graph import ComputationGraph as ComputationGraph
    from .networks.multilayer import MultiLayerNetwork as MultiLayerNetwork
    from .networks.tasks import ArchitectureType as ArchitectureType
    from .networks.tasks import NetworkType as NetworkType
    from .networks.tasks import Task as Task
    from .networks.tasks import build_task as build_task
    from .networks.tasks import task_by_model as task_by_model
    from .terms.distributions import BinomialDistribution as BinomialDistribution
    from .terms.distributions import ConstantDistribution as ConstantDistribution
    from .terms.distributions import GaussianDistribution as GaussianDistribution
    from .terms.distributions import LogNormalDistribution as LogNormalDistribution
    from .terms.distributions import NormalDistribution as NormalDistribution
    from .terms.distributions import OrthogonalDistribution as OrthogonalDistribution
    from .terms.distributions import TruncatedNormalDistribution as TruncatedNormalDistribution
    from .terms.distributions import UniformDistribution as UniformDistribution
    from .terms.dropout import AlphaDropout as AlphaDropout
    from .terms.dropout import Dropout as Dropout
    from .terms.dropout import GaussianDropout as GaussianDropout
    from .terms.dropout import GaussianNoise as GaussianNoise
    from .terms.dropout import IDropout as IDropout
    from .terms.dropout import SpatialDropout as SpatialDropout
    from .terms.enums import Activation as Activation
    from .terms.enums import ConvolutionMode as ConvolutionMode
    from .terms.enums import GradientNormalization as GradientNormalization
    from .terms.enums import LossFunction as LossFunction
    from .terms.enums import OptimizationAlgorithm as OptimizationAlgorithm
    from .terms.enums import PoolingType as PoolingType
    from .terms.enums import Updater as Updater
    from .terms.enums import WeightInit as WeightInit
    from .terms.input_type import InputType as InputType
    from .terms.preprocessors import Cnn3DToFeedForwardPreProcessor as Cnn3DToFeedForwardPreProcessor
    from .terms.preprocessors import CnnToFeedForwardPreProcessor as CnnToFeedForwardPreProcessor
    from .terms.preprocessors import FeedForwardToCnn3DPreProcessor as FeedForwardToCnn3DPreProcessor
    from .terms.preprocessors import FeedForwardToCnnPreProcessor as FeedForwardToCnnPreProcessor
    from .terms.preprocessors import InputPreProcessor as InputPreProcessor
    from .terms.series_preprocessors import CnnToRnnPreProcessor as CnnToRnnPreProcessor
    from .terms.series_preprocessors import FeedForwardToRnnPreProcessor as FeedForwardToRnnPreProcessor
    from .terms.series_preprocessors import RnnToCnnPreProcessor as RnnToCnnPreProcessor
    from .terms.series_preprocessors import RnnToFeedForwardPreProcessor as RnnToFeedForwardPreProcessor
    from .terms.weight_noise import DropConnect as DropConnect
    from .terms.weight_noise import IWeightNoise as IWeightNoise
    from .terms.weight_noise import WeightNoise as WeightNoise
    from .terms.weights import ScaledWeightInit as ScaledWeightInit
    from .transferlearning import FineTuneConfiguration as FineTuneConfiguration
    from .transferlearning import TransferLearning as TransferLearning
    from .transferlearning import TransferLearningHelper as TransferLearningHelper
    from .vertices import *  # noqa: F403
else:
    from . import layers, vertices

    _NAMES = {
        "conf.graph": "ComputationGraphConfiguration",
        "conf.multilayer": "MultiLayerConfiguration",
        "conf.network": "NeuralNetConfiguration",
        "conf.parts": "register unregister",
        "files.findings": "JavaLimitWarning ModelFileWarning",
        "files.model_file": "LayerDescription ModelFile",
        "files.serializer": "add_normalizer_to_model load restore_normalizer",
        "layers": " ".join(layers.__all__),
        "layers.kinds": "LayerType",
        "networks.gradient": "DefaultGradient Gradient",
        "networks.graph": "ComputationGraph",
        "networks.multilayer": "MultiLayerNetwork",
        "networks.tasks": "ArchitectureType NetworkType Task build_task task_by_model",
        "terms.distributions": (
            "BinomialDistribution ConstantDistribution GaussianDistribution LogNormalDistribution "
            "NormalDistribution OrthogonalDistribution TruncatedNormalDistribution UniformDistribution"
        ),
        "terms.dropout": "AlphaDropout Dropout GaussianDropout GaussianNoise IDropout SpatialDropout",
        "terms.enums": (
            "Activation ConvolutionMode GradientNormalization LossFunction OptimizationAlgorithm PoolingType "
            "Updater WeightInit"
        ),
        "terms.input_type": "InputType",
        "terms.preprocessors": (
            "Cnn3DToFeedForwardPreProcessor CnnToFeedForwardPreProcessor FeedForwardToCnn3DPreProcessor "
            "FeedForwardToCnnPreProcessor InputPreProcessor"
        ),
        "terms.series_preprocessors": (
            "CnnToRnnPreProcessor FeedForwardToRnnPreProcessor RnnToCnnPreProcessor RnnToFeedForwardPreProcessor"
        ),
        "terms.weight_noise": "DropConnect IWeightNoise WeightNoise",
        "terms.weights": "ScaledWeightInit",
        "transferlearning": "FineTuneConfiguration TransferLearning TransferLearningHelper",
        "vertices": " ".join(vertices.__all__),
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES, modules="conf layers transferlearning vertices")
    __all__ = sorted(" ".join((*_NAMES.values(), "layers transferlearning vertices")).split())
