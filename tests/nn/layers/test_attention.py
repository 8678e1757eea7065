"""Attention layers: masks, Java's runs of them, DL4J's JSON, refusals."""

import json
from functools import partial

import numpy as np
import pytest

import nd
from nd.activations import LeakyReLU
from nn import (
    InputType,
    LearnedSelfAttentionLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    RecurrentAttentionLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
)
from optimize import Adam
from tests import java_runs
from tests.cases.layers.attention import learned, looking_back, self_attended
from tests.layers_at_work import backprop, forward, memory_of_gradients
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import TOLERANCE, as_input

N, C, T = 3, 4, 6
MASK = np.array([[1, 1, 0, 1, 1, 1], [0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0]], float)  # its numbers are read as they are
PROJECTED = {"n_in": C, "n_out": 6, "n_heads": 2, "project_input": True}
PLAIN = {"n_in": C, "n_out": C, "project_input": False}
CASES = {
    "learned": (LearnedSelfAttentionLayer(n_queries=2, **PROJECTED), learned),
    "learned-plain": (LearnedSelfAttentionLayer(n_queries=2, **PLAIN), learned),
    "recurrent": (RecurrentAttentionLayer(**PROJECTED), looking_back),
    "recurrent-plain": (RecurrentAttentionLayer(**PLAIN), looking_back),
    "self": (SelfAttentionLayer(**PROJECTED), self_attended),
    "self-plain": (SelfAttentionLayer(**PLAIN), self_attended),
}


def runtime(layer, dtype="float64"):
    """A layer at work, with parameters that are all different."""
    made = layer.runtime(layer, "layer 0", dtype)
    made.params.update(memory_of_gradients(made))
    rng = np.random.default_rng(1)
    for view in made.params.values():
        nd.assign(view, nd.create(rng.normal(0.0, 0.6, tuple(view.shape)), dtype))
    return made


def series():
    return np.random.default_rng(2).normal(0.0, 1.0, (N, C, T))


@pytest.mark.parametrize("name", CASES)
def test_steps_that_a_mask_leaves_out_are_not_taken(name, backend):
    layer, oracle = CASES[name]
    at_work, x = runtime(layer), series()
    params = {key: nd.to_host(view) for key, view in at_work.params.items()}
    given = as_input(backend, x, "c", "float64"), as_input(backend, MASK, "c", "float64")
    found = nd.to_host(forward(at_work, given[0], True, given[1])[0])
    np.testing.assert_allclose(found, oracle(x, params, mask=MASK), **TOLERANCE["float64"])
    without = nd.to_host(forward(at_work, given[0], True)[0])
    np.testing.assert_allclose(without, oracle(x, params), **TOLERANCE["float64"])


@pytest.mark.parametrize("steps", [T, 2, 1])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.quick_rows(every=4)
def test_gradients_behind_a_mask_are_derivatives(name, steps):
    """Also of a single step, where Java cannot train a RecurrentAttentionLayer."""
    at_work = runtime(CASES[name][0])
    x, mask = nd.create(series()[:, :, :steps], "float64"), nd.create(MASK[:, :steps], "float64")
    weights = np.random.default_rng(3).normal(size=tuple(forward(at_work, x, True, mask)[0].shape))

    def weighted():
        return float((nd.to_host(forward(at_work, x, True, mask)[0]) * weights).sum())

    grads = memory_of_gradients(at_work)
    epsilon = backprop(at_work, nd.create(weights, "float64"), forward(at_work, x, True, mask)[1], grads)
    check_derivative(weighted, x, nd.copy(epsilon), 12)
    for key, view in at_work.params.items():
        check_derivative(weighted, view, grads[key], 6)


def test_a_mask_goes_on_but_behind_learned_queries():
    mask = nd.create(MASK)
    for name, (layer, _) in CASES.items():
        found = runtime(layer).feed_forward_mask(mask)
        assert found is (None if name.startswith("learned") else mask)


