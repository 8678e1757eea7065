"""Models in the forms of several exporters: what they become, that they compute the same, and that they are trained."""

import io

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet
from nn.onnx import OnnxVertex
from nn.onnx.into import graph_of
from nn.onnx.writing import onnx_model
from tests.cases.onnx_models import FUNCTIONS, STRUCTURES, Model

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
ROWS = {**FUNCTIONS, **STRUCTURES}


def loaded(proto):
    return graph_of(io.BytesIO(proto.SerializeToString()))


def answer(proto, x):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})


def numbers(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("name", ROWS)
def test_a_model_computes_what_onnxruntime_does(name):
    build, shape, classes = ROWS[name]
    proto, x = build(), numbers(shape)
    net = loaded(proto)
    (given,) = net.output(x)
    known = ROWS[name.removesuffix(", examples first")][0]()  # which onnxruntime cannot run
    np.testing.assert_allclose(given, answer(known, x)[0], rtol=1e-5, atol=2e-6)
    if classes is not None:
        assert [type(conf).__name__ for conf in net.conf.vertices.values()] == list(classes)


@pytest.mark.parametrize("name", ["attention", "channels last", "gelu", "time major"])
def test_every_batch_size_and_length_goes_through(name):
    build, shape, _ = ROWS[name]
    proto = build()
    net = loaded(proto)
    length = 7 if name in ("attention", "time major") else shape[1]
    for examples in (1, 5):
        x = numbers((examples, length, *shape[2:]))
        np.testing.assert_allclose(net.output(x)[0], answer(proto, x)[0], rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    "name", ["both directions", "channels last", "gelu", "gelu by tanh", "hard swish", "normalised"]
)
def test_what_was_loaded_can_be_written(name):
    build, shape, _ = ROWS[name]
    proto, x = build(), numbers(shape)
    np.testing.assert_allclose(answer(onnx_model(loaded(proto)), x)[0], answer(proto, x)[0], rtol=1e-5, atol=2e-6)


# ---- training


def doubled(build):
    """Return a loaded network that computes in double precision."""
    return loaded(build(np.float64))


@pytest.mark.parametrize("name", ["attention", "both directions' ends", "channels last", "flattened by shape", "gelu"])
def test_gradients_are_differences(name):
    build, shape, _ = ROWS[name]
    net, x = doubled(build), numbers(shape, np.float64)
    assert net.dtype == "float64"
    (y,) = net.output(x)
    labels = np.abs(numbers(y.shape, np.float64, 2))
    labels = labels / labels.sum(-1, keepdims=True)
    data = DataSet(x, labels)
    params, step = nd.to_host(net.params()).copy(), 1e-6
    net.compute_gradient_and_score(net.step_input(data)).gradient()
    gradient = nd.to_host(net.flattened_gradients())[0].copy()
    direction = np.random.default_rng(5).normal(size=params.shape)
    scores = []
    for sign in (1.0, -1.0):
        net.set_params(params + sign * step * direction)
        scores.append(net.score(data))
    expected = len(x) * (scores[0] - scores[1]) / (2 * step)
    assert gradient @ direction[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["attention", "both directions", "channels last", "normalised"])
def test_fit_lowers_the_score(name):
    build, shape, _ = ROWS[name]
    net, x = loaded(build()), numbers(shape)
    (y,) = net.output(x)
    labels = np.zeros_like(y)
    labels[..., 0] = 1.0
    data = DataSet(x, labels)
    net.set_learning_rate(0.01)
    before = net.score(data)
    for _ in range(5):
        net.fit(data)
    assert net.score(data) < before


# ---- nn.load, and what is refused


def test_load_tells_a_model_by_its_content(tmp_path):
    path = tmp_path / "model.bin"
    proto = FUNCTIONS["swish"][0]()
    path.write_bytes(proto.SerializeToString())
    x = numbers((2, 5))
    for net in (nn.load(path), nn.ComputationGraph.load(path)):
        np.testing.assert_allclose(net.output(x)[0], answer(proto, x)[0], rtol=1e-5, atol=1e-6)
    with pytest.raises(nd.FormatError, match="expected a MultiLayerNetwork, got a ComputationGraph"):
        nn.MultiLayerNetwork.load(path)


def test_operators_are_written_as_the_opset_has_them():
    model = Model(18)
    model.node("Greater", ["x", model.constant("zero", 0.0)], "above")
    model.node("Not", "above", "below")
    model.node("Mul", ["x", "x"], "square")
    model.node("Where", ["below", "x", "square"], "some")
    model.node("LogSoftmax", "some", "y", axis=-1)
    proto, x = model.proto({"x": ["n", 4]}, ["y"]), numbers((3, 4))
    net = loaded(proto)
    for opset in (13, 18):
        np.testing.assert_allclose(answer(onnx_model(net, opset), x)[0], answer(proto, x)[0], rtol=1e-5, atol=1e-6)
    model.node("Mish", "y", "z")
    model.node("Clip", ["z", "", model.constant("most", 0.1)], "most0")
    model.node("ReduceL1", ["most0", model.constant("axes", [1])], "w")
    with pytest.raises(nd.ConfigurationError, match=r"opset 13 has ReduceL1 in another form\. Save with opset=18"):
        onnx_model(loaded(model.proto({"x": ["n", 4]}, ["w"])), 13)


@pytest.mark.parametrize(
    ("vertex", "reason"),
    [
        (OnnxVertex("ReduceMax", {"keepdims": 1}, {1: [1]}, 18), r"has ReduceMax in another form\. Save with opset=18"),
        (OnnxVertex("Clip", {"min": 0.0, "max": 1.0}, {}, 6), r"has Clip in another form\.$"),
        (OnnxVertex("Upsample", {"mode": "nearest"}, {1: [1.0, 2.0]}, 9), "has no Upsample any more"),
    ],
)
def test_an_operator_of_another_form_is_refused(vertex, reason):
    conf = nn.NeuralNetConfiguration().graph({"x": nn.InputType.feed_forward(4)}, {"y": (vertex, "x")}, ["y"])
    with pytest.raises(nd.ConfigurationError, match=f"opset 13 {reason}"):
        onnx_model(nn.ComputationGraph(conf).init(), 13)


def test_all_that_nothing_says_is_named():
    model = Model()
    model.node("NonZero", "x", "places")
    model.node("Cast", "places", "numbers", to=1)
    model.node("Unique", "x", "values")
    model.node("Add", ["values", "numbers"], "y")
    with pytest.raises(
        nd.ConfigurationError, match=r"got 2 .*'places/NonZero' \(NonZero\).*'values/Unique' \(Unique\)"
    ):
        loaded(model.proto({"x": ["n", 4]}, ["y"]))


def test_what_nothing_says_is_named_behind_what_is_refused_too():
    model = Model()
    model.node("Unique", "x", "values")
    model.node("Relu", "values", "positive")
    model.node("NonZero", "positive", "places")
    with pytest.raises(nd.ConfigurationError, match=r"got 2 that none can: 'values/Unique' .*'places/NonZero' [^;]*$"):
        loaded(model.proto({"x": ["n", 4]}, ["places"]))


@pytest.mark.parametrize("sizes", [[5], ["t"], [5, "t"], [3, 8, 8]])
def test_inputs_that_nothing_reads_are_given_too(sizes):
    model = Model()
    model.node("Gemm", ["x", model.weights("w", 4, 3)], "y")
    graph = loaded(model.proto({"unread": ["n", *sizes], "x": ["n", 4]}, ["y"]))
    assert graph.conf.inputs == ("unread", "x")
    x = numbers((2, 4))
    (y,) = graph.output(np.ones([2, *(size if isinstance(size, int) else 6 for size in sizes)]), x)
    np.testing.assert_allclose(y, x @ model.constants["w"], rtol=1e-5, atol=1e-6)
    graph.fit([np.ones([2, *(size if isinstance(size, int) else 6 for size in sizes)]), x], [np.ones((2, 3))])


def test_a_number_that_nothing_reads_is_no_input():
    model = Model()
    model.node("Relu", "x", "y")
    assert loaded(model.proto({"phase": [], "x": ["n", 4]}, ["y"])).conf.inputs == ("x",)


def test_outputs_are_told_apart():
    model = Model()
    model.node("Gemm", ["x", model.weights("w", 4, 3)], "h")
    model.node("Relu", "h", "a")
    model.node("Softmax", "h", "b")
    proto, x = model.proto({"x": ["n", 4]}, ["a", "b", "h"]), numbers((2, 4))
    for given, expected in zip(loaded(proto).output(x), answer(proto, x), strict=True):
        np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-6)
