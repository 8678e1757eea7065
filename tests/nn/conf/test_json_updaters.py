"""Updaters, schedules, penalties and gradient normalisation in DL4J's configuration JSON."""

import json

import pytest

import nd
from nn import DenseLayer, MultiLayerConfiguration, NeuralNetConfiguration
from nn.files import own_settings
from optimize import (
    AdaDelta,
    Adam,
    CycleSchedule,
    ExponentialSchedule,
    InverseSchedule,
    L2Regularization,
    MapSchedule,
    Nesterovs,
    NoOp,
    PolySchedule,
    RampSchedule,
    RmsProp,
    Sgd,
    SigmoidSchedule,
    StepSchedule,
    WeightDecay,
)
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.updaters import UPDATERS
from tests.cases.updaters import CASES
from tests.cells import every_row


@every_row("updater", [
    Sgd(0.5), NoOp(), Adam(0.1, 0.8, 0.99, 1e-6), Nesterovs(0.1, MapSchedule("iteration", {0: 0.5, 9: 0.9})),
    Adam(MapSchedule("epoch", {0: 0.1})), Nesterovs(StepSchedule("epoch", 0.1, 0.5, 2.0), 0.7),
    *(kind() for kind in UPDATERS.values()), AdaDelta(0.9, 1e-4), RmsProp(MapSchedule("epoch", {0: 0.1}), 0.9, 0.1),
    *(hand.updater for case in CASES.values() for hand in case.hands[:2]),
])  # fmt: skip
def test_every_updater(updater):
    conf = NeuralNetConfiguration(updater=updater, bias_updater=updater).list(DenseLayer(n_in=2, n_out=2))
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_updaters_have_javas_names():
    conf = NeuralNetConfiguration(
        updater=RmsProp(StepSchedule("epoch", 0.1, 0.5, 2.0), 0.9, 0.25), bias_updater=AdaDelta(0.75, 0.5)
    ).list(DenseLayer(n_in=2, n_out=2))
    layer = json.loads(conf.to_json())["confs"][0]["layer"]
    config = "org.nd4j.linalg.learning.config."
    rate = {
        "@class": "org.nd4j.linalg.schedule.StepSchedule", "scheduleType": "EPOCH", "initialValue": 0.1,
        "decayRate": 0.5, "step": 2.0,
    }  # fmt: skip
    assert layer["iupdater"] == {
        "@class": config + "RmsProp", "learningRate": "NaN", "learningRateSchedule": rate, "rmsDecay": 0.9,
        "epsilon": 0.25,
    }  # fmt: skip
    assert layer["biasUpdater"] == {"@class": config + "AdaDelta", "rho": 0.75, "epsilon": 0.5}


SCHEDULES_AS_JAVA_WRITES_THEM = [
    (CycleSchedule("EPOCH", 0.1, 0.5, 10, 2, 0.25), {
        "initialLearningRate": 0.1, "maxLearningRate": 0.5, "cycleLength": 10, "annealingLength": 2,
        "annealingDecay": 0.25, "increment": 0.1, "stepSize": 4,
    }),
    (ExponentialSchedule("EPOCH", 8.0, 0.5), {"initialValue": 8.0, "gamma": 0.5}),
    (InverseSchedule("EPOCH", 8.0, 1.0, 2.0), {"initialValue": 8.0, "gamma": 1.0, "power": 2.0}),
    (PolySchedule("EPOCH", 8.0, 2.0, 4), {"initialValue": 8.0, "power": 2.0, "maxIter": 4}),
    (SigmoidSchedule("EPOCH", 8.0, 0.5, 4), {"initialValue": 8.0, "gamma": 0.5, "stepSize": 4}),
]  # fmt: skip


