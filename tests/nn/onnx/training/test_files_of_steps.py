"""Files of training steps: what comes in and goes out, where they go on from, and what they refuse."""

import numpy as np
import onnx
import pytest

import nd
from nn import (
    LSTM,
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    ElementWiseVertex,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from nn.onnx.training import training_model
from optimize import MaxNormConstraint
from tests.nn.onnx.training.steps import RuntimeTraining, compared

CLOSE = 1e-6
RNG = np.random.default_rng(7)


def batch(examples, features=4, classes=3):
    x = RNG.normal(0.0, 1.0, (examples, features)).astype(np.float32)
    return x, np.eye(classes, dtype=np.float32)[RNG.integers(0, classes, examples)]


def made(*layers, input_type=None, **settings):
    settings = {"seed": 2, "updater": "adam", **settings}
    return MultiLayerNetwork(NeuralNetConfiguration(**settings).list(*layers, input_type=input_type)).init()


def small(**settings):
    return made(DenseLayer(n_in=4, n_out=6, activation="relu"), OutputLayer(n_out=3), **settings)


def test_inputs_and_outputs_by_name(tmp_path):
    net = small()
    path = tmp_path / "step.onnx"
    net.save(path, training_step=True)
    model = onnx.load(path)
    given = {value.name: shape_of(value) for value in model.graph.input}
    taken = {value.name: shape_of(value) for value in model.graph.output}
    states = {f"{key}{end}": list(array.shape) for key, array in net.param_table().items() for end in ("", "/M", "/V")}
    assert given == {"input": ["N", 4], "labels": ["N", 3], "iteration": [], **states}
    after = {f"{name}/new": shape for name, shape in states.items()}
    assert taken == {"score": [], "layer1": ["N", 3], "iteration/new": [], **after}
    assert {node.domain for node in model.graph.node} == {""}
    assert (model.opset_import[0].version, model.ir_version) == (18, 10)


def shape_of(value):
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


@pytest.mark.parametrize("opset", range(18, onnx.defs.onnx_opset_version() + 1))
def test_opsets(opset):
    """A runtime may know fewer than the package onnx does; the checker knows all."""
    onnx.checker.check_model(training_model(small(), opset=opset, ir_version=onnx.IR_VERSION), full_check=True)


def test_an_opset_that_is_too_old():
    with pytest.raises(nd.ConfigurationError, match="a training step needs opset 18 or more, got 17"):
        training_model(small(), opset=17)


def test_minibatches_of_any_size():
    assert max(compared(small(), [batch(examples) for examples in (1, 7, 32, 2)])) < CLOSE


def test_it_goes_on_from_where_the_network_is():
    """Parameters, states and iteration are those of a network that was trained before."""
    net = small()
    for _ in range(5):
        net.fit(*batch(8))
    assert max(compared(net, [batch(8) for _ in range(5)])) < CLOSE


def test_the_network_goes_on_from_the_file():
    net, other = small(), small()
    runtime = RuntimeTraining(training_model(net))
    batches = [batch(8) for _ in range(4)]
    for x, y in batches:
        runtime.step(x, y)
        other.fit(x, y)
    for name in net.param_table():
        net.set_param(name, runtime.state[name])
    np.testing.assert_allclose(nd.to_host(net.params()), nd.to_host(other.params()), atol=CLOSE)
    assert runtime.state["iteration"] == other.iteration_count


def test_outputs_are_those_of_training():
    net = made(
        DenseLayer(n_in=4, n_out=6, activation="tanh", has_bias=False), BatchNormalization(), OutputLayer(n_out=3)
    )
    x, y = batch(9)
    results = RuntimeTraining(training_model(net)).step(x, y)
    np.testing.assert_allclose(results["layer2"], nd.to_host(net.output(x, train=True)), atol=CLOSE)


def test_channels_last():
    """Features as users see them; softmax and batch normalisation over the channels."""
    net = made(
        ConvolutionLayer(n_out=4, kernel_size=3, activation="relu"),
        BatchNormalization(),
        SubsamplingLayer("max", kernel_size=2, stride=1),
        OutputLayer(n_out=3),
        input_type=InputType.convolutional(6, 6, 2, "NHWC"),
        updater="nesterovs",
    )
    x = RNG.normal(0.0, 1.0, (5, 6, 6, 2)).astype(np.float32)
    assert max(compared(net, [(x, batch(5)[1])] * 4)) < CLOSE


def test_a_graph_with_two_inputs_and_two_outputs():
    nodes = {
        "left": (DenseLayer(n_out=5, activation="tanh"), "a"),
        "right": (DenseLayer(n_out=5, activation="relu"), "b"),
        "sum": (ElementWiseVertex("add"), "left", "right"),
        "first": (OutputLayer(n_out=3), "sum"),
        "second": (OutputLayer(n_out=2, loss="mse", activation="identity"), "left"),
    }
    types = {"a": InputType.feed_forward(4), "b": InputType.feed_forward(2)}
    conf = NeuralNetConfiguration(seed=1, updater="nesterovs", l2=0.01).graph(types, nodes, ["first", "second"])
    net = ComputationGraph(conf).init()
    xs = [RNG.normal(0.0, 1.0, (6, size)).astype(np.float32) for size in (4, 2)]
    ys = [batch(6)[1], RNG.normal(0.0, 1.0, (6, 2)).astype(np.float32)]
    runtime = RuntimeTraining(training_model(net))
    assert runtime.given == ["a", "b", "labels_first", "labels_second"]
    for _ in range(4):
        score = runtime.step(*xs, *ys)["score"]
        net.fit(nd.dataset.MultiDataSet(xs, ys))
        assert score == pytest.approx(net.score(), abs=CLOSE)
    for name, array in net.param_table().items():
        np.testing.assert_allclose(runtime.state[name], nd.to_host(array), atol=CLOSE)


def test_all_that_a_step_cannot_have_is_named_at_once():
    net = made(
        LSTM(n_in=3, n_out=4),
        DenseLayer(n_out=4, drop_out=0.5),
        DenseLayer(n_out=4, weight_noise=DropConnect(0.5)),
        DenseLayer(n_out=4, constrain_weights=MaxNormConstraint(max_norm=1.0, dimensions=[0])),
        RnnOutputLayer(n_out=2),
        input_type=InputType.recurrent(3),
    )
    parts = [
        r"got 4 that it cannot: layer 3 \(DenseLayer\): constraints",
        r"layer 0 \(LSTM\)",
        "dropout",
        "weight noise",
    ]
    for part in parts:
        with pytest.raises(nd.ConfigurationError, match=part):
            training_model(net)


def test_double_precision_without_convolutions():
    net = made(
        ConvolutionLayer(n_out=2, kernel_size=3),
        OutputLayer(n_out=3),
        dtype="float64",
        input_type=InputType.convolutional(5, 5, 1),
    )
    with pytest.raises(nd.ConfigurationError, match=r"in single precision alone. Give the network dtype='float32'"):
        training_model(net)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"optimization_algo": "lbfgs"}, "takes several passes"),
        ({"minimize": False}, "minimize=False has no form here"),
    ],
    ids=["lbfgs", "maximize"],
)
def test_settings_of_the_network(settings, reason):
    with pytest.raises(nd.ConfigurationError, match=reason):
        training_model(small(updater="sgd", **settings))


def test_an_output_without_a_loss():
    net = made(DenseLayer(n_in=4, n_out=3))
    with pytest.raises(nd.ConfigurationError, match=r"an output must be one of .*, got DenseLayer"):
        training_model(net)
