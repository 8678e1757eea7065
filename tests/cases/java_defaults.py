"""What tests/java makes of Deeplearning4j's classes, made of ours."""

import json
import pathlib
import tempfile
import types

import nd
import nn
import optimize
from nd import evaluation
from nd.activations import ACTIVATIONS, get_activation
from nd.dataset import (
    AsyncDataSetIterator,
    DataSet,
    ListDataSetIterator,
    NormalizerMinMaxScaler,
    SamplingDataSetIterator,
)
from nd.dataset.normalizers import ImagePreProcessingScaler
from nd.losses import LOSSES, LossFMeasure
from nn import DropConnect, NeuralNetConfiguration, NormalDistribution, WeightNoise
from optimize import earlystopping
from optimize.updaters import get_updater

FOUND = json.loads((pathlib.Path(__file__).parent / "java_defaults.json").read_text())
"""Kind -> name -> Java's fields."""
DATA = DataSet(nd.zeros(20, 4), nd.zeros(20, 3))
NORMAL = NormalDistribution(0.5, 0.25)


def network_defaults():
    """Those of the network, with names as the objects that they stand for."""
    conf = NeuralNetConfiguration(seed=1)
    dtype = {"float32": "float", "float64": "double"}[conf.dtype]
    return types.SimpleNamespace(**{**vars(conf), "activation": get_activation(conf.activation), "dtype": dtype})


