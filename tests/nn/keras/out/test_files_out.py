"""The file that a network is in Keras: its parts, their order and names, and what is refused or lost."""

import io
import json
import os
import warnings
import zipfile

import h5py
import numpy as np
import pytest

import nd
from nn import (
    LSTM,
    ComputationGraph,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    DepthwiseConvolution2D,
    ElementWiseVertex,
    GravesLSTM,
    InputType,
    LastTimeStep,
    LocalResponseNormalization,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    StackVertex,
    SubsamplingLayer,
    UnstackVertex,
    load,
)
from nn.keras import write_keras
from nn.terms.weight_noise import DropConnect

KERAS_LSTM = ("input", "forget", "candidate", "output")
OURS = ("candidate", "forget", "output", "input")


def network(*layers, input_type=None, **settings):
    base = NeuralNetConfiguration(seed=3, **settings)
    return MultiLayerNetwork(base.list(*layers, input_type=input_type or InputType.feed_forward(4))).init()


def rows(**settings):
    tail = OutputLayer(n_out=2, loss="mcxent", activation="softmax")
    return network(DenseLayer(n_out=3, activation="tanh", name="first"), tail, **settings)


def images(*layers):
    tail = OutputLayer(n_out=2, loss="mse", activation="identity")
    return network(*layers, tail, input_type=InputType.convolutional(8, 8, 2))


def parts(net):
    """Return the configuration, and the datasets of the weights by their paths."""
    file = io.BytesIO()
    write_keras(net, file)
    with zipfile.ZipFile(file) as archive:
        config = json.loads(archive.read("config.json"))
        content = archive.read("model.weights.h5")
    found = {}
    with h5py.File(io.BytesIO(content)) as weights:
        weights.visititems(
            lambda name, one: found.update({name: one[()] if hasattr(one, "shape") else dict(one.attrs)})
        )
    return config, found


def is_array(one):
    return isinstance(one, h5py.Dataset)


def classes(config):
    return [layer["class_name"] for layer in config["config"]["layers"]]


def test_a_chain_is_a_sequential_with_weights_under_the_names_of_classes():
    net = rows(updater="adam", l2=0.5)
    config, weights = parts(net)
    assert config["class_name"] == "Sequential"
    assert classes(config) == ["InputLayer", "Dense", "Dense"]
    first = config["config"]["layers"][1]["config"]
    assert (first["name"], first["units"], first["activation"]) == ("first", 3, "tanh")
    assert first["kernel_regularizer"]["config"] == {"l2": 0.25}
    assert config["compile_config"]["loss"] == "categorical_crossentropy"
    assert config["compile_config"]["optimizer"]["class_name"] == "Adam"
    assert weights["layers/dense/vars"] == {"name": "first"}
    np.testing.assert_array_equal(weights["layers/dense/vars/0"], nd.to_host(net.get_param("0_W")))
    np.testing.assert_array_equal(weights["layers/dense_1/vars/1"], nd.to_host(net.get_param("1_b")).reshape(-1))


@pytest.mark.filterwarnings("ignore:save. Keras has no place")
def test_gates_lie_in_the_order_of_keras():
    tail = RnnOutputLayer(n_out=2, loss="mcxent", activation="softmax")
    net = network(LSTM(n_out=3), tail, input_type=InputType.recurrent(4, 5))
    _, weights = parts(net)
    kernel = weights["layers/lstm/cell/vars/0"]
    ours = nd.to_host(net.get_param("0_W"))
    for place, gate in enumerate(KERAS_LSTM):
        columns = OURS.index(gate)
        np.testing.assert_array_equal(
            kernel[:, 3 * place : 3 * place + 3], ours[:, 3 * columns : 3 * columns + 3], err_msg=gate
        )


def test_axes_of_the_network_stay_and_channels_are_last_in_between():
    net = images(ConvolutionLayer(n_out=3, kernel_size=(3, 3), activation="relu"), SubsamplingLayer())
    config, weights = parts(net)
    assert classes(config) == ["InputLayer", "Permute", "Conv2D", "MaxPooling2D", "Permute", "Flatten", "Dense"]
    assert config["config"]["layers"][0]["config"]["batch_shape"] == [None, 2, 8, 8]
    kernel = nd.to_host(net.get_param("0_W"))
    np.testing.assert_array_equal(weights["layers/conv2d/vars/0"], kernel.transpose(2, 3, 1, 0))


def test_layers_of_a_graph_are_numbered_by_their_depth():
    layers = {
        "late": (DenseLayer(n_out=3), "deep"),
        "deep": (DenseLayer(n_out=3), "in"),
        "near": (DenseLayer(n_out=3), "in"),
        "sum": (ElementWiseVertex("add"), "near", "late"),
        "out": (OutputLayer(n_out=2, loss="mse", activation="identity"), "sum"),
    }
    conf = NeuralNetConfiguration(seed=1).graph({"in": InputType.feed_forward(4)}, layers, ["out"])
    config, weights = parts(ComputationGraph(conf).init())
    names = [weights[f"layers/dense{suffix}/vars"]["name"] for suffix in ("", "_1", "_2", "_3")]
    assert names == ["deep", "near", "late", "out"]
    assert [layer["name"] for layer in config["config"]["layers"]] == ["in", "deep", "near", "late", "sum", "out"]


