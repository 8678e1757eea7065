"""Every default of what this library shares with Deeplearning4j, beside what Deeplearning4j says of itself.

tests/java/src/main/java/ndwright/Defaults.java wrote the file. Every entry and every field of it is compared, or listed
below with the reason why not.
"""

import json
import shutil

import pytest

import nd
import nn
import optimize
from nn import DropConnect, NeuralNetConfiguration
from optimize.builder import snake_case
from tests.cases.java_defaults import FOUND, MADE
from tests.cells import every_row

WITHOUT_COUNTERPART = {
    ("data", "KFoldIterator"): "k, 10 in Java, must be given here",
    ("listeners", "CollectScoresIterationListener"): "the older of two; CollectScoresListener does the same",
    ("listeners", "PerformanceListener.Builder"): "there is no Builder; 100 iterations lie between two lines",
    ("networks", "FineTuneConfiguration"): "nothing is set, on both sides",
    ("networks", "MultiLayerConfiguration"): "compared below",
    ("networks", "NeuralNetConfiguration"): "compared below",
}

NAMES = {
    "activationFn": "activation", "applyLR": "apply_lr", "applyToBias": "apply_to_biases", "batch": "_batch",
    "batchSize": "per_batch", "blockSize": "blocks", "cm": "convolution_mode", "coeff": "coefficient",
    "dataType": "dtype", "iDropout": "drop_out", "iUpdater": "updater", "idropOut": "drop_out",
    "invocationType": "invocation_type", "isMinibatch": "minibatch", "iterationCount": "total_iterations",
    "kernel": "kernel_size", "l1": "coefficient", "l2": "coefficient", "lambda": "lambda_", "layerName": "name",
    "lossFn": "loss", "maxPixelVal": "max_pixel", "maxRange": "max", "maxTimeAmount": "max_time", "minRange": "min",
    "weightInitFn": "weight_init", "weightRetainProb": "p", "allParamConstraints": "constrain_all_parameters",
    "weightConstraints": "constrain_weights", "biasConstraints": "constrain_bias", "saveEveryNEpochs": "every_epochs",
    "saveEveryNIterations": "every_iterations", "totalNumberSamples": "_total",
    "type": "kind",
}  # fmt: skip
"""Java's field -> ours, where it is not its snake_case."""

_FORMAT = "there is one format here, Java's default"
_CUDA = "which of cuDNN's algorithms are used"
_SCHEDULE = "a schedule stands in the field itself here"
_STATE = "computed from other fields, or what Java remembers while it works"
_UNUSED = "Java's own code does not use it, or only while it builds"
NOT_COMPARED = {
    reason: set(names.split())
    for reason, names in {
        _FORMAT: "axis cnn2DFormat cnn2dDataFormat dataFormat format outputFormat rnnDataFormat",
        _CUDA: "cudnnAlgoMode cudnnAllowFallback cudnnBwdDataAlgo cudnnBwdFilterAlgo cudnnFwdAlgo helper "
               "helperAllowFallback helperCountFail initializedHelper",
        _SCHEDULE: "learningRateSchedule momentumISchedule momentumSchedule pSchedule rateSchedule stddevSchedule "
                   "weightRetainProbSchedule",
        _STATE: "a alphaPrime allKeysSorted b defaultValueOverriden defaultValueOverridden featureDim increment "
                "lastEpochSinceRUpdated lastPValue mask noise outputSize paddingBr paddingR stepSize",
        _UNUSED: "gainInit layer mode setIWM setTWM timeDistributedFormat",
        "Java's memory": "cacheMode inferenceWorkspaceMode trainingWorkspaceMode",
        "there are no initialisations of single parameters": "paramWeightInit",
        "compared as lists in a test of their own": "regularization regularizationBias",
    }.items()
}  # fmt: skip
"""Why a field of Java's is not compared -> its names."""

_WHAT_JAVA_REMEMBERS = {
    "data": "backedIterator buffer callback curr deviceId featureStats hasDepleted labelStats list maxBits nextElement "
            "numTimesSampled preProcessor sampleFrom shouldWork strategy terminator thread throwable useWorkspace",
    "early_stopping": "bestEpoch bestScore endTime exampleCount initializationTime iter iterator mdsIterator "
                      "minibatchCount modelSaver scoreCalculator scoreCalculatorSupplier scoreSum",
    "evaluations": "auc auprc columnNames confusion confusionMatrixMetaData countActualNegative countActualPositive "
                   "countFalseNegative countFalsePositive countTrueNegative countTruePositive counts currentMean "
                   "currentPredictionMean exactAllocBlockSize exampleCount exampleCountPerColumn falseNegatives "
                   "falsePositives initialized isExact labelCountsEachClass labels labelsList labelsSumPerColumn "
                   "maxWarningClassesToPrint numRowCounter prCurve predictionCountsEachClass probAndLabel "
                   "probHistogramByLabelClass probHistogramOverall rDiagBinPosCount rDiagBinSumPredictions "
                   "rDiagBinTotalCount residualPlotByLabelClass residualPlotOverall rocBinary rocCurve "
                   "sumAbsErrorsPerColumn sumLabels sumOfProducts sumSquaredErrorsPerColumn sumSquaredLabels "
                   "sumSquaredPredicted topNCorrectCount topNTotalCount trueNegatives truePositives underlying",
    "listeners": "batchesPerSec checkpointRecordFile ds dsIterator evaluations gcBeans invocationCount "
                 "iterationCounter lastCheckpoint lastCheckpointNum lastGcCount lastGcMs lastSaveEveryMsNoSinceLast "
                 "lastTime listIteration listScore mds mdsIterator rootDir samplesPerSec startIter startTime",
}  # fmt: skip
"""Kind -> fields that are no settings."""