@pytest.mark.parametrize(("schedule", "fields"), SCHEDULES_AS_JAVA_WRITES_THEM)
def test_every_schedule(schedule, fields):
    """As the rate, as momentum, and in the place of a ramp that leads to it, by name as ND4J has it."""
    updater, ramp = Nesterovs(schedule, schedule), Sgd(RampSchedule(schedule, 7))
    conf = NeuralNetConfiguration(updater=updater, bias_updater=ramp, l2=schedule).list(DenseLayer(n_in=2, n_out=2))
    text, beside, _ = own_settings.written(conf, [])
    layer = json.loads(text)["confs"][0]["layer"]
    package = "org.nd4j.linalg.schedule."
    written = {"@class": package + type(schedule).__name__, "scheduleType": "EPOCH", **fields}
    assert layer["iupdater"]["learningRateSchedule"] == layer["iupdater"]["momentumISchedule"] == written
    assert layer["biasUpdater"] == {"@class": layer["biasUpdater"]["@class"], "learningRate": "NaN",
                                    "learningRateSchedule": written}  # fmt: skip
    assert beside["schedules"] == {"/confs/0/layer/biasUpdater/learningRateSchedule": {
        "@class": package + "RampSchedule", "baseSchedule": written, "numIter": 7,
    }}  # fmt: skip
    assert layer["regularization"][0]["l2"] == written
    assert own_settings.read(text, beside)[0].layers == conf.layers


def test_weight_decay():
    schedule = StepSchedule("epoch", 0.1, 0.5, 2.0)
    conf = NeuralNetConfiguration(l1=0.5, weight_decay=(0.25, False), weight_decay_bias=schedule).list(
        DenseLayer(n_in=2, n_out=2)
    )
    layer = json.loads(conf.to_json())["confs"][0]["layer"]
    package = "org.nd4j.linalg.learning.regularization."
    fixed = {"@class": "org.nd4j.linalg.schedule.FixedSchedule"}
    assert layer["regularization"] == [
        {"@class": package + "L1Regularization", "l1": {**fixed, "value": 0.5}},
        {"@class": package + "WeightDecay", "coeff": {**fixed, "value": 0.25}, "applyLR": False},
    ]
    (bias,) = layer["regularizationBias"]
    assert (bias["coeff"]["decayRate"], bias["applyLR"]) == (0.5, True)
    read = MultiLayerConfiguration.from_json(conf.to_json())
    assert read.layers == conf.layers
    for each in (False, True):
        assert read.layers[0].regularization_of(each) == conf.layers[0].regularization_of(each)


def with_layer(conf, **values):
    """Return the document with other values in its layer."""
    document = json.loads(conf.to_json())
    document["confs"][0]["layer"].update(values)
    return json.dumps(document)


def test_penalties_that_cannot_be_read():
    conf = NeuralNetConfiguration(weight_decay=0.25).list(DenseLayer(n_in=2, n_out=2))
    decay = json.loads(conf.to_json())["confs"][0]["layer"]["regularization"]
    l2 = {"@class": "a.L2Regularization", "l2": {"@class": "a.FixedSchedule", "value": 0.5}}
    both = MultiLayerConfiguration.from_json(with_layer(conf, regularization=[l2, *decay]))
    assert both.layers[0].regularization == (L2Regularization(0.5), WeightDecay(0.25))  # Java applies both
    decay[0]["applyLR"] = 1
    with pytest.raises(nd.FormatError, match="WeightDecay: apply_lr must be True or False, got 1"):
        MultiLayerConfiguration.from_json(with_layer(conf, regularization=decay))


JAVA_NORMALIZATIONS = {
    "clip_element_wise_absolute_value": "ClipElementWiseAbsoluteValue", "clip_l2_per_layer": "ClipL2PerLayer",
    "clip_l2_per_param_type": "ClipL2PerParamType", "none": "None", "renormalize_l2_per_layer": "RenormalizeL2PerLayer",
    "renormalize_l2_per_param_type": "RenormalizeL2PerParamType",
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENT_NORMALIZATIONS)
def test_every_gradient_normalization(name):
    conf = NeuralNetConfiguration(gradient_normalization=name, gradient_normalization_threshold=0.5).list(
        DenseLayer(n_in=2, n_out=2)
    )
    layer = json.loads(conf.to_json())["confs"][0]["layer"]
    assert layer["gradientNormalization"] == JAVA_NORMALIZATIONS[name]
    assert layer["gradientNormalizationThreshold"] == 0.5
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


def test_a_layer_without_gradient_normalization_has_none():
    conf = NeuralNetConfiguration().list(DenseLayer(n_in=2, n_out=2))
    read = MultiLayerConfiguration.from_json(with_layer(conf, gradientNormalization=None))
    assert json.loads(read.to_json())["confs"][0]["layer"]["gradientNormalization"] == "None"
