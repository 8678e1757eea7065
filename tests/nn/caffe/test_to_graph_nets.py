"""Nets of Caffe's examples and models as graphs: outputs, losses, gradients, files."""

import numpy as np
import pytest

from nn import ComputationGraph
from nn.caffe import read_net
from nn.caffe.net import Net
from nn.caffe.to_graph import convert_net
from optimize import Nesterovs

WEIGHTS = {
    "lenet/lenet": "lenet/lenet_iter_10000",
    "cifar10_quick/cifar10_quick": "cifar10_quick/cifar10_quick_iter_5000_v1",
}
"""Net for use -> weights."""
TOLERANCES = {"float32": 1e-5, "float64": 1e-10}


def random_weights(path, seed, examples):
    """Return a net of models/ with weights that keep activations moderate."""
    message = read_net(path)
    message.layer[0].input_param.shape[0].dim[0] = examples
    for layer in message.layer:
        if layer.type in ("Convolution", "InnerProduct"):
            settings = layer.convolution_param if layer.type == "Convolution" else layer.inner_product_param
            settings.weight_filler.type, settings.bias_filler.type, settings.bias_filler.std = "msra", "gaussian", 0.1
    return Net(message, seed=seed)


def check_outputs(net, tmp_path, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.0, 1.0, net.blobs["data"].shape).astype(net.dtype)
    expected = net.forward(data=x)["prob"]
    graph = net.to_computation_graph()
    graphs = [graph]
    if net.dtype == "float32" and graph.num_params() < 10_000_000:
        graph.save(tmp_path / "net.zip")
        graphs.append(ComputationGraph.load(tmp_path / "net.zip"))
    for each in graphs:
        assert each.conf.inputs == ("data",)
        assert each.conf.outputs == ("prob",)
        (given,) = each.output(x)
        np.testing.assert_allclose(given, expected, rtol=TOLERANCES[net.dtype], atol=TOLERANCES[net.dtype])
    return graph


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_trained_nets(caffe_reference, tmp_path, name, dtype):
    net = Net(caffe_reference / f"{name}.prototxt", caffe_reference / f"{WEIGHTS[name]}.caffemodel", dtype=dtype)
    graph = check_outputs(net, tmp_path)
    assert list(graph.conf.vertices) == [layer for layer in net.layer_names if layer != "data"]


def test_lenets_answers_to_digits(caffe_reference):
    digits = np.load(caffe_reference / "lenet" / "mnist100_ip2.npz")
    net = Net(caffe_reference / "lenet" / "lenet.prototxt", caffe_reference / "lenet" / "lenet_iter_10000.caffemodel")
    (given,) = net.to_computation_graph().output(np.float32(digits["images"][:, None] / 256.0))
    powers = np.exp(digits["ip2"] - digits["ip2"].max(1, keepdims=True))
    np.testing.assert_allclose(given, powers / powers.sum(1, keepdims=True), rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bvlc_reference_caffenet", "bvlc_googlenet"])
def test_models(caffe_reference, tmp_path, model):
    check_outputs(random_weights(caffe_reference / "prototxt" / f"models.{model}.deploy.prototxt", 1, 2), tmp_path)


def lenet_to_train(folder, phase="TRAIN"):
    """Return LeNet's net to train, with images of an Input layer, and its weights."""
    message = read_net(folder / "lenet" / "lenet_train_test.prototxt")
    for layer in message.layer:
        if layer.type == "Data":
            layer.type = "Input"
            for shape in ((6, 1, 28, 28), (6,)):
                layer.input_param.shape.add().dim[:] = shape
    net = Net(message, phase, dtype="float64")
    net.copy_from(folder / "lenet" / "lenet_iter_10000.caffemodel")
    rng = np.random.default_rng(1)
    net.blobs["data"].data = rng.uniform(0.0, 1.0, (6, 1, 28, 28))
    net.blobs["label"].data = np.arange(6.0)
    return net


def test_gradients_of_lenet(caffe_reference):
    net = lenet_to_train(caffe_reference)
    graph = net.to_computation_graph()
    assert (graph.conf.inputs, graph.conf.outputs) == (("data",), ("loss",))
    loss = net.forward_backward()
    given, _ = graph.calculate_gradients([net.blobs["data"].data], [np.eye(10)[:6]])
    assert graph.score() == pytest.approx(loss, rel=1e-10)
    gradients = given.gradient_for_variable()
    for name in ("conv1", "conv2", "ip1", "ip2"):
        W, b = (np.asarray(blob.diff) for blob in net.params[name])
        expected = {"W": W.T if name.startswith("ip") else W, "b": b[None]}
        for key, array in expected.items():
            np.testing.assert_allclose(np.asarray(gradients[f"{name}_{key}"]) / 6.0, array, rtol=1e-9, atol=1e-12)


def test_a_graph_trains_on(caffe_reference):
    net = lenet_to_train(caffe_reference)
    graph = net.to_computation_graph(updater=Nesterovs(0.01, momentum=0.9), seed=5)
    x, y = net.blobs["data"].data, np.eye(10)[:6]
    scores = []
    for _ in range(5):
        graph.fit([x], [y])
        scores.append(graph.score())
    assert scores[-1] < 0.5 * scores[0]


def test_what_only_looks_on_is_left_out(caffe_reference):
    graph, notes = convert_net(lenet_to_train(caffe_reference, "TEST"))
    assert "accuracy" not in graph.conf.vertices
    assert [note for note in notes if "'accuracy' (Accuracy): it is left out" in note]
    assert [note for note in notes if note.startswith("multipliers of learning rates")]


TO_TRAIN = {
    "models.bvlc_googlenet.train_val": ["loss1/loss", "loss2/loss", "loss3/loss3"],
    "models.bvlc_alexnet.train_val": ["loss"],
    "examples.hdf5_classification.nonlinear_train_val": ["loss"],
}
"""Net of models or examples -> outputs of its graph."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TO_TRAIN)
def test_losses_of_nets_to_train(caffe_reference, name):
    message = read_net(caffe_reference / "prototxt" / f"{name}.prototxt")
    rows = "hdf5" in name
    size = {"alexnet": 227, "googlenet": 224}.get(name.split(".")[1].removeprefix("bvlc_"), 0)
    for layer in message.layer:
        if layer.type in ("Data", "HDF5Data"):
            layer.type = "Input"
            layer.input_param.shape.add().dim[:] = (2, 4) if rows else (2, 3, size, size)
            layer.input_param.shape.add().dim[:] = (2,)
        if layer.type == "Dropout":
            layer.dropout_param.dropout_ratio = 0.0
    net = Net(message, "TRAIN", seed=2)
    rng = np.random.default_rng(0)
    net.blobs["data"].data = x = rng.normal(0.0, 1.0, net.blobs["data"].shape).astype("float32")
    net.blobs["label"].data = [1.0, 0.0]
    graph = net.to_computation_graph()
    assert list(graph.conf.outputs) == TO_TRAIN[name]
    classes = net.layers[-1].conf.bottoms[0][1]
    y = np.eye(classes, dtype="float32")[[1, 0]]
    graph.calculate_gradients([x], [y] * len(graph.conf.outputs))
    assert graph.score() == pytest.approx(net.forward_backward(), rel=1e-4)