def test_a_layer_between_stacked_examples_is_called_for_each_of_them():
    layers = {
        "both": (StackVertex(), "a", "b"),
        "dense": (DenseLayer(n_out=3, activation="tanh"), "both"),
        "first": (UnstackVertex(0, 2), "dense"),
        "second": (UnstackVertex(1, 2), "dense"),
        "difference": (ElementWiseVertex("subtract"), "first", "second"),
        "out": (OutputLayer(n_out=2, loss="mse", activation="identity"), "difference"),
    }
    types = {name: InputType.feed_forward(4) for name in "ab"}
    net = ComputationGraph(NeuralNetConfiguration(seed=1).graph(types, layers, ["out"])).init()
    config, _ = parts(net)
    dense = next(layer for layer in config["config"]["layers"] if layer["name"] == "dense")
    calls = [call["args"][0]["config"]["keras_history"][0] for call in dense["inbound_nodes"]]
    assert calls == ["a", "b"]


def test_equal_networks_are_equal_files(tmp_path):
    for name in "ab":
        rows().save(tmp_path / f"{name}.keras")
    assert (tmp_path / "a.keras").read_bytes() == (tmp_path / "b.keras").read_bytes()


def test_everything_that_keras_cannot_say_is_named_at_once(tmp_path):
    layers = [LocalResponseNormalization(name="norm"), SubsamplingLayer(pooling_type="pnorm", pnorm=2)]
    path = tmp_path / "net.keras"
    path.write_bytes(b"before")
    with pytest.raises(nd.ConfigurationError, match=r"got 2 that it cannot: .*'norm'.*; layer 1 .*'pnorm'\."):
        images(*layers).save(path)
    assert path.read_bytes() == b"before"
    tail = RnnOutputLayer(n_out=2, loss="mcxent", activation="softmax")
    with pytest.raises(nd.ConfigurationError, match="no LSTM with peepholes"):
        network(GravesLSTM(n_out=3), tail, input_type=InputType.recurrent(4, 5)).save(path)


def test_a_stride_with_a_dilation_where_keras_has_none():
    both = DepthwiseConvolution2D(n_out=2, kernel_size=(2, 2), stride=(2, 2), dilation=(2, 2), convolution_mode="same")
    with pytest.raises(nd.ConfigurationError, match="no padding 'same' with a stride and a dilation"):
        parts(images(both))
    config, _ = parts(images(ConvolutionLayer(n_out=2, kernel_size=(2, 2), stride=(2, 2), dilation=(2, 2))))
    assert classes(config)[2:4] == ["Conv2D", "MaxPooling2D"]


def test_sizes_that_nobody_knows():
    conf = NeuralNetConfiguration(seed=1).list(
        LastTimeStep(Convolution1DLayer(n_in=4, n_out=3, kernel_size=2)),
        OutputLayer(n_in=3, n_out=2, loss="mse", activation="identity"),
    )
    net = MultiLayerNetwork(conf).init()
    with pytest.raises(nd.ConfigurationError, match="the last step of series whose length is not known"):
        parts(net)
    write_keras(net, io.BytesIO(), input_types=[InputType.recurrent(4, 5)])


def test_what_is_lost_is_said_once(tmp_path):
    with pytest.warns(UserWarning, match=r"no place for 2 settings.*first: its weight noise, a DropConnect"):
        rows(weight_noise=DropConnect(0.5)).save(tmp_path / "net.keras")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows().save(tmp_path / "net.keras")


def test_settings_of_other_files(tmp_path):
    with pytest.raises(nd.ConfigurationError, match=r"opset must be for a model of ONNX"):
        rows().save(tmp_path / "net.keras", opset=18)
    with pytest.raises(nd.ConfigurationError, match=r"a model of Keras has no place for a normalizer"):
        rows().save(tmp_path / "net.keras", normalizer=object())
    with pytest.raises(nd.ConfigurationError, match=r"expected a name for a model of Keras"):
        write_keras(rows(), tmp_path / "net.onnx")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_disk_that_is_full():
    with pytest.raises(OSError, match=r"save: the file must be written whole, got .*No space left"):
        write_keras(rows(), "/dev/full")


def test_double_precision_stays(tmp_path):
    net = rows(dtype="float64")
    _, weights = parts(net)
    assert weights["layers/dense/vars/0"].dtype == np.float64
    net.save(tmp_path / "net.keras")
    x = np.random.default_rng(0).normal(size=(3, 4))
    np.testing.assert_allclose(
        nd.to_host(load(tmp_path / "net.keras").output(x)), nd.to_host(net.output(x)), rtol=1e-12
    )
