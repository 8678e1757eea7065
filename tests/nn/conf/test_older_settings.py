"""The Builders of Deeplearning4j 0.9. tests/cases/java_older.json has what 0.9.1 computed, eight steps of each network.

The network is the one of `trained`, with these parameters and data; scores, and parameters after the first and the last
step.
"""

import json
import math
import pathlib
from dataclasses import replace

import numpy as np
import pytest

import nd
from nn import (
    LSTM,
    ComputationGraph,
    DenseLayer,
    DropConnect,
    FineTuneConfiguration,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)  # fmt: skip
from nn.terms.older import LearningRatePolicy, OlderSettings
from optimize import AdaDelta, Adam, ExponentialSchedule, L2Regularization, MapSchedule, Nesterovs, PolySchedule, Sgd
from tests.cells import every_row

JAVA = json.loads((pathlib.Path(__file__).parents[2] / "cases" / "java_older.json").read_text())
STEPS, RATE = 8, 0.1
X = np.array([[math.cos(3 * i + j) for j in range(3)] for i in range(4)])
Y = np.eye(2)[[0, 1, 0, 1]]
START = np.array([[0.5 * math.sin(i + 1.0) for i in range(14)]])
WEIGHTS = np.array([1.0] * 6 + [0.0] * 2 + [1.0] * 4 + [0.0] * 2)


def builder():
    return NeuralNetConfiguration.Builder().seed(12345).learningRate(RATE).updater("sgd")


def configured(network=lambda builder: builder, layer=lambda builder: builder):
    dense = layer(DenseLayer.Builder().nIn(3).nOut(2).activation("tanh")).build()
    output = OutputLayer.Builder("mcxent").activation("softmax").nIn(2).nOut(2).build()
    return network(builder()).list().layer(0, dense).layer(1, output).pretrain(False).backprop(True).build()


def trained(conf):
    """Return the scores of all steps, and the parameters after the first and the last."""
    net = MultiLayerNetwork(conf).init(START)
    scores, params = [], []
    for _ in range(STEPS):
        net.fit(X, Y)
        scores.append(net.score())
        params.append(np.array(nd.to_host(net.params()))[0])
    return scores, params[0], params[-1]


SCHEDULE = {3: 0.05}
AS_JAVA = {
    "bias_nesterovs": (lambda b: b.updater("nesterovs").momentum(0.9).biasLearningRate(0.02), None),
    "l2_off": (lambda b: b.regularization(False).l2(0.1).l1(0.05), None),
    "layer_bias_nesterovs": (lambda b: b.updater("nesterovs").momentum(0.9), lambda d: d.biasLearningRate(0.02)),
    "layer_rate": (lambda b: b, lambda d: d.learningRate(0.3)),
    "layer_rate_schedule": (
        lambda b: b.learningRateDecayPolicy("schedule").learningRateSchedule(SCHEDULE),
        lambda d: d.learningRate(0.3).learningRateSchedule({2: 0.2}),
    ),
    "plain": (lambda b: b, None),
    "schedule": (
        lambda b: b.learningRateDecayPolicy(LearningRatePolicy.Schedule).learningRateSchedule({2: 0.05, 5: 0.01}),
        None,
    ),
    "schedule_bias": (
        lambda b: b.biasLearningRate(0.02).learningRateDecayPolicy("Schedule").learningRateSchedule(SCHEDULE),
        None,
    ),
}


@every_row("name", sorted(AS_JAVA))
def test_trains_as_0_9_1(name):
    network, layer = AS_JAVA[name]
    scores, first, last = trained(configured(network, layer or (lambda builder: builder)))
    np.testing.assert_allclose(scores, JAVA[name]["scores"], atol=1e-6)
    np.testing.assert_allclose(first, JAVA[name]["first"], atol=1e-6)
    np.testing.assert_allclose(last, JAVA[name]["last"], atol=1e-6)


def test_penalties_are_those_of_1_0_where_0_9_1_adds_them_behind_the_updater():
    """0.9.1 adds (l2 w + l1 sign w) / examples to the update; 1.0 adds l2 w + l1 sign w to the gradient."""
    plain, penalised = (np.array(JAVA[name]["first"]) for name in ("plain", "l2_on"))
    penalty = WEIGHTS * (0.1 * START[0] + 0.05 * np.sign(START[0]))
    np.testing.assert_allclose(penalised - plain, -penalty / len(X), atol=1e-6)
    ours = trained(configured(lambda b: b.regularization(True).l2(0.1).l1(0.05)))[1]
    np.testing.assert_allclose(ours - plain, -RATE * penalty, atol=1e-6)


def test_regularization_turns_off_what_layers_say_too():
    conf = configured(lambda b: b.regularization(False).l2(0.1).weightDecayBias(0.2), lambda d: d.l1(0.3).l2Bias(0.4))
    for layer in conf.layers:
        assert (layer.l1, layer.l2, layer.l2_bias) == (None, None, None)
        assert layer.weight_decay_bias.coefficient == 0.2  # which 0.9 has not
    assert configured(lambda b: b.regularization(True).l2(0.1)).layers[1].l2 == 0.1
    listed = configured(lambda b: b.regularization([L2Regularization(0.3)]))
    assert listed.layers[0].l2 == 0.3


