"""Files of training steps: what comes in and goes out, where they go on from, and what they refuse."""

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import nd
from nn import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    ElementWiseVertex,
    GlobalPoolingLayer,
    InputType,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from nn.onnx.training import training_model
from optimize import MaxNormConstraint, Sgd
from optimize.schedules import Schedule
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


def test_names_that_a_network_has_already():
    """Its own stay; what the step adds is numbered then."""
    nodes = {"score": (DenseLayer(n_out=5), "labels"), "0_W": (OutputLayer(n_out=3), "score")}
    conf = NeuralNetConfiguration(seed=1).graph({"labels": InputType.feed_forward(4)}, nodes, "0_W")
    model = training_model(ComputationGraph(conf).init())
    runtime = RuntimeTraining(model)
    assert runtime.given == ["labels", "labels_2"]
    assert runtime.names[:2] == ["score", "0_W"]
    assert np.isfinite(runtime.step(*batch(5))["score"])


def test_masks_are_refused():
    with pytest.raises(nd.ConfigurationError, match="a training step must be without masks"):
        training_model(small(), masks=True)


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


def test_dropout_that_drops_nothing():
    assert max(compared(small(drop_out=Dropout(rate=0.0)), [batch(8) for _ in range(3)])) < CLOSE


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


class Halves(Schedule):
    """A schedule of one's own."""

    def value_at(self, iteration, epoch):
        return 0.1 * 0.5**iteration


class OwnSgd(Sgd):
    """An updater of one's own."""


class OwnDense(DenseLayer):
    """A layer of one's own."""


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"updater": Sgd(Halves())}, r"2 that it cannot: .*the schedule Halves has no form"),
        ({"updater": "sgd", "l2": Halves()}, "the schedule Halves has no form"),
        ({"updater": OwnSgd(0.1)}, "the updater OwnSgd has no form"),
    ],
    ids=["rate", "penalty", "updater"],
)
def test_own_parts(settings, reason):
    """What only its own code can compute; a parameter each, but those of one layer are told once."""
    with pytest.raises(nd.ConfigurationError, match=reason):
        training_model(small(**settings))


def test_a_layer_of_ones_own():
    with pytest.raises(nd.ConfigurationError, match="no form of OwnDense here"):
        training_model(made(OwnDense(n_in=4, n_out=5), OutputLayer(n_out=3)))


def test_an_output_without_a_loss():
    net = made(DenseLayer(n_in=4, n_out=3))
    with pytest.raises(nd.ConfigurationError, match=r"an output must be one of .*, got DenseLayer"):
        training_model(net)


def residual():
    """A graph of blocks: convolutions of several strides, batch normalisation, a sum around them, channels joined."""
    conv = {"kernel_size": 3, "convolution_mode": "same", "activation": "identity", "has_bias": False}
    nodes = {
        "stem": (ConvolutionLayer(n_out=4, **conv), "in"),
        "bn": (BatchNormalization(), "stem"),
        "relu": (ActivationLayer("relu"), "bn"),
        "inner": (ConvolutionLayer(n_out=4, **conv), "relu"),
        "inner_bn": (BatchNormalization(use_log_std=False), "inner"),
        "sum": (ElementWiseVertex("add"), "relu", "inner_bn"),
        "down": (ConvolutionLayer(n_out=3, stride=2, **conv), "sum"),
        "pool": (SubsamplingLayer("max", kernel_size=3, stride=2, padding=1), "sum"),
        "joined": (MergeVertex(), "down", "pool"),
        "mean": (GlobalPoolingLayer("avg"), "joined"),
        "out": (OutputLayer(n_out=3), "mean"),
    }
    types = {"in": InputType.convolutional(9, 9, 2)}
    return ComputationGraph(NeuralNetConfiguration(seed=1, updater="nesterovs").graph(types, nodes, "out")).init()


def test_residual_blocks():
    batches = [(RNG.normal(0.0, 1.0, (6, 2, 9, 9)).astype(np.float32), batch(6)[1]) for _ in range(5)]
    assert max(compared(residual(), batches)) < 1e-5


def test_the_reference_evaluator_computes_the_same():
    model = training_model(residual())
    feeds = {"in": RNG.normal(0.0, 1.0, (3, 2, 9, 9)).astype(np.float32), "labels": batch(3)[1]}
    runtime = RuntimeTraining(model)
    expected = runtime.step(*feeds.values())
    defaults = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    given = {value.name: feeds.get(value.name, defaults.get(value.name)) for value in model.graph.input}
    results = ReferenceEvaluator(model).run(None, given)
    for name, result in zip(runtime.names, results, strict=True):
        np.testing.assert_allclose(result, expected[name], atol=CLOSE, rtol=1e-5, err_msg=name)