MADE = {
    "activations": {name.upper(): each for name, each in ACTIVATIONS.items()},
    "constraints": {
        "MaxNormConstraint": lambda: optimize.MaxNormConstraint(2.0, dimensions=1),
        "MinMaxNormConstraint": lambda: optimize.MinMaxNormConstraint(1.0, 2.0, dimensions=1),
        "NonNegativeConstraint": optimize.NonNegativeConstraint,
        "UnitNormConstraint": lambda: optimize.UnitNormConstraint(dimensions=1),
    },
    "data": {
        "AsyncDataSetIterator": lambda: AsyncDataSetIterator(ListDataSetIterator(DATA)),
        "ImagePreProcessingScaler": ImagePreProcessingScaler,
        "ListDataSetIterator": lambda: ListDataSetIterator([DATA]),
        "NormalizerMinMaxScaler": NormalizerMinMaxScaler,
        "SamplingDataSetIterator": lambda: SamplingDataSetIterator(DATA, 4, 20),
    },
    "distributions": {
        "BinomialDistribution": lambda: nn.BinomialDistribution(3, 0.5),
        "ConstantDistribution": lambda: nn.ConstantDistribution(0.5),
        "GaussianDistribution": lambda: nn.GaussianDistribution(0.5, 0.25),
        "LogNormalDistribution": lambda: nn.LogNormalDistribution(0.5, 0.25),
        "NormalDistribution": lambda: NORMAL,
        "OrthogonalDistribution": lambda: nn.OrthogonalDistribution(0.5),
        "TruncatedNormalDistribution": lambda: nn.TruncatedNormalDistribution(0.5, 0.25),
        "UniformDistribution": lambda: nn.UniformDistribution(0.25, 0.5),
    },
    "dropouts": {
        name: lambda name=name: getattr(nn, name)(0.5)
        for name in ("AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "SpatialDropout")
    },
    "early_stopping": {
        "BestScoreEpochTerminationCondition": lambda: earlystopping.BestScoreEpochTerminationCondition(0.1),
        "ClassificationScoreCalculator": lambda: earlystopping.ClassificationScoreCalculator("accuracy", DATA),
        "DataSetLossCalculator": lambda: earlystopping.DataSetLossCalculator(DATA),
        "EarlyStoppingConfiguration.Builder": lambda: earlystopping.EarlyStoppingConfiguration(
            score_calculator=earlystopping.DataSetLossCalculator(DATA),
            epoch_termination_conditions=earlystopping.MaxEpochsTerminationCondition(3),
        ),
        "MaxEpochsTerminationCondition": lambda: earlystopping.MaxEpochsTerminationCondition(3),
        "MaxScoreIterationTerminationCondition": lambda: earlystopping.MaxScoreIterationTerminationCondition(0.1),
        "MaxTimeIterationTerminationCondition": lambda: earlystopping.MaxTimeIterationTerminationCondition(3),
        "ROCScoreCalculator": lambda: earlystopping.ROCScoreCalculator("roc", "auc", DATA),
        "RegressionScoreCalculator": lambda: earlystopping.RegressionScoreCalculator("mse", DATA),
        "ScoreImprovementEpochTerminationCondition": lambda: earlystopping.ScoreImprovementEpochTerminationCondition(3),
    },
    "evaluations": {
        name: getattr(evaluation, name)
        for name in (
            "Evaluation",
            "EvaluationBinary",
            "EvaluationCalibration",
            "ROC",
            "ROCBinary",
            "ROCMultiClass",
            "RegressionEvaluation",
        )
    },
    "layers": {
        **{name: getattr(nn, name, None) for name in FOUND["layers"]},
        "CapsuleLayer": lambda: nn.CapsuleLayer.Builder(3, 4).build(),
        "Convolution1D": lambda: nn.Convolution1D(kernel_size=3),
        "Convolution1DLayer": lambda: nn.Convolution1DLayer(kernel_size=3),
        "Cropping1D": lambda: nn.Cropping1D(1),
        "Cropping2D": lambda: nn.Cropping2D(1),
        "Cropping3D": lambda: nn.Cropping3D(1),
        "DropoutLayer(0.5)": lambda: nn.DropoutLayer(0.5),
        "LocallyConnected1D": lambda: nn.LocallyConnected1D(n_in=1, n_out=1),
        "LocallyConnected2D": lambda: nn.LocallyConnected2D(n_in=1, n_out=1),
        "OCNNOutputLayer": lambda: nn.OCNNOutputLayer(hidden_size=3),
        "PrimaryCapsules": lambda: nn.PrimaryCapsules.Builder(4, 3).build(),
        "SpaceToBatchLayer": lambda: nn.SpaceToBatchLayer(2),
        "SpaceToDepthLayer": lambda: nn.SpaceToDepthLayer(2),
        "Upsampling1D": lambda: nn.Upsampling1D(2),
        "Upsampling2D": lambda: nn.Upsampling2D(2),
        "Upsampling3D": lambda: nn.Upsampling3D(2),
        "Yolo2OutputLayer": lambda: nn.Yolo2OutputLayer([[1.0, 1.0]]),
        "ZeroPadding1DLayer": lambda: nn.ZeroPadding1DLayer(1),
        "ZeroPadding3DLayer": lambda: nn.ZeroPadding3DLayer(1),
        "ZeroPaddingLayer": lambda: nn.ZeroPaddingLayer(1),
    },
    "listeners": {
        "CheckpointListener": lambda: optimize.CheckpointListener(tempfile.mkdtemp(), save_every_n_epochs=1),
        "CollectScoresListener": optimize.CollectScoresListener,
        "EvaluativeListener": lambda: optimize.EvaluativeListener(DATA, 1),
        "PerformanceListener": lambda: optimize.PerformanceListener(1),
        "ScoreIterationListener": optimize.ScoreIterationListener,
        "TimeIterationListener": lambda: optimize.TimeIterationListener(10),
    },
    "losses": {**{name.upper(): each for name, each in LOSSES.items()}, "LossFMeasure()": LossFMeasure},
    "networks": {"NeuralNetConfiguration.Builder": network_defaults},
    "regularizations": {
        "L1Regularization": lambda: optimize.L1Regularization(0.1),
        "L2Regularization": lambda: optimize.L2Regularization(0.1),
        "WeightDecay": lambda: optimize.WeightDecay(0.1),
    },
    "schedules": {
        "CycleSchedule": lambda: optimize.CycleSchedule.of("iteration", 1.0, 10),
        "MapSchedule": lambda: optimize.MapSchedule.Builder("iteration").add(0, 0.1).build(),
    },
    "updaters": {name: getattr(optimize, name) for name in FOUND["updaters"]},
    "updaters_by_name": {name: lambda name=name: get_updater(name) for name in FOUND["updaters_by_name"]},
    "updaters_with_one_number": {
        **{name: lambda name=name: getattr(optimize, name)(0.25) for name in FOUND["updaters_with_one_number"]},
        "Nesterovs": lambda: optimize.Nesterovs.Builder(0.25).build(),  # Nesterovs(0.25) asks which it is
    },
    "updaters_by_builder": {
        name: lambda name=name: getattr(optimize, name).Builder().build() for name in FOUND["updaters_by_builder"]
    },
    "weight_noises": {
        "DropConnect": lambda: DropConnect(0.5),
        "WeightNoise": lambda: WeightNoise(NormalDistribution(0.0, 0.1)),
    },
}
"""Kind -> name -> what makes ours as tests/java makes Java's."""