FORMULAS = {
    "exponential": (lambda b: b.lrPolicyDecayRate(0.9), lambda i: 0.9**i),
    "inverse": (lambda b: b.lrPolicyDecayRate(0.5).lrPolicyPower(0.75), lambda i: (1.0 + 0.5 * i) ** -0.75),
    "poly": (lambda b: b.iterations(10).lrPolicyPower(2.0), lambda i: (1.0 - i / 10) ** 2),
    "sigmoid": (lambda b: b.lrPolicyDecayRate(-0.7).lrPolicySteps(3), lambda i: 1 / (1 + math.exp(0.7 * (i - 3)))),
    "step": (lambda b: b.lrPolicyDecayRate(0.5).lrPolicySteps(3), lambda i: 0.5 ** math.floor(i / 3)),
}


@every_row("policy", sorted(FORMULAS))
def test_rates_follow_the_formula_that_0_9_documents(policy):
    settings, factor = FORMULAS[policy]
    conf = configured(lambda b: settings(b.learningRateDecayPolicy(policy)), lambda d: d.learningRate(0.3))
    for layer, start in zip(conf.layers, (0.3, RATE), strict=True):
        rates = [layer.updater.at(layer.updater.learning_rate, i, 0) for i in range(7)]
        np.testing.assert_allclose(rates, [start * factor(i) for i in range(7)])
        assert layer.bias_updater in (None, layer.updater)


def test_the_first_step_with_an_own_rate_of_biases():
    """0.9.1 has it with Nesterovs and with policies alone; here every updater has it."""
    plain = trained(configured())[1]
    slow = trained(configured(lambda b: b.biasLearningRate(0.02)))[1]
    change, expected = slow - START[0], plain - START[0]
    np.testing.assert_allclose(change, np.where(WEIGHTS == 1.0, expected, 0.2 * expected), atol=1e-7)


FALLING = {
    "exponential": lambda b: b, "inverse": lambda b: b.lrPolicyPower(1.0), "step": lambda b: b.lrPolicySteps(2),
}  # fmt: skip
REFUSED = [
    (lambda b: b.learningRateSchedule({2: 0.05}), r"learningRateSchedule: .* got 'none'\. Call .* with Schedule\."),
    (lambda b: b.lrPolicyPower(2.0), r"lrPolicyPower: .* got 'none'\. Call .* with Inverse or Poly\."),
    (lambda b: b.learningRateDecayPolicy("step").lrPolicyDecayRate(0.5), "'step' must have lrPolicySteps, got none"),
    (lambda b: b.learningRateDecayPolicy("exponential"), "'exponential' must have lrPolicyDecayRate, got none"),
    *(
        (
            lambda b, policy=policy, more=more: more(b.learningRateDecayPolicy(policy).lrPolicyDecayRate(-0.5)),
            f"lrPolicyDecayRate: with the policy '{policy}' it must be 0 or more, got -0.5",
        )
        for policy, more in FALLING.items()
    ),
    (lambda b: b.learningRateDecayPolicy("score"), "Add a ReduceLearningRateOnPlateau to the listeners"),
    (lambda b: b.learningRateScoreBasedDecayRate(0.5), "Add a ReduceLearningRateOnPlateau to the listeners"),
    (lambda b: b.learningRateDecayPolicy(LearningRatePolicy.TorchStep), "got 'torchstep'. Take Step"),
    (lambda b: b.learningRateDecayPolicy("poly").lrPolicyPower(2.0), "Give the updater a PolySchedule"),
    (lambda b: b.learningRateDecayPolicy("steps"), "unknown policy 'steps'"),
    (
        lambda b: b.learningRate(MapSchedule("iteration", {0: 0.1})).learningRateDecayPolicy("exponential")
        .lrPolicyDecayRate(0.9),
        "the learning rate must be a number, got MapSchedule",
    ),
]  # fmt: skip


@every_row(("settings", "message"), REFUSED)
def test_a_policy_without_what_it_needs_is_refused_as_in_java(settings, message):
    with pytest.raises(nd.NdError, match=message):
        settings(builder()).build()


def test_a_schedule_of_a_layer_needs_the_policy():
    with pytest.raises(nd.ConfigurationError, match="network must have the policy Schedule, got 'none'"):
        configured(layer=lambda d: d.learningRateSchedule({2: 0.1}))


def test_a_layer_with_an_updater_of_its_own():
    """It keeps its kind and rate; what decays, decays; biases have the rate that is theirs."""
    conf = configured(
        lambda b: b.biasLearningRate(0.02).learningRateDecayPolicy("exponential").lrPolicyDecayRate(0.5),
        lambda d: d.updater(Adam(0.3)),
    )
    dense, output = conf.layers
    assert dense.updater == Adam(ExponentialSchedule("iteration", 0.3, 0.5))
    assert dense.bias_updater == Adam(ExponentialSchedule("iteration", 0.02, 0.5))
    assert output.updater == Sgd(ExponentialSchedule("iteration", RATE, 0.5))
    assert output.bias_updater == Sgd(ExponentialSchedule("iteration", 0.02, 0.5))
    without = NeuralNetConfiguration.Builder().updater(AdaDelta()).biasLearningRate(0.1)
    assert without.learningRateDecayPolicy("exponential").lrPolicyDecayRate(0.5).build().updater == AdaDelta()


