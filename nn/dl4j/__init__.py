"""Java's spelling for those who port a program of Deeplearning4j's: ``from nn.dl4j import *``.

Importing it gives the library's classes Deeplearning4j's names of their methods and fields too, as `names` lists them,
and changes nothing else. This package has the constructors in which Java differs from ours. See docs/java.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nd import ConfigurationError as DL4JInvalidConfigException
from nd import ShapeError as DL4JInvalidInputException
from nd import activations, losses
from nd.activations import ACTIVATIONS
from nd.dataset import *  # noqa: F403
from nd.evaluation import *  # noqa: F403
from nd.java_names import Pair
from nd.losses import *  # noqa: F403
from nd.on_demand import unknown_name
from nd.ops import IsMax, ProbablisticMerge
from optimize import *  # noqa: F403
from optimize import CollectScoresListener, Listener, updaters
from optimize.earlystopping import *  # noqa: F403

from .. import *  # noqa: F403
from ..files.json_inits import INIT_CLASSES
from ..terms.distributions import ConstantDistribution, Distribution
from ..terms.enums import BackpropType, CNN2DFormat
from ..terms.older import LearningRatePolicy
from ..terms.weights import ScaledWeightInit
from ..zoo import *  # noqa: F403
from .constants import (
    AlgoMode,
    CacheMode,
    DataType,
    EvaluationAveraging,
    InvocationType,
    LossFunctions,
    RNNFormat,
    TimeUnit,
    TrainingMode,
    WorkspaceMode,
)
from .constructors import (
    ROC,
    Bidirectional,
    Evaluation,
    EvaluationBinary,
    InputType,
    LossMixtureDensity,
    MaxNormConstraint,
    MinMaxNormConstraint,
    Nesterovs,
    RegressionEvaluation,
    UnitNormConstraint,
)
from .early_stopping import (
    DataSetLossCalculatorCG,
    EarlyStoppingGraphTrainer,
    EarlyStoppingTrainer,
    LocalFileGraphSaver,
)
from .file_iterators import ExistingMiniBatchDataSetIterator, MiniBatchFileDataSetIterator
from .files import File
from .gradient_check import GradientCheckUtil
from .image_pipelines import MultiImageTransform, PipelineImageTransform
from .image_preprocessors import (
    ImageFlatteningDataSetPreProcessor,
    PermuteDataSetPreProcessor,
    RGBtoGrayscaleDataSetPreProcessor,
)
from .image_records import ImageRecordReader, NativeImageLoader
from .image_transforms import (
    BoxImageTransform,
    ColorConversionTransform,
    CropImageTransform,
    EqualizeHistTransform,
    FlipImageTransform,
    ImageTransform,
    RandomCropTransform,
    ResizeImageTransform,
    RotateImageTransform,
    ScaleImageTransform,
    WarpImageTransform,
)
from .indexing import NDArrayIndex
from .iterators import (  # type: ignore[assignment]
    AsyncDataSetIterator,
    AsyncMultiDataSetIterator,
    DoublesDataSetIterator,
    FloatsDataSetIterator,
    INDArrayDataSetIterator,
    IteratorDataSetIterator,
    IteratorMultiDataSetIterator,
    ListDataSetIterator,
    MnistDataSetIterator,
    MultipleEpochsIterator,
    SamplingDataSetIterator,
    ViewIterator,
)
from .listeners import (
    CheckpointListener,
    CollectScoresIterationListener,
    PerformanceListener,
    SleepyTrainingListener,
)
from .naming import name_classes
from .nd4j import Arrays, Collections, Nd4j, Random
from .normalizers import NormalizerSerializer
from .ops import DropOut, DropOutInverted, LegacyDropOutInverted
from .own_parts import BaseActivationFunction, IDropout, ILossFunction
from .picture_sets import Cifar10DataSetIterator, DataSetType, EmnistDataSetIterator
from .preprocessors import (
    CombinedMultiDataSetPreProcessor,
    CombinedPreProcessor,
    CompositeDataSetPreProcessor,
    CompositeMultiDataSetPreProcessor,
    ImageMultiPreProcessingScaler,
)
from .random_iterator import RandomDataSetIterator
from .records import (  # type: ignore[assignment]
    CSVRecordReader,
    RecordReaderDataSetIterator,
    RecordReaderMultiDataSetIterator,
    SequenceRecordReaderDataSetIterator,
)
from .serializer import ModelSerializer
from .solvers import (
    DefaultStepFunction,
    GradientStepFunction,
    NegativeDefaultStepFunction,
    NegativeGradientStepFunction,
)
from .splits import (
    BalancedPathFilter,
    CollectionInputSplit,
    FileSplit,
    InputSplit,
    ParentPathLabelGenerator,
    PathFilter,
    PathLabelGenerator,
    PatternPathLabelGenerator,
    RandomPathFilter,
)
from .stats import InMemoryStatsStorage, StatsListener
from .transforms import Transforms

if TYPE_CHECKING:
    from collections.abc import Callable  # where it is imported it would be a name of this module

name_classes()

BaseTrainingListener = TrainingListener = IterationListener = Listener
Convolution2D = ConvolutionLayer  # noqa: F405
IActivation, ILoss, ISchedule, IUpdater = activations.Activation, losses.Loss, Schedule, updaters.Updater  # noqa: F405


class LayerWorkspaceMgr:
    """Java's memory; a network's buffers stand in its place, and None for none."""

    @staticmethod
    def noWorkspaces() -> None:
        """Return None."""

    noWorkspacesImmutable = noWorkspaces


class Layer:
    """Names of Java's interface of layers."""

    TrainingMode, Type = TrainingMode, LayerType  # noqa: F405


class TaskUtils:
    """ND4J's maker of tasks: plain values, which nothing sends anywhere."""

    @staticmethod
    def buildTask(*data: object) -> Task:  # noqa: F405
        """Return an empty task, as Java does, see `nn.build_task`."""
        return build_task(*data)  # noqa: F405


class DefaultParamInitializer:
    """Names of parameters."""

    WEIGHT_KEY, BIAS_KEY, GAIN_KEY = "W", "b", "g"


def WeightInitDistribution(distribution: Distribution) -> Distribution:
    """Return the distribution that weights are drawn from."""
    return distribution


def WeightInitConstant(value: float = 0.0) -> Distribution:
    """Return the number that constant weights start at."""
    return ConstantDistribution(value)


def _init(name: str) -> Callable[..., str | Distribution]:
    def weight_init(scale: float | None = None) -> str | Distribution:
        """Return this initialisation, scaled where a number is given."""
        return name if scale is None else ScaledWeightInit(name, scale)

    return weight_init


globals().update({java: _init(name) for name, java in INIT_CLASSES.items()})
globals().update({each.java_class: each for each in ACTIVATIONS.values() if each.java_class})

__all__ = sorted(name for name, value in globals().items() if name[0].isupper() and callable(value) and name != "Any")

if not TYPE_CHECKING:  # type checkers would take every name for an attribute

    def __getattr__(name: str) -> Any:
        raise unknown_name(__name__, name, __all__)
