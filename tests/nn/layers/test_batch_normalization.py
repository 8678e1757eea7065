"""Batch normalisation in training: values and derivatives over every kind of input, and what is refused."""

import json

import numpy as np
import pytest

import nd
from nd.activations import ReLU
from nn import (
    ActivationLayer,
    BatchNormalization,
    ComputationGraph,
    DenseLayer,
    ElementWiseVertex,
    FrozenLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from nn.terms.preprocessors import FeedForwardToCnnPreProcessor
from optimize import Adam, Sgd
from tests.layers_at_work import backprop, forward
from tests.nn.layers.test_every_layer import check_derivative, orders_of
from tests.stand_ins import TOLERANCE, as_input, make_backend

RNG = np.random.default_rng(17)
SHAPES = {
    "rows": (6, 3),
    "series": (4, 3, 5),
    "square series": (3, 3, 4),
    "images": (4, 3, 2, 3),
    "volumes": (2, 3, 2, 3, 2),
}
TYPES = {
    "rows": InputType.feed_forward(3),
    "series": InputType.recurrent(3, 5),
    "square series": InputType.recurrent(3),
    "images": InputType.convolutional(2, 3, 3),
    "volumes": InputType.convolutional3d(2, 3, 2, 3),
}
EPS = 0.01


def host(x):
    return nd.to_host(nd.copy(x))


def normalising(kind, dtype="float64", **settings):
    """The layer alone in a network, with gamma and beta that are all different."""
    layer = BatchNormalization(n_out=3, eps=EPS, **settings)
    net = MultiLayerNetwork(NeuralNetConfiguration(dtype=dtype, seed=1).list(layer, input_type=TYPES[kind])).init()
    for name, values in (("gamma", [1.5, -0.5, 0.8]), ("beta", [0.1, 0.2, -0.3])):
        if not settings.get("lock_gamma_beta"):
            nd.assign(net.get_param(f"0_{name}"), nd.create([values], dtype))
    return net


def by_hand(x, gamma, beta, mean, variance):
    """Normalise number by number."""
    out = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        c = index[1]
        out[index] = gamma[c] * (x[index] - mean[c]) / np.sqrt(variance[c] + EPS) + beta[c]
    return out


def statistics(x):
    """Mean and variance of every channel, divided by the number of elements."""
    channels = [[x[index] for index in np.ndindex(*x.shape) if index[1] == c] for c in range(x.shape[1])]
    means = [sum(values) / len(values) for values in channels]
    squares = [sum((v - m) ** 2 for v in values) / len(values) for values, m in zip(channels, means, strict=True)]
    return means, squares


@pytest.mark.parametrize("kind", SHAPES)
def test_training_normalises_with_the_statistics_of_the_minibatch(kind, backend, dtype):
    x = RNG.normal(1.0, 2.0, SHAPES[kind])
    layer = normalising(kind, dtype).get_layer(0)
    expected = by_hand(x.astype(dtype).astype(float), [1.5, -0.5, 0.8], [0.1, 0.2, -0.3], *statistics(x))
    for order in orders_of(backend):
        found = forward(layer, as_input(backend, x, order, dtype), True)[0]
        np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE[dtype])
    np.testing.assert_allclose(nd.to_host(forward(layer, as_input(backend, x, "c", dtype), False)[0]), by_hand(
        x, [1.5, -0.5, 0.8], [0.1, 0.2, -0.3], [0.0] * 3, [1.0] * 3
    ), **TOLERANCE[dtype])  # fmt: skip


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.quick_rows(every=3)
def test_derivatives_of_training(kind, locked, backend):
    net = normalising(kind, lock_gamma_beta=locked, gamma=1.5, beta=0.25)
    layer, x = net.get_layer(0), nd.create(RNG.normal(1.0, 2.0, SHAPES[kind]), "float64")
    weights = RNG.normal(size=SHAPES[kind])

    def weighted():
        return float((nd.to_host(forward(layer, x, True)[0]) * weights).sum())

    views = net.engine.propagation.grads[0]
    epsilon = host(backprop(layer, nd.create(weights), forward(layer, x, True)[1], views))
    trained = {name: host(views[name]) for name in ("gamma", "beta") if name in layer.params}
    assert len(trained) == (0 if locked else 2)
    samples = 6 if backend.name.startswith("numpy") else 2
    check_derivative(weighted, x, epsilon, samples)
    for name, gradient in trained.items():
        check_derivative(weighted, layer.params[name], gradient, 3)