def test_a_bias_updater_decays_too():
    own = Nesterovs(learning_rate=0.4)
    decays = builder().biasUpdater(own).learningRateDecayPolicy("poly").lrPolicyPower(1.0).iterations(5)
    conf = configured(lambda b: decays)
    assert conf.layers[0].bias_updater == Nesterovs(PolySchedule("iteration", 0.4, 1.0, 5), 0.9)


def test_drop_connect_takes_the_place_of_dropout():
    conf = configured(lambda b: b.useDropConnect(True).dropOut(0.8), lambda d: d.dropOut(0.7))
    dense, output = conf.layers
    assert (dense.drop_out, dense.weight_noise) == (None, DropConnect(0.7))
    assert (output.drop_out, output.weight_noise) == (None, DropConnect(0.8))
    kept = configured(lambda b: b.useDropConnect(False).dropOut(0.8)).layers[0]
    assert (kept.drop_out.p, kept.weight_noise) == (0.8, None)
    own = configured(lambda b: b.useDropConnect(True), lambda d: d.weightNoise(DropConnect(0.9)).dropOut(0.7)).layers[0]
    assert (own.drop_out.p, own.weight_noise) == (0.7, DropConnect(0.9))
    trained(conf)


def test_every_trace_of_them_is_gone_once_a_network_is_configured():
    conf = configured(lambda b: b.biasLearningRate(0.02), lambda d: d.learningRate(0.3))
    assert conf.base.older is None
    assert all(layer.older is None for layer in conf.layers)
    assert MultiLayerConfiguration.from_json(conf.to_json()) == conf
    graph = (
        builder().biasLearningRate(0.02).graphBuilder().addInputs("in")
        .addLayer("out", RnnOutputLayer.Builder("mse").activation("identity").nIn(2).nOut(1).build(), "lstm")
        .addLayer("lstm", LSTM.Builder().nIn(3).nOut(2).learningRate(0.3).build(), "in")
        .setOutputs("out").build()
    )  # fmt: skip
    assert graph.base.older is None
    lstm = graph.vertices["lstm"]
    assert (lstm.updater, lstm.bias_updater, lstm.older) == (Sgd(0.3), Sgd(0.02), None)
    ComputationGraph(graph).init().fit(np.ones((2, 3, 4)), np.ones((2, 1, 4)))


def test_settings_may_be_given_once_alone():
    """Copies of what is settled do not decay again."""
    conf = builder().learningRateDecayPolicy("exponential").lrPolicyDecayRate(0.5).build()
    again = replace(conf, l2=0.1)
    assert again.updater == conf.updater == Sgd(ExponentialSchedule("iteration", RATE, 0.5))
    assert replace(again, layer=None).of_all_layers().older is None
    assert NeuralNetConfiguration(seed=1, older=OlderSettings(bias_learning_rate=0.5)).bias_updater == Sgd(0.5)


def test_fine_tuning_leaves_regularization_on():
    assert FineTuneConfiguration.Builder().regularization(True).l2(0.1).build() == FineTuneConfiguration(l2=0.1)
    listed = FineTuneConfiguration.Builder().regularization([L2Regularization(0.1)]).build()
    assert listed == FineTuneConfiguration(regularization=[L2Regularization(0.1)])
    with pytest.raises(nd.ConfigurationError, match=r"must stay on, got False\. Call l1\(0\) and l2\(0\)"):
        FineTuneConfiguration.Builder().regularization(False)


def test_layers_without_parameters_and_fine_tuning_have_none():
    with pytest.raises(nd.ChoiceError, match="unknown setting 'learning_rate'"):
        SubsamplingLayer.Builder().learningRate(0.1)
    with pytest.raises(nd.ChoiceError, match="unknown setting 'older'"):
        FineTuneConfiguration(older=OlderSettings())


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("biasLearningRate", -1), ("learningRateSchedule", {"2": 0.05}), ("lrPolicyDecayRate", "a"),
        ("lrPolicyPower", "a"), ("lrPolicySteps", 0), ("useDropConnect", "yes"),
    ],
)  # fmt: skip
def test_a_wrong_value_names_the_call(call, value):
    with pytest.raises(nd.ArgumentError, match=f"^{call}: it must be "):
        getattr(NeuralNetConfiguration.Builder(), call)(value)


@pytest.mark.parametrize(("call", "value"), [("learningRate", -1), ("biasLearningRate", "a")])
def test_a_wrong_value_of_a_layer_names_the_call(call, value):
    with pytest.raises(nd.ArgumentError, match=f"^{call}: it must be "):
        getattr(DenseLayer.Builder(), call)(value)
