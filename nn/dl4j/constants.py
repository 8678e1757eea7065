"""Java's enums that mean nothing, or something simple, in ndwright."""

from __future__ import annotations

from nd.java_enums import JavaEnum

from ..terms.enums import LossFunction


class AlgoMode(JavaEnum):
    """Choice of cuDNN's algorithms: not used."""

    NO_WORKSPACE = "no_workspace"
    PREFER_FASTEST = "prefer_fastest"
    USER_SPECIFIED = "user_specified"


class CacheMode(JavaEnum):
    """Arrays that Java keeps between steps: not used."""

    DEVICE = "device"
    HOST = "host"
    NONE = "none"


class DataType(JavaEnum):
    """Types of numbers, by NumPy's names."""

    BFLOAT16 = "bfloat16"
    BOOL = "bool"
    BYTE = "int8"
    DOUBLE = "float64"
    FLOAT = "float32"
    FLOAT16 = "float16"
    HALF = "float16"
    INT = "int32"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    INT8 = "int8"
    LONG = "int64"
    SHORT = "int16"
    UBYTE = "uint8"
    UINT8 = "uint8"


class EvaluationAveraging(JavaEnum):
    """Kind of average over classes."""

    MACRO = "macro"
    MICRO = "micro"


class InvocationType(JavaEnum):
    """When an EvaluativeListener evaluates."""

    EPOCH_END = "epoch_end"
    EPOCH_START = "epoch_start"
    ITERATION_END = "iteration_end"


class LossFunctions:
    """Java's class with its enum of losses: ``LossFunctions.LossFunction.MSE``."""

    LossFunction = LossFunction


class RNNFormat(JavaEnum):
    """Order of the axes of series."""

    NCW = "NCW"
    NWC = "NWC"


class TimeUnit(JavaEnum):
    """java.util.concurrent's."""

    DAYS = "days"
    HOURS = "hours"
    MILLISECONDS = "milliseconds"
    MINUTES = "minutes"
    SECONDS = "seconds"


class TrainingMode:
    """Whether layers behave as in training, as `output` takes it."""

    TEST, TRAIN = False, True


class WorkspaceMode(JavaEnum):
    """Java's management of memory: not used."""

    ENABLED = "enabled"
    NONE = "none"
    SEPARATE = "separate"
    SINGLE = "single"
