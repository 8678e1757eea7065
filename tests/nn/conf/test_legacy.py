"""Configurations of 0.5 to 1.0.0-beta3: what Java 1.0 makes of every kind of value, by hand from its reader."""

import copy
import json
import math
import warnings

import pytest

import nd
from nd.activations import ELU, LeakyReLU, ReLU, Softmax, Tanh
from nd.losses import LossBinaryXENT, LossKLD, LossL2, LossMCXENT, LossMSE, LossNegativeLogLikelihood
from nn import (
    CnnToFeedForwardPreProcessor,
    DropConnect,
    Dropout,
    ModelFileWarning,
    MultiLayerConfiguration,
    NormalDistribution,
    OrthogonalDistribution,
)
from nn.files.legacy import VERSIONS, detect_version, modernise, names, values
from nn.files.legacy.layers import NO_BASE
from nn.files.param_tables import PARAM_TABLES
from nn.terms.distributions import DISTRIBUTIONS
from optimize import AdaDelta, AdaGrad, Adam, AdaMax, Nadam, Nesterovs, NoOp, RmsProp, Sgd, WeightDecay
from tests.cells import every_row

NAN = "NaN"
RATES = {
    "learningRate": 0.15, "biasLearningRate": 0.15, "momentum": NAN, "momentumSchedule": None, "rho": NAN,
    "rmsDecay": NAN, "adamMeanDecay": NAN, "adamVarDecay": NAN, "learningRateSchedule": None,
}  # fmt: skip
OLDEST = {
    **RATES, "activationFunction": "relu", "biasInit": 0.0, "biasL1": 0.0, "biasL2": 0.0, "dist": None, "dropOut": 0.0,
    "gradientNormalization": "None", "gradientNormalizationThreshold": 1.0, "l1": 0.0, "l2": 0.0, "layerName": None,
    "nin": 3, "nout": 4, "updater": "SGD", "weightInit": "XAVIER",
}  # fmt: skip
OUTPUT = {**OLDEST, "nin": 4, "nout": 2, "activationFunction": "softmax", "lossFunction": "MCXENT"}
CLASSED = {
    "activationFn": {"@class": "org.nd4j.linalg.activations.impl.ActivationTanH"}, "biasInit": 0.0, "dist": None,
    "gradientNormalization": "None", "gradientNormalizationThreshold": 1.0, "hasBias": True,
    "iupdater": {"@class": "org.nd4j.linalg.learning.config.Sgd", "learningRate": 0.001}, "l1": 0.0, "l1Bias": 0.0,
    "l2": 0.0, "l2Bias": 0.0, "layerName": "layer0", "nin": 3, "nout": 4, "weightInit": "XAVIER", "weightNoise": None,
}  # fmt: skip


def document(dense=(), output=(), conf=(), top=(), kind="dense"):
    """A network of 0.5's form with some fields changed."""
    around = {"seed": 12345, "useDropConnect": False, "numIterations": 1, "learningRatePolicy": "None", **dict(conf)}
    return {
        "backprop": True, "pretrain": False, "backpropType": "Standard", "inputPreProcessors": {},
        "confs": [
            {**around, "layer": {kind: {**OLDEST, **dict(dense)}}, "variables": ["W", "b"]},
            {**around, "layer": {"output": {**OUTPUT, **dict(output)}}, "variables": ["W", "b"]},
        ],
        **dict(top),
    }  # fmt: skip


def read(found, strict=True):
    return MultiLayerConfiguration.from_json(json.dumps(found), strict)


def dense_of(**fields):
    return read(document(dense=fields)).layers[0]


# ---- one value at a time