@pytest.mark.parametrize("order", ["c", "f", "strided"])
def test_the_memory_order_of_epsilon_does_not_matter(order, backend):
    if order not in orders_of(backend):
        order = "c"
    net, x = normalising("images"), RNG.normal(size=SHAPES["images"])
    layer, views = net.get_layer(0), net.engine.propagation.grads[0]
    weights = RNG.normal(size=SHAPES["images"])
    expected = host(backprop(layer, nd.create(weights), forward(layer, nd.create(x), True)[1], views))
    gradients = host(views["gamma"])
    writable = make_backend("numpy") if backend.name == "numpy-readonly" else backend  # epsilon may be overwritten
    given = as_input(writable, weights, order)
    nd.fill(views["gamma"], 0.0)
    found = backprop(layer, given, forward(layer, as_input(backend, x, order), True)[1], views)
    np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE["float64"])
    np.testing.assert_allclose(host(views["gamma"]), gradients, **TOLERANCE["float64"])


def test_a_locked_layer_leaves_both_constants_out_where_one_is_its_neutral_number():
    """As Java does where gamma is 1 or beta is 0."""
    x = RNG.normal(size=SHAPES["rows"])
    for gamma, beta in ((1.0, 0.5), (2.0, 0.0), (1.0, 0.0)):
        layer = normalising("rows", lock_gamma_beta=True, gamma=gamma, beta=beta).get_layer(0)
        expected = by_hand(x, [1.0] * 3, [0.0] * 3, *statistics(x))
        np.testing.assert_allclose(forward(layer, x, True)[0], expected, rtol=1e-12, atol=1e-12)
        assert list(layer.params) == ["mean", "log10stdev"]


def test_a_large_mean_costs_no_digits(dtype):
    """The variance is that of x less its mean, not a difference of large numbers."""
    x = (RNG.normal(size=(64, 3)) + 1000.0).astype(dtype)
    found = forward(normalising("rows", dtype).get_layer(0), x, True)[0]
    expected = by_hand(x.astype(float), [1.5, -0.5, 0.8], [0.1, 0.2, -0.3], *statistics(x.astype(float)))
    np.testing.assert_allclose(
        found, expected, **({"rtol": 1e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-9})
    )


def test_frozen_it_uses_the_running_statistics_and_hands_its_derivative_down(backend):
    layers = DenseLayer(n_in=4, n_out=3, activation="tanh"), FrozenLayer(BatchNormalization(eps=EPS))
    conf = NeuralNetConfiguration(seed=2, dtype="float64", updater=Sgd(0.1)).list(
        *layers, OutputLayer(n_out=2, loss="mse")
    )
    net = MultiLayerNetwork(conf).init()
    for name, values in (("mean", [0.3, -0.2, 0.1]), ("log10stdev", [0.2, -0.1, 0.0]), ("gamma", [1.5, 0.5, 2.0])):
        nd.assign(net.get_param(f"1_{name}"), nd.create([values], "float64"))
    x, y = nd.create(RNG.normal(size=(5, 4))), nd.create(RNG.normal(size=(5, 2)))
    kept = {key: host(view) for key, view in net.param_table().items() if key.startswith("1_")}
    net.set_input(x)
    net.set_labels(y)

    def loss():
        net.compute_gradient_and_score()
        return 5 * net.score()

    loss()
    check_derivative(loss, net.get_param("0_W"), host(net.gradient().gradient_for_variable()["0_W"]), 4)
    net.fit(x, y, epochs=3)
    for key, expected in kept.items():
        np.testing.assert_array_equal(host(net.get_param(key)), expected)
    hidden = np.tanh(host(x) @ host(net.get_param("0_W")) + host(net.get_param("0_b")))
    expected = by_hand(hidden, [1.5, 0.5, 2.0], [0.0] * 3, [0.3, -0.2, 0.1], 10.0 ** (2 * np.array([0.2, -0.1, 0.0])))
    np.testing.assert_allclose(host(net.feed_forward(x)[2]), expected, **TOLERANCE["float64"])


def rectified_network(activation="relu", dtype="float64"):
    layers = (
        DenseLayer(n_in=4, n_out=3, activation="identity", has_bias=False),
        BatchNormalization(),
        ActivationLayer(activation),
        OutputLayer(n_out=2, loss="mse"),
    )
    return MultiLayerNetwork(NeuralNetConfiguration(dtype=dtype, seed=1, updater=Sgd(0.1)).list(*layers)).init()


def runs_as(net):
    return [type(node.layer).__name__ for node in net.engine.shared_nodes.fused[0]]


def test_the_relu_behind_it_runs_with_it_and_changes_no_number(backend, dtype):
    """Node by node, as in eager mode, it is a layer of its own."""
    together, apart = rectified_network(dtype=dtype), rectified_network(dtype=dtype)
    assert runs_as(together) == ["DenseRuntime", "RectifiedBatchNormalization", "OutputRuntime"]
    x, y = RNG.normal(1.0, 2.0, (7, 4)), RNG.normal(size=(7, 2))
    for _ in range(4):
        together.fit(x, y)
        with nd.eager():
            apart.fit(x, y)
    for net, eager in ((together, False), (apart, True)):
        assert len(net.engine.gradients.workers[0].recordings) == (backend.recorder() is not None and not eager)
    np.testing.assert_allclose(host(together.params()), host(apart.params()), **TOLERANCE[dtype])
    with nd.eager():
        expected = host(apart.output(x))
    np.testing.assert_allclose(host(together.output(x)), expected, **TOLERANCE[dtype])


