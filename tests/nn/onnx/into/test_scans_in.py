"""Scans of recurrent units are read as the layers that they are; others are refused by name."""

import numpy as np
import onnx
import pytest

import nd
from nd.activations import ACTIVATIONS
from nn import (
    LSTM,
    Bidirectional,
    GravesLSTM,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RecurrentAttentionLayer,
    RnnOutputLayer,
    SimpleRnn,
)
from nn.onnx.into import graph_of
from nn.onnx.writing import onnx_model

EVERY = [
    pytest.param(name, marks=[pytest.mark.slow] * (name not in ("softplus", "swish", "tanh")))
    for name in ACTIVATIONS
    if not ACTIVATIONS[name]().over_rows
]


def network(layer, dtype="float64", last=False):
    base = NeuralNetConfiguration(seed=5, dtype=dtype, weight_init="xavier", bias_init=0.1)
    tail = OutputLayer(n_out=2, activation="softmax") if last else RnnOutputLayer(n_out=2, activation="softmax")
    return MultiLayerNetwork(base.list(layer, tail, input_type=InputType.recurrent(3))).init()


def read(tmp_path, model):
    onnx.save(model, tmp_path / "net.onnx")
    return graph_of(tmp_path / "net.onnx")


def check(tmp_path, layer, dtype="float64", last=False):
    """Return the graph that is read, after a comparison of the outputs."""
    net = network(layer, dtype, last)
    again = read(tmp_path, onnx_model(net))
    for size in ((2, 3, 5), (3, 3, 1)):
        x = np.random.default_rng(size).normal(0.0, 0.8, size).astype(dtype)
        (found,) = again.output(x)
        np.testing.assert_allclose(nd.to_host(found), nd.to_host(net.output(x)), rtol=1e-6, atol=1e-7)
    return net, again


def parameters(net, kind):
    """Return those of the first layer of a kind."""
    node = next(node for node in net.conf.nodes if type(node.conf) is kind)
    return {name: nd.to_host(view) for name, view in net.get_layer(node.name).params.items()}


@pytest.mark.parametrize("name", EVERY)
def test_units_with_every_activation(tmp_path, name):
    for kind, gates in (
        (LSTM, {"gate_activation": "sigmoid"}),
        (GravesLSTM, {"gate_activation": name}),
        (SimpleRnn, {}),
    ):
        for dtype in ("float32", "float64"):
            net, again = check(tmp_path, kind(n_out=4, activation=name, **gates), dtype)
            conf = next(node.conf for node in again.conf.nodes if type(node.conf) is kind)
            assert conf.activation == ACTIVATIONS[name]()
            ours = {key: nd.to_host(view) for key, view in net.get_layer(0).params.items()}
            for key, theirs in parameters(again, kind).items():
                np.testing.assert_array_equal(theirs, ours[key])


def test_both_directions(tmp_path):
    for mode in ("add", "concat"):
        _, again = check(tmp_path, Bidirectional(LSTM(n_out=3, activation="swish"), mode))
        assert [type(node.conf) for node in again.conf.nodes].count(LSTM) == 2


def test_the_last_step(tmp_path):
    check(tmp_path, LastTimeStep(GravesLSTM(n_out=3, activation="tanh")), last=True)


@pytest.mark.parametrize(
    "layer",
    [
        SimpleRnn(n_out=3, activation="tanh", has_layer_norm=True),
        MaskZeroLayer(LSTM(n_out=3, activation="tanh")),
        RecurrentAttentionLayer(n_out=3),
        LSTM(n_out=3, activation=ACTIVATIONS["elu"](0.5)),
    ],
)
def test_other_steps_are_refused_by_name(tmp_path, layer):
    with pytest.raises(nd.ConfigurationError, match=r"'layer0/Scan' \(Scan\)"):
        read(tmp_path, onnx_model(network(layer)))


def changes(scan):
    """Yield changed copies of a Scan."""
    for number, node in enumerate(scan.attribute[0].g.node):
        for op in ("Mul", "Sub", "Sigmoid"):
            other = onnx.NodeProto()
            other.CopyFrom(scan)
            if node.op_type not in (op, "Identity", "Split"):
                other.attribute[0].g.node[number].op_type = op
                yield other
    for names in (("scan_input_directions",), ("scan_output_axes",)):
        other = onnx.NodeProto()
        other.CopyFrom(scan)
        other.attribute.extend(onnx.helper.make_attribute(name, [1]) for name in names)
        yield other


@pytest.mark.parametrize("kind", [GravesLSTM, SimpleRnn])
def test_changed_steps_are_never_taken_for_others(tmp_path, kind):
    """Each is refused, or computes with another function what its change says."""
    model = onnx_model(network(kind(n_out=3, activation="tanh")))
    place = next(number for number, node in enumerate(model.graph.node) if node.op_type == "Scan")
    taken = 0
    for scan in changes(model.graph.node[place]):
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        changed.graph.node[place].CopyFrom(scan)
        try:
            again = read(tmp_path, changed)
        except (nd.ConfigurationError, nd.FormatError):
            continue
        taken += 1
        conf = next(node.conf for node in again.conf.nodes if type(node.conf) is kind)
        functions = [conf.activation, getattr(conf, "gate_activation", None)]
        assert functions != [ACTIVATIONS["tanh"](), ACTIVATIONS["sigmoid"]()]
    assert taken == {GravesLSTM: 0, SimpleRnn: 1}[kind]