UPDATERS = {
    "sgd": ({"updater": "SGD"}, Sgd(0.15)),
    "none": ({"updater": "NONE"}, NoOp()),
    "nesterovs": ({"updater": "NESTEROVS", "momentum": 0.8}, Nesterovs(0.15, 0.8)),
    "nesterovs without momentum": ({"updater": "NESTEROVS"}, Nesterovs(0.15, 0.9)),
    "adam": (
        {"updater": "ADAM", "adamMeanDecay": 0.8, "adamVarDecay": 0.99, "epsilon": 1e-6}, Adam(0.15, 0.8, 0.99, 1e-6),
    ),
    "adam without epsilon": ({"updater": "ADAM", "adamMeanDecay": 0.8, "adamVarDecay": 0.99}, Adam(0.15, 0.8, 0.99)),
    "adamax": ({"updater": "ADAMAX", "adamMeanDecay": 0.8, "adamVarDecay": 0.9}, AdaMax(0.15, 0.8, 0.9)),
    "nadam": ({"updater": "NADAM", "adamMeanDecay": 0.8, "adamVarDecay": 0.99}, Nadam(0.15, 0.8, 0.99)),
    "adadelta": ({"updater": "ADADELTA", "rho": 0.9, "epsilon": 1e-5}, AdaDelta(0.9, 1e-5)),
    "adagrad": ({"updater": "ADAGRAD", "epsilon": NAN}, AdaGrad(0.15)),
    "rmsprop": ({"updater": "RMSPROP", "rmsDecay": 0.96}, RmsProp(0.15, 0.96, 1e-8)),
}  # fmt: skip


@every_row("name", UPDATERS)
def test_an_updater_and_its_rates(name):
    fields, expected = UPDATERS[name]
    assert dense_of(**fields).updater == expected
    assert dense_of(**fields).updater_of(bias=True) == expected


def test_every_updater_of_java_has_a_row():
    assert {fields["updater"] for fields, _ in UPDATERS.values()} == set(values.UPDATERS)


def test_penalties_become_l1_and_decay_after_the_updater():
    layer = dense_of(l1=0.1, l2=0.2, l1Bias=0.01, l2Bias=0.02)
    assert (layer.l1, layer.l2, layer.weight_decay) == (0.1, None, WeightDecay(0.2, apply_lr=False))
    assert (layer.l1_bias, layer.l2_bias, layer.weight_decay_bias) == (0.01, None, WeightDecay(0.02, apply_lr=False))
    layer = dense_of(l1=NAN, l2=0.0)
    assert layer.regularization_of(bias=False) == layer.regularization_of(bias=True) == ()


def test_switched_off_regularisation_is_not_asked_for():
    """As Java: the values are taken as they are stored, and old writers stored 0 where it was off."""
    found = document(dense={"l2": 0.2}, conf={"useRegularization": False})
    assert read(found).layers[0].weight_decay == WeightDecay(0.2, apply_lr=False)


def test_dropout_is_the_probability_to_retain():
    assert dense_of(dropOut=0.6).drop_out == Dropout(0.6)
    assert dense_of(dropOut=0.0).drop_out is dense_of(dropOut=NAN).drop_out is None
    layers = read(document(dense={"dropOut": 0.6}, conf={"useDropConnect": True})).layers
    assert (layers[0].drop_out, layers[0].weight_noise) == (None, DropConnect(0.6))
    assert layers[1].weight_noise is None


def test_a_dropout_layer_that_drop_connect_takes_away_is_warned_of():
    found = document(dense={"dropOut": 0.6}, conf={"useDropConnect": True})
    found["confs"][0]["layer"] = {"dropout": {"layerName": "d", "dropOut": 0.6}}
    found["confs"][1]["layer"]["output"]["nIn"] = 3
    with pytest.warns(ModelFileWarning, match=r"no place .*confs\[0\]\.layer\.dropOut"):
        MultiLayerConfiguration.from_json(json.dumps(found))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", ReLU()),
        ("tanh", Tanh()),
        ("softmax", Softmax()),
        ("leakyrelu", LeakyReLU(alpha=0.01)),
        ("TANH", Tanh()),
    ],
)
def test_an_activation_of_a_name_has_the_default_constants(name, expected):
    assert dense_of(activationFunction=name).activation == expected


def test_an_activation_in_a_wrapper_keeps_its_constants():
    fields = {"activationFn": {"LReLU": {"alpha": 0.2}}, "activationFunction": None}
    assert dense_of(**fields).activation == LeakyReLU(alpha=0.2)
    assert dense_of(activationFn={"ELU": {"alpha": 0.5}}).activation == ELU(alpha=0.5)
    assert dense_of(activationFn={"TanH": {}}).activation == Tanh()