OF_ONE = {
    ("constraints", None, "epsilon"): "a constant here",
    ("constraints", None, "params"): "none named: empty or null in Java, null here",
    ("data", "AsyncDataSetIterator", "prefetchSize"): "4 here, see its docstring",
    ("data", "SamplingDataSetIterator", "replace"): "True here, see its docstring",
    ("data", "ListDataSetIterator", "batch"): "a DataSet is a minibatch here, see its docstring",
    ("data", "ImagePreProcessingScaler", "fitLabels"): "labels are fitted after fit_label(True), on both sides",
    ("data", "NormalizerMinMaxScaler", "fitLabels"): "labels are fitted after fit_label(True), on both sides",
    ("dropouts", "AlphaDropout", "alpha"): "a constant", ("dropouts", "AlphaDropout", "lambda"): "a constant",
    ("early_stopping", "EarlyStoppingConfiguration.Builder", "epochTerminationConditions"): "one must be given here",
    ("activations", "RRELU", "alpha"): "what was drawn last",
    ("layers", "CapsuleStrengthLayer", "weightInit"): "it has no weights",
    ("layers", None, "eps"): "of pooling: for a derivative that is exact here; of batch normalisation compared below",
    ("layers", "OCNNOutputLayer", "hasBias"): "it has no bias, whatever this says",
    ("layers", "OCNNOutputLayer", "lossFn"): "it has a loss of its own",
    ("layers", "OCNNOutputLayer", "nOut"): "always 1",
    ("layers", "Yolo2OutputLayer", "boundingBoxes"): "an array, given",
    ("listeners", "CheckpointListener", "keepEvery"): "none is 0 in Java",
    ("listeners", "CheckpointListener", "keepLast"): "none is 0 in Java",
    ("listeners", "CollectScoresListener", "logScore"): "there is no such setting; Java's default is no",
    ("listeners", "EvaluativeListener", "iterationCount"): _STATE,
    ("networks", None, "stepFunction"): "null on both sides",
    ("schedules", "MapSchedule", "values"): "compared below",
}  # fmt: skip
"""Kind, entry or None for all of them, Java's field -> why it is not compared."""
OF_ONE |= {
    ("listeners", "CheckpointListener", name): "minutes, or none, in a field of its own here"
    for name in (
        "deleteExisting",
        "keepMode",
        "saveEveryAmount",
        "saveEveryMs",
        "saveEveryNIterSinceLast",
        "saveEverySinceLast",
        "saveEveryUnit",
    )
}
OF_ONE |= {
    ("listeners", name, f"report{what}"): "always printed, but for the score and garbage"
    for name in ("PerformanceListener",)
    for what in ("Batch", "Etl", "GC", "Iteration", "Sample", "Time")
}
WITHOUT_PARAMETERS = {"DropoutLayer", "DropoutLayer(0.5)", "RepeatVector"}
"""Layers with the fields of a feed-forward layer in Java, where they mean nothing."""


def is_compared(kind, name, field):
    kind = "layers" if kind == "layers_in_a_network" else kind
    if field in _WHAT_JAVA_REMEMBERS.get(kind, "").split():
        return False
    return not (
        {(kind, name, field), (kind, None, field)} & set(OF_ONE) or field in set().union(*NOT_COMPARED.values())
    )


def plain(value):
    """Ours, as Java's file says it; None for what is not set."""
    if isinstance(value, nd.losses.Loss | nd.activations.Activation):
        return class_of(value)
    if isinstance(value, optimize.FixedSchedule):
        return value.value
    if isinstance(value, optimize.Updater | nn.IDropout | nn.IWeightNoise | nn.terms.distributions.Distribution):
        return type(value).__name__
    if isinstance(value, tuple | list):
        return [plain(each) for each in value] or None
    return value.lower().replace("_", "") if isinstance(value, str) else value


def javas(value, ours):
    """Java's value as `plain` gives ours; what stands for "not set" is None."""
    if isinstance(value, dict):
        if value["@class"] == "FixedSchedule":
            return value["value"]
        if value["@class"].startswith("WeightInit"):
            name = value["@class"].removeprefix("WeightInit")
            return {"Constant": "zero" if value.get("value") == 0.0 else None}.get(name, name.lower())
        return value["@class"]
    if isinstance(value, list) and isinstance(ours, int):
        return value[0]
    if isinstance(value, list):  # one-dimensional windows have a width in Java
        return (value[: len(ours)] if isinstance(ours, list) else value) or None
    if isinstance(ours, str) and ours == f"Activation{value.capitalize()}".replace("Tanh", "TanH"):
        return ours  # by its name alone
    if isinstance(ours, list) and isinstance(value, int):
        return [value] * len(ours)
    if value == "NaN" or (value == 0 and ours is None and not isinstance(value, bool)):
        return None
    return value.lower().replace("_", "") if isinstance(value, str) else value