@pytest.mark.parametrize(
    "activation",
    ["relu6", "tanh", ReLU(max=2.0), ReLU(threshold=0.5), ReLU(negative_slope=0.1)],
    ids=["relu6", "tanh", "max", "threshold", "negative slope"],
)
def test_other_activations_stay_layers_of_their_own(activation):
    assert "ActivationRuntime" in runs_as(rectified_network(activation))


def test_a_relu_is_a_layer_of_its_own_where_others_read_what_comes_before_it():
    nodes = {
        "norm": (BatchNormalization(), "in"),
        "relu": (ActivationLayer("relu"), "norm"),
        "sum": (ElementWiseVertex("add"), "norm", "relu"),
        "out": (OutputLayer(n_out=2, loss="mse"), "sum"),
    }
    conf = NeuralNetConfiguration(seed=1).graph(inputs={"in": TYPES["rows"]}, nodes=nodes, outputs="out")
    assert "ActivationRuntime" in runs_as(ComputationGraph(conf).init())


def test_sizes_are_inferred_and_flat_images_made_whole():
    flat = NeuralNetConfiguration().list(BatchNormalization(), input_type=InputType.convolutional_flat(3, 2, 4))
    assert flat.preprocessors == {0: FeedForwardToCnnPreProcessor(3, 2, 4)}
    assert (flat.layers[0].n_in, flat.layers[0].n_out) == (4, 4)
    for kind, input_type in TYPES.items():
        conf = NeuralNetConfiguration().list(BatchNormalization(), input_type=input_type)
        assert conf.layers[0].n_out == 3, kind
        assert conf.layer_types() == [(input_type, input_type)]
        assert not conf.preprocessors
    chained = NeuralNetConfiguration().list(DenseLayer(n_in=2, n_out=5), BatchNormalization(), OutputLayer(n_out=2))
    assert [layer.n_in for layer in chained.layers] == [2, 5, 5]
    assert BatchNormalization(n_in=3) == BatchNormalization(n_out=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_in": 3, "n_out": 4}, "n_in and n_out must be the same, got 3 and 4"),
        ({"decay": 1.5}, r"decay must be a number in 0\.\.1, got 1\.5"),
        ({"eps": -1e-3}, r"eps must be a number >= 0, got -0\.001"),
    ],
)
def test_what_is_no_configuration_is_refused(settings, message):
    with pytest.raises(nd.ConfigurationError, match=f"BatchNormalization: {message}"):
        BatchNormalization(**settings)


def test_what_does_not_fit_is_refused():
    layer = normalising("rows").get_layer(0)
    for x in (np.zeros((2, 4)), np.zeros((2, 4, 3)), np.zeros(3)):
        with pytest.raises(
            nd.ShapeError, match=r"\(BatchNormalization\): expected input \[N, 3\] or \[N, 3, \.\.\.\], got"
        ):
            forward(layer, x, True)
    with pytest.raises(nd.DTypeError, match=r"\(BatchNormalization\): expected an array, got list"):
        forward(layer, [[1.0, 2.0, 3.0]], False)
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(BatchNormalization\): n_in is missing"):
        NeuralNetConfiguration().list(BatchNormalization())
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(BatchNormalization\): n_in must be 3, .*got 4"):
        NeuralNetConfiguration().list(BatchNormalization(n_out=4), input_type=TYPES["images"])


def test_the_file_says_how_the_variance_is_kept():
    conf = NeuralNetConfiguration(seed=1, updater=Adam(0.1)).list(
        BatchNormalization(n_out=2), OutputLayer(n_in=2, n_out=2)
    )
    document = json.loads(conf.to_json())
    layer, first = document["confs"][0]["layer"], document["confs"][0]
    assert first["variables"] == ["gamma", "beta", "mean", "log10stdev"]
    assert layer["@class"] == "org.deeplearning4j.nn.conf.layers.BatchNormalization"
    expected = {
        "nin": 2, "nout": 2, "decay": 0.9, "eps": 1e-5, "gamma": 1.0, "beta": 0.0, "lockGammaBeta": False,
        "minibatch": True, "useLogStd": True, "cudnnAllowFallback": True, "cnn2DFormat": "NCHW",
    }  # fmt: skip
    assert {key: layer[key] for key in expected} == expected
    del layer["useLogStd"]
    assert MultiLayerConfiguration.from_json(json.dumps(document)).layers[0].use_log_std  # its variables say so
    first["variables"] = []
    assert not MultiLayerConfiguration.from_json(json.dumps(document)).layers[0].use_log_std
    layer["cnn2DFormat"] = "NHWC"
    assert MultiLayerConfiguration.from_json(json.dumps(document)).layers[0].data_format == "NHWC"