LOSSES = {
    "MCXENT": LossMCXENT(), "MSE": LossMSE(), "NEGATIVELOGLIKELIHOOD": LossNegativeLogLikelihood(),
    "RECONSTRUCTION_CROSSENTROPY": LossKLD(), "SQUARED_LOSS": LossL2(), "XENT": LossBinaryXENT(),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_of_a_name(name):
    assert read(document(output={"lossFunction": name})).layers[1].loss == LOSSES[name]


def test_a_loss_in_a_wrapper_goes_before_the_name():
    fields = {"lossFunction": "MCXENT", "lossFn": {"MSE": {"configProperties": False, "numOutputs": -1}}}
    assert read(document(output=fields)).layers[1].loss == LossMSE()
    weighted = {"MCXENT": {"weights": [0.5, 2.0], "softmaxClipEps": 1e-7}}
    assert read(document(output={"lossFn": weighted})).layers[1].loss == LossMCXENT(
        weights=(0.5, 2.0), softmax_clip_eps=1e-7
    )


@every_row("name", sorted({*values.WEIGHT_INITS, "ONES", "ZERO"}))
def test_every_weight_init(name):
    same = {"LECUN_NORMAL": "normal", "XAVIER_FAN_IN": "normal"}  # for which Java has one class
    assert dense_of(weightInit=name).weight_init == same.get(name, name.lower())


@pytest.mark.parametrize(
    "dist",
    [{"normal": {"mean": 0.1, "std": 1.2}}, {"type": "normal", "mean": 0.1, "std": 1.2},
     {"@class": "org.deeplearning4j.nn.conf.distribution.NormalDistribution", "mean": 0.1, "std": 1.2},
     {"type": "org.deeplearning4j.nn.conf.distribution.NormalDistribution", "mean": 0.1, "std": 1.2}],
)  # fmt: skip
def test_a_distribution_in_every_spelling(dist):
    expected = NormalDistribution(0.1, 1.2)
    assert dense_of(weightInit="DISTRIBUTION", dist=dist).weight_init == expected
    found = {**CLASSED, "@class": "org.deeplearning4j.nn.conf.layers.DenseLayer"}
    del found["weightInit"], found["dist"]
    found["weightInitFn"] = {"@class": "org.deeplearning4j.nn.weights.WeightInitDistribution", "distribution": dist}
    new = document()
    new["confs"][0]["layer"] = found
    assert read(new).layers[0].weight_init == expected


def test_every_distribution_has_a_name():
    assert {name.replace("_", "") for name in DISTRIBUTIONS} <= {
        name.replace("_", "") for name in names.DISTRIBUTIONS.names
    }
    assert dense_of(
        weightInit="DISTRIBUTION", dist={"orthogonal": {"gain": 2.0}}
    ).weight_init == OrthogonalDistribution(2.0)


def convolutional():
    sizes = {"nin": 1, "nout": 2, "kernelSize": [3, 3], "stride": [1, 1], "padding": [0, 0], "convolutionType": "VALID"}
    found = document(dense=sizes, kind="convolution")
    pool = {"poolingType": "MAX", "kernelSize": 2, "stride": [2, 2], "padding": 0, "dropOut": 0.0}
    found["confs"].insert(1, {"layer": {"subsampling": {**RATES, **pool, "updater": "SGD", "gradientNormalization":
                              "ClipL2PerLayer", "weightInit": "RELU", "activationFunction": "sigmoid"}}})  # fmt: skip
    found["inputPreProcessors"] = {"2": {"cnnToFeedForward": {"inputHeight": 2, "inputWidth": 2, "numChannels": 2}}}
    return found


def test_convolutions_pooling_and_what_stands_between():
    conf = read(convolutional())
    convolution, pooling, _ = conf.layers
    assert (convolution.convolution_mode, convolution.dilation, convolution.has_bias) == ("truncate", (1, 1), True)
    assert (pooling.kernel_size, pooling.padding, pooling.avg_pool_include_pad_in_divisor) == ((2, 2), (0, 0), True)
    assert dict(conf.preprocessors) == {2: CnnToFeedForwardPreProcessor(2, 2, 2)}


def test_a_step_function_in_a_wrapper():
    assert read(document(conf={"stepFunction": {"negativeDefault": {}}})).step_function == "negative_default"


def test_the_spelling_of_sizes_does_not_matter():
    found = document()
    layer = found["confs"][0]["layer"]["dense"]
    layer["nIn"], layer["nOut"] = layer.pop("nin"), layer.pop("nout")
    assert read(found).layers == read(document()).layers


# ---- 0.9, alpha, beta


def test_alpha_has_wrappers_around_layers_and_classes_inside():
    fields = {**CLASSED, "activationFn": {"TanH": {}}, "l1": 0.1, "l2": 0.2, "dist": None}
    fields["iupdater"] = {"@class": "org.nd4j.linalg.learning.config.Adam", "learningRate": 0.5, "beta1": 0.9, "beta2":
                          0.999, "epsilon": 1e-8}  # fmt: skip
    fields["idropout"] = {"@class": "org.deeplearning4j.nn.conf.dropout.Dropout", "p": 0.7}
    found = document()
    found["confs"][0]["layer"] = {"dense": fields}
    layer = read(found).layers[0]
    assert (layer.activation, layer.updater, layer.drop_out) == (Tanh(), Adam(0.5), Dropout(0.7))
    assert (layer.l1, layer.weight_decay) == (0.1, WeightDecay(0.2, apply_lr=False))


def test_beta_has_classes_everywhere_and_numbers_for_penalties():
    found = document()
    fields = {**CLASSED, "@class": "org.deeplearning4j.nn.conf.layers.DenseLayer", "l2": 0.2, "weightInit": "RELU"}
    found["confs"][0] = {"layer": fields, "pretrain": False, "seed": 1}
    layer = read(found).layers[0]
    assert (layer.weight_decay, layer.weight_init) == (WeightDecay(0.2, apply_lr=False), "relu")
    assert (layer.n_in, layer.n_out, layer.updater) == (3, 4, Sgd(0.001))


def test_what_is_inside_a_frozen_layer_is_rewritten_too():
    found = document()
    inner = {"dense": {**OLDEST, "activationFunction": "tanh", "l2": 0.5}}
    found["confs"][0]["layer"] = {"FrozenLayer": {"layer": inner, "layerName": "a", "iupdater": None}}
    layer = read(found).layers[0]
    assert (layer.layer.activation, layer.layer.weight_decay) == (Tanh(), WeightDecay(0.5, apply_lr=False))


@pytest.mark.parametrize(
    ("variables", "expected"), [(["gamma", "beta", "mean", "var"], False), (["mean", "log10stdev"], True)]
)
@pytest.mark.parametrize("wrapped", [True, False])
def test_batch_normalisation_says_by_its_variables_what_it_stores(variables, expected, wrapped):
    fields = {"nin": 4, "nout": 4, "eps": 1e-5, "useLogStd": not expected}
    layer = {"batchNormalization": fields} if wrapped else {"@class": "a.BatchNormalization", **fields}
    modern = modernise({"confs": [{"layer": layer, "variables": variables}]}).document
    assert modern["confs"][0]["layer"]["useLogStd"] is expected


# ---- what is dropped

DROPPED = {
    "rate schedule": ({"dense": {"learningRateSchedule": {"5": 0.1}}}, r"confs\[0\]\.layer\.learningRateSchedule"),
    "momentum schedule": ({"dense": {"momentumSchedule": {"5": 0.1}}}, r"confs\[0\]\.layer\.momentumSchedule"),
    "rate of biases": ({"dense": {"biasLearningRate": 0.3}}, r"confs\[0\]\.layer\.biasLearningRate"),
    "penalties of biases in 0.5": ({"output": {"biasL2": 0.3}}, r"confs\[1\]\.layer\.biasL2"),
    "policy": ({"conf": {"learningRatePolicy": "Step"}}, r"\[0\]\.learningRatePolicy; confs\[1\]\.learningRatePolicy"),
    "iterations": ({"conf": {"numIterations": 5}}, r"confs\[0\]\.numIterations"),
    "an initialisation that is gone": ({"dense": {"weightInit": "VI"}}, r"confs\[0\]\.layer\.weightInit"),
    "slope of leaky relu": ({"conf": {"leakyreluAlpha": 0.3}}, r"confs\[0\]\.leakyreluAlpha"),
}  # fmt: skip


@every_row("name", DROPPED)
def test_what_java_drops_is_dropped_with_a_warning(name):
    changes, message = DROPPED[name]
    with pytest.warns(ModelFileWarning, match=message) as warned:
        conf = read(document(**changes))
    assert len(warned) == 1
    assert conf.layers == read(document()).layers


def test_all_that_is_dropped_is_in_one_warning():
    found = document(
        dense={"learningRateSchedule": {"1": 0.1}}, output={"biasLearningRate": 0.5}, conf={"numIterations": 5}
    )
    message = r"learningRateSchedule; confs\[0\]\.numIterations; confs\[1\]\.layer\.biasLearningRate"
    with pytest.warns(ModelFileWarning, match=message) as warned:
        read(found)
    assert len(warned) == 1


@pytest.mark.parametrize("flags", [{"pretrain": True}, {"backprop": False}, {"pretrain": True, "backprop": False}, {}])
def test_how_fit_trains_is_kept(flags):
    base = read(document(top=flags)).base
    assert (base.pretrain, base.backprop) == (flags.get("pretrain", False), flags.get("backprop", True))


def test_dropout_of_pooling_is_dropped_as_java_does():
    found = convolutional()
    found["confs"][1]["layer"]["subsampling"]["dropOut"] = 0.5
    with pytest.warns(ModelFileWarning, match=r"confs\[1\]\.layer\.dropOut"):
        assert read(found).layers[1].drop_out is None


def test_an_ordinary_file_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(document())
        read(convolutional())


# ---- what cannot be read

WRONG = {
    "an activation of one's own": (
        {"dense": {"activationFunction": "mine"}}, nd.ChoiceError, r"confs\[0\]\.layer\.activationFn: .*'mine'",
    ),
    "a loss of one's own": ({"output": {"customLossFunction": "my.Loss"}}, nd.ChoiceError, r"unknown class 'Loss'"),
    "a loss that is gone": ({"output": {"lossFunction": "RMSE_XENT"}}, nd.ChoiceError, r"lossFn: .*'RMSE_XENT'"),
    "an updater of one's own": ({"dense": {"updater": "CUSTOM"}}, nd.ChoiceError, r"iupdater: .*'CUSTOM'"),
    "no number": ({"dense": {"updater": "SGD", "learningRate": "fast"}}, nd.FormatError, "a number, got 'fast'"),
    "no dropout": ({"dense": {"dropOut": [1]}}, nd.FormatError, r"expected a number, got '\[1\]'"),
    "no activation": ({"dense": {"activationFn": [1]}}, nd.FormatError, "activationFn: expected an object"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_has_its_own_error(name):
    changes, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        read(document(**changes))


# ---- versions


def changed(found, **fields):
    found = copy.deepcopy(found)
    found["confs"][0]["layer"]["dense"].update(fields)
    return found


def version_samples():
    beta = document()
    beta["confs"] = [{"layer": {**CLASSED, "@class": "a.DenseLayer"}, "pretrain": False}]
    modern = {"@class": "a.DenseLayer", "regularization": [], "weightInitFn": {"@class": "b"}, "iupdater": {}}
    return {
        "0.5": document(),
        "0.6": changed(document(), epsilon=NAN),
        "0.7": document(conf={"pretrain": False}),
        "0.8": changed(document(conf={"pretrain": False}), activationFn={"ReLU": {}}, l1Bias=0.0),
        "0.9": changed(document(conf={"pretrain": False}), iupdater={"@class": "a.Sgd"}, activationFn={"ReLU": {}}),
        "1.0.0-alpha": {"confs": [{"layer": {"dense": {**CLASSED, "idropout": None}}, "pretrain": False}]},
        "1.0.0-beta": beta,
        "1.0.0-beta4+": {"confs": [{"layer": modern, "dataType": "FLOAT"}]},
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_known_by_its_fields(version):
    found = version_samples()[version]
    assert detect_version(found) == version
    graph = {"vertices": {"a": {"LayerVertex": {"layerConf": found["confs"][0]}}}, "networkInputs": ["in"]}
    assert detect_version(graph) == version


def test_rewriting_leaves_the_document_alone_and_is_done_once():
    for found in [*version_samples().values(), convolutional()]:
        before = copy.deepcopy(found)
        once = modernise(found).document
        assert found == before
        assert modernise(once) == (once, [])


def test_every_layer_that_had_no_base_is_one():
    assert set(NO_BASE) <= {java.rpartition(".")[2] for java in names.LAYERS.names.values()}
    assert {java.rpartition(".")[2] for java in names.LAYERS.names.values()} <= set(PARAM_TABLES)


@pytest.mark.parametrize(("value", "expected"), [(NAN, None), (None, None), (math.nan, None), (3, 3.0), (-0.5, -0.5)])
def test_a_number_that_may_not_be_set(value, expected):
    assert names.number_or_none(value) == expected