SAME_CLASS = {"activations", "dropouts", "losses", "updaters_by_name"}


def class_of(ours):
    return getattr(ours, "java_class", "") or type(ours).__name__


def differences(kind, name, java, ours):
    """Every field that is another, or is missing here."""
    found = []
    if kind in SAME_CLASS and java["@class"] != class_of(ours):
        found.append(f"{java['@class']}, here {class_of(ours)}")
    for field, value in java.items():
        if field == "@class" or not is_compared(kind, name, field):
            continue
        attribute = NAMES.get(field, snake_case(field))
        if not hasattr(ours, attribute) and value in (None, 0, [], "NaN"):
            continue  # no setting here, and none in force there
        if not hasattr(ours, attribute):
            found.append(f"{field}: {value!r}, and no {attribute!r} here")
            continue
        mine = plain(getattr(ours, attribute))
        if javas(value, mine) != mine:
            found.append(f"{field}: {value!r}, here {getattr(ours, attribute)!r}")
        elif isinstance(value, dict) and value["@class"] == mine:
            found += differences(kind, name, value, getattr(ours, attribute))
    return found


@pytest.fixture
def made():
    """Makes ours, and removes the folder of a checkpoint listener."""
    folders = []

    def make(kind, name):
        ours = MADE[kind][name]()
        folders.extend([ours.folder] if hasattr(ours, "folder") else [])
        return ours

    yield make
    for folder in folders:
        shutil.rmtree(folder)


def test_nothing_is_left_out():
    entries = {(kind, name) for kind in set(FOUND) - {"release"} for name in FOUND[kind]}
    ours = {(kind, name) for kind, names in MADE.items() for name in names}
    ours |= {("layers_in_a_network", name) for name in FOUND["layers_in_a_network"]}
    assert entries - ours == set(WITHOUT_COUNTERPART)


@every_row(("kind", "name"), [(kind, name) for kind in MADE for name in sorted(FOUND[kind]) if name in MADE[kind]])
def test_the_defaults_are_javas(kind, name, made):
    ours, java = made(kind, name), FOUND[kind][name]
    if name in WITHOUT_PARAMETERS:
        java = {field: java[field] for field in java if field in ("iDropout", "layerName", "n")}
    assert differences(kind, name, java, ours) == []


NETWORK = {
    "activation": "softsign", "weight_init": "lecun_uniform", "bias_init": 0.25, "updater": optimize.AdaGrad(0.5),
    "bias_updater": optimize.AdaMax(0.25), "drop_out": 0.75, "l1": 0.125, "l2": 0.375, "l1_bias": 0.0625,
    "l2_bias": 0.03125, "weight_noise": DropConnect(0.5), "gradient_normalization": "clip_l2_per_layer",
    "gradient_normalization_threshold": 0.7, "convolution_mode": "strict",
}  # fmt: skip
"""The settings of tests/java, which are no layer's default."""


@every_row("name", sorted(FOUND["layers_in_a_network"]))
def test_what_layers_take_from_the_network_is_what_javas_take(name):
    java, layer = FOUND["layers_in_a_network"][name], MADE["layers"][name]()
    ours = layer.resolved(NeuralNetConfiguration(seed=1, **NETWORK), 0)
    java = {field: value for field, value in java.items() if field not in ("nIn", "nOut")}
    if name in WITHOUT_PARAMETERS:
        java = {field: java[field] for field in java if field in ("iDropout", "layerName", "n")}
    else:
        for field, bias in (("regularization", False), ("regularizationBias", True)):
            coefficients = [
                next(iter(v["value"] for k, v in each.items() if k != "@class")) for each in java.get(field, ())
            ]
            penalties = ours.regularization_of(bias) if hasattr(ours, "regularization_of") else ()
            assert [penalty.coefficient for penalty in penalties] == coefficients
    assert differences("layers_in_a_network", name, java, ours) == []


@pytest.mark.parametrize("name", ["MultiLayerConfiguration", "NeuralNetConfiguration"])
def test_settings_of_the_network_in_dl4js_json(name):
    document = json.loads(NeuralNetConfiguration(seed=1).list(nn.DenseLayer(n_in=1, n_out=1)).to_json())
    ours = document if name == "MultiLayerConfiguration" else document["confs"][0]
    of_layers = {"@class", "confs", "inputPreProcessors", "layer", "variables"}
    java = {field: value for field, value in FOUND["networks"][name].items() if field not in of_layers}
    assert {field: ours[field] for field in java} == java


def test_values_of_a_map_schedule():
    java = FOUND["schedules"]["MapSchedule"]["values"]
    assert {str(key): value for key, value in MADE["schedules"]["MapSchedule"]().values.items()} == java