def test_every_call_starts_anew_and_takes_series_of_any_length():
    at_work = runtime(CASES["recurrent"][0])
    assert at_work.initial_state(N) == ()
    params = {key: nd.to_host(view) for key, view in at_work.params.items()}
    for length in (T, 2, T, 1):
        x = series()[:, :, :length]
        found = nd.to_host(forward(at_work, nd.create(x, "float64"))[0])
        np.testing.assert_allclose(found, looking_back(x, params), **TOLERANCE["float64"])


def test_what_the_activation_is_applied_to():
    at_work = runtime(RecurrentAttentionLayer(activation="sigmoid", **PROJECTED))
    x = nd.create(series(), "float64")
    z, a = nd.to_host(at_work.pre_output(x)), nd.to_host(at_work.activate(x))
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-z)), a, **TOLERANCE["float64"])


# ---- Java's


JAVAS = [
    f"{kind}attention{variant}" for kind in ("recurrent", "self") for variant in ("", "_labelmask", "_mask", "_pool")
]


def penalty(net):
    """What l2 of the first layer's weights adds to our score: Java's has that of other layers alone."""
    weights = [view for key, view in net.param_table().items() if key.startswith("0_") and key != "0_b"]
    return 0.0005 * sum(float((nd.to_host(view).astype(np.float64) ** 2).sum()) for view in weights)


@pytest.mark.parametrize("name", JAVAS)
def test_javas_runs_are_repeated(name, reference):
    run = java_runs.Run(reference / "java-runs" / "rnn" / name)
    needs = {key: java_runs.NEEDS[key] for key in (java_runs.initial, java_runs.output, java_runs.gradient)}
    assert java_runs.differences(run, {**needs, java_runs.saved: "params1"}) == {}
    net, scores = run.network(), []
    if run.act1 is not None:
        assert java_runs.distance(net.feed_forward(run.x)[1], run.act1) < java_runs.OUTPUT
    for _ in run.fits:
        of_first = penalty(net)
        net.fit(run.data())
        scores.append(net.score() - of_first)
    np.testing.assert_allclose(scores, run.fits, rtol=java_runs.CURVE)
    assert java_runs.distance(net.params(), run.params1) < java_runs.PARAMETERS
    assert java_runs.distance(net.updater_state(), run.updater1) < java_runs.STATE


# ---- files


def configuration(*layers, **settings):
    return NeuralNetConfiguration(seed=4, **settings).list(*layers, input_type=InputType.recurrent(C))


def java_form(layer):
    conf = configuration(layer, RnnOutputLayer(n_out=2, activation="softmax"), updater=Adam(0.01))
    return json.loads(conf.to_json())["confs"][0]


def test_java_form():
    found = java_form(SelfAttentionLayer(n_out=6, n_heads=2, project_input=True, weight_init="relu", l2=0.1))
    assert found["variables"] == ["Wq", "Wk", "Wv", "Wo"]
    layer = found["layer"]
    expected = {
        "@class": "org.deeplearning4j.nn.conf.layers.SelfAttentionLayer", "headSize": 3, "nheads": 2, "nin": C,
        "nout": 6, "paramWeightInit": None, "projectInput": True, "weightInit": "RELU",
    }  # fmt: skip
    assert {key: layer[key] for key in expected} == expected
    assert layer["updater"]["@class"] == "org.nd4j.linalg.learning.config.Adam"
    assert layer["regularization"][0]["@class"].endswith("L2Regularization")
    assert not {"activation", "activationFn", "iupdater", "weightInitFn", "biasInit", "hasBias"} & set(layer)
    found = java_form(LearnedSelfAttentionLayer(n_queries=3))
    assert (found["variables"], found["layer"]["nqueries"], found["layer"]["nout"]) == (["Q"], 3, C)
    found = java_form(RecurrentAttentionLayer(n_out=6, n_heads=3, activation="softsign"))
    assert found["variables"] == ["W", "RW", "Wq", "Wk", "Wv", "Wo", "b"]
    expected = {"activation": "SOFTSIGN", "hasBias": True, "headSize": 2, "projectInput": True, "timeSteps": 0}
    assert {key: found["layer"][key] for key in expected} == expected


def test_java_files_are_read():
    conf = configuration(RecurrentAttentionLayer(n_out=6, n_heads=2), RnnOutputLayer(n_out=2), updater="sgd")
    java = json.loads(conf.to_json())
    layer = java["confs"][0]["layer"]
    layer |= {"timeSteps": 7, "layerParams": {"biasParams": {"b": [6]}, "weightParams": {}}}  # once Java has run it
    assert MultiLayerConfiguration.from_json(json.dumps(java)).layers == conf.layers
    conf = configuration(SelfAttentionLayer(), RnnOutputLayer(n_out=2), updater="sgd")
    java = json.loads(conf.to_json())
    java["confs"][0]["layer"] |= {"nout": 0, "headSize": 0}  # as Java leaves them where nothing is projected
    assert MultiLayerConfiguration.from_json(json.dumps(java)).layers == conf.layers


def test_sizes_are_inferred():
    conf = configuration(SelfAttentionLayer(), LearnedSelfAttentionLayer(n_out=6, n_queries=2, project_input=True))
    types = [str(out) for _, out in conf.layer_types()]
    assert types == ["recurrent(4)", "recurrent(6x2)"]
    assert (conf.layers[0].n_in, conf.layers[0].n_out, conf.layers[0].head_size) == (C, C, C)
    assert [conf.layers[1].n_in, conf.layers[1].head_size] == [C, 6]
    defaults = {"activation": "relu", "weight_init": "ones", "bias_init": 3.0}
    layer = configuration(RecurrentAttentionLayer(n_out=2), **defaults).layers[0]
    assert (type(layer.activation).__name__, layer.weight_init, layer.bias_init) == ("Tanh", "xavier", None)


# ---- refusals


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (partial(SelfAttentionLayer, n_heads=2), "SelfAttentionLayer: n_heads must be 1 .* got 2. Set project_input"),
        (
            partial(SelfAttentionLayer, n_in=3, n_out=4),
            "SelfAttentionLayer: n_in and n_out must be the same where project_input is False, got 3 and 4. Set",
        ),
        (
            partial(RecurrentAttentionLayer, n_out=5, n_heads=2),
            "RecurrentAttentionLayer: n_out must be a multiple of n_heads 2 .* got 5. Give head_size",
        ),
        (partial(RecurrentAttentionLayer, n_out=2, activation=LeakyReLU(alpha=0.3)), "must be .* by name, .* Leaky"),
        (partial(RecurrentAttentionLayer, n_out=2, activation=None), "activation must be one of the library's"),
        (partial(RecurrentAttentionLayer, n_out=2, bias_init=1.0), "RecurrentAttentionLayer: has no bias_init, got 1"),
        (partial(SelfAttentionLayer, activation="tanh"), "SelfAttentionLayer: has no activation, got Tanh"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(made, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        made()


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (LearnedSelfAttentionLayer(), r"layer 0 .*: n_queries is missing\. Give it"),
        (SelfAttentionLayer(project_input=True), r"layer 0 .*: n_out is missing\. Give it"),
        (SelfAttentionLayer(n_in=3), "layer 0 .*: n_in must be 4, the size of what comes in, got 3"),
        (SelfAttentionLayer(weight_init=NormalDistribution()), "weight_init must be the name of a formula"),
    ],
)
def test_a_network_says_what_is_missing(layer, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        configuration(layer, RnnOutputLayer(n_out=2))


def test_input_that_does_not_fit_is_refused():
    at_work = runtime(CASES["self"][0])
    with pytest.raises(nd.ShapeError, match=r"layer 0: expected input \[N, 4, T\] with T >= 1, got \[3, 5, 6\]"):
        forward(at_work, nd.zeros(N, 5, T, dtype="float64"))
    with pytest.raises(nd.ShapeError, match=r"layer 0: mask: expected \[3, 6\], got \[3, 5\]"):
        forward(at_work, nd.create(series(), "float64"), mask=nd.ones(N, 5, dtype="float64"))
    with pytest.raises(nd.DTypeError, match="layer 0: expected an array, got list"):
        forward(at_work, [1.0])
    net = MultiLayerNetwork(configuration(SelfAttentionLayer(), RnnOutputLayer(n_out=2))).init()
    with pytest.raises(nd.ShapeError, match="input"):
        net.output(np.zeros((N, 5, T), np.float32))
